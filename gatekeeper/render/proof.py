"""Pages on what is proven: a signed checkpoint, a proof, what `verify --checkpoint` found."""

from __future__ import annotations

from gatekeeper.render.answer import mapping_of
from gatekeeper.render.page import BAD, GOOD, Column, Fields, Page, Row, Table
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_EVENT_FIELDS = ("event_id", "kind", "ts", "run_id", "stage")


def checkpoint_page(signed: Mapping[str, Any]) -> Page:
    """What was signed; as text the note itself is printed."""
    return Page(f"signed up to seq {signed['size']}", [], document=signed, tone=GOOD)


def prove_page(proof: Mapping[str, Any]) -> Page:
    """A proof that was written to a file; as text it is printed itself where it was not."""
    pairs = [("event", [value_text(proof["event_id"])]), ("file", [value_text(proof["file"])])]
    headline = f"proof of line {proof['seq']} of the {proof['size']} that {proof['origin']} signed"
    return Page(headline, [Fields(pairs)], document=proof, tone=GOOD)


def check_proof_page(outcome: Mapping[str, Any]) -> Page:
    """Whether a line is proven, and what it says."""
    if not outcome["proven"]:
        pairs = [
            ("code", [value_text(outcome["code"])]),
            ("why", [str(outcome["message"])]),
            ("remedy", [str(outcome["remedy"])]),
        ]
        return Page("NOT proven", [Fields(pairs)], document=outcome, tone=BAD)
    event = mapping_of(outcome["event"])
    verdict = mapping_of(event.get("decision")).get("verdict")
    pairs = [(name.replace("_", " "), [value_text(event[name])]) for name in _EVENT_FIELDS if event.get(name)]
    pairs += [("verdict", [value_text(verdict)])] if verdict is not None else []
    return Page(f"proven: {outcome['message']}", [Fields(pairs, title="the line")], document=outcome, tone=GOOD)


def with_checkpoints(page: Page, report: Mapping[str, Any], standings: Sequence[Mapping[str, Any]]) -> Page:
    """The page of `verify`, and whether the log still holds what checkpoints covered.

    Args:
        page: of the report alone.
        report: as json prints it, the checkpoints included.
        standings: `file`, and what `replay.kept.Standing.to_dict` states.
    """
    wrong = [one for one in standings if one["code"] != "kept"]
    headline = f"{page.headline}; it holds all that was signed"
    if wrong:
        chain = "" if page.tone == BAD else "; its chain is whole"
        first = f"{page.headline}; it" if page.tone == BAD else "the log"
        headline = f"{first} is NOT as it was signed: {wrong[0]['code']}{chain}"
    rows = [
        Row(
            value_text(one["file"]),
            value_text(one["size"]),
            value_text(one["code"]),
            detail=str(one["message"]),
            tone=GOOD if one["code"] == "kept" else BAD,
        )
        for one in standings
    ]
    columns = (Column("checkpoint", code=True), Column("size", right=True), Column("code", code=True))
    table = Table(columns, rows, title="checkpoints")
    tone = BAD if wrong else page.tone
    return Page(headline, [table, *page.blocks], document=report, tone=tone)
