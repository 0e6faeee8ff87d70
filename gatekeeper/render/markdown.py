"""Output `markdown`: for pull request comments, job summaries and notes, as GitHub's flavour reads it."""

from __future__ import annotations

import re

from gatekeeper.model.masking import mask_text
from gatekeeper.render.decision import decision_page
from gatekeeper.render.page import Command, Fields, Table
from gatekeeper.render.plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Block, Column, Layout, Page

_SPECIAL = re.compile(r"[\\`*\[\]|~$<>&]|(?<![^\W_])_|_(?![^\W_])|@(?=[\w-])|#(?=\d)")
_BREAKER = "<!-- -->"  # invisible; what stands around it is no mention and no link
_WRITTEN = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": f"@{_BREAKER}", "#": f"#{_BREAKER}"}
_BLOCK_START = re.compile(r"^(\d+)([.)])(?=\s)|^([#+=-])")
_FENCES = re.compile(r"`+")


def decision(answer: Answer, layout: Layout) -> str:
    """The answer to one check."""
    return page(decision_page(answer), layout)


def page(page: Page, layout: Layout) -> str:  # noqa: ARG001 - whoever shows markdown breaks its lines
    """Any result: its headline as a heading, then its blocks."""
    parts = [f"### {inline(page.headline)}"]
    for block in page.blocks:
        body = _block(block)
        if body and block.title:
            parts.append(f"**{inline(block.title)}**")
        if body:
            parts.append(body)
    return "\n\n".join(parts) + "\n"


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - as above
    """The error and its remedy."""
    lines = [f"### {code(str(error.get('code')))}"]
    lines += [prose(line) for line in mask_text(str(error.get("message"))).split("\n") if line.strip()]
    if error.get("remedy"):
        lines.append(f"**to do:** {inline(mask_text(str(error['remedy'])))}")
    return "\n\n".join(lines) + "\n"


def prose(text: str) -> str:
    """*text* as a paragraph of its own: nothing in it is markup, HTML, a mention, a heading or a list."""
    escaped = inline(text)
    return _BLOCK_START.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", escaped)


def inline(text: str) -> str:
    """*text* within a line or a table's cell: no markup, no HTML, no mention, no end of the cell."""
    return _SPECIAL.sub(lambda match: _WRITTEN.get(match[0], f"\\{match[0]}"), _shown(text))


def code(text: str, *, in_table: bool = False) -> str:
    """*text* as a code span; backticks inside get a longer fence, `|` in a table is escaped for its cell."""
    shown = _shown(text)
    longest = max((len(fence) for fence in _FENCES.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown[:1] in {"`", " "} or shown[-1:] in {"`", " "} or not shown else ""
    if in_table:
        shown = shown.replace("|", "\\|")
    return f"{fence}{space}{shown}{space}{fence}"


def table(block: Table) -> str:
    """A table; where a row has a sentence, the last column holds it."""
    if not block.rows:
        return prose(block.empty)
    with_detail = any(row.detail for row in block.rows)
    headings = [inline(column.heading) for column in block.columns] + ([inline(block.detail)] if with_detail else [])
    marks = ["---:" if column.right else "---" for column in block.columns] + (["---"] if with_detail else [])
    lines = [_cells(headings), _cells(marks)]
    for row in block.rows:
        cells = [_cell(column, text) for column, text in zip(block.columns, row.cells, strict=True)]
        lines.append(_cells(cells + ([inline(row.detail)] if with_detail else [])))
    return "\n".join(lines)


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return table(block)
    if isinstance(block, Fields):
        show = code if block.code else inline
        return "\n".join(
            f"* {inline(label)}: {', '.join(show(value) for value in values)}" for label, values in block.pairs
        )
    if isinstance(block, Command):
        line = " ".join(_shown(word) for word in block.words)
        return f"````sh\n{line}\n````" if "```" in line else f"```sh\n{line}\n```"
    lead = "* " if block.title else ""
    return "\n".join(lead + prose(line) for line in block.lines)


def _cell(column: Column, text: str) -> str:
    return code(text, in_table=True) if column.code and text not in {"", "-"} else inline(text)


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _shown(text: str) -> str:
    return printable(text)
