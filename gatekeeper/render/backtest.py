"""The page of `policy backtest`: the flips first, then by which rules and in which runs."""

from __future__ import annotations

from gatekeeper.render.page import BAD, GOOD, HELD, QUIET, Column, Fields, Lines, Page, Row, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

VERDICTS = ("ACCEPT", "DEGRADE", "REJECT")
MOST_RUNS = 20
"""Runs that people are shown; json has more."""

MOST_LINES = 20
_TONES = {("REJECT", "ACCEPT"): BAD, ("DEGRADE", "ACCEPT"): BAD, ("REJECT", "DEGRADE"): BAD}


def backtest_page(document: Mapping[str, Any]) -> Page:
    """The outcome.

    Args:
        document: as `-o json` prints it: `replay.backtest_report.BacktestReport.to_dict` and what was asked.
    """
    blocks: list[Block] = [_facts(document)]
    if document["compared"]:
        blocks.append(_matrix(document["matrix"]))
    if document["flips"]:
        blocks += [_rules(document["flips"]), _runs(document["runs"])]
    blocks += [
        _needs(document["cannot_answer"]) if document["cannot_answer"]["count"] else Lines([]),
        Lines(_apart(document), title="apart from these"),
        Lines(_holes(document), title="not read", tone=BAD),
    ]
    return Page(_headline(document), blocks, document=document, tone=_tone(document))


def _headline(document: Mapping[str, Any]) -> str:
    name, compared, flipped = document["policy"]["source"], document["compared"], document["flipped"]
    if not document["decisions"]:
        return f"{name}: nothing to compare, no decision under {' or '.join(document['policy_ids'])}"
    unanswered = document["cannot_answer"]["count"]
    rest = f"; {unanswered:,} cannot be answered" if unanswered else ""
    if not flipped:
        return f"{name} changes no verdict of {_many(compared, 'recorded decision')}{rest}"
    words = ", ".join(f"{flip['count']:,} {_flip(flip)}" for flip in document["flips"])
    return f"{name} changes {flipped:,} of {_many(compared, 'recorded decision')}: {words}{rest}"


def _tone(document: Mapping[str, Any]) -> str:
    if document["failed"] or any((flip["from"], flip["to"]) in _TONES for flip in document["flips"]):
        return BAD
    is_complete = document["compared"] == document["decisions"] > 0
    return GOOD if is_complete and not document["flipped"] else HELD


def _facts(document: Mapping[str, Any]) -> Fields:
    policy, runs, holds = document["policy"], document["runs"], document["holds"]
    span = f"{document['first']} to {document['last']}" if document["first"] else ""
    period = [f"{label} {document[label]}" for label in ("since", "until") if document[label]]
    held = f"{holds['recorded']:,} recorded, {holds['now']:,} under this policy"
    return Fields(
        [
            ("policy", [f"{policy['policy_id']} {policy['policy_version']}"]),
            ("digest", [policy["policy_digest"]]),
            ("decisions under", [", ".join(document["policy_ids"])]),
            ("asked for", period),
            ("compared", [f"{document['compared']:,} of {document['decisions']:,}", *([span] if span else [])]),
            ("runs", [f"{runs['compared']:,}, of these diverge: {runs['diverging']:,}"]),
            ("holds", [f"{held}: {holds['more']:,} more, {holds['fewer']:,} fewer"]),
        ]
    )


def _matrix(matrix: Mapping[str, Mapping[str, int]]) -> Table:
    columns = (Column("recorded", code=True), *(Column(f"-> {verdict}", right=True) for verdict in VERDICTS))
    rows = [Row(old, *(f"{matrix[old][new]:,}" for new in VERDICTS)) for old in VERDICTS]
    return Table(columns, rows, title="verdicts")


def _rules(flips: Sequence[Mapping[str, Any]]) -> Table:
    columns = (Column("flip", code=True), Column("rule", code=True), Column("decisions", right=True))
    rows = [
        Row(
            _flip(flip),
            rule["rule"],
            f"{rule['count']:,}",
            detail=_first(rule),
            tone=_TONES.get((flip["from"], flip["to"]), HELD),
        )
        for flip in flips
        for rule in flip["rules"]
    ]
    return Table(columns, rows, title="rules that make the difference", detail="first")


def _runs(runs: Mapping[str, Any]) -> Table:
    columns = (
        Column("seq", right=True),
        Column("decision", code=True),
        Column("flip", code=True),
    )
    rows = [
        Row(
            "" if one["seq"] is None else str(one["seq"]),
            one["event_id"],
            _flip(one),
            detail=", ".join(one["rules"]),
            tone=_TONES.get((one["from"], one["to"]), HELD),
        )
        for one in runs["listed"][:MOST_RUNS]
    ]
    left = runs["diverging"] - len(rows)
    if left:
        in_json = f", {len(runs['listed']):,} of all are in json" if len(runs["listed"]) > len(rows) else ""
        columns_of_note = ("", f"and {_many(left, 'more run')}{in_json}", "")
        rows.append(Row(*columns_of_note, tone=QUIET))
    counts = ", ".join(f"{one['runs']:,} {_flip(one)}" for one in runs["first_divergence"])
    return Table(columns, rows, title=f"first divergence of each run: {counts}", detail="rules")


def _needs(unanswered: Mapping[str, Any]) -> Table:
    columns = (Column("what is lacking", code=True), Column("decisions", right=True))
    rows = [Row(one["needs"], f"{one['count']:,}", detail=_first(one), tone=HELD) for one in unanswered["needs"]]
    title = f"{_many(unanswered['count'], 'decision')} that this policy cannot answer: nobody collected what it needs"
    return Table(columns, rows, title=title, detail="first")


def _apart(document: Mapping[str, Any]) -> list[str]:
    others, odd, unknown = document["other_reasons"], document["not_repeated"], document["unknown_policy"]
    lines = []
    if others["count"]:
        lines.append(f"{others['count']:,} with the same verdict for other reasons ({_first(others)})")
    if odd["count"]:
        words = "whose recorded verdict their own policy does not give today, not compared"
        lines.append(f"{odd['count']:,} {words}; see gatekeeper verify ({_first(odd)})")
    lines += [f"{one['count']:,} not comparable: {one['why']} ({_first(one)})" for one in document["not_comparable"]]
    if unknown["count"]:
        lines.append(
            f"{unknown['count']:,} compared as recorded: their own policy is not in this log ({_first(unknown)})"
        )
    if document["simulated_left_out"]:
        lines.append(f"{document['simulated_left_out']:,} of simulated runs left out (--simulated)")
    return lines


def _holes(document: Mapping[str, Any]) -> list[str]:
    damaged, gaps = document["damaged"], document["gaps"]
    lines = [f"{one['source']}:{one['line']}: {one['problem']}" for one in damaged[:MOST_LINES]]
    if len(damaged) > MOST_LINES:
        lines.append(f"and {len(damaged) - MOST_LINES:,} more damaged lines")
    for gap in gaps[:MOST_LINES]:
        first, last = gap["from_seq"], gap["to_seq"]
        lines.append(f"seq {first} is missing" if first == last else f"seq {first} to {last} are missing")
    if len(gaps) > MOST_LINES:
        lines.append(f"and {len(gaps) - MOST_LINES:,} more gaps")
    return lines


def _flip(flip: Mapping[str, Any]) -> str:
    return f"{flip['from']} -> {flip['to']}"


def _first(examples: Mapping[str, Any]) -> str:
    events, count = examples["events"], examples["count"]
    return ", ".join(events) + (", …" if count > len(events) else "")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
