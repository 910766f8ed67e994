"""The App Home: what the bot does, how to ask it, and a person's last incidents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk.models.blocks import (
    ActionsBlock,
    HeaderBlock,
    RichTextElement,
    RichTextElementParts,
    RichTextListElement,
)

from bot.catalogue import say
from bot.rendering.blocks_buttons import language_menu
from bot.rendering.blocks_text import clip, context, line, plain, rich, run
from bot.rendering.message import Json, Status
from kb.entry import Language

_SHOWN = 10
_WAYS = ("mention", "direct", "shortcut", "command", "more")
_WEB = re.compile(r"https?://[^\s<>\"|]{1,2000}")


@dataclass(frozen=True, slots=True)
class HomeIncident:
    """An incident in a person's list. `url`: of its thread."""

    title: str
    status: Status
    when: str = ""
    url: str | None = None


def home(language: Language, incidents: Sequence[HomeIncident] = (), command: str = "/k3 diagnose") -> Json:
    """The view of the Home tab. `incidents`: the newest first; ten of them are shown, and the rest is counted."""
    ways = [_way(language, way, command) for way in _WAYS]
    recent: list[RichTextElement] = [line(*_incident(language, one)) for one in incidents[:_SHOWN]]
    blocks = [
        HeaderBlock(text=plain(say(language, "slack.home.title"), 150)).to_dict(),
        rich(line(run(say(language, "slack.home.intro")))),
        rich(
            line(run(say(language, "slack.home.ways"), bold=True)), RichTextListElement(style="bullet", elements=ways)
        ),
        rich(
            line(run(say(language, "slack.home.recent"), bold=True)),
            RichTextListElement(style="bullet", elements=recent)
            if recent
            else line(run(say(language, "slack.home.none"), italic=True)),
        ),
    ]
    if len(incidents) > _SHOWN:
        blocks.append(context(say(language, "slack.more.hidden", count=len(incidents) - _SHOWN), language))
    blocks += [ActionsBlock(block_id="home", elements=[language_menu(language)]).to_dict()]
    blocks.append(context(say(language, "slack.home.private"), language))
    return {"type": "home", "blocks": blocks}


def _way(language: Language, way: str, command: str) -> RichTextElement:
    before, found, after = say(language, f"slack.home.way_{way}").partition("{command}")
    runs = [run(before)] if before else []
    if found:
        runs.append(run(clip(command, 80)[0], code=True))
    return line(*runs, *([run(after)] if after else []))


def _incident(language: Language, incident: HomeIncident) -> list[RichTextElement]:
    title, left = clip(incident.title, 200)
    title = (title.strip() or "…") + ("…" if left else "")
    usable = incident.url and _WEB.fullmatch(incident.url)
    runs = [RichTextElementParts.Link(url=incident.url, text=title) if usable and incident.url else run(title)]
    status = say(language, f"slack.home.{incident.status}")
    return [
        *runs,
        run(f"  [{status}]", italic=True),
        *([run(f"  {clip(incident.when, 40)[0]}")] if incident.when else []),
    ]
