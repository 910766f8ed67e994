"""Moments in the reader's zone and language: docs.slack.dev/messaging/formatting-message-text#date-formatting"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.workspace.page.texts import texts

_DATE = re.compile(r"<!date\^(?P<at>\d+)\^(?P<format>[^<>|^]+)(?:\^(?P<link>[^<>\s|]+))?\|(?P<fallback>[^<>]+)>")
_FIELD = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date token: as it is shown, and what it links to."""

    shown: str
    fallback: str
    link: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose eyes it is for: a time zone and a language. `now` is what "today" is measured by."""

    zone: ZoneInfo
    language: str
    now: float

    @classmethod
    def of(cls, timezone: str, language: str, now: float) -> Reader:
        """With UTC where the machine does not know the zone."""
        try:
            return cls(ZoneInfo(timezone), language, now)
        except (ZoneInfoNotFoundError, ValueError):
            return cls(ZoneInfo("UTC"), language, now)

    def clock(self, at: float) -> str:
        """Hours and minutes."""
        return datetime.fromtimestamp(at, self.zone).strftime("%H:%M")

    def full(self, at: float) -> str:
        """Date, time and zone, for whoever wonders."""
        moment = datetime.fromtimestamp(at, self.zone)
        return f"{moment:%Y-%m-%d %H:%M:%S} ({self.zone.key})"

    def moment(self, token: str) -> Moment | None:
        """What a date token shows; None for what is no date token."""
        found = _DATE.fullmatch(token)
        if found is None:
            return None
        return Moment(
            self.formatted(int(found["at"]), found["format"], found["fallback"]),
            found["fallback"],
            found["link"] or "",
        )

    def formatted(self, at: int, form: str, fallback: str) -> str:
        """A moment by Slack's form, as "{date_short_pretty} {time}"; the fallback where Slack would show it."""
        try:
            moment = datetime.fromtimestamp(at, UTC).astimezone(self.zone)
        except (ValueError, OverflowError, OSError):
            return fallback
        known = self._fields(moment)
        names = _FIELD.findall(form)
        if not names or any(name not in known for name in names):
            return fallback
        return _FIELD.sub(lambda found: known[found[1]], form)

    def _fields(self, moment: datetime) -> dict[str, str]:
        said = texts(self.language)
        numbers = {"year": moment.year, "number": moment.month, "day": moment.day}
        weekday = said["weekdays"].split()[moment.weekday()]
        months, short = said["months"].split(), said["months_short"].split()
        dates = {
            "date": said["date"].format(month=months[moment.month - 1], **numbers),
            "date_short": said["date"].format(month=short[moment.month - 1], **numbers),
        }
        dates["date_long"] = said["date_long"].format(weekday=weekday, date=dates["date"])
        today = datetime.fromtimestamp(self.now, self.zone).date()
        near = {timedelta(days=away): said[name] for away, name in ((-1, "yesterday"), (0, "today"), (1, "tomorrow"))}
        word = near.get(moment.date() - today)
        return {
            **dates,
            **{f"{name}_pretty": word or text for name, text in dates.items()},
            "date_num": f"{moment:%Y-%m-%d}",
            "time": f"{moment:%H:%M}",
            "time_secs": f"{moment:%H:%M:%S}",
        }
