"""What autocompletion in Slack's message field does: a typed @Name becomes a mention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.workspace.workspace import Workspace

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def with_mentions(workspace: Workspace, typed: str) -> str:
    """`typed`, with <@U…> or <!subteam^S…> for every @Name of a person, bot or user group outside of code."""
    directory = workspace.directory
    tokens = {name.casefold(): f"<@{user.id}>" for user in directory.users for name in (user.name, user.real_name)}
    tokens |= {group.handle.casefold(): f"<!subteam^{group.id}>" for group in directory.groups}
    # a particle of Korean, or any word of a language without blanks, may follow at once
    names = "|".join(re.escape(name) for name in sorted(tokens, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w<@])@({names})(?![A-Za-z0-9_-])", re.IGNORECASE)

    def named(text: str) -> str:
        return pattern.sub(lambda found: tokens[found[1].casefold()], text)

    parts, position = [], 0
    for code in _CODE.finditer(typed):
        parts += [named(typed[position : code.start()]), code.group()]
        position = code.end()
    return "".join((*parts, named(typed[position:])))
