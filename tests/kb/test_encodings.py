"""Legacy encodings: a word or two must do."""

from __future__ import annotations

import pytest

from kb.encodings import Legacy, scores, sniff


def decoded(line: bytes) -> tuple[str, str | None]:
    legacy = Legacy()
    legacy.learn([line])
    return legacy.decode(line)[0], legacy.encoding


@pytest.mark.parametrize("word", ["메모리 부족", "죽어요", "안 떠요", "오류", "서버가 느려요", "캐시 적중률이 낮아요"])
def test_korean_word_when_alone_then_cp949(word):
    assert decoded(word.encode("cp949")) == (word, "cp949")


@pytest.mark.parametrize("word", ["显存不足", "启动失败", "崩溃", "报错", "缓存命中率很低", "节点之间超时"])
def test_chinese_word_when_alone_then_gb18030(word):
    assert decoded(word.encode("gb18030")) == (word, "gb18030")


@pytest.mark.parametrize("name", ["cp1251", "koi8-r"])
@pytest.mark.parametrize(
    "word",
    ["падает", "не работает", "Ошибка", "сервер завис", "НЕ ХВАТАЕТ ПАМЯТИ", "кэш пустой", "всё упало", "привет"],
)
def test_russian_word_when_alone_then_its_own_encoding(name, word):
    assert decoded(word.encode(name)) == (word, name)


@pytest.mark.parametrize("name", ["cp949", "gb18030", "cp1251", "koi8-r"])
def test_native_words_when_between_technical_ones_then_read_right(name):
    line = {
        "cp949": "vLLM 0.30 에서 NCCL_DEBUG=INFO 로 켜면 Worker_TP3 이 죽습니다",
        "gb18030": "vLLM 0.30 里 Worker_TP3 报 CUDA error，然后退出",
    }.get(name, "vLLM 0.30: Worker_TP3 падает с CUDA error, потом выход")
    assert decoded(line.encode(name)) == (line, name)


def test_line_when_of_another_encoding_than_the_file_then_its_own_wins():
    legacy = Legacy()
    legacy.learn(["서버가 메모리 부족으로 죽습니다".encode("cp949")] * 20)
    assert legacy.encoding == "cp949"
    assert legacy.decode("Сервер падает при запуске".encode("cp1251")) == ("Сервер падает при запуске", True)


def test_line_when_it_could_be_two_then_that_of_the_file():
    word = "장 장".encode("cp949")  # alone it is rather Russian
    assert decoded(word)[1] == "cp1251"
    legacy = Legacy()
    legacy.learn(["서버가 메모리 부족으로 죽습니다".encode("cp949")] * 5)
    assert legacy.decode(word) == ("장 장", True)


def test_quotes_of_windows_when_alone_then_quotes():
    assert decoded(b"the \x93engine\x94 isn\x92t up")[0] == "the “engine” isn’t up"


@pytest.mark.parametrize("line", [b"na\xefve", b"\x80\x81", b"x\xff\xfey"])
def test_bytes_when_of_no_language_then_replaced_and_said(line):
    legacy = Legacy()
    legacy.learn([line])
    text, whole = legacy.decode(line)
    assert (legacy.encoding, whole) == (None, False)
    assert "\ufffd" in text


def test_scores_when_the_text_is_long_then_only_its_start_is_read():
    line = "메모리 ".encode("cp949") * 100_000
    assert scores(line) == scores(line[:4096])


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"plain", ("utf-8", 0)),
        (b"\xef\xbb\xbfx", ("utf-8", 3)),
        (b"\xff\xfea\0", ("utf-16-le", 2)),
        (b"\xfe\xff\0a", ("utf-16-be", 2)),
        (b"\xff\xfe\0\0a\0\0\0", ("utf-32-le", 4)),
        (b"a\0b\0c\0\n\0", ("utf-16-le", 0)),
        (b"\0a\0b\0c\0\n", ("utf-16-be", 0)),
        (b"^C\x03", ("utf-8", 0)),
        (bytes(range(64)), None),
        (b"a\0\0\0b\0\0\0", None),
    ],
)
def test_first_bytes_when_sniffed_then_encoding_and_length_of_the_mark(head, expected):
    assert sniff(head) == expected
