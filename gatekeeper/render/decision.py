"""The answer to one check as a page: what text and markdown print, described once."""

from __future__ import annotations

from gatekeeper.model.masking import mask_text, mask_url
from gatekeeper.render.actions import action_text, planned_stages
from gatekeeper.render.answer import Standing, decision_of, list_of, mapping_of, why_of
from gatekeeper.render.page import (
    BAD,
    GOOD,
    HELD,
    QUIET,
    VERDICT_TONES,
    Column,
    Command,
    Fields,
    Lines,
    Page,
    Row,
    Table,
)
from gatekeeper.render.sentences import limit_text, sentence, time_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Block

MARKS = {"ACCEPT": "[OK]", "REJECT": "[STOP]", "DEGRADE": "[HOLD]"}
"""How the first line of a decision begins."""

FINDING_COLUMNS = (
    Column("rule", code=True),
    Column("outcome", plain=True),
    Column("observed", right=True),
    Column("limit", right=True),
    Column("baseline", right=True),
    Column("margin", right=True),
)

_TONES = {"VIOLATED": BAD, "PASS": GOOD, "NOT_EVALUATED": QUIET, "OBSERVED": QUIET}
_LONGEST_CELL = 20
"""Longer values (times, digests) would push every row out of its columns; the row's sentence says them."""

_TROUBLE, _WATCHED, _CALM, _UNASKED = range(4)


def headline(event: Mapping[str, Any]) -> str:
    """`[HOLD] exp-42:B:2026-02-18  CANARY_10 -> CANARY_25  DEGRADE`."""
    verdict = str(decision_of(event).get("verdict"))
    return f"{MARKS.get(verdict, '[?]')} {event.get('run_id') or 'no run'}  {movement(event)}  {verdict}"


def movement(event: Mapping[str, Any]) -> str:
    """What was asked: `CANARY_10 -> CANARY_25`, `remain in CANARY_10`, or the action that stopped the run."""
    if event.get("kind") == "action":
        return value_text(mapping_of(event.get("action")).get("name"))
    asked = event.get("state_transition")
    source, target = mapping_of(asked).get("from"), mapping_of(asked).get("to", event.get("stage"))
    if source is None:
        return f"start -> {value_text(target)}"
    if source == target:
        return f"remain in {value_text(target)}"
    return f"{value_text(source)} -> {value_text(target)}"


def sorted_findings(decision: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Findings with troubles first, then what is only watched, then passes, then what was not asked."""
    findings = [mapping_of(finding) for finding in list_of(decision.get("findings"))]
    return sorted(findings, key=_rank)


def is_trouble(finding: Mapping[str, Any]) -> bool:
    """Whether a finding speaks against going on, or would if it were enforced."""
    return _rank(finding) in {_TROUBLE, _WATCHED}


def findings_table(event: Mapping[str, Any], runbooks: Mapping[str, str], *, title: str, full: bool = False) -> Table:
    """Troubles with their sentence and their runbook's address, and what passed with room to spare.

    Many metrics of a source that is down say why once. What passed without a margin stands in `quiet_findings`; when
    *full*, every finding has a row and a sentence.
    """
    rows = []
    told: dict[tuple[str, str], str] = {}
    for finding in sorted_findings(decision_of(event)):
        if not full and is_quiet(finding):
            continue
        cells = [
            value_text(finding.get("observed")),
            limit_text(finding),
            value_text(finding.get("baseline")),
            value_text(finding.get("margin")),
        ]
        is_long = any(len(cell) > _LONGEST_CELL for cell in cells)
        detail = ""
        if full or is_long or is_trouble(finding):
            why = why_of(event, finding)
            detail = sentence(finding, *why, told_by=told.get(why, ""))
            told.setdefault(why, str(finding.get("rule")))
        runbook = runbooks.get(str(finding.get("metric")))
        if runbook and is_trouble(finding):
            detail += f"; runbook: {mask_url(runbook, keep_query=True)}"
        outcome = value_text(finding.get("outcome"))
        rows.append(
            Row(
                str(finding.get("rule")),
                outcome,
                *("..." if len(cell) > _LONGEST_CELL else cell for cell in cells),
                detail=detail,
                tone=_TONES.get(outcome, HELD),
            )
        )
    return Table(FINDING_COLUMNS, rows, title=title, empty="no rule was asked")


def is_quiet(finding: Mapping[str, Any]) -> bool:
    """Whether a name is enough to say of a finding: no trouble, and no number that could have been another."""
    if finding.get("outcome") == "OBSERVED" and str(finding.get("rule")).startswith("promotion:"):
        return True  # statistics on their way to a later stage
    if is_trouble(finding):
        return False
    return finding.get("outcome") != "PASS" or finding.get("margin") is None


def quiet_findings(decision: Mapping[str, Any]) -> Fields:
    """Names of the rules that need no row, by outcome."""
    groups: dict[str, list[str]] = {}
    for finding in sorted_findings(decision):
        if is_quiet(finding):
            would_be = finding.get("would_be")
            name = str(finding.get("rule")) + (f" (would be {would_be})" if would_be else "")
            groups.setdefault(value_text(finding.get("outcome")), []).append(name)
    labels = {"PASS": "passed too", "OBSERVED": "only watched", "NOT_EVALUATED": "not asked"}
    return Fields([(labels.get(outcome, outcome), [", ".join(rules)]) for outcome, rules in groups.items()])


def decision_page(answer: Answer) -> Page:
    """What a check answers, for people."""
    event = answer.event
    decision = decision_of(event)
    verdict = str(decision.get("verdict"))
    reasons = [str(code) for code in list_of(decision.get("reason_codes"))]
    blocks: list[Block] = [
        *_standing(answer),
        Fields([("reason", reasons)], code=True),
        Fields([("missing", [str(name) for name in list_of(decision.get("missing"))])], code=True),
    ]
    if event.get("kind") == "action":
        blocks.append(Fields(_action(event)))
    else:
        blocks += [findings_table(event, answer.runbooks, title="findings"), quiet_findings(decision)]
    if answer.standing is not Standing.DRY_RUN:  # a dry run begins no hold: nothing could be resumed
        blocks += hold_blocks(event)
    blocks += [
        Lines([action_text(action) for action in list_of(decision.get("requested_actions"))], title="to do"),
        Lines([action_text(action) for action in list_of(decision.get("next_actions"))], title="next"),
        *_plan(decision),
        Lines([mask_text(value_text(note)) for note in list_of(decision.get("notes"))], title="notes"),
        Fields(_place(answer), title="record", code=True),
    ]
    return Page(headline(event), blocks, document={}, tone=VERDICT_TONES.get(verdict, QUIET))


def hold_blocks(event: Mapping[str, Any]) -> list[Block]:
    """Owners, times and the way back in of a hold; nothing for an event without one."""
    resume = mapping_of(event.get("resume"))
    if not resume:
        return []
    again = mapping_of(resume.get("next_evaluation"))
    deadline = resume.get("deadline_at")
    then = resume.get("on_deadline")
    fields = Fields(
        [
            ("owners", [", ".join(str(owner) for owner in list_of(resume.get("owners")))]),
            ("held since", [f"{time_text(resume.get('first_held_at'))}, attempt {value_text(resume.get('attempt'))}"]),
            ("waits for", _some(", ".join(str(word) for word in list_of(again.get("on"))))),
            ("not before", _some_time(again.get("not_before"))),
            ("escalate at", _some_time(resume.get("escalate_at"))),
            ("deadline", [f"{time_text(deadline)}{f', then {then}' if then else ''}"] if deadline else []),
        ],
        title="hold",
    )
    return [fields, Command(resume_words(resume), title="resume")]


def resume_words(resume: Mapping[str, Any]) -> list[str]:
    """The command line that asks a hold again: with the collection file that it was asked with, or a new snapshot."""
    source = mapping_of(resume.get("source"))
    collection = source.get("collection") if source.get("kind") == "collection" else None
    evidence = ["--snapshot", "FILE"] if collection is None else ["--collect", str(collection)]
    return ["gatekeeper", "resume", str(resume.get("resume_token")), *evidence]


def _standing(answer: Answer) -> list[Block]:
    event_id = str(answer.event.get("event_id"))
    if answer.standing is Standing.ANSWERED_BEFORE:
        return [Lines([f"answered before: event {event_id}, nothing appended"])]
    if answer.standing is Standing.DRY_RUN:
        return [Lines(["dry run: not recorded, and the run stays where it is"], tone=HELD)]
    if answer.standing is Standing.NOT_RECORDED:
        why = f" ({mask_text(answer.why_not_recorded)})" if answer.why_not_recorded else ""
        run_id = str(answer.event.get("run_id"))
        return [
            Lines(
                [
                    f"NOT RECORDED: this REJECT counts, but it could not be written to the log{why}.",
                    "Roll back now. Once the log can be written, make the stop last:",
                ],
                tone=BAD,
            ),
            Command(["gatekeeper", "stop", run_id, "--reason", "TEXT"]),
        ]
    return []


def _action(event: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    action = mapping_of(event.get("action"))
    return [
        ("action", _some(action.get("name"))),
        ("why", _some(action.get("reason"))),
        ("by", _some(event.get("actor"))),
        ("at", _some(event.get("ts"))),
    ]


def _plan(decision: Mapping[str, Any]) -> list[Block]:
    stages = planned_stages(decision)
    if not stages:
        return []
    rows = []
    rules: list[str] = []
    evidence: list[str] = []
    for place, stage in enumerate(stages):
        asked = [str(rule) for rule in list_of(stage.get("rules"))]
        needed = [str(name) for name in list_of(stage.get("evidence"))]
        detail = f"asks {_change(asked, rules, place)}; needs {_change(needed, evidence, place)}"
        rows.append(Row(value_text(stage.get("stage")), value_text(stage.get("percent")), detail=detail))
        rules, evidence = asked, needed
    columns = (Column("stage", code=True), Column("percent", right=True))
    return [Table(columns, rows, title="plan", detail="rules and evidence")]


def _change(now: list[str], before: list[str], place: int) -> str:
    """A stage's list whole for the first stage, then what differs from the stage before."""
    if place == 0:
        return ", ".join(now) or "nothing"
    more = [name for name in now if name not in before]
    less = [name for name in before if name not in now]
    said = ([f"also {', '.join(more)}"] if more else []) + ([f"no longer {', '.join(less)}"] if less else [])
    return ", ".join(said) or "the same"


def _place(answer: Answer) -> list[tuple[str, list[str]]]:
    event = answer.event
    run = answer.run or {}
    logged = answer.standing in {Standing.APPENDED, Standing.ANSWERED_BEFORE}
    state = f"{value_text(run.get('state'))} at {run.get('stage') or 'no stage yet'}" if run else None
    return [
        ("run", _some(state)),
        ("policy", _some(" ".join(str(event[key]) for key in ("policy_id", "policy_version") if event.get(key)))),
        ("as of", _some(event.get("as_of"))),
        ("event", _some(event.get("event_id")) if logged else []),
        ("log", _some(answer.log) if logged else []),
    ]


def _some(value: Any) -> list[str]:
    return [] if value is None or value == "" else [mask_text(str(value))]


def _some_time(value: Any) -> list[str]:
    return [] if value is None else [time_text(value)]


def _rank(finding: Mapping[str, Any]) -> int:
    outcome = finding.get("outcome")
    if outcome == "OBSERVED":
        return _WATCHED if finding.get("would_be") else _CALM
    if outcome == "PASS":
        return _CALM
    return _UNASKED if outcome == "NOT_EVALUATED" else _TROUBLE
