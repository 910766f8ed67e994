"""What a person's words are about: serving with vLLM, something else, and whether something is wrong."""

from __future__ import annotations

import re
from enum import IntEnum

_LONGEST_PROSE = 4000


class Subject(IntEnum):
    """How plainly the words are about serving with vLLM."""

    ELSEWHERE = 0
    """Another product or another matter is named, and vLLM is not."""
    OPEN = 1
    """Nothing tells."""
    TERMS = 2
    """Terms that hardly anything but the serving of models has."""
    NAMED = 3
    """vLLM or Kimi K3 by name."""


def _words(latin: str, others: str) -> re.Pattern[str]:
    """Latin words as whole words, words of other scripts anywhere."""
    return re.compile(rf"(?<![a-z])(?:{'|'.join(latin.split())})(?![a-z])|{'|'.join(others.split())}", re.IGNORECASE)


_VLLM = re.compile(r"vllm", re.IGNORECASE)
_K3 = re.compile(r"kimi|(?<![a-z0-9])k3(?![a-z0-9])", re.IGNORECASE)
_TERMS = _words(
    r"nccl nvlink nvls rdma infiniband roce mlx5\w* xid cuda(?:graph)? rocm hbm vram"
    r" (?:\d{1,3}[x×*])?(?:[hb][1-3]00|gb[23]00|h20|mi3\d\dx?)(?:[x×*]\d{1,3})?"
    r" gpus? hgx ecc hf llm torch prefix[\s-]cach\w+ kv[\s-]?cach\w+ kv tool[\s_-]?(?:calls?|args?|choice) reasoning"
    r" finish_reason prefill decode (?:[tpde]p[\s=]?\d+[x×*]?)+ dcp pcp dspark"
    r" flash(?:infer|mla|kda) deep_?(?:ep|gemm) nixl"
    r" mooncake lmcache ucx fp8 nvfp4 mxfp4 safetensors checkpoint experts? moe eplb speculative ttft tok/s"
    r" max[_-](?:model[_-]len|num[_-]seqs|tokens) fabric\s?manager all-?(?:2|to)-?all preempt\w* api-server[\w-]*"
    r" retention[\s_-]interval illegal\smemory gpu_memory\w* nvidia-smi nvidia_peermem /dev/shm",
    r"가중치 추론 프리필 프리픽스 느낌표 에이전트\s세션 스펙디코딩"
    r" 权重 显存 掉卡 前缀 投机 工具调用 工具参数 感叹号 预填充 算子"
    r" веса весов префикс префил декод рассужд восклицат спекулятив эксперт видеопамят",
)
_OTHER_ENGINE = _words(
    r"sg-?lang tensorrt(?:-llm)? trt-?llm llama\.?cpp gguf ollama lmdeploy lm\sstudio text-generation-inference tgi"
    r" mlx(?!\d) exllama\w* ktransformers openvino onnx\w*",
    r"올라마 텐서알티 에스지랭 олама оллама",
)
_OTHER_WORK = _words(
    r"train(?:ing|er|ed)? fine-?tun\w+ lora deepspeed megatron stable\sdiffusion sdxl comfyui diffusers? yolo whisper"
    r" jupyter colab blender gaming buy purchase prices? pricing lunch coffee chatgpt weights\s(?:and|&)\sbiases wandb"
    r" blog\sposts? tutorial",
    r"학습 파인튜닝 미세조정 견적 구매 사는게 가격 점심 회의 휴가 퇴근 게임 챗지피티"
    r" 训练 微调 出图 学习率 价格 报价 购买 想买 外卖 团建 游戏 周报"
    r" обучени обучаю дообуч файнтюн купить покупа цен[аыу] обед столов играх презентац",
)
_OTHER_SOFTWARE = _words(
    r"django flask fastapi spring rails laravel react vue npm webpack redis postgres\w* mysql mariadb mongo\w* oracle"
    r" snowflake elastic\w* kafka rabbitmq zookeeper celery nginx apache varnish cdn traefik jenkins gitlab github git"
    r" terraform ansible argocd helm grafana prometheus airflow spark hadoop flink clickhouse minio jira confluence"
    r" outlook excel zoom jwt vpn ssh dns wi-?fi laptop printer macbook iphone android docker\shub",
    r"장고 스프링 리액트 레디스 포스트그레 몽고 오라클 엔진엑스 젠킨스 깃랩 깃헙 깃허브 카프카 셀러리 엘라스틱 엑셀"
    r" 도커\s?허브 와이파이 노트북 프린터 프로젝터 打印机 笔记本 主从 流水线超时"
    r" джанго спринг реакта? редис постгрес монг[аоу] оракл нжинкс дженкинс гитлаб гитхаб кафк эластик зукипер эксель"
    r" впн ноутбук принтер стейдж почт[аеу]",
)
_TROUBLE = re.compile(
    r"\b(?:crash\w*|fail\w*|errors?|hang\w*|hung|stuck|slow\w*|die[sd]?|dead|oom|wrong|weird|garbage|broken|won'?t|doesn'?t"
    r"|cannot|can'?t|timeout\w*|freez\w*|kill\w*|nothing|empty|problem\w*|issues?|acting up|not working|trouble)\b"
    r"|안\s?(?:돼|됨|됩|되|떠|뜨|올|나|맞|넘어|움직)|무반응|먹통|뻗|못|오류|에러|실패|멈|죽|느리|느려|깨|이상|왜|문제"
    r"|报错|失败|崩|卡|慢|挂|错误|异常|问题|不对劲|为什么|怎么|停[在住]|不(?:了|能|行|对|动|起|生效)|没数据|乱码"
    r"|ошибк|падает|упал|завис|вис(?:ит|нет)|застр[яе]|встал[ао]? намертво"
    r"|медлен|не (?:работ|запуск|старт|груз|примен|возвращ)|почему|мусор|сбо[йя]|сломал"
    r"|проблем|что-то",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]|\b(?:why|how come)\b", re.IGNORECASE)


def subject(prose: str) -> Subject:
    """What the words are about."""
    prose = prose[:_LONGEST_PROSE]
    if _VLLM.search(prose):
        return Subject.NAMED
    if _OTHER_ENGINE.search(prose):
        return Subject.ELSEWHERE
    if _K3.search(prose):
        return Subject.NAMED
    if _OTHER_WORK.search(prose):
        return Subject.ELSEWHERE
    if _TERMS.search(prose):
        return Subject.TERMS
    return Subject.ELSEWHERE if _OTHER_SOFTWARE.search(prose) else Subject.OPEN


def complains(prose: str) -> bool:
    """Whether the words tell of trouble, whatever with."""
    return _TROUBLE.search(prose[:_LONGEST_PROSE]) is not None


def asks_for_help(prose: str) -> bool:
    """Whether the words tell of trouble with serving, or ask about vLLM or Kimi K3."""
    prose = prose[:_LONGEST_PROSE]
    about = subject(prose)
    asks = _ASKS.search(prose) is not None
    return (about is Subject.NAMED and asks) or (about >= Subject.TERMS and _TROUBLE.search(prose) is not None)
