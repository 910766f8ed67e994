"""The message that starts a thread for text given by command or form."""

from __future__ import annotations

from bot.catalogue import say
from bot.rendering.message import OutgoingMessage
from bot.store import Evidence, Incident
from kb.entry import Language

_SHOWN = 1_500


def root_message(language: Language, incident: Incident, item: Evidence) -> OutgoingMessage:
    """Who asked, and the beginning of what they gave, shown literally."""
    text = (item.log or item.prose).strip() or "…"
    shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    said = say(language, f"service.root_{'command' if incident.via == 'command' else 'form'}")
    elements: list[dict[str, object]] = [
        {
            "type": "rich_text_section",
            "elements": [{"type": "user", "user_id": incident.author}, {"type": "text", "text": f" {said}"}],
        },
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]},
    ]
    if len(text) > _SHOWN:
        more = say(language, "service.root_more", count=len(text) - _SHOWN)
        elements.append({"type": "rich_text_section", "elements": [{"type": "text", "text": more}]})
    return OutgoingMessage(blocks=[{"type": "rich_text", "elements": elements}], text=said, files=[])
