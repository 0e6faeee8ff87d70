"""The pages of `policy test` and `policy suggest-cases`."""

from __future__ import annotations

from gatekeeper.render.page import BAD, GOOD, HELD, Column, Command, Lines, Page, Row, Table
from gatekeeper.render.sentences import sentence, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

    Document = Mapping[str, Any]

_CASES = (Column("result"), Column("answer"), Column("case", code=True, plain=True))
_CHANGES = (Column("line", right=True), Column("rule", code=True, plain=True), Column("change", plain=True))
_RESULTS = {"pass": ("pass", GOOD), "updated": ("updated", HELD), "fail": ("FAIL", BAD), "refused": ("no case", BAD)}
_LEGEND = "- expected, + found"
_SUGGESTIONS = (Column("decisions", right=True), Column("policy", code=True), Column("what", code=True, plain=True))


def cases_page(
    cases: Sequence[Document], surveys: Sequence[Document] = (), *, notes: Sequence[str] = (), ok: bool
) -> Page:
    """What became of the golden cases, and of the changes that were tried on them.

    Args:
        cases: `file`, `name`, `result` (`pass`, `fail`, `updated`, `refused`), `differences` (`key`, `expected`,
            `found`), `findings` (of the decision, those that say why), `trouble`, `diagnostics`.
        surveys: for each policy `policy`, `score`, `counted`, `noticed`, `without_effect`, and in `unnoticed` the
            changes `rule`, `pointer`, `line`, `change`, `needs`.
        notes: sentences for people.
        ok: whether the command ends with 0.
    """
    blocks: list[Block] = [Table(_CASES, [_case_row(case) for case in cases])]
    for case in cases:
        lines = case_lines(case)
        if lines:
            blocks.append(Lines(lines, title=_title(case)))
    for one in surveys:
        blocks.append(_unnoticed_table(one))
        blocks.append(Lines([_survey_words(one)]))
    blocks.append(Lines(list(notes)))
    document = {"ok": ok, "cases": [dict(case) for case in cases], "mutants": [dict(one) for one in surveys]}
    records = [dict(case) for case in cases] + [dict(one) for one in surveys]
    return Page(_headline(cases, surveys), blocks, document=document, records=list(records), tone=GOOD if ok else BAD)


def case_lines(case: Document) -> list[str]:
    """What is not as expected, a line each, then why the decision is what it is."""
    lines = [line for one in case.get("differences", ()) for line in _difference(one)]
    if case.get("trouble"):
        lines.append(f"it cannot be asked: {case['trouble']}")
    lines += [f"because {sentence(finding)}" for finding in case.get("findings", ())]
    lines += [_diagnostic(one) for one in case.get("diagnostics", ())]
    return lines


def suggestions_page(suggestions: Sequence[Document], commands: Sequence[list[str]], *, covered: int) -> Page:
    """What recurs in a log without a golden case.

    Args:
        suggestions: `policy_id`, `kind`, `what`, `count`, `first`, `last` each.
        commands: for each the command line that makes the case.
        covered: how many recurring entries have one.
    """
    rows = [
        Row(
            value_text(one["count"]),
            value_text(one["policy_id"]),
            value_text(one["what"]) if one["kind"] == "reason" else f"missing {one['what']}",
            detail=f"first {one['first']}, last {one['last']}",
        )
        for one in suggestions
    ]
    blocks: list[Block] = [Table(_SUGGESTIONS, rows, detail="where", empty="all that recurs has a case")]
    unique = list({tuple(words): words for words in commands}.values())
    blocks += [Command(words, title="" if number else "to make the cases") for number, words in enumerate(unique)]
    count = len(suggestions)
    headline = f"{count} recurring {'entry has' if count == 1 else 'entries have'} no golden case, {covered} have one"
    records = [{**one, "command": words} for one, words in zip(suggestions, commands, strict=True)]
    return Page(headline, blocks, document={"suggestions": records, "covered": covered}, records=list(records))


def made_page(written: Sequence[Document]) -> Page:
    """Cases that were made from recorded decisions: `file`, `event`, `verdict`, `passes` each."""
    rows = [
        Row(one["file"], one["event"], one["verdict"], "passes" if one["passes"] else "FAILS now") for one in written
    ]
    columns = (
        Column("case", code=True),
        Column("from", code=True),
        Column("expects"),
        Column("with the policy", plain=True),
    )
    headline = f"{len(written)} golden {'case' if len(written) == 1 else 'cases'} written"
    return Page(headline, [Table(columns, rows)], document={"written": [dict(one) for one in written]})


def _headline(cases: Sequence[Document], surveys: Sequence[Document]) -> str:
    counts = {result: sum(case["result"] == result for case in cases) for result in _RESULTS}
    total = f"{len(cases)} golden {'case' if len(cases) == 1 else 'cases'}"
    words = [
        f"{counts[result]} {what}"
        for result, what in (
            ("fail", "failed"),
            ("refused", "did not load"),
            ("updated", "updated"),
            ("pass", "passed"),
        )
        if counts[result]
    ]
    counted, noticed = (sum(one[key] for one in surveys) for key in ("counted", "noticed"))
    words += [f"{noticed} of {counted} changes noticed"] if surveys else []
    return f"{total}: {', '.join(words)}"


def _title(case: Document) -> str:
    return f"{case['file']} does not load" if case["result"] == "refused" else f"{case['name']} ({_LEGEND})"


def _case_row(case: Document) -> Row:
    words, tone = _RESULTS[case["result"]]
    verdict = str((case.get("found") or {}).get("verdict") or "-")
    return Row(words, verdict, value_text(case["file"]), tone="" if tone is GOOD else tone)


def _unnoticed_table(one: Document) -> Table:
    rows = [
        Row(
            value_text(change["line"]),
            value_text(change["rule"]),
            value_text(change["change"]),
            detail=f"a case would need {change['needs']}" if change["needs"] else "",
        )
        for change in one["unnoticed"]
    ]
    title = f"changes of {one['policy']} that no case notices"
    return Table(_CHANGES, rows, title=title, empty="each change makes a case fail")


def _survey_words(one: Document) -> str:
    words = f"{one['policy']}: {one['noticed']} of {one['counted']} changes noticed, score {one['score']} %"
    if one["without_effect"]:
        words += f"; {one['without_effect']} more leave every answer as it is and do not count"
    return words


def _difference(one: Document) -> list[str]:
    """`- expected` and `+ found`, of lists only what the other side lacks."""
    key, expected, found = one["key"], one["expected"], one["found"]
    if not isinstance(expected, list):
        return [f"{key}: - {_text(expected)}", f"{key}: + {_text(found)}"]
    lacking = [item for item in expected if not _has(found, item)]
    added = [item for item in found if not _has(expected, item)]
    lines = [f"{key}: - {_text(item)}" for item in lacking] + [f"{key}: + {_text(item)}" for item in added]
    if not lines:  # the same entries
        lines = [f"{key}: - in this order: {_list(expected)}", f"{key}: + in this order: {_list(found)}"]
    return lines


def _has(items: list[Any], wanted: Any) -> bool:
    """Whether *wanted* is among *items*; of an action without `params` only the name counts, on either side."""
    if not isinstance(wanted, dict):
        return wanted in items
    for item in items:
        keys = ("name", "params") if "params" in item and "params" in wanted else ("name",)
        if all(item.get(key) == wanted.get(key) for key in keys):
            return True
    return False


def _list(items: list[Any]) -> str:
    return ", ".join(map(_text, items))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        params = value.get("params") or {}
        return " ".join([value_text(value.get("name")), *(f"{key}={value_text(params[key])}" for key in params)])
    return value_text(value)


def _diagnostic(one: Document) -> str:
    place = f"line {one['line']}: " if one.get("line") is not None else ""
    remedy = f" ({one['remedy']})" if one.get("remedy") else ""
    return f"{place}{one.get('pointer') or '(whole case)'}: {one['message']}{remedy}"
