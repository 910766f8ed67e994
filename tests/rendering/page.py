"""Blocks as a page to look at: `python -m tests.rendering.page LOG LANGUAGE [SECTION ...] > page.html`.

Not Slack's own looks, but the same order, texts and weights.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import Any

from bot.rendering.blocks import AnswerState, answer
from kb.engine import diagnose
from kb.evidence import Source
from kb.library import Library

Json = dict[str, Any]
_STYLE = """
body{font:15px/1.47 Lato,"Noto Sans","Noto Sans CJK KR",sans-serif;max-width:44rem;margin:1rem auto;color:#1d1c1d}
.b{margin:.35rem 0}h1{font-size:18px;margin:.6rem 0 .3rem}.ctx{color:#616061;font-size:13px}
pre{background:#f8f8f8;border:1px solid #ddd;border-radius:4px;padding:8px;margin:4px 0;white-space:pre-wrap;
  font-size:12px}
code{background:#f4f4f4;border:1px solid #ddd;border-radius:3px;color:#c01343;padding:0 3px;font-size:12px}
button,select{font-weight:700;border:1px solid #bbb;border-radius:4px;background:#fff;
  padding:5px 12px;margin:2px 6px 2px 0}
.primary{background:#007a5a;color:#fff}.row{display:flex;justify-content:space-between;gap:1rem}ul{margin:.1rem 0}
.desc{color:#616061;font-size:13px;margin-left:1.5rem}
"""


def page(blocks: list[Json]) -> str:
    """A whole page."""
    body = "\n".join(f'<div class="b">{_block(block)}</div>' for block in blocks)
    return f'<!DOCTYPE html><meta charset="utf-8"><style>{_STYLE}</style>{body}'


def _block(block: Json) -> str:
    kind = block["type"]
    if kind == "header":
        return f"<h1>{escape(block['text']['text'])}</h1>"
    if kind == "context":
        return "".join(f'<div class="ctx">{escape(one["text"])}</div>' for one in block["elements"])
    if kind == "section":
        side = _element(block["accessory"]) if "accessory" in block else ""
        return f'<div class="row"><div>{escape(block["text"]["text"])}</div><div>{side}</div></div>'
    if kind == "actions":
        return "".join(map(_element, block["elements"]))
    return "".join(map(_rich, block["elements"]))


def _element(element: Json) -> str:
    if element["type"] == "checkboxes":
        ticked = element.get("initial_options", [])
        return "".join(
            f"<div><input type=checkbox {'checked' * (one in ticked)}> {escape(one['text']['text'])}"
            f'<div class="desc">{escape(one.get("description", {}).get("text", ""))}</div></div>'
            for one in element["options"]
        )
    if element["type"] == "static_select":
        return f"<select><option>{escape(element['initial_option']['text']['text'])}</select>"
    return f'<button class="{element.get("style", "")}">{escape(element["text"]["text"])}</button>'


def _rich(element: Json) -> str:
    inner = "".join(map(_rich if element["type"] == "rich_text_list" else _run, element["elements"]))
    if element["type"] == "rich_text_preformatted":
        return f"<pre>{inner}</pre>"
    return (
        f"<ul>{inner.replace('<div>', '<li>')}</ul>" if element["type"] == "rich_text_list" else f"<div>{inner}</div>"
    )


def _run(element: Json) -> str:
    text = escape(element.get("text") or f"@{element.get('user_id')}")
    if element["type"] == "link":
        return f'<a href="{escape(element["url"])}">{text}</a>'
    for style, tag in (("bold", "b"), ("italic", "i"), ("code", "code")):
        if element.get("style", {}).get(style):
            text = f"<{tag}>{text}</{tag}>"
    return text


def main() -> None:
    """Print the page of one log."""
    path, language, *sections = sys.argv[1:]
    library = Library.open()
    report = diagnose([Source(Path(path).name, [Path(path).read_bytes()])], library, language)  # type: ignore[arg-type]
    print(page(answer(report, AnswerState("incident", expanded=frozenset(sections)), library).blocks))


if __name__ == "__main__":
    main()
