"""Pages on the log: replayed events, counts by group, the report of `verify`, the head."""

from __future__ import annotations

from gatekeeper.render.answer import list_of, mapping_of
from gatekeeper.render.as_json import event_document
from gatekeeper.render.page import BAD, GOOD, HELD, Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.runs import HISTORY_COLUMNS, REASONS, history_row
from gatekeeper.render.sentences import place_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

REPLAY_COLUMNS = (HISTORY_COLUMNS[0], HISTORY_COLUMNS[1], Column("run", code=True, plain=True), *HISTORY_COLUMNS[2:])
_COUNTS = (
    ("lines", "lines"),
    ("events", "chained events"),
    ("decisions", "decisions"),
    ("reevaluated", "evaluated again"),
    ("unchained_count", "unchained lines"),
    ("first_seq", "first seq"),
    ("last_seq", "last seq"),
    ("head", "head"),
)


def replay_page(
    events: Sequence[Mapping[str, Any]],
    *,
    lines: Sequence[bytes] | None = None,
    damaged: Sequence[Mapping[str, Any]] = (),
    gaps: Sequence[Mapping[str, Any]] = (),
    pruned_to: int | None = None,
) -> Page:
    """Events that a query found, in the order given.

    Args:
        events: as logged.
        lines: their recorded bytes, which ndjson prints; None: canonical forms.
        damaged: lines that could not be read: `source`, `line`, `problem`.
        gaps: missing parts: `from_seq`, `to_seq`, both inclusive.
        pruned_to: last seq of a part that was removed on purpose, where it may have belonged to the answer.
    """
    noun = "event" if len(events) == 1 else "events"
    rows = [replay_row(event) for event in events]
    blocks: list[Block] = [Table(REPLAY_COLUMNS, rows, detail=REASONS, empty="nothing matches")]
    document = {
        "events": [event_document(event) for event in events],
        "count": len(events),
        "damaged": [dict(line) for line in damaged],
        "gaps": [dict(gap) for gap in gaps],
        "pruned_to": pruned_to,
    }
    records: list[Mapping[str, Any] | bytes] = list(events) if lines is None else list(lines)
    return Page(f"{len(events)} {noun}", blocks + _holes(damaged, gaps), document=document, records=records)


def replay_row(event: Mapping[str, Any]) -> Row:
    """One event as a row of `REPLAY_COLUMNS`, for `--follow` as well."""
    row = history_row(event)
    seq, moment, *rest = row.cells
    return Row(seq, moment, value_text(event.get("run_id")), *rest, detail=row.detail, tone=row.tone)


def group_page(
    fields: Sequence[str], groups: Sequence[Mapping[str, Any]], *, damaged: Sequence[Mapping[str, Any]] = ()
) -> Page:
    """Counts by the values of *fields*, in the order given.

    Args:
        groups: each holds a value per field (null: the event has none) and `count`.
        damaged: as in `replay_page`.
    """
    names = list(dict.fromkeys(fields))
    columns = (*(Column(name, code=True) for name in names), Column("count", right=True))
    rows = [Row(*(value_text(group.get(name)) for name in names), value_text(group.get("count"))) for group in groups]
    document = {"by": names, "groups": [dict(group) for group in groups], "damaged": [dict(line) for line in damaged]}
    headline = f"{len(groups)} {'group' if len(groups) == 1 else 'groups'}, by {', '.join(names)}"
    blocks: list[Block] = [Table(columns, rows, empty="nothing matches")]
    return Page(headline, blocks + _holes(damaged, ()), document=document, records=[dict(group) for group in groups])


def verify_page(report: Mapping[str, Any]) -> Page:
    """The report of `verify`, as `replay.report.Report.to_dict` states it; json prints it as it stands."""
    is_ok = report.get("ok") is True
    wrong = mapping_of(report.get("first_wrong"))
    problems = [mapping_of(problem) for problem in list_of(report.get("problems"))]
    skipped = mapping_of(report.get("not_comparable"))
    torn = mapping_of(report.get("torn"))
    blocks: list[Block] = []
    if wrong:
        blocks.append(
            Fields(
                [
                    ("place", [_place(wrong)]),
                    ("seq", _some(wrong.get("seq"))),
                    ("what", _some(wrong.get("what"))),
                    ("most likely", _some(report.get("happened"))),
                    ("expected", _some(wrong.get("expected"))),
                    ("found", _some(wrong.get("found"))),
                ],
                title="first line that differs",
            )
        )
    blocks += [
        Fields([(label, _some(report.get(key))) for key, label in _COUNTS], title="checked"),
        Lines([f"{value_text(count)}: {why}" for why, count in skipped.items()], title="decisions not comparable"),
        Lines([_place(mapping_of(place)) for place in list_of(report.get("unchained"))], title="lines without kind"),
        Lines([f"{_place(torn)}: unterminated last line, never promised"] if torn else [], title="torn"),
    ]
    rows = [
        Row(_place(one), value_text(one.get("seq")), value_text(one.get("code")), detail=value_text(one.get("what")))
        for one in problems
    ]
    count = report.get("problem_count", len(problems))
    if rows:
        columns = (Column("line", code=True), Column("seq", right=True), Column("code", code=True))
        blocks.append(Table(columns, rows, title=f"differences: {len(rows)} of {value_text(count)}"))
    headline = "the log verifies" if is_ok else f"the log does NOT verify; differences: {value_text(count)}"
    if is_ok and skipped:
        headline += ", as far as it can be compared"
    return Page(headline, blocks, document=report, tone=GOOD if is_ok and not skipped else HELD if is_ok else BAD)


def head_page(head: Mapping[str, Any]) -> Page:
    """The log's head: any flat document, such as `log`, `seq`, `digest`, `ts`, `size_bytes`."""
    texts = {key: [place_text(value)] if key == "log" else _some(value) for key, value in head.items()}
    pairs = [(key.replace("_", " "), text) for key, text in texts.items()]
    return Page(f"head of the log: seq {value_text(head.get('seq'))}", [Fields(pairs, code=True)], document=head)


def _holes(damaged: Sequence[Any], gaps: Sequence[Any]) -> list[Block]:
    lines = [f"{_place(mapping_of(one))}: {value_text(mapping_of(one).get('problem'))}" for one in damaged]
    missing = [_gap(mapping_of(gap)) for gap in gaps]
    return [Lines(lines, title="damaged lines", tone=BAD), Lines(missing, title="missing from the log", tone=HELD)]


def _gap(gap: Mapping[str, Any]) -> str:
    first, last = value_text(gap.get("from_seq")), value_text(gap.get("to_seq"))
    return f"seq {first}" if first == last else f"seq {first} to {last}"


def _place(line: Mapping[str, Any]) -> str:
    source = line.get("source")
    number = value_text(line.get("line"))
    return f"line {number}" if source is None else f"{place_text(source)}:{number}"


def _some(value: Any) -> list[str]:
    return [] if value is None or value == "" else [value_text(value)]
