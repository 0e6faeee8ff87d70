"""The pages of reviews: what keeps a file from loading, and what a reviewer should know."""

from __future__ import annotations

from gatekeeper.render.page import BAD, GOOD, HELD, Column, Fields, Page, Row, Table
from gatekeeper.render.sentences import NONE, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

_COLUMNS = (
    Column("severity"),
    Column("place", code=True, plain=True),
    Column("pointer", code=True),
    Column("code", code=True),
)
_TONES = {"error": BAD, "warning": HELD}


def policy_page(
    source: str, diagnostics: Sequence[Mapping[str, Any]], *, policy: Mapping[str, Any] | None = None
) -> Page:
    """What was found in one policy file.

    Args:
        source: the file, as the caller named it.
        diagnostics: `code`, `severity`, `pointer`, `line`, `column`, `message`, `remedy` each, in the file's order.
        policy: `policy_id`, `policy_version`, `policy_digest` of a policy that loads; None for one that does not.
    """
    return _page(source, diagnostics, "policy", policy)


def collection_page(
    source: str, diagnostics: Sequence[Mapping[str, Any]], *, collection: Mapping[str, Any] | None = None
) -> Page:
    """What was found in one collection file, as `policy_page`; `collection` are facts of one that loads."""
    return _page(source, diagnostics, "collection", collection)


def _page(source: str, diagnostics: Sequence[Mapping[str, Any]], what: str, facts: Mapping[str, Any] | None) -> Page:
    errors = sum(one.get("severity") == "error" for one in diagnostics)
    warnings = len(diagnostics) - errors
    blocks: list[Block] = []
    if facts is not None:
        pairs = [(key.replace("_", " "), [value_text(value)]) for key, value in facts.items()]
        blocks.append(Fields(pairs, code=True))
    if diagnostics:
        blocks.append(Table(_COLUMNS, [_row(source, one) for one in diagnostics]))
    verdict = "does not load" if facts is None else "loads"
    headline = f"{source} {verdict}: {_plural(errors, 'error')}, {_plural(warnings, 'warning')}"
    document = {
        "source": source,
        "loads": facts is not None,
        what: None if facts is None else dict(facts),
        "diagnostics": [dict(one) for one in diagnostics],
    }
    tone = BAD if facts is None or errors else HELD if diagnostics else GOOD
    return Page(headline, blocks, document=document, records=[dict(one) for one in diagnostics], tone=tone)


def _row(source: str, one: Mapping[str, Any]) -> Row:
    severity = value_text(one.get("severity"))
    line = one.get("line")
    place = source if line is None else f"{source}:{value_text(line)}:{value_text(one.get('column'))}"
    detail = str(one.get("message"))
    if one.get("remedy"):
        detail += f" ({one['remedy']})"
    return Row(
        severity,
        place,
        str(one.get("pointer") or "") or NONE,
        value_text(one.get("code")),
        detail=detail,
        tone=_TONES.get(severity, HELD),
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
