"""Dates as a person reads them: 1795982608 is 2026-11-29 20:03:28 UTC."""

import pytest

from bot.workspace.page.dates import Reader
from bot.workspace.page.markup import mrkdwn, rich_text

AT = 1795982608


def reader(zone="Etc/UTC", language="en", later=0):
    return Reader.of(zone, language, AT + later)


@pytest.mark.parametrize(
    ("zone", "language", "shown"),
    [
        ("America/New_York", "en", "today 15:03"),
        ("Asia/Seoul", "ko", "오늘 05:03"),
        ("Asia/Shanghai", "zh", "今天 04:03"),
        ("Europe/Moscow", "ru", "сегодня 23:03"),
        ("Nowhere/Atlantis", "en", "today 20:03"),
    ],
)
def test_moment_when_of_today_then_in_the_readers_zone_and_language(zone, language, shown):
    assert reader(zone, language).formatted(AT, "{date_short_pretty} {time}", "x") == shown


@pytest.mark.parametrize(
    ("language", "form", "shown"),
    [
        ("en", "{date_short_pretty} {time}", "Nov 29, 2026 20:03"),
        ("ko", "{date_short_pretty}", "2026년 11월 29일"),
        ("zh", "{date_long}", "2026年11月29日 星期日"),
        ("ru", "{date}", "29 ноября 2026 г."),
        ("en", "{date_num} {time_secs}", "2026-11-29 20:03:28"),
        ("en", "on {date_long_pretty}", "on Sunday, November 29, 2026"),
        ("en", "{week}", "the fallback"),
        ("en", "no field", "the fallback"),
    ],
)
def test_moment_when_not_of_these_days_then_its_date(language, form, shown):
    assert reader("Etc/UTC", language, later=9 * 86_400).formatted(AT, form, "the fallback") == shown


@pytest.mark.parametrize(("days", "word"), [(-1, "tomorrow"), (1, "yesterday"), (2, "Nov 29, 2026")])
def test_moment_when_a_day_away_then_the_word_for_it(days, word):
    assert reader(later=days * 86_400).formatted(AT, "{date_short_pretty}", "x") == word


def test_mrkdwn_when_it_holds_a_date_then_the_readers_time_with_the_fallback_to_hover(workspace):
    text = f"✓ 1 <!date^{AT}^{{date_short_pretty}} {{time}}|2026-11-29 20:03 UTC>"
    html = '<time title="2026-11-29 20:03 UTC">{}</time>'
    assert mrkdwn(workspace, text, reader=reader("Asia/Seoul", "ko")) == "✓ 1 " + html.format("오늘 05:03")
    assert mrkdwn(workspace, text) == "✓ 1 " + html.format("2026-11-29 20:03 UTC")


def test_mrkdwn_when_the_date_has_a_link_then_linked_if_it_is_safe(workspace):
    link = "<!date^1^{date_num}^https://x.y|then>"
    html = '<a href="https://x.y" target="_blank" rel="noopener noreferrer"><time title="then">1970-01-01</time></a>'
    assert mrkdwn(workspace, link, reader=reader()) == html
    assert "href" not in mrkdwn(workspace, link.replace("https", "javascript"), reader=reader())


def test_moment_when_out_of_range_then_the_fallback():
    assert reader().formatted(10**18, "{date}", "then") == "then"


def test_rich_text_when_it_holds_a_date_then_the_same(workspace):
    word = {"type": "date", "timestamp": AT, "format": "{date_num} {time}", "fallback": "then"}
    section = {"type": "rich_text_section", "elements": [word]}
    assert '<time title="then">2026-11-29 20:03</time>' in rich_text(workspace, section, reader=reader())
    assert "then" in rich_text(workspace, section)
