"""Time stamps of logs as seconds, without regard to time zones."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_RUSSIAN = ("янв", "фев", "мар", "апр", "ма", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
_ASSUMED_YEAR = "2026"  # for formats without a year; only the order of lines matters
_DAY = 86400.0


@lru_cache(maxsize=4096)
def seconds(stamp: str) -> float | None:
    """Seconds since 1970 of `YYYY-MM-DD HH:MM:SS` (also with `/` and `T`), or None where there is no such moment."""
    stamp = stamp.replace("T", " ").replace("/", "-")
    try:
        return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        pass
    if stamp[4:10] == "-02-29":  # of a leap year that the format does not tell
        before = seconds(f"{stamp[:4]}-02-28{stamp[10:]}")
        return before + _DAY if before is not None else None
    return None


@lru_cache(maxsize=4096)
def month_day(month: str, day: str, clock: str, year: str | None = None) -> float | None:
    """Seconds of a month (its short name or its number), a day and `HH:MM:SS`; None where there is none."""
    number = _month(month.strip(" ."))
    return seconds(f"{year or _ASSUMED_YEAR}-{number:02d}-{int(day):02d} {clock}") if number else None


def _month(name: str) -> int | None:
    if name in _MONTHS:
        return _MONTHS[name]
    digits = name.rstrip("월月")  # how Korean, Chinese and Japanese locales write it
    if digits.isdecimal():
        return int(digits)
    return next((at for at, stem in enumerate(_RUSSIAN, 1) if name.lower().startswith(stem)), None)
