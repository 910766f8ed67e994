"""The language of a person's words, technical words aside."""

from __future__ import annotations

import pytest

from kb.language import detect_language, language_of_locale


@pytest.mark.parametrize(
    ("prose", "language"),
    [
        ("K3가 켜지다가 죽어요", "ko"),
        ("왜 죽지?", "ko"),
        ("왜?", "ko"),
        ("B300 8장, NCCL_DEBUG=INFO, vLLM 0.30에서 prefix cache hit rate가 0%입니다", "ko"),
        ("性能(性能)이 떨어집니다", "ko"),
        ("ㅠㅠ 서버 또 죽음", "ko"),
        ("启动就崩", "zh"),
        ("B300 上 vLLM 0.30 prefix cache 命中率一直是 0", "zh"),
        ("怎么办", "zh"),
        ("Не стартует", "ru"),
        ("после обновления vLLM 0.30 упал prefix cache hit rate", "ru"),
        ("the engine core dies after the upgrade", "en"),
        ("8x B300, after upgrade to 0.30 the cache never hits", "en"),
        ("K3 is slow", "en"),
        ("When we send the prompt 你好 the model answers with an empty string, and the log shows nothing", "en"),
        ("The model sometimes says привет when it should not, is that a parser problem?", "en"),
        ("", None),
        ("???", None),
        ("vLLM 0.30.0", None),
        ("ok", None),
        ("12345 0x7f", None),
    ],
)
def test_language_when_words_are_given_then_that_of_the_words(prose, language):
    assert detect_language(prose) == language


@pytest.mark.parametrize(
    ("value", "language"),
    [
        ("ko_KR.UTF-8", "ko"),
        ("zh_CN", "zh"),
        ("zh-Hant-TW", "zh"),
        ("ru", "ru"),
        ("en_US.UTF-8", "en"),
        ("EN", "en"),
        ("ru_RU@luma", "ru"),
        ("Korean_Korea.949", "ko"),
        ("Chinese (Simplified)_China.936", "zh"),
        ("Russian_Russia.1251", "ru"),
        ("English_United States.1252", "en"),
        ("C.UTF-8", None),
        ("POSIX", None),
        ("", None),
        ("kok_IN", None),
        ("run", None),
        ("de_DE.UTF-8", None),
    ],
)
def test_locale_when_of_a_system_then_its_language(value, language):
    assert language_of_locale(value) == language
