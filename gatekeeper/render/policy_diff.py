"""The page on the difference of two policies: what a reviewer must see first comes first."""

from __future__ import annotations

from gatekeeper.render.page import BAD, GOOD, HELD, QUIET, Column, Fields, Page, Row, Table
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.render.page import Block

_COLUMNS = (
    Column("meaning", plain=True),
    Column("rule", code=True, plain=True),
    Column("before", code=True),
    Column("after", code=True),
    Column("place", code=True, plain=True),
    Column("fingerprint", code=True),
)
_TONES = {"loosened": BAD, "both": HELD, "tightened": GOOD, "neutral": QUIET}
_COUNTED = {
    "loosened": ("change loosens", "changes loosen"),
    "both": ("goes both ways", "go both ways"),
    "tightened": ("tightens", "tighten"),
    "neutral": ("is neutral", "are neutral"),
}
_LEVELS = {"loosened": "warning", "both": "warning", "tightened": "notice"}

VERSION_UNCHANGED = "policy.version_unchanged"
"""Code of the one thing that makes a difference an error."""


def diff_page(document: Mapping[str, Any]) -> Page:
    """The page of one comparison.

    Args:
        document: as `review.diff.report.report` makes it.
    """
    old, new, changes = document["old"], document["new"], document["changes"]
    pairs = [
        ("old", [_policy_text(old)]),
        ("new", [_policy_text(new)]),
        ("version", [version_text(document)]),
    ]
    blocks: list[Block] = [Fields(pairs)]
    if changes:
        rows = [_row(change, value_text(new["source"])) for change in changes]
        blocks.append(Table(_COLUMNS, rows, title="changes", detail="what it does"))
    headline = f"{value_text(new['source'])}: {_counts(document['counts'])}"
    return Page(headline, blocks, document=document, records=list(changes), tone=_TONES[document["meaning"]])


def version_text(document: Mapping[str, Any]) -> str:
    """What the change asks of the policy's version, as one line."""
    step = document["version"]
    old, new, wanted = (value_text(step[key]) for key in ("old", "new", "calls_for"))
    return {
        "same_content": f"{new}: the content is the same",
        "fits": f"{old} to {new}: fits",
        "unchanged": f"{new} is UNCHANGED and names two contents: set policy_version to {wanted}",
        "too_small": f"{old} to {new}: the change calls for {wanted}",
        "goes_back": f"{old} to {new}: goes back; the change calls for {wanted}",
        "another_policy": f"{old} to {new}: these are two policies, not two versions of one",
    }[step["standing"]]


def remarks(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Level, title, text and place for each annotation in a pull request; neutral changes get none."""
    source = document["new"]["source"]
    if document["version"]["standing"] == "unchanged":
        yield "error", VERSION_UNCHANGED, version_text(document), {"file": source, "line": None, "col": None}
    for change in document["changes"]:
        level = _LEVELS.get(change["meaning"])
        if level is not None:
            place = {"file": source, "line": change["line"], "col": change["column"]}
            text = f"{change['was']} -> {change['becomes']}: {change['message']} [{change['fingerprint']}]"
            yield level, f"{change['meaning']}: {change['rule']}", text, place


def _policy_text(policy: Mapping[str, Any]) -> str:
    return f"{value_text(policy['source'])} ({policy['policy_id']} {policy['policy_version']})"


def _row(change: Mapping[str, Any], source: str) -> Row:
    place = source if change["line"] is None else f"{source}:{change['line']}:{change['column']}"
    return Row(
        change["meaning"],
        value_text(change["rule"]),
        value_text(change["was"]),
        value_text(change["becomes"]),
        place,
        change["fingerprint"],
        detail=change["message"],
        tone=_TONES[change["meaning"]],
    )


def _counts(counts: Mapping[str, int]) -> str:
    """`2 changes loosen, 1 tightens`; what there is none of is left out."""
    parts: list[str] = []
    for meaning, (one, several) in _COUNTED.items():
        count = counts[meaning]
        if count:
            words = one if count == 1 else several
            noun = "" if parts or meaning == "loosened" else "change " if count == 1 else "changes "
            parts.append(f"{count} {noun}{words}")
    return ", ".join(parts) or "no change"
