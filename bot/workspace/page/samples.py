"""Sample logs for the page: those in `bot/workspace/samples`, or of another directory.

The directory holds `<language>/` folders with log files and, if wanted, a `message.txt` that is said
with them. Files beside the folders are for every language that has no folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.workspace.model import Message
from bot.workspace.page.texts import LANGUAGES, texts
from bot.workspace.person import Person
from bot.workspace.workspace import Workspace

SAMPLES = Path(__file__).parents[1] / "samples"


@dataclass(frozen=True, slots=True)
class Sample:
    """What one person posts: a text and files by name."""

    language: str
    text: str
    files: dict[str, bytes]


def load_samples(directory: Path) -> list[Sample]:
    """One sample a language, as far as there are files for it."""
    if not directory.is_dir():
        return []
    samples = []
    for language in LANGUAGES:
        own = directory / language
        paths = sorted(path for path in (own if own.is_dir() else directory).iterdir() if path.is_file())
        message = [path for path in paths if path.name == "message.txt"]
        files = {path.name: path.read_bytes() for path in paths if path.suffix != ".md" and path not in message}
        if files:
            text = message[0].read_text(encoding="utf-8").strip() if message else texts(language)["sample_question"]
            samples.append(Sample(language, text, files))
    return samples


def post_samples(workspace: Workspace, directory: Path, channel: str, otherwise: Person) -> list[Message]:
    """Everyone asks the bot in their own language, with their sample attached; `otherwise` where nobody speaks it."""
    posted = []
    by_language = {user.language: workspace.person(user.id) for user in reversed(workspace.people)}
    for sample in load_samples(directory):
        person = by_language.get(sample.language, otherwise)
        posted.append(person.upload(channel, sample.files, f"<@{workspace.bot.user_id}> {sample.text}"))
    return posted
