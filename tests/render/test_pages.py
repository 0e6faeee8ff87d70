"""Pages on runs and logs: what an SRE reads in an incident, once for the terminal and once for markdown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.model.fold import apply
from gatekeeper.model.times import require_time
from gatekeeper.render import as_json, markdown, ndjson, text
from gatekeeper.render.diagnostics import policy_page
from gatekeeper.render.explain import explain_page
from gatekeeper.render.logs import group_page, head_page, replay_page, replay_row, verify_page
from gatekeeper.render.page import Layout, Page
from gatekeeper.render.runs import queue_page, run_page, status_page
from tests.render.events import ACCEPTED, HELD, HIDDEN, REJECTED, RUN, STOPPED, TOKEN

WIDE = Layout(250)
ENTERED = {**ACCEPTED, "seq": 16, "stage": "CANARY_10", "state_transition": {"from": None, "to": "CANARY_10"}}
HELD_RUN = apply(apply(None, ENTERED), HELD)
REFUSAL = {
    "kind": "refusal",
    "seq": 19,
    "ts": "2026-02-18T03:00:00.000000Z",
    "run_id": RUN,
    "event_id": f"{RUN}:refusal#1",
    "refusal": {"reason": "stage_not_askable", "message": "the run is in CANARY_10", "stage": "ROLLOUT_100"},
    "actor": "ci",
}
REPORT: dict[str, Any] = {
    "ok": False,
    "lines": 12,
    "events": 11,
    "decisions": 7,
    "reevaluated": 6,
    "not_comparable": {"gatekeeper/0": 1},
    "unchained": [{"source": "a.ndjson", "line": 1, "seq": None}],
    "unchained_count": 1,
    "torn": {"source": "a.ndjson", "line": 12, "seq": None},
    "first_seq": 1,
    "last_seq": 11,
    "head": "sha256:abc",
    "first_wrong": {
        "source": "a.ndjson", "line": 5, "seq": 4, "code": "verdict", "what": "the verdict differs",
        "expected": "REJECT", "found": "ACCEPT",
    },
    "problems": [
        {"source": "a.ndjson", "line": 5, "seq": 4, "code": "verdict", "what": "the verdict differs",
         "expected": "REJECT", "found": "ACCEPT"},
    ],
    "problem_count": 1,
}  # fmt: skip


def shown(page: Page, layout: Layout = WIDE) -> list[str]:
    """The lines of a page on a terminal."""
    return text.page(page, layout).splitlines()


def document(page: Page) -> Any:
    """Its JSON document."""
    return json.loads(as_json.page(page, WIDE))


def test_the_queue_says_what_each_hold_waits_for_and_whether_it_is_due() -> None:
    """One row per hold with its owners, deadline and token."""
    page = queue_page([HELD_RUN], now=require_time("2026-02-18T01:05:10.500000Z"))
    head, columns, row, detail = shown(page)
    assert head == "1 open hold, 1 due"
    assert columns.split("  ")[0] == "run"
    cells = [cell.strip() for cell in row.split("  ") if cell.strip()]
    assert cells == [
        RUN,
        "CANARY_25",
        "2026-02-18T00:55:00Z",
        "2",
        "now (2026-02-18T01:05:10.500000Z)",
        "snapshot",
        "sre, checkout",
        "conversion_rate",
        "2026-02-19T00:55:00Z, then REJECT",
        TOKEN,
    ]
    assert detail.strip() == "observation_missing:required_metric"


def test_a_hold_is_not_due_a_microsecond_early() -> None:
    """Due from `not_before` on; without a clock nobody says so."""
    before = require_time("2026-02-18T01:05:10.500000Z") - 1
    assert shown(queue_page([HELD_RUN], now=before))[0] == "1 open hold, 0 due"
    assert document(queue_page([HELD_RUN], now=before))["holds"][0]["due"] is False
    assert document(queue_page([HELD_RUN]))["holds"][0]["due"] is None
    assert shown(queue_page([HELD_RUN]))[0] == "1 open hold"


def test_an_empty_queue_says_so() -> None:
    """No table without rows; runs without a hold are left out."""
    assert shown(queue_page([apply(None, ACCEPTED)], now=0)) == ["0 open holds, 0 due"]
    assert document(queue_page([])) == {"holds": [], "damaged": []}
    assert ndjson.page(queue_page([]), WIDE) == ""


def test_the_queue_document_has_what_a_bot_needs_to_resume() -> None:
    """The hold as logged, and the run it belongs to."""
    (hold,) = document(queue_page([HELD_RUN]))["holds"]
    assert (hold["resume_token"], hold["run_id"], hold["stage"], hold["attempt"]) == (TOKEN, RUN, "CANARY_25", 2)
    assert hold["reason_codes"] == ["observation_missing:required_metric"]
    assert hold["owners"] == ["sre", "checkout"]


def test_the_list_of_runs_tells_where_each_stands() -> None:
    """State, stage, what it is held on, share of traffic."""
    stopped = apply(apply(None, ENTERED), REJECTED)
    lines = shown(status_page([HELD_RUN, stopped]))
    assert lines[0] == "2 runs"
    assert lines[2].split()[:6] == [RUN, "HELD", "CANARY_10", "CANARY_25", "10", "2026-02-18"]
    assert lines[3].split()[:6] == [RUN, "STOPPED", "CANARY_10", "-", "0", "2026-02-18"]
    assert [run["state"] for run in document(status_page([HELD_RUN, stopped]))["runs"]] == ["HELD", "STOPPED"]
    assert shown(status_page([])) == ["0 runs"]


def test_the_history_of_a_run_shows_decisions_actions_and_refusals() -> None:
    """Everything that happened to it, in order, with why."""
    run = apply(HELD_RUN, STOPPED)
    lines = shown(run_page(run, [ENTERED, HELD, STOPPED, REFUSAL], stages=("CANARY_10", "CANARY_25")), Layout(100))
    assert lines[0] == f"{RUN}  STOPPED"
    start = lines.index("history:")
    assert lines[start + 2 :] == [
        " 16  2026-02-18T01:00:10Z  start -> CANARY_10      ACCEPT",
        " 17  2026-02-18T01:00:10Z  CANARY_10 -> CANARY_25  DEGRADE",
        "    observation_missing:required_metric",
        " 18  2026-02-18T02:00:00Z  stop                    REJECT",
        "    change_refused:stopped; action: pager says no (by alice)",
        " 19  2026-02-18T03:00:00Z  refused ROLLOUT_100     -",
        "    refusal: the run is in CANARY_10 (by ci)",
    ]


def test_the_status_of_a_held_run_names_the_way_back_in() -> None:
    """Token and next stage."""
    lines = shown(run_page(HELD_RUN, [], stages=("CANARY_10", "CANARY_25")))
    assert f"  gatekeeper resume {TOKEN} --snapshot FILE" in lines
    assert "  next stage    CANARY_25" in lines
    assert "no event can be read" in lines


def test_replay_prints_one_row_per_event_and_names_what_it_could_not_read() -> None:
    """The run stands in its row, damage and gaps below."""
    page = replay_page(
        [REJECTED],
        damaged=[{"source": "a.ndjson", "line": 3, "problem": "damaged"}],
        gaps=[{"from_seq": 4, "to_seq": 9}, {"from_seq": 12, "to_seq": 12}],
    )
    assert shown(page) == [
        "1 event",
        "seq  ts                    run                  asked                   verdict",
        f" 17  2026-02-18T01:00:10Z  {RUN}  CANARY_10 -> CANARY_25  REJECT",
        "    guardrail_violation:error_rate_5m",
        "",
        "damaged lines:",
        "  - a.ndjson:3: damaged",
        "",
        "missing from the log:",
        "  - seq 4 to 9",
        "  - seq 12",
    ]
    made = document(page)
    assert made["count"] == 1
    assert made["damaged"] == [{"source": "a.ndjson", "line": 3, "problem": "damaged"}]
    assert made["events"][0]["decision"]["findings"][1]["message"].startswith("error_rate_5m is 0.013, above")
    assert shown(replay_page([]))[1] == "nothing matches"


def test_replay_ndjson_is_the_recorded_line_and_not_a_new_one() -> None:
    """`lines` pass through; without them canonical forms."""
    page = replay_page([REJECTED], lines=[b'{"seq": 17}\n'])
    assert ndjson.page(page, WIDE) == '{"seq": 17}\n'
    assert replay_row(REJECTED).cells[2] == RUN


def test_groups_are_counted_in_the_order_given() -> None:
    """A value per field, then the count; a field named twice stands once."""
    rows: list[dict[str, Any]] = [
        {"verdict": "REJECT", "stage": "CANARY_25", "count": 3},
        {"verdict": None, "stage": None, "count": 1},
    ]
    page = group_page(["verdict", "stage", "verdict"], rows)
    assert shown(page) == [
        "2 groups, by verdict, stage",
        "verdict  stage      count",
        "REJECT   CANARY_25      3",
        "-        -              1",
    ]
    assert document(page)["groups"] == rows
    assert "| `REJECT` | `CANARY_25` | 3 |" in markdown.page(page, WIDE)


def test_verify_names_the_first_line_that_differs() -> None:
    """Place, what was expected, what stands there; then counts, what was not compared, what was unchained."""
    lines = shown(verify_page(REPORT))
    assert lines[0] == "the log does NOT verify; differences: 1"
    assert lines[1:8] == [
        "",
        "first line that differs:",
        "  place     a.ndjson:5",
        "  seq       4",
        "  what      the verdict differs",
        "  expected  REJECT",
        "  found     ACCEPT",
    ]
    assert "  - 1: gatekeeper/0" in lines
    assert "  - a.ndjson:1" in lines
    assert "  - a.ndjson:12: unterminated last line, never promised" in lines
    assert "  evaluated again  6" in lines
    assert document(verify_page(REPORT)) == REPORT


def test_a_log_that_could_not_be_compared_in_full_does_not_read_like_one_that_was() -> None:
    """Not comparable is never counted as equal."""
    healthy = {**REPORT, "ok": True, "first_wrong": None, "problems": [], "problem_count": 0}
    assert shown(verify_page(healthy))[0] == "the log verifies, as far as it can be compared"
    assert shown(verify_page({**healthy, "not_comparable": {}}))[0] == "the log verifies"


def test_explain_tells_what_was_known_how_old_it_was_and_what_to_do() -> None:
    """A sentence per finding, a next step per reason, times, sources and digests."""
    lines = shown(explain_page(HELD, runbooks={}))
    assert lines[0] == f"[HOLD] {RUN}  CANARY_10 -> CANARY_25  DEGRADE"
    assert any(
        line.split("  ")[0] == "observation_missing:required_metric" and line.endswith("collect the metric and resume")
        for line in lines
    )
    for line in [
        "    p95_latency_ms_5m is 360, within its limit of <= 400 (margin 40)",
        "  collected at  2026-02-18T01:00:05Z",
        "  freshness     25 s",
        "prometheus  2026-02-18T00:59:40Z  all metrics",
        "  change_id  CHG-123",
        "  world         RML2: proceed",
        "  snapshot       sha256:" + "3" * 64,
        "  - no baseline: budgets were not checked",
    ]:
        assert line in lines, line
    assert HIDDEN not in "\n".join(lines)


def test_explain_names_both_versions_of_a_collection_file_that_changed() -> None:
    """Who asks later sees that other questions were asked than when the run was held; otherwise nothing is said."""
    change = {"from": "sha256:" + "a" * 64, "to": "sha256:" + "b" * 64}
    lines = shown(explain_page({**HELD, "collector_change": change}))
    assert "  collection file then  sha256:" + "a" * 64 in lines
    assert "  collection file now   sha256:" + "b" * 64 in lines
    assert not [line for line in shown(explain_page(HELD)) if "collection file" in line]


@pytest.mark.parametrize("event", [STOPPED, REFUSAL, {"kind": "policy", "seq": 1, "policy_digest": "sha256:1"}, {}])
def test_any_event_can_be_explained(event: dict[str, Any]) -> None:
    """Also one that is no decision, and a line with nothing in it."""
    lines = shown(explain_page(event))
    assert lines
    if event is REFUSAL:
        assert "  message  the run is in CANARY_10" in lines
    if event is STOPPED:
        assert lines[0] == f"[STOP] {RUN}  stop  REJECT"
        assert "  reason  pager says no" in lines


def test_policy_check_names_file_line_and_pointer() -> None:
    """An error keeps it from loading; the place can be clicked."""
    remark = {
        "code": "policy.unknown_key",
        "severity": "error",
        "pointer": "/guardrails/0/threshhold",
        "line": 7,
        "column": 12,
        "message": "unknown key",
        "remedy": "did you mean threshold?",
    }
    page = policy_page("p.json", [remark])
    assert shown(page) == [
        "p.json does not load: 1 error, 0 warnings",
        "severity  place        pointer                   code",
        "error     p.json:7:12  /guardrails/0/threshhold  policy.unknown_key",
        "    unknown key (did you mean threshold?)",
    ]
    assert document(page) == {"source": "p.json", "loads": False, "policy": None, "diagnostics": [remark]}
    loads = policy_page("p.json", [], policy={"policy_id": "x"})
    assert shown(loads) == ["p.json loads: 0 errors, 0 warnings", "  policy id  x"]


def test_the_name_of_a_log_is_not_cut() -> None:
    """A branch or a file whose end is missing cannot be typed again."""
    log = f"git+file:///{'a' * 90}/team.git#gatekeeper-log"
    assert log in "\n".join(shown(head_page({"log": log, "seq": 1}), Layout(80)))
    page = replay_page([], damaged=[{"source": log, "line": 3, "problem": "no JSON"}])
    assert f"{log}:3: no JSON" in " ".join("\n".join(shown(page, Layout(80))).split())


def test_the_head_can_be_noted_elsewhere() -> None:
    """Digest whole, on one line."""
    head = {"log": "a.ndjson", "seq": 11, "digest": "sha256:" + "a" * 64}
    assert shown(head_page(head), Layout(40)) == [
        "head of the log: seq 11",
        "  log     a.ndjson",
        "  seq     11",
        "  digest  sha256:" + "a" * 64,
    ]
    assert document(head_page(head)) == head
