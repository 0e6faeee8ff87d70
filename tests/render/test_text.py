"""Output `text`: what a person reads at any width, with and without colours and Unicode."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gatekeeper.render import text
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.page import Layout
from gatekeeper.render.plain import columns, wrap_command
from tests.render.events import (
    ACCEPTED,
    EVENTS,
    HELD,
    HIDDEN,
    NOT_THERE,
    REJECTED,
    RUN,
    STOPPED,
    TOKEN,
    decision,
    event,
    finding,
)

WIDE = Layout(120)
NARROW = Layout(40)
LOG = "logs/decision.ndjson"
STATE = {"state": "HELD", "stage": "CANARY_10", "next_stage": "CANARY_25", "percent": 10}


def lines(given: dict[str, Any], layout: Layout = WIDE, **more: Any) -> list[str]:
    """The lines of an answer on a terminal."""
    return text.decision(Answer(given, log=LOG, run=STATE, **more), layout).splitlines()


def test_a_hold_tells_at_120_columns_what_is_missing_who_owns_it_and_the_way_back_in() -> None:
    """The whole page of a DEGRADE, by hand."""
    assert lines(HELD) == [
        f"[HOLD] {RUN}  CANARY_10 -> CANARY_25  DEGRADE",
        "  reason  observation_missing:required_metric",
        "  missing  conversion_rate",
        "",
        "findings:",
        "rule                         outcome  observed   limit  baseline  margin",
        "required:conversion_rate     MISSING         -       -         -       -",
        "    conversion_rate is required and was not observed",
        "guardrail:p95_latency_ms_5m  PASS          360  <= 400         -      40",
        "",
        "hold:",
        "  owners       sre, checkout",
        "  held since   2026-02-18T00:55:00Z, attempt 2",
        "  waits for    snapshot",
        "  not before   2026-02-18T01:05:10.500000Z",
        "  escalate at  2026-02-18T01:25:00Z",
        "  deadline     2026-02-19T00:55:00Z, then REJECT",
        "",
        "resume:",
        f"  gatekeeper resume {TOKEN} --snapshot FILE",
        "",
        "to do:",
        "  - collect metric conversion_rate",
        "  - then ask again for CANARY_25",
        "",
        "notes:",
        "  - no baseline: budgets were not checked",
        "",
        "record:",
        "  run     HELD at CANARY_10",
        "  policy  exp-eval-policy 2026-02-18",
        f"  event   {RUN}:CANARY_25",
        f"  log     {LOG}",
    ]


def test_a_reject_at_40_columns_is_still_readable() -> None:
    """Rows become records, sentences are broken at spaces, the runbook stands whole."""
    shown = lines(REJECTED, NARROW, runbooks={"error_rate_5m": f"https://u:{HIDDEN}@wiki.example/x?id=4"})
    assert shown[:16] == [
        f"[STOP] {RUN} CANARY_10 ->",
        "  CANARY_25 REJECT",
        "  reason  guardrail_violation:error_rate_5m",
        "",
        "findings:",
        "guardrail:error_rate_5m",
        "  VIOLATED  observed 0.013",
        "  limit <= 0.01  margin -0.003",
        "    error_rate_5m is 0.013, above its",
        "    limit of <= 0.01 (margin -0.003);",
        "    runbook:",
        "    https://***@wiki.example/x?id=4",
        "guardrail:p95_latency_ms_5m",
        "  PASS  observed 360  limit <= 400",
        "  margin 40",
        "",
    ]
    assert shown[16:19] == ["next:", "  - roll back to 0 percent", ""]


@pytest.mark.parametrize(("name", "mark"), [("accepted", "[OK]"), ("rejected", "[STOP]"), ("held", "[HOLD]")])
@pytest.mark.parametrize("width", [1, 40, 80, 120])
def test_a_ci_log_can_be_searched_for_the_mark_of_the_verdict(name: str, mark: str, width: int) -> None:
    """The first line begins with it at any width."""
    assert lines(EVENTS[name], Layout(width))[0].startswith(mark)


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("width", [20, 33, 40, 72, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_unless_one_word_is(name: str, width: int) -> None:
    """A longer line is its indent, perhaps a label, and one word."""
    for shown in lines(EVENTS[name], Layout(width)):
        line = shown.removesuffix(" \\")  # a command goes on
        if columns(line) > width:
            longest = max(line.split(), key=len)
            assert line.endswith(longest)
            assert not re.search(r"\S \S+ \S", line[2:]), line


def test_the_resume_command_can_be_copied_from_a_narrow_terminal() -> None:
    """It is broken where a shell goes on reading."""
    shown = lines(HELD, NARROW)
    start = shown.index("resume:") + 1
    assert shown[start : start + 3] == ["  gatekeeper resume \\", f"    {TOKEN} \\", "    --snapshot FILE"]
    assert wrap_command(["a", "b"], 80, lead="") == ["a b"]


def test_passes_do_not_hide_a_trouble() -> None:
    """Troubles first, then what is only watched, then passes, then what was not asked."""
    findings = [
        finding("skew", "NOT_EVALUATED"),
        finding("guardrail:a", "PASS", metric="a", observed=1, op="<=", limit=2, margin=1),
        finding("policy", "PASS"),
        finding("guardrail:w", "OBSERVED", metric="w", observed=3, op="<=", limit=2, would_be="guardrail_violation:w"),
        finding("guardrail:v", "OBSERVED", metric="v", observed=1, op="<=", limit=2),
        NOT_THERE,
    ]
    shown = lines(event(decision("DEGRADE", findings=findings)))
    rules = [line.split()[0] for line in shown if re.match(r"(skew|guardrail|required)", line)]
    assert rules == ["required:conversion_rate", "guardrail:w", "guardrail:a"]
    names = {line.strip() for line in shown}
    assert {"only watched  guardrail:v", "passed too    policy", "not asked     skew"} <= names, "names are enough"
    assert "    w is 3, above its limit of <= 2; only watched, it decides nothing" in shown
    assert not any("a is 1" in line or "v is 1" in line for line in shown), "a pass takes one line"


def test_a_digest_or_a_time_does_not_push_the_table_out_of_its_columns() -> None:
    """A long value stands in the row's sentence."""
    window = finding(
        "window",
        "PASS",
        observed="2026-02-18T01:00:00.000000Z",
        op=">=",
        limit="2026-02-18T00:30:00.000000Z",
        margin=1800,
    )
    shown = lines(event(decision("ACCEPT", findings=[window])), Layout(160))
    place = next(index for index, line in enumerate(shown) if line.startswith("window"))
    assert shown[place].split() == ["window", "PASS", "...", "...", "-", "1800"]
    assert shown[place + 1].strip() == (
        "the window lies within the stage: it began at 2026-02-18T01:00:00.000000Z, and the run entered at "
        "2026-02-18T00:30:00.000000Z"
    )


def test_a_recorded_answer_is_not_taken_for_a_new_decision() -> None:
    """It names the event, and says that nothing was appended."""
    assert lines(ACCEPTED, standing=Standing.ANSWERED_BEFORE)[1] == (
        f"answered before: event {RUN}:CANARY_25, nothing appended"
    )


def test_a_dry_run_names_no_token_and_no_event_that_could_be_looked_up() -> None:
    """Nothing was recorded, so nothing can be resumed."""
    shown = "\n".join(lines(HELD, standing=Standing.DRY_RUN))
    assert shown.splitlines()[1] == "dry run: not recorded, and the run stays where it is"
    assert TOKEN not in shown
    assert "event " not in shown
    assert LOG not in shown


def test_an_unrecorded_reject_is_loud_and_names_the_way_to_make_it_last() -> None:
    """SPEC 7: it says that it is not recorded and names `gatekeeper stop`."""
    shown = lines(REJECTED, standing=Standing.NOT_RECORDED, why_not_recorded="disk full")
    assert shown[1] == "NOT RECORDED: this REJECT counts, but it could not be written to the log (disk full)."
    assert f"  gatekeeper stop {RUN} --reason TEXT" in shown
    assert not any("logs/decision.ndjson" in line for line in shown)


def test_a_stopped_run_says_who_stopped_it_and_why() -> None:
    """The answer of a stopped run is an action, not a decision."""
    shown = lines(STOPPED, standing=Standing.ANSWERED_BEFORE)
    assert shown[0] == f"[STOP] {RUN}  stop  REJECT"
    assert "  reason  change_refused:stopped" in shown
    assert [line for line in shown if line.startswith(("  why", "  by"))] == [
        "  why     pager says no",
        "  by      alice",
    ]


@pytest.mark.parametrize(
    ("before", "stage", "said"),
    [(None, "DRY_RUN", "start -> DRY_RUN"), ("CANARY_10", "CANARY_10", "remain in CANARY_10")],
)
def test_the_first_line_tells_entering_from_remaining(before: str | None, stage: str, said: str) -> None:
    """Whether it may enter and whether it may remain are two questions."""
    shown = lines(event(decision("ACCEPT"), stage=stage, before=before))
    assert shown[0] == f"[OK] {RUN}  {said}  ACCEPT"


def test_the_plan_of_a_dry_run_says_only_what_changes_from_stage_to_stage() -> None:
    """Six stages with the same ten rules are one list and what differs."""
    plan = {
        "name": "plan",
        "params": {
            "stages": [
                {"stage": "DRY_RUN", "percent": 0, "rules": ["freshness", "guardrail:a"], "evidence": []},
                {"stage": "CANARY_10", "percent": 10, "rules": ["guardrail:a", "window"], "evidence": ["change_id"]},
                {"stage": "ROLLOUT_100", "percent": 100, "rules": ["guardrail:a", "window"], "evidence": ["change_id"]},
            ]
        },
    }
    shown = lines(event(decision("ACCEPT", next_actions=[plan]), stage="DRY_RUN", before=None))
    start = shown.index("plan:")
    assert shown[start + 1 : start + 8] == [
        "stage        percent",
        "DRY_RUN            0",
        "    asks freshness, guardrail:a; needs nothing",
        "CANARY_10         10",
        "    asks also window, no longer freshness; needs also change_id",
        "ROLLOUT_100      100",
        "    asks the same; needs the same",
    ]
