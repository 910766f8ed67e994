"""Lines with secrets that must vanish. Every secret is made here from parts, so that no scanner flags this file."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

_ALNUM = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Secret:
    """`text` holds each of the `secrets`; none of them may be left."""

    name: str
    text: str
    secrets: tuple[str, ...]


_random = random.Random(20260830)


def _made(length: int, alphabet: str = _ALNUM) -> str:
    """Something random with a capital, a small letter and a digit in it, as far as the alphabet has them."""
    sorts = [sort for sort in (string.ascii_uppercase, string.ascii_lowercase, string.digits) if sort[0] in alphabet]
    sure = [_random.choice([sign for sign in sort if sign in alphabet]) for sort in sorts][:length]
    signs = sure + [_random.choice(alphabet) for _ in range(length - len(sure))]
    _random.shuffle(signs)
    return "".join(signs)


_HEX = string.digits + "abcdef"
_UPPER = string.ascii_uppercase + string.digits
_URLSAFE = _ALNUM + "-_"
_BASE64 = _ALNUM + "+/"

CASES: list[Secret] = []


def _case(name: str, template: str, *secrets: str) -> None:
    """`{0}`, `{1}` … of the template are the secrets; other braces are doubled."""
    CASES.append(Secret(name, template.format(*secrets), secrets))


# Tokens that show by their shape, bare and in prose
_TOKENS = {
    "hugging face": "hf" + "_" + _made(34, string.ascii_letters),
    "hugging face org": "api" + "_org_" + _made(34, string.ascii_letters),
    "slack bot": "xox" + "b-" + _made(12, string.digits) + "-" + _made(13, string.digits) + "-" + _made(24),
    "slack user": "xox" + "p-" + _made(12, string.digits) + "-" + _made(32, _HEX),
    "slack app": "xap" + "p-1-A0" + _made(9, _UPPER) + "-" + _made(13, string.digits) + "-" + _made(64, _HEX),
    "slack refresh": "xox" + "e.xox" + "p-1-" + _made(140),
    "slack webhook path": "T0" + _made(8, _UPPER) + "/B0" + _made(8, _UPPER) + "/" + _made(24),
    "github classic": "gh" + "p_" + _made(36),
    "github app": "gh" + "s_" + _made(36),
    "github fine": "github" + "_pat_" + _made(22) + "_" + _made(59),
    "gitlab": "gl" + "pat-" + _made(20, _URLSAFE),
    "gitlab runner": "gl" + "rt-" + _made(20, _URLSAFE),
    "aws key id": "AK" + "IA" + _made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "aws session key id": "AS" + "IA" + _made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "aws bedrock": "AB" + "SK" + _made(120, _BASE64) + "=",
    "google api": "AI" + "za" + _made(35, _URLSAFE),
    "google oauth": "ya" + "29." + _made(60, _URLSAFE),
    "google client": "GOC" + "SPX-" + _made(28, _URLSAFE),
    "azure openai": _made(52) + "JQQ" + "J99" + _made(26),
    "azure client": _made(3) + "8" + "Q~" + _made(34),
    "azure storage": _made(76, _BASE64) + "+A" + "St" + _made(5, _BASE64) + "Q" + "==",
    "alibaba": "LT" + "AI5t" + _made(20),
    "tencent": "AK" + "ID" + _made(32),
    "openai": "s" + "k-" + _made(48),
    "openai project": "s" + "k-proj-" + _made(74, _URLSAFE) + "T3Blbk" + "FJ" + _made(40, _URLSAFE),
    "anthropic": "s" + "k-ant-api03-" + _made(93, _URLSAFE) + "AA",
    "openrouter": "s" + "k-or-v1-" + _made(64, _HEX),
    "deepseek": "s" + "k-" + _made(32, _HEX),
    "nvidia": "nv" + "api-" + _made(64, _URLSAFE),
    "groq": "gs" + "k_" + _made(52),
    "xai": "xa" + "i-" + _made(80),
    "replicate": "r8" + "_" + _made(37),
    "langsmith": "lsv2" + "_pt_" + _made(32, _HEX) + "_" + _made(10, _HEX),
    "databricks": "da" + "pi" + _made(32, _HEX),
    "npm": "np" + "m_" + _made(36),
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + _made(60, _URLSAFE),
    "docker hub": "dckr" + "_pat_" + _made(27, _URLSAFE),
    "vault": "hv" + "s." + _made(90, _URLSAFE),
    "grafana": "gl" + "sa_" + _made(32) + "_" + _made(8, _HEX),
    "stripe": "s" + "k_live_" + _made(24),
    "telegram": _made(10, string.digits) + ":A" + "A" + _made(33, _URLSAFE),
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "J" + _made(40) + "." + _made(43, _URLSAFE),
    "kubernetes service account": "ey" + "J" + _made(60) + ".ey" + "J" + _made(300) + "." + _made(340, _URLSAFE),
    "base64 of a hugging face token": "aG" + "Zf" + _made(44),
}
for _name, _token in _TOKENS.items():
    if _name == "slack webhook path":
        _case(_name, "curl -X POST https://hooks.slack.com/services/{0} -d @body.json", _token)
        continue
    _case(f"{_name}, bare", "{0}", _token)
    _case(
        f"{_name}, in a log line", "(APIServer pid=1) ERROR 08-21 10:00:00 [hub.py:77] 401 for {0}, see above", _token
    )
    _case(f"{_name}, in escaped json", '{{"log":"trying\\n{0}\\nfailed\\n","stream":"stderr"}}', _token)

# Directly behind a colour code, in every spelling
COLOURS = (
    "\x1b[31m", "\x1b[0m", "\x1b[1;32m", "\x1b[38;5;203m", "\x1b[38;2;255;0;0m", "\x1b[K", "\x1b[2K", "\x1b(B",
    "\x1b[m", "\\u001b[31m", "\\u001B[0m", "\\\\u001b[1;31m", "\\x1b[31m", "\\x1B[0m", "\\033[31m", "\\33[0m",
    "\\e[31m", "\\E[1m", "^[[31m", "[31m", "[0m", "[1;31m", "␛[31m", "\x1b[0m\x1b[31m", "\\u0007", "\\x07", "\\a",
    "^M",
)  # fmt: skip
_COLOURED = (
    ("\x1b[31m", "\x1b[0m"), ("\\u001b[31m", "\\u001b[0m"), ("\\x1b[1;31m", "\\x1b[0m"), ("\\033[31m", "\\033[0m"),
    ("\\e[31m", "\\e[0m"), ("^[[31m", "^[[0m"), ("[31m", "[0m"),
)  # fmt: skip
for _name, _token in _TOKENS.items():
    if _name != "slack webhook path":
        _case(f"{_name}, behind colours", "\n".join(f"seen {colour}{{0}}" for colour in COLOURS), _token)
for _name, _template in {
    "a label": "{1}password{2}={1}{0}{2}",
    "a short label": "{1}pass{2}: {1}{0}{2} ok",
    "a key": "{1}VLLM_API_KEY{2}={1}{0}{2}",
    "a key of json": '"{1}api_key{2}": {1}"{0}"{2}',
    "a token": "{1}HF_TOKEN{2}={1}{0}{2}",
    "a token with a colon": "{1}access_token{2}: {1}'{0}'{2}",
    "a flag": "{1}--api-key{2} {1}{0}{2}",
    "a token in prose": "with the token {1}{0}{2}",
    "bearer": "{1}Authorization{2}: {1}Bearer {1}{0}{2}",
    "ko": "{1}비밀번호{2}: {1}{0}{2}",
    "zh": "{1}密码{2}：{1}{0}{2}",
    "ru": "{1}пароль{2}: {1}{0}{2}",
}.items():
    for _number, (_on, _off) in enumerate(_COLOURED):
        _value = _made(15)
        CASES.append(Secret(f"colours {_number} around {_name}", _template.format(_value, _on, _off), (_value,)))

# --api-key and its kin, in every notation that a log or a launch command has
_VLLM, _SECOND, _PASSWORD = _made(24), _made(20), _made(9) + "!x"
for _name, _template in {
    "shell": "vllm serve moonshotai/Kimi-K3 --api-key {0} --port 8000",
    "shell with =": "vllm serve moonshotai/Kimi-K3 --api-key={0}",
    "shell, quoted": 'vllm serve m --api-key "{0}" --host 0.0.0.0',
    "shell, single quotes": "vllm serve m --api-key '{0}'",
    "shell, underscore": "python -m vllm.entrypoints.openai.api_server --api_key {0}",
    "shell over two lines": "vllm serve m \\\n  --api-key \\\n  {0} \\\n  --port 8000",
    "export": "export VLLM_API_KEY={0}",
    "export, quoted": 'export VLLM_API_KEY="{0}"',
    "assignment before a command": "VLLM_API_KEY={0} vllm serve m",
    "powershell": '$env:VLLM_API_KEY = "{0}"',
    "windows set": "set VLLM_API_KEY={0}",
    "csh": "setenv VLLM_API_KEY {0}",
    "docker -e": "docker run --gpus all -e VLLM_API_KEY={0} -p 8000:8000 vllm/vllm-openai:kimi-k3",
    "docker --env": "docker run --env VLLM_API_KEY={0} vllm/vllm-openai",
    "docker -e, quoted whole": 'docker run -e "VLLM_API_KEY={0}" vllm/vllm-openai',
    "docker inspect": '            "Env": ["PATH=/usr/bin", "VLLM_API_KEY={0}", "HF_HOME=/root"],',
    "dockerfile": "ENV VLLM_API_KEY {0}",
    "dockerfile with =": "ENV VLLM_API_KEY={0}",
    "compose": "      - VLLM_API_KEY={0}",
    "compose map": "      VLLM_API_KEY: {0}",
    "env file": "VLLM_API_KEY='{0}'",
    "json": '{{"model": "m", "api_key": "{0}", "port": 8000}}',
    "json, tight": '{{"api_key":"{0}"}}',
    "json in json": '{{"log":"{{\\"api_key\\": \\"{0}\\"}}\\n"}}',
    "json, camel case": '{{"apiKey": "{0}"}}',
    "json argv": '"Cmd": ["--model", "m", "--api-key", "{0}", "--port", "8000"]',
    "json argv, a line each": '    "--api-key",\n    "{0}",\n    "--port",',
    "yaml": "api-key: {0}",
    "yaml, quoted": 'api_key: "{0}"',
    "yaml list": "api-key:\n  - {0}\n",
    "yaml argv": "args:\n  - --api-key\n  - {0}\n  - --port\n",
    "python dict": "non-default args: {{'host': '0.0.0.0', 'api_key': '{0}', 'model': 'm'}}",
    "python dict with a list": "(APIServer pid=1) non-default args: {{'api_key': ['{0}'], 'tensor_parallel_size': 8}}",
    "namespace": "args: Namespace(host=None, api_key='{0}', ssl_keyfile=None)",
    "namespace with a list": "args: Namespace(api_key=['{0}'], lora_modules=None)",
    "python call": "client = OpenAI(base_url='http://localhost:8000/v1', api_key='{0}')",
    "pydantic secret": "Settings(api_key=SecretStr('{0}'))",
    "annotated default": "    api_key: str | None = '{0}'",
    "environ": "os.environ['VLLM_API_KEY'] = '{0}'",
    "kubernetes env": "        - name: VLLM_API_KEY\n          value: {0}\n",
    "kubernetes env, quoted": '- name: "VLLM_API_KEY"\n  value: "{0}"',
    "kubernetes env, json": '{{"name": "VLLM_API_KEY", "value": "{0}"}}',
    "kubectl describe": "      VLLM_API_KEY:       {0}\n      NCCL_DEBUG:  INFO",
    "kubectl create secret": "kubectl create secret generic vllm --from-literal=whatever={0}",
    "helm": "helm upgrade vllm ./chart --set servingEngineSpec.apiKey={0},replicas=2",
    "header": "x-api-key: {0}",
    "header, azure": "curl -H 'api-key: {0}' https://x.openai.azure.com/",
    "header, google": "x-goog-api-key: {0}",
    "asgi header": "headers=[(b'host', b'localhost'), (b'x-api-key', b'{0}')]",
    "ansi colours": "\x1b[33mapi_key\x1b[0m=\x1b[32m{0}\x1b[0m",
    "prose": "the API key is {0}, should I rotate it?",
    "prose with a colon": "API Key: {0}",
    "prose, typographic quotes": "api key: “{0}”",
    "numbered": "VLLM_API_KEY_2={0}",
    "prod": "OPENAI_API_KEY_PROD={0}",
    "aws configure": "AWS Secret Access Key [None]: {0}",
    "wandb": "WANDB_API_KEY={0}",
    "aws secret": "AWS_SECRET_ACCESS_KEY={0}",
    "aws session": "aws_session_token = {0}",
    "alibaba secret": "OSS_ACCESS_KEY_SECRET={0}",
    "azure account key": "DefaultEndpointsProtocol=https;AccountName=k3;AccountKey={0};EndpointSuffix=core.windows.net",
    "client secret": "AZURE_CLIENT_SECRET={0}",
    "slack signing secret": "SLACK_SIGNING_SECRET={0}",
    "xml": "<apiKey>{0}</apiKey>",
    "xml attribute": '<add key="x" secret="{0}"/>',
    "ini": "secret_key = {0}",
    "terraform": '  secret_key = "{0}"',
    "hf token": "HF_TOKEN={0}",
    "hub token": "HUGGING_FACE_HUB_TOKEN: {0}",
    "login": "huggingface-cli login --token {0}",
    "hf auth": "hf auth login --token={0} --add-to-git-credential",
    "python token": "snapshot_download('moonshotai/Kimi-K3', token='{0}')",
    "hf_token flag": "vllm serve m --hf-token {0}",
    "access token": '{{"access_token": "{0}", "expires_in": 3599}}',
    "private token header": "PRIVATE-TOKEN: {0}",
    "vault header": "X-Vault-Token: {0}",
    "npmrc": "//registry.npmjs.org/:_authToken={0}",
    "docker config": '"auths": {{"nvcr.io": {{"auth": "{0}"}}}}',
    "wandb login": "wandb login --relogin {0}",
    "ngrok": "ngrok config add-authtoken {0}",
    "kubernetes secret": "kind: Secret\ndata:\n  token: {0}\n",
}.items():
    _case(f"key, {_name}", _template, _made(24, _HEX) + "0a1b" if "wandb login" in _name else _made(24))
_case("several keys", "vllm serve m --api-key {0} {1} --port 8000", _VLLM, _SECOND)
_case("several keys in a list", "args: Namespace(api_key=['{0}', '{1}'], port=8000)", _VLLM, _SECOND)
_case("several keys in yaml flow", "api_key: [{0}, {1}]", _VLLM, _SECOND)
_case("several keys in json lines", '"api_key": [\n  "{0}",\n  "{1}"\n]', _VLLM, _SECOND)
_case("short key", "--api-key {0} --port 8000", "a" + "bc7")
_case("key of letters only", "VLLM_API_KEY={0}", "k" + "imikey")
_case("numeric key", "--api-key {0}", _made(8, string.digits))

# Authorization, cookies, URLs
for _name, _template in {
    "bearer": "Authorization: Bearer {0}",
    "bearer, curl": 'curl -H "Authorization: Bearer {0}" http://localhost:8000/v1/models',
    "bearer, json": '{{"Authorization": "Bearer {0}"}}',
    "bearer, python": "headers={{'authorization': 'Bearer {0}', 'accept': '*/*'}}",
    "bearer, asgi": "[(b'authorization', b'Bearer {0}'), (b'accept', b'*/*')]",
    "bearer, alone": "sent Bearer {0} to the gateway",
    "basic": "Authorization: Basic {0}=",
    "token": "authorization: token {0}",
    "proxy": "Proxy-Authorization: Basic {0}",
    "bare": "authorization={0}",
    "aws4": "Authorization: AWS4-HMAC-SHA256 Credential=x/20260821/us-east-1/s3/aws4_request, Signature={0}",
    "cookie": "Cookie: theme=dark; session={0}",
    "set-cookie": "set-cookie: sid={0}; Path=/; HttpOnly",
    "userinfo": "postgresql://k3:{0}@db.internal:5432/k3triage",
    "userinfo, redis": "redis://:{0}@10.0.0.5:6379/0",
    "userinfo, proxy": "https_proxy=http://svc:{0}@proxy.corp:3128",
    "userinfo, git": "git clone https://oauth2:{0}@gitlab.corp/k3/deploy.git",
    "userinfo, token only": "pip install --index-url https://{0}@pypi.corp/simple vllm",
    "userinfo, mongo": "mongodb+srv://root:{0}@cluster0.x.mongodb.net/?retryWrites=true",
    "presigned s3": "GET https://b.s3.amazonaws.com/m.safetensors?X-Amz-Expires=60&X-Amz-Signature={0}&x=1",
    "sas": "https://k3.blob.core.windows.net/w?sv=2022-11-02&sig={0}%3D&se=2026-09-01",
    "query token": "wss://x.corp/socket?token={0}",
    "query api key": "https://x.corp/v1/models?api_key={0}&limit=1",
    "query google key": "https://generativelanguage.googleapis.com/v1/models?key={0}",
    "oss": "https://w.oss-cn-beijing.aliyuncs.com/k3?OSSAccessKeyId={0}&Expires=1",
    "curl -u": "curl -u admin:{0} https://registry.corp/v2/_catalog",
    "docker login": "docker login nvcr.io -u oauthtoken -p {0}",
    "docker login over stdin": "echo {0} | docker login nvcr.io -u x --password-stdin",
    "sshpass": "sshpass -p {0} ssh root@gpu-01",
    "redis-cli": "redis-cli -h 10.0.0.5 -a {0} ping",
    "mysql": "mysql -u root -p{0} k3",
    "netrc": "machine huggingface.co login k3 password {0}",
}.items():
    _case(f"http, {_name}", _template, _made(28))
_case("userinfo with @", "postgres://k3:{0}@db:5432/x", "p" + "@ss/w0rd")

# Passwords in the four languages
for _name, _template in {
    "en colon": "password: {0}",
    "en equals": "password={0}",
    "en is": "the password is {0}",
    "en for": "password for root is: {0}",
    "en json": '{{"user": "k3", "password": "{0}"}}',
    "en env": "PGPASSWORD={0} psql -h db",
    "en flag": "--ssl-keyfile-password {0}",
    "en passphrase": "passphrase: {0}",
    "en passwd": "MYSQL_PASSWD='{0}'",
    "en db_pass": "DB_PASS={0}",
    "en pwd": "User Id=sa;Pwd={0};Encrypt=true",
    "en markdown": "**Password:** {0}",
    "en camel": "dbPassword={0}",
    "en yaml": "redis_password: '{0}'",
    "ko colon": "비밀번호: {0}",
    "ko particle": "비밀번호는 {0} 입니다",
    "ko attached": "루트 비밀번호는 {0}입니다",
    "ko wide colon": "비밀번호：{0}",
    "ko am-ho": "암호 : {0}",
    "ko short": "비번 {0}",
    "ko loan": "패스워드={0}",
    "ko api key": "API 키: {0}",
    "ko token": "토큰: {0}",
    "ko quoted": "비밀번호: '{0}'",
    "ko changed": "비밀번호를 {0}로 바꿨습니다",
    "zh wide colon": "密码：{0}",
    "zh colon": "密码: {0}",
    "zh is": "密码是{0}，请登录",
    "zh is, wei": "数据库密码为 {0}。",
    "zh kouling": "口令：{0}",
    "zh key": "API密钥：{0}",
    "zh traditional": "密碼：{0}",
    "zh token": "令牌：{0}",
    "zh quotes": "密码：「{0}」",
    "ru colon": "пароль: {0}",
    "ru capital": "Пароль: {0}",
    "ru dash": "пароль — {0}",
    "ru for": "пароль от сервера: {0}",
    "ru bare": "пароль {0}",
    "ru upper": "ПАРОЛЬ={0}",
    "ru quotes": "пароль «{0}»",
    "ru secret key": "секретный ключ: {0}",
    "ru api key": "ключ API: {0}",
    "ru token": "токен: {0}",
    "ru with": "захожу с паролем {0}",
}.items():
    _case(f"password, {_name}", _template, _made(13))
_case("password with spaces", 'password: "{0}"', "correct horse " + "battery 7")
_case("password with signs", "password: {0}", _PASSWORD)
_case("password with a comma", "DB_PASSWORD={0}", "ab,c" + "d;9x")
_case("password with a backslash", "password={0}", "ab\\c" + "d9x")
_case("password of digits", "비밀번호: {0}", "48" + "1516")
_case("password of words", "password: {0}", "hunter" + "two")
_case("password in Cyrillic", "пароль: {0}", "Секрет" + "123")

# Private keys: the lines between BEGIN and END
_BEGIN, _END = "-----BEGIN {}PRIVATE" + " KEY-----", "-----END {}PRIVATE" + " KEY-----"
_LINES = [_made(64, _BASE64) for _ in range(6)] + [_made(22, _BASE64) + "=="]


def _key(kind: str, frame: str = "", lines: list[str] = _LINES, end: bool = True) -> str:
    whole = [_BEGIN.format(kind), *lines, *([_END.format(kind)] if end else [])]
    return "\n".join(frame + line for line in whole)


def _key_case(name: str, text: str, lines: list[str] = _LINES) -> None:
    CASES.append(Secret(f"private key, {name}", text, tuple(lines)))


_key_case("rsa", "before\n" + _key("RSA ") + "\nafter")
_key_case("pkcs8", _key("") + "\n")
_key_case("openssh", _key("OPENSSH "))
_key_case("ec, indented as in yaml", "tls.key: |\n" + _key("EC ", "    ") + "\nother: 1")
_key_case("behind a time stamp", _key("RSA ", "2026-08-21T10:00:00.000Z vllm-0 | "))
_key_case("windows line ends", _key("RSA ").replace("\n", "\r\n"))
_key_case("in json", '{"private_key": "' + _key("").replace("\n", "\\n") + '\\n", "client_email": "x"}')
_key_case("cut off", _key("RSA ", end=False) + "\n")
_key_case("encrypted", _key("RSA ", lines=["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,00", "", *_LINES]))

_IN_JSON = '{{"log":"{}\\n","stream":"stderr","time":"2026-08-21T10:00:00.123456789Z"}}'
_key_case("in a docker json-file", "\n".join(map(_IN_JSON.format, _key("RSA ").split("\n"))))
_key_case(
    "in a docker json-file, behind a prefix", "\n".join(map(_IN_JSON.format, _key("", "core.py:1] ").split("\n")))
)
_key_case(
    "in a json log with the time first",
    "\n".join(f'{{"time":"2026-08-21T10:00:0{n}Z","log":"{line}\\n"}}' for n, line in enumerate(_key("").split("\n"))),
)
_key_case(
    "in a json log with tags",
    "\n".join(_IN_JSON.format(line)[:-1] + ',"attrs":{"tag":"k3"}}' for line in _key("EC ").split("\n")),
)
_OTHER = "(Worker_TP1 pid=7) INFO 08-21 10:00:00 [core.py:1] step 12 took 0.4 s in /opt/vllm/v1/engine/core.py"
_key_case("between lines of another process", _key("RSA ").replace("\n", f"\n{_OTHER}\n{_OTHER}\n"))
_key_case("between other lines, behind a frame", _key("RSA ", "vllm-0 | ").replace("\n", f"\nvllm-1 | {_OTHER}\n"))
_key_case(
    "between other lines in a docker json-file",
    "\n".join(map(_IN_JSON.format, _key("RSA ").replace("\n", f"\n{_OTHER}\n").split("\n"))),
)
_key_case("in containerd's format", _key("", "2026-08-21T10:00:00.000000000Z stderr F "))
_key_case("in escaped json", '{"log":"{\\"key\\": \\"' + _key("").replace("\n", "\\\\n") + '\\\\n\\"}\\n"}')
_key_case("as a list", repr(_key("RSA ").split("\n")))
_key_case("as a list in json", '{"log": "[' + ", ".join(f'\\"{line}\\"' for line in _key("").split("\n")) + ']"}')
_key_case("numbered", "\n".join(f"{n:4}: {line}" for n, line in enumerate(_key("RSA ").split("\n"))))
_key_case("quoted", _key("RSA ", "> "))

# Further notations
for _name, _template in {
    "signed url, escaped": '"url":"https://b.s3.amazonaws.com/x?X-Amz-Expires=9\\u0026X-Amz-Signature={0}\\u0026x=1"',
    "sas, escaped": "https://k3.blob.core.windows.net/w?sv=2022\\u0026sig={0}%3D",
    "dockerconfigjson": "  .dockerconfigjson: eyJhdXRocyI6{0}=",
    "dockerconfigjson, indented": "  .dockerconfigjson: ewogICJhdXRocyI6{0}==",
    "url-encoded": "password%3D{0}",
    "url-encoded key": "VLLM_API_KEY%3D{0}",
    "url-encoded token": "hf_token%3D{0}",
    "url-encoded json": "%22password%22%3A%22{0}%22",
    "url-encoded userinfo": "http%3A%2F%2Fk3%3A{0}%40proxy.corp%2Fx",
    "telegram url": "https://api.telegram.org/bot123456789:AAH-{0}x7Qw_3/sendMessage",
    "discord": "https://discord.com/api/webhooks/123456789012345678/{0}",
    "teams": "https://corp.webhook.office.com/webhookb2/{0}@1a/IncomingWebhook/2b/3c",
    "feishu": "https://open.feishu.cn/open-apis/bot/v2/hook/{0}",
    "lark": "https://open.larksuite.com/open-apis/bot/v2/hook/{0}",
    "wecom": "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={0}",
    "curl -u, joined": "curl -s -uadmin:{0} https://registry.corp/v2/_catalog",
    "curl -u, joined and quoted": "curl -u'admin:{0}' https://registry.corp/v2/_catalog",
    "ipmitool": "ipmitool -I lanplus -H 10.0.0.1 -U admin -P {0} chassis status",
    "openssl": "openssl rsa -in k.pem -passin pass:{0} -out x",
    "openssl, out": "openssl req -passout 'pass:{0}'",
    "fish": "set -x VLLM_API_KEY {0}",
    "fish, global": "set -gx HF_TOKEN {0}",
    "fish, long": "set --export HF_TOKEN {0}",
    "ru plural": "пароли: {0}",
    "ru for": "Пароль от сервера {0}",
    "ko loan, apart": "패스 워드: {0}",
    "zh apart": "密 码：{0}",
    "below": "Password:\n{0}\n",
    "below, windows": "API key:\r\n{0}\r\n",
    "below, ko": "비밀번호:\n{0}\n",
    "below, zh": "密码：\n{0}\n",
    "below, ru": "Пароль:\n{0}\n",
    "triple quotes": 'api_key = """{0}"""',
    "triple single quotes": "password = " + "'" * 3 + "{0}" + "'" * 3,
    "bmc": "BMC_PASS: {0}",
}.items():
    _case(f"also {_name}", _template, _made(22))
_ID = "AK" + "IA" + _made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
for _name, _template in {
    "beside": "{0} {1}",
    "csv": "Access key ID,Secret access key\n{0},{1}\n",
    "below": "{0}\n{1}\n",
    "in words": "id {0}, and the other one is {1}",
}.items():
    _case(f"aws secret {_name}", _template, _ID, _made(40, _BASE64))
_case("full-width digits", "密码:{0}", "１２３４５６")
_case("a word in Hangul", "암호:{0}", "가나다라마바")
_case("Cyrillic with digits", "пароль {0}", "йцукен" + "123")

# Lines written before any rule was tuned to them, as people and tools write
_ANYONE = _made(16)
for _number, _line in enumerate(
    r"""
2026-08-21 10:00:00 [vllm] api_key='{0}' model=Kimi
HF_TOKEN = {0} # mine
export HF_TOKEN='{0}'; vllm serve
ERROR: token {0} rejected
Using token: {0}
my huggingface token is {0}
API_KEY:{0}
apikey {0}
--password={0}
LDAP bind password '{0}'
ssh root@10.0.0.3 password {0}
PASSWORD IS {0}
user=admin pass={0}
id: admin pw: {0}
비밀번호 : "{0}"
비밀번호가 {0} 인데 로그인이 안돼요
계정 root / 비번 {0}
账号：root 密码：{0}
密码改成了{0}
root密码{0}
用户名/密码: root/{0}
логин root пароль {0}
пароль такой: {0}
Пароль: "{0}"
пароль root — {0}
логин/пароль: root/{0}
{{'token': '{0}'}}
env: [{{name: HF_TOKEN, value: {0}}}]
--set-string auth.token={0}
-H 'Authorization: {0}'
Authorization Bearer {0}
AWS_SECRET_ACCESS_KEY "{0}"
secret: {0}
secrets: ["{0}"]
credentials: {0}
s3://AKID:{0}@bucket/x
MODELSCOPE_API_TOKEN={0}
VLLM_API_KEY is {0}
VLLM_API_KEY -> {0}
Api-Key {0}
'Authorization', 'Bearer {0}'
os.environ.setdefault('HF_TOKEN', '{0}')
monkeypatch.setenv("VLLM_API_KEY", "{0}")
kubectl create secret generic x --from-literal token={0}
ray start --redis-password={0}
git clone https://{0}:x-oauth-basic@github.com/a/b
export https_proxy="http://a:{0}@p:1"
bind_pw: {0}
MASTER_TOKEN {0}
ngc config set apikey {0}
amqp://guest:{0}@rabbit:5672//
{{"data":{{"password":"{0}"}}}}
password:\n  {0}
"api_key":\n  "{0}"
Enter password for root: {0}
Password for 'https://a@github.com': {0}
""".strip().split("\n")
):
    _case(f"as written {_number}", _line.replace("\\n", "\n"), _ANYONE)
