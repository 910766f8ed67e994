"""Which of the four languages a person writes."""

from __future__ import annotations

import re

from kb.entry import Language

_SCRIPTS: tuple[tuple[Language, re.Pattern[str], int], ...] = (
    ("ko", re.compile("[\uac00-\ud7a3\u3131-\u318e]"), 3),
    ("zh", re.compile("[\u4e00-\u9fff]"), 3),
    ("ru", re.compile("[\u0400-\u04ff]"), 1),
)
"""Language, its letters, and how many Latin letters one of them is worth."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_ENGLISH = re.compile(
    r"(?i)\b(?:the|an?|is|are|was|were|it|its|we|our|my|and|or|but|when|while|after|before|since|not|does|do|to|of|with"
    r"|that|this|in|on|for|from|if|no|has|have|be|by|at|as|so|there|what|why|how)\b"
)
_LOCALE = re.compile(r"(ko|zh|ru|en)(?:[_.@-]|$)")
_WINDOWS: dict[str, Language] = {"korean": "ko", "chinese": "zh", "russian": "ru", "english": "en"}


def detect_language(prose: str) -> Language | None:
    """The language of a person's words, or None where there are too few to tell.

    Technical words stay Latin in every language, so a few native letters outweigh them, but not a whole English
    sentence that quotes a word.
    """
    weights: dict[Language, int] = {
        language: worth * len(letters.findall(prose)) for language, letters, worth in _SCRIPTS
    }
    native = max(weights, key=lambda language: weights[language])
    if weights["ko"] > 3 or native == "ko":
        native = "ko"  # Korean may quote Han characters, Chinese does not quote Hangul
    words, function_words = len(_WORD.findall(prose)), len(_ENGLISH.findall(prose))
    if (
        weights[native]
        and not (function_words >= 4 and weights[native] <= function_words)
        and (weights[native] > 3 or words < 3)
    ):
        return native
    return "en" if words >= 3 or (words == 2 and function_words) else None


def language_of_locale(value: str) -> Language | None:
    """The language of a locale such as `ko_KR.UTF-8`, or None where it is none of the four."""
    known = _LOCALE.match(value.lower())
    if known is not None:
        return next(language for language in _WINDOWS.values() if language == known.group(1))
    return next((language for name, language in _WINDOWS.items() if value.lower().startswith(name)), None)
