"""Stand-ins, streams, encodings, time."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bot.redaction
from bot.redaction import Redactor
from tests.growth import assert_linear
from tests.redaction.secret_lines import CASES

SECRET = "Zx9Qm3" + "Lk7Rt2Vb8N"
STAND_IN = re.compile(r"\[redacted:[0-9a-f]{6}\]")


def _stand_ins(text: str) -> list[str]:
    return STAND_IN.findall(text)


def test_same_secret_gets_the_same_stand_in_whatever_stands_around_it(redactor: Redactor) -> None:
    forms = (
        f"--api-key {SECRET}",
        f'{{"api_key": "{SECRET}"}}',
        f"Authorization: Bearer {SECRET}",
        f"비밀번호는 {SECRET}입니다",
    )
    found = [_stand_ins(redactor.redact(form)) for form in forms]
    assert found == [[redactor.stand_in(SECRET)]] * 4


def test_other_secret_gets_another_stand_in(redactor: Redactor) -> None:
    one, two = _stand_ins(redactor.redact(f"--api-key {SECRET}a --hf-token {SECRET}b"))
    assert one != two


def test_stand_ins_depend_on_the_salt() -> None:
    assert Redactor("a").stand_in(SECRET) == Redactor("a").stand_in(SECRET) != Redactor("b").stand_in(SECRET)
    assert Redactor().stand_in(SECRET) == Redactor().stand_in(SECRET)  # of one process


def test_module_level_redact_takes_secrets_out() -> None:
    assert SECRET not in bot.redaction.redact(f"password={SECRET}")


def test_text_around_a_secret_is_kept(redactor: Redactor) -> None:
    text = f"a 'b' --api-key={SECRET} --port 8000 한글 c\n"
    assert redactor.redact(text) == text.replace(SECRET, redactor.stand_in(SECRET))


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_stream_gives_the_same_however_it_is_cut(redactor: Redactor, size: int) -> None:
    data = "\n".join(case.text for case in CASES).encode()
    data = (data + b"\n" + b"x" * 70 + b"\n") * (1 if size < 4096 else 60)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    pieces = list(redactor.stream(chunks))
    assert b"".join(pieces) == redactor.redact(data.decode()).encode()
    assert all(piece.endswith(b"\n") for piece in pieces)


def test_secret_at_every_place_around_a_cut_vanishes(redactor: Redactor) -> None:
    line = b"  - name: HF_TOKEN\n    value: %b\n" % SECRET.encode()
    filler = b"INFO 08-21 10:00:00 [core.py:1] nothing to see\n"
    block = (1 << 20) + (64 << 10)
    for at in range(block - (64 << 10) - 200, block + 100, 41):
        data = (filler * (at // len(filler) + 1))[:at] + b"\n" + line + filler * 3000
        assert SECRET.encode() not in b"".join(redactor.stream([data]))


def test_key_of_many_lines_over_a_cut_vanishes(redactor: Redactor) -> None:
    body = b"".join(b"%b\n" % (SECRET.encode() * 4) for _ in range(40))
    key = b"-----BEGIN RSA PRIVATE KEY-----\n" + body + b"-----END RSA PRIVATE KEY-----\n"
    for before in range((1 << 20) - 3000, (1 << 20) + 66_000, 977):
        data = b"y" * (before - 1) + b"\n" + key + b"INFO after\n" * 20_000
        clean = b"".join(redactor.stream([data]))
        assert SECRET.encode() not in clean
        assert clean.count(b"\n") == data.count(b"\n")


def test_key_between_lines_of_another_process_over_a_cut_vanishes(redactor: Redactor) -> None:
    other = b"INFO 08-21 10:00:00 [core.py:1] " + b"nothing to see here, " * 60 + b"\n"
    body = b"".join(b"%b\n" % (SECRET.encode() * 4) + other * 8 for _ in range(30))
    key = b"-----BEGIN RSA PRIVATE KEY-----\n" + body + b"-----END RSA PRIVATE KEY-----\n"
    for before in range((1 << 20) - 330_000, (1 << 20) + 66_000, 17_011):
        data = b"y" * (before - 1) + b"\n" + key + b"INFO after\n" * 20_000
        clean = b"".join(redactor.stream([data]))
        assert SECRET.encode() not in clean
        assert clean.count(other) == 240


def test_line_of_megabytes_is_passed_on_without_its_secrets(redactor: Redactor) -> None:
    data = (b"{'a': 1, 'max_tokens': 5, 'password': '%b'}, " % SECRET.encode()) * 100_000
    pieces = list(redactor.stream([data]))
    assert SECRET.encode() not in b"".join(pieces)
    assert max(map(len, pieces)) < 3 << 20


def test_bytes_that_are_no_text_survive(redactor: Redactor) -> None:
    data = bytes(range(256)) * 40 + b"\n\xff\xfe\xed\xa0\x80 tokens\n" + os.urandom(1000).replace(b"\n", b"")
    assert b"".join(redactor.stream([data])) == data


def test_lone_surrogates_survive(redactor: Redactor) -> None:
    text = f"\ud800 password={SECRET} \udcff"
    assert redactor.redact(text) == f"\ud800 password={redactor.stand_in(SECRET)} \udcff"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_wide_encodings_are_read(redactor: Redactor, encoding: str) -> None:
    data = f"INFO start\r\nVLLM_API_KEY={SECRET}\r\n비밀번호: {SECRET}\r\n".encode(encoding)
    clean = b"".join(redactor.stream([data[:3], data[3:]])).decode("utf-8-sig")
    assert (
        clean == f"INFO start\r\nVLLM_API_KEY={redactor.stand_in(SECRET)}\r\n비밀번호: {redactor.stand_in(SECRET)}\r\n"
    )


@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("cp949", "루트 비밀번호: {}"),
        ("cp949", "비밀번호는 {}"),
        ("gb18030", "数据库密码：{}"),
        ("gb18030", "密码是{}"),
        ("big5", "密碼：{}"),
        ("cp1251", "пароль: {}"),
        ("koi8-r", "Пароль: {}"),
        ("cp866", "пароль {}"),
    ],
)
def test_labels_in_old_encodings_are_known(redactor: Redactor, encoding: str, line: str) -> None:
    data = line.format(SECRET).encode(encoding)
    clean = b"".join(redactor.stream([b"INFO\n", data, b"\n"]))
    assert clean == b"INFO\n" + data.replace(SECRET.encode(), redactor.stand_in(SECRET).encode()) + b"\n"


def test_secret_that_a_terminal_has_wrapped_vanishes(redactor: Redactor) -> None:
    line = (
        "docker run --gpus all -e HF_HOME=/models -e VLLM_USE_V1=1 -e HF_TOKEN="
        + "hf"
        + "_"
        + SECRET * 4
        + " vllm/vllm-openai"
    )
    for width in range(90, 130):
        for line_end in ("\n", "\r\n"):
            wrapped = line_end.join(line[at : at + width] for at in range(0, len(line), width))
            clean = redactor.redact(f"$ {wrapped}\nroot@gpu-01:~# ")
            assert not any(SECRET[at : at + 8] in clean for at in range(9)), clean
            assert clean.endswith("\nroot@gpu-01:~# ")


def test_line_below_a_secret_survives(redactor: Redactor) -> None:
    first = "vllm-0  | 2026-08-21 10:00:00 INFO starting with everything set, VLLM_API_KEY=" + SECRET
    for second in (
        "vllm-0  | ready",
        "vllm-1  | INFO next",
        "INFO ready",
        "2026-08-21T10:00:00Z up",
        "10.0.0.7 - GET /",
    ):
        assert redactor.redact(f"{first}\n{second}\n").endswith(f"\n{second}\n")


def test_empty_streams_stay_empty(redactor: Redactor) -> None:
    assert list(redactor.stream([])) == list(redactor.stream([b"", b""])) == []
    assert redactor.redact("") == ""


def test_stream_is_lazy(redactor: Redactor) -> None:
    taken = 0

    def chunks() -> Iterator[bytes]:
        nonlocal taken
        while taken < 64:
            taken += 1
            yield b"INFO nothing\n" * 80_000

    next(redactor.stream(chunks()))
    assert taken <= 3


def test_threads_may_share_a_redactor(redactor: Redactor) -> None:
    text = "\n".join(case.text for case in CASES)
    wanted = redactor.redact(text)
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(clean for _ in range(20) if (clean := redactor.redact(text)) != wanted)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


_PIECES = st.sampled_from(
    [
        "api_key",
        "=",
        ": ",
        "'",
        '"',
        "[",
        "]",
        "(",
        "\\",
        "\n",
        "token",
        "Bearer ",
        "://a:",
        "@",
        "--token ",
        "비밀번호",
        "는 ",
        "пароль",
        "密码：",
        "，",
        "hf_" + "a1" * 20,
        "name: ",
        "value: ",
        "-----BEGIN PRIVATE KEY-----",
        "abc1234567",
        " ",
        "\x1b[31m",
        "\u2028",
        "é" * 300,
        "가" * 1500,
        "A1" * 2000,
        "?sig=",
        "Cookie: a=",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES | st.text(max_size=8), max_size=24).map("".join))
@example("api_key=" + "가" * 5000)
def test_stand_ins_of_any_text_survive_a_second_pass(text: str) -> None:
    redactor = Redactor("property")
    clean = redactor.redact(text)
    assert clean.count("\n") == text.count("\n")
    assert not set(_stand_ins(clean)) - set(_stand_ins(redactor.redact(clean)))
    assert b"".join(redactor.stream([text.encode()])).decode() == clean or "\x00" in text


def test_stream_when_of_many_chunks_of_logs_then_linear(redactor: Redactor, cases: list[Path]) -> None:
    logs = b"".join(path.read_bytes() for path in cases)
    chunks = [(logs * 2)[at : at + (64 << 10)] for at in range(0, len(logs), 1 << 10)]
    assert_linear(lambda given: list(redactor.stream(given)), lambda size: (chunks * size)[:size], 256)


@pytest.mark.parametrize(
    "piece",
    [
        "api_key=",
        "password=password=",
        "api_key=None,",
        "api_key='",
        "token=",
        '"token",\n',
        "sk-a",
        "eyJ",
        "://",
        "://a:b@",
        "authorization: ",
        "cookie:",
        "?token=",
        "-----BEGIN PRIVATE KEY-----",
        "비밀번호는 ",
        "密码:",
        "пароль ",
        "password is ",
        "docker login -p ",
        "curl -u a:b ",
        "api_key=a,b;c&",
        "api_key=['a',",
        "\\u001b[31m",
        "\x1b[31mpassword\x1b[0m",
        "token[31m",
        "[31mhf_aaaaaaaaaaaaaaaa",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nINFO other\n" + "Ab1" * 20 + "\n",
        "['-----BEGIN PRIVATE KEY-----', 'Ab1',",
        "%3A%2F%2F",
        "%3A%2F%2Fa%3A",
        "password%3D",
        "\\u0026sig=",
        "ipmitool -P ",
        " -ua:",
        "AK" + "IA" + "A2" * 8 + " ",
        "пароль для ",
        "пароль йцу12",
        "password:\n",
        "密码：\n",
        'password="""',
        "set -x ",
        "x" * 64,
    ],
)
def test_line_when_of_nothing_but_anchors_then_linear(redactor: Redactor, piece: str) -> None:
    def line(size: int) -> bytes:
        return (piece.encode() * size)[:size]

    assert_linear(lambda data: list(redactor.stream([data])), line, 1 << 17, piece)
