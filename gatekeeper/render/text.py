"""Output `text`: for a person at a terminal or in front of a CI log, at any width.

Loaded by every check, so it imports nothing that costs time.
"""

from __future__ import annotations

from gatekeeper.model.masking import mask_text
from gatekeeper.render.decision import decision_page
from gatekeeper.render.page import Command, Fields, Layout, Lines, Table
from gatekeeper.render.plain import columns, pad, paint, printable, wrap, wrap_command
from gatekeeper.render.tables import table_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Block, Page

NARROWEST = 20
"""Columns below which nothing is laid out any narrower."""


def decision(answer: Answer, layout: Layout) -> str:
    """The answer to one check; its first line begins with `[OK]`, `[STOP]` or `[HOLD]`."""
    return page(decision_page(answer), layout)


def page(page: Page, layout: Layout) -> str:
    """Any result: its headline, then its blocks."""
    if layout.width < NARROWEST:
        layout = Layout(NARROWEST, colour=layout.colour, unicode=layout.unicode)
    lines = [
        paint(line, page.tone, colour=layout.colour)
        for line in _headline(printable(page.headline, unicode=layout.unicode), layout.width)
    ]
    for block in page.blocks:
        lines += _block(block, layout)
    return "\n".join(lines) + "\n"


def error(error: Mapping[str, Any], layout: Layout) -> str:
    """`code: message`, then the remedy: what stderr says of an error. A message may have several lines."""
    message = f"{error.get('code')}: {error.get('message')}"
    lines = [
        line
        for part in message.split("\n")
        for line in wrap(printable(mask_text(part), unicode=layout.unicode), layout.width, rest="  ")
    ]
    lines[0] = paint(lines[0], "bad", colour=layout.colour)
    if error.get("remedy"):
        remedy = printable(mask_text(str(error["remedy"])), unicode=layout.unicode)
        lines += wrap(f"to do: {remedy}", layout.width, rest="  ")
    return "\n".join(lines) + "\n"


def _headline(text: str, width: int) -> list[str]:
    """Its parts stay two spaces apart where the line has room."""
    return [text] if columns(text) <= width else wrap(text, width, rest="  ")


def _block(block: Block, layout: Layout) -> list[str]:
    if isinstance(block, Fields):
        body = _fields(block, layout)
    elif isinstance(block, Table):
        body = table_lines(block, layout)
    elif isinstance(block, Command):
        body = wrap_command([printable(word, unicode=layout.unicode) for word in block.words], layout.width, lead="  ")
    else:
        body = _sentences(block, layout)
    if not body:
        return []
    if not block.title:
        return body
    return ["", paint(printable(f"{block.title}:", unicode=layout.unicode), "quiet", colour=layout.colour), *body]


def _fields(block: Fields, layout: Layout) -> list[str]:
    lines: list[str] = []
    pairs = [(printable(label, unicode=layout.unicode), values) for label, values in block.pairs]
    widest = max((columns(label) for label, _ in pairs), default=0)
    for label, values in pairs:
        lead = "  " + pad(label, widest, right=False) + "  "
        for value in values:
            lines += wrap(printable(value, unicode=layout.unicode), layout.width, first=lead, rest=" " * len(lead))
            lead = " " * len(lead)
    return lines


def _sentences(block: Lines, layout: Layout) -> list[str]:
    lead = "  - " if block.title else ""
    return [
        paint(line, block.tone, colour=layout.colour)
        for text in block.lines
        for line in wrap(printable(text, unicode=layout.unicode), layout.width, first=lead, rest=" " * len(lead))
    ]
