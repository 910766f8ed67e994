"""Blocks: any encoding, colours, progress bars, and raw line numbers that stay right."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kb.blocks import BLOCK, MAX_LINE, Reading, UnreadableError, read_blocks

RECORD = "(EngineCore_DP0 pid=7) ERROR 08-11 12:00:00 [core.py:708] EngineCore failed to start."


def read(data: bytes | Iterable[bytes], reading: Reading | None = None) -> list[tuple[int, str]]:
    """Lines as (raw number, text)."""
    chunks = [data] if isinstance(data, bytes) else data
    out: list[tuple[int, str]] = []
    for block in read_blocks(chunks, reading if reading is not None else Reading()):
        assert block.data.endswith(b"\n")
        lines = block.data.decode("utf-8").split("\n")[:-1]
        numbers = block.numbers if block.numbers is not None else range(block.first, block.first + block.raw_lines)
        out.extend(zip(numbers, lines, strict=True))
    return out


def texts(data: bytes) -> list[str]:
    return [text for _, text in read(data)]


def encoding_of(data: bytes) -> str:
    reading = Reading()
    read(data, reading)
    return reading.encoding


# Line ends and numbers


def test_lines_when_plain_then_numbered_from_one():
    assert read(b"one\ntwo\n\nfour\n") == [(1, "one"), (2, "two"), (3, ""), (4, "four")]


def test_last_line_when_without_line_end_then_read_all_the_same():
    assert read(b"one\ntwo") == [(1, "one"), (2, "two")]


@pytest.mark.parametrize("end", [b"\r\n", b"\r\r\n", b"\r\r\r\n"])
def test_line_ends_when_of_windows_or_a_terminal_then_stripped(end):
    assert read(b"one" + end + b"two" + end) == [(1, "one"), (2, "two")]


def test_line_ends_when_of_old_macs_then_lines_are_told_apart():
    assert read(b"first line\rINFO second\rRuntimeError: third\r") == [
        (1, "first line"),
        (2, "INFO second"),
        (3, "RuntimeError: third"),
    ]


def test_line_ends_when_mixed_then_carriage_returns_alone_do_not_count_as_lines():
    assert read(b"a\r\nb\nc 1%\rc 2%\nd") == [(1, "a"), (2, "b"), (3, "c 2%"), (4, "d")]


def test_vertical_tabs_and_unicode_separators_when_in_a_line_then_they_do_not_end_it():
    assert [number for number, _ in read("a\u2028b\x0bc\x85d\nnext".encode())] == [1, 2]


def test_counts_when_read_then_bytes_and_lines_are_those_of_the_file():
    reading = Reading()
    read([b"one\nt", b"wo\nthree"], reading)
    assert (reading.bytes_read, reading.lines_read) == (13, 3)


# Colours and progress bars


def test_colours_when_of_vllm_on_a_terminal_then_gone():
    coloured = (
        "\x1b[0;36m(Worker_TP0 pid=9)\x1b[0;0m \x1b[31mERROR\x1b[0m \x1b[90m08-11 12:00:00\x1b[0m "
        "\x1b[90m[core.py:7]\x1b[0m boom"
    )
    assert texts(coloured.encode()) == ["(Worker_TP0 pid=9) ERROR 08-11 12:00:00 [core.py:7] boom"]


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[2K",
        "\x1b[1A",
        "\x1b[?25l",
        "\x1b[38;5;196m",
        "\x1b]0;title\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1b(B",
        "\x1bM",
    ],
)
def test_terminal_sequences_when_in_a_line_then_gone(sequence):
    assert texts(f"a{sequence}b\n".encode()) == ["ab"]


@pytest.mark.parametrize("escape", ["", "^[", "\\x1b", "\\u001b", "\\033", "\\e", "\u241b"])
def test_colours_when_slack_or_cat_took_the_escape_then_gone(escape):
    text = f"{escape}[0;36m(APIServer pid=1){escape}[0;0m {escape}[33mWARNING{escape}[0m 08-11 12:00:00 [a.py:1] x"
    assert texts(text.encode()) == ["(APIServer pid=1) WARNING 08-11 12:00:00 [a.py:1] x"]


def test_brackets_with_an_m_when_no_colours_then_kept():
    assert texts(b"took [12m] and x[0m1]\n") == ["took [12m] and x[0m1]"]


def test_origin_when_it_begins_like_a_colour_then_kept_beside_lost_escapes():
    text = b"[0;36m(Worker_TP0 pid=1)[0;0m [31mERROR[0m 11-27 02:56:21 [multiproc_executor.py:1057] in [model.py:3][m\n"
    assert texts(text) == ["(Worker_TP0 pid=1) ERROR 11-27 02:56:21 [multiproc_executor.py:1057] in [model.py:3]"]


def test_escape_when_alone_then_no_terminal_can_be_harmed():
    assert texts(b"a\x1b[\nb\x1b") == ["a[", "b"]


def test_progress_bar_when_overwritten_then_only_its_last_state():
    bar = b"\r".join(b"Loading safetensors checkpoint shards: %3d%% Completed | %d/96" % (n, n) for n in range(97))
    assert read(b"start\n" + bar + b"\nend\n") == [
        (1, "start"),
        (2, "Loading safetensors checkpoint shards:  96% Completed | 96/96"),
        (3, "end"),
    ]


def test_progress_bar_when_it_wrote_over_an_error_then_the_error_is_kept():
    line = b"Loading:   0%|   | 0/9\rRuntimeError: CUDA error: out of memory\rLoading:  11%|#  | 1/9\rLoading:  22%|##"
    assert read(b"a\n" + line + b"\nb\n") == [
        (1, "a"),
        (2, "Loading:   0%|   | 0/9"),
        (2, "RuntimeError: CUDA error: out of memory"),
        (2, "Loading:  22%|##"),
        (3, "b"),
    ]


def test_progress_bar_when_the_file_holds_nothing_else_then_it_is_one_line():
    assert read(b"\r".join(b"Capturing graphs: %d%%|#| %d/51 [00:01]" % (n, n) for n in range(50))) == [
        (1, "Capturing graphs: 49%|#| 49/51 [00:01]")
    ]


def test_progress_bar_when_longer_than_a_line_may_be_then_its_end_is_read():
    bar = b"".join(b"\rCapturing CUDA graphs: %7d%%" % n for n in range(60_000))
    reading = Reading()
    lines = read([b"first\n", bar, b"\rRuntimeError: late\nlast\n"], reading)
    assert lines[0] == (1, "first")
    assert lines[-3:] == [(2, "Capturing CUDA graphs:   59999%"), (2, "RuntimeError: late"), (3, "last")]
    assert reading.cut_lines == []


def test_nul_bytes_when_few_then_dropped():
    assert read(b"a\0b\n" + b"x" * 400 + b"\n")[0] == (1, "ab")


def test_file_when_it_starts_with_the_hole_of_a_truncated_log_then_read():
    assert read([b"\0" * 100_000, b"\0" * 5000 + b"INFO 08-11 first\nsecond\n"]) == [
        (1, "INFO 08-11 first"),
        (2, "second"),
    ]


# Long lines


def test_line_when_longer_than_the_limit_then_cut_and_said():
    reading = Reading()
    lines = read([b"first\n", b"x" * (MAX_LINE + 5), b"y" * 10, b"\nlast\n"], reading)
    assert [(number, len(text)) for number, text in lines] == [(1, 5), (2, MAX_LINE), (3, 4)]
    assert reading.cut_lines == [2]
    assert reading.lines_read == 3


@pytest.mark.parametrize("length", [MAX_LINE - 1, MAX_LINE])
def test_line_when_just_as_long_as_the_limit_then_whole(length):
    reading = Reading()
    lines = read(b"a\n" + b"x" * length + b"\nb\n", reading)
    assert [(number, len(text)) for number, text in lines] == [(1, 1), (2, length), (3, 1)]
    assert reading.cut_lines == []


def test_line_when_cut_within_a_character_then_no_broken_character():
    reading = Reading()
    lines = read("é".encode() * MAX_LINE + b"\n", reading)
    assert set(lines[0][1]) == {"é"}
    assert (reading.cut_lines, reading.encoding, reading.undecodable) == ([1], "utf-8", False)


def test_several_long_lines_when_read_then_each_is_said():
    reading = Reading()
    read(b"".join([b"a\n", b"x" * (2 * MAX_LINE), b"\n", b"b\n", b"z" * (MAX_LINE + 1)]), reading)
    assert reading.cut_lines == [2, 4]


def test_blocks_when_the_file_is_large_then_bounded_and_gapless():
    line = RECORD.encode() + b"\n"
    total = 0
    for block in read_blocks((line * 1000 for _ in range(60)), Reading()):
        assert len(block.data) <= BLOCK
        assert block.first == total + 1
        total += block.raw_lines
    assert total == 60_000


# Encodings


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
    ],
)
def test_encoding_when_marked_then_mark_gone_and_text_right(name, mark):
    data = mark + f"{RECORD}\r\n서버가 죽어요\r\n".encode(name)
    assert read(data) == [(1, RECORD), (2, "서버가 죽어요")]
    assert encoding_of(data) == name


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        f"{RECORD}\n" * 3,
        "K3 서버가 켜지다가 죽어요\n로그는 아래에 있습니다\n",
        "服务 启动失败\nNCCL 报错\n",
        "Сервер падает\n",
    ],
)
def test_utf16_when_without_mark_then_recognised(name, text):
    assert texts(text.encode(name)) == text.split("\n")[:-1]


def test_byte_order_marks_when_files_were_put_together_then_gone():
    mark = codecs.BOM_UTF8
    assert texts(mark + b"one\n" + mark + b"(Worker pid=1) two\n") == ["one", "(Worker pid=1) two"]


NATIVE = {
    "cp949": ["켜지다가 메모리 부족으로 죽습니다", "서버가 안 떠요", "노드 두 대에서 NCCL 오류가 납니다"],
    "gb18030": ["启动后第一条请求就崩溃了", "显存不足", "两个节点之间 NCCL 超时，怎么办？"],
    "cp1251": ["Сервер падает при запуске", "не работает", "Ошибка: не хватает памяти GPU"],
    "koi8-r": ["Сервер падает при запуске", "не работает", "Ошибка: не хватает памяти GPU"],
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in NATIVE.items() for line in lines])
def test_legacy_encoding_when_few_words_stand_beside_an_ascii_log_then_read_right(name, line):
    data = (f"{RECORD}\n" * 50).encode() + line.encode(name) + b"\n" + RECORD.encode() + b"\n"
    assert read(data)[50] == (51, line)
    assert encoding_of(data) == name


@pytest.mark.parametrize("name", NATIVE)
def test_legacy_encoding_when_the_text_is_long_then_read_right(name):
    text = "\n".join(NATIVE[name] * 200) + "\n"
    assert texts(text.encode(name)) == text.split("\n")[:-1]


def test_legacy_encoding_when_the_first_native_line_comes_late_then_read_right():
    data = (RECORD.encode() + b"\n") * 30_000 + "메모리가 부족합니다".encode("cp949") + b"\n"
    assert read([data[at : at + 65_536] for at in range(0, len(data), 65_536)])[-1] == (30_001, "메모리가 부족합니다")


def test_encodings_when_mixed_in_one_file_then_each_line_in_its_own():
    lines = [
        ("Сервер падает при запуске после обновления", "cp1251"),
        ("서버가 메모리 부족으로 죽습니다", "utf-8"),
        ("켜지다가 바로 죽어 버립니다 왜 그런가요", "cp949"),
        ("Почему не запускается движок", "cp1251"),
        (RECORD, "utf-8"),
    ]
    assert texts(b"".join(text.encode(name) + b"\n" for text, name in lines)) == [text for text, _ in lines]


def test_korean_line_when_it_happens_to_be_valid_utf8_then_still_korean():
    tail = bytes([0xC2, 0xA1, 0xC3, 0xB3])  # two syllables of CP949 that are two letters of UTF-8
    data = "서버가 메모리 부족으로 죽습니다\n".encode("cp949") * 3 + tail + b"\n"
    assert texts(data)[3] == tail.decode("cp949")


def test_sign_when_alone_in_a_utf8_line_of_a_legacy_file_then_kept():
    data = "서버가 메모리 부족으로 죽습니다\n".encode("cp949") + "took 12 µs\n".encode()
    assert texts(data)[1] == "took 12 µs"


def test_bytes_when_of_no_known_encoding_then_shown_as_replacement_and_said():
    reading = Reading()
    assert read(b"caf\xe9 was here\n", reading) == [(1, "caf\ufffd was here")]
    assert reading.undecodable


def test_text_when_valid_utf8_then_nothing_is_guessed():
    reading = Reading()
    text = "서버 — сервер — 服务 — naïve\n"
    assert read(text.encode(), reading) == [(1, text[:-1])]
    assert (reading.encoding, reading.undecodable) == ("utf-8", False)


# What is no text


@pytest.mark.parametrize("chunks", [[], [b""], [b"", b""]])
def test_stream_when_empty_then_unreadable(chunks):
    with pytest.raises(UnreadableError) as caught:
        read(chunks)
    assert caught.value.reason == "empty"


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(200),
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
        b"PK\x03\x04" + bytes(range(256)) * 4,
        bytes(1000),
    ],
)
def test_stream_when_binary_then_unreadable(data):
    with pytest.raises(UnreadableError) as caught:
        read(data)
    assert caught.value.reason == "binary"


def test_mark_when_alone_then_no_lines():
    assert read(codecs.BOM_UTF8) == []


# Chunks make no difference

DOCKER = b'{"log":"%s","stream":"stderr","time":"2026-08-11T12:00:00Z"}\n'
PIECES = st.one_of(
    st.sampled_from(
        [
            RECORD.encode(),
            b"\r",
            b"\r\n",
            b"\n",
            b"\n\n",
            b"\x1b[31mred\x1b[0m",
            b"\x1b[",
            "메모리가 부족합니다".encode("cp949"),
            "Сервер падает".encode("cp1251"),
            "显存不足".encode("gb18030"),
            "한글".encode(),
            b"\xff\xfe",
            b"\xef\xbb\xbf",
            b"\0\0",
            DOCKER % b"text\\n",
            DOCKER % (b"p" * 9000),
            b"2026-08-11T12:00:00Z stderr P part\n",
            b"2026-08-11T12:00:00Z stderr F whole\n",
            b"Loading:  50%|##\r",
            b"x" * 3000,
        ]
    ),
    st.binary(max_size=40),
)


def everything(chunks: Iterable[bytes]) -> tuple[object, ...]:
    reading = Reading()
    try:
        blocks = list(read_blocks(chunks, reading))
    except UnreadableError as error:
        return (error.reason,)
    return (blocks, reading)


@given(st.lists(PIECES, max_size=30).map(b"".join), st.data())
@settings(max_examples=150, deadline=None)
def test_chunks_when_cut_anywhere_then_the_same_blocks(data, draw):
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=12)))
    parts = [data[one:two] for one, two in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert everything(parts) == everything([data])


@pytest.mark.parametrize("name", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
def test_chunks_when_of_one_byte_then_the_same_blocks(name):
    data = f"{RECORD}\r\n\x1b[31m메모리가 부족합니다\x1b[0m\r\nLoading 1%\rLoading 2%\r\n".encode(name)
    assert everything(data[at : at + 1] for at in range(len(data))) == everything([data])


def test_chunks_when_a_line_crosses_a_block_then_the_same_blocks():
    data = b"".join(b"%d %s\n" % (n, b"x" * (n % 3000)) for n in range(2000))
    whole = everything([data])
    for size in (1 << 20, (1 << 20) - 1, 4096, 77_777):
        assert everything(data[at : at + size] for at in range(0, len(data), size)) == whole


@given(st.binary(max_size=4000))
@example(b"\r" * 100)
@example(b"\x1b" * 100)
@example(b"\0" * 20 + b"\r\n")
@settings(max_examples=200, deadline=None)
def test_any_bytes_when_read_then_only_unreadable_is_raised(data):
    try:
        lines = read(data)
    except UnreadableError:
        return
    assert [number for number, _ in lines] == sorted(number for number, _ in lines)
    assert all("\n" not in text for _, text in lines)
