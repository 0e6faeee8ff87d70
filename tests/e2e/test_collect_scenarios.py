"""Verdicts on a real Prometheus: ratios that look fine over rotten data never let traffic in."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.e2e.desk import FIXED, Desk, Done
from tests.e2e.documents import Document
from tests.lab.fixtures import Labs
from tests.lab.servers import Lab

pytestmark = pytest.mark.server

POLICY: Document = {
    "policy_id": "checkout",
    "policy_version": "1",
    "guardrails": [
        {"metric": "error_rate", "op": "<=", "threshold": 0.02, "budget_delta": 0.005, "range": [0, 1]},
        {"metric": "p95_seconds", "op": "<=", "threshold": 0.9, "budget_delta": 0.2},
    ],
    "constraints": [
        {"kind": "must_be_zero", "metric": "mismatches"},
        {"kind": "must_be_false", "metric": "killswitch"},
    ],
    "missing_data_policy": {
        "on_missing_baseline": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
    },
}
EVERY_METRIC = ["error_rate", "killswitch", "mismatches", "p95_seconds"]
RATIO = (
    '(sum(rate(http_requests_total{code=~"5.."}[5m])) or 0 * sum(rate(http_requests_total[5m])))'
    " / sum(rate(http_requests_total[5m]))"
)
P95 = "histogram_quantile(0.95, sum by (le) (rate(http_request_duration_seconds_bucket[5m])))"


def collection(**metrics: Any) -> Document:
    """The collection that feeds POLICY, some metrics asked in another way."""
    return {
        "sources": {"prom": {"type": "prometheus", "url": "${PROM}", "scrape_interval_seconds": 15}},
        "window": "5m",
        "labels": {"variant": {"variant": "canary", "baseline": "baseline"}},
        "metrics": {
            "error_rate": {"source": "prom", "query": RATIO, "range": [0, 1]},
            "p95_seconds": {"source": "prom", "query": P95},
            "mismatches": {"source": "prom", "query": "sum(ledger_mismatches_total)", "bind": False},
            "killswitch": {"source": "prom", "query": "max(killswitch_engaged)", "bind": False, "kind": "boolean"},
            **metrics,
        },
    }


@pytest.fixture
def gate(desk: Desk) -> Desk:
    """A desk with policy and collection."""
    desk.write("policy.json", POLICY)
    desk.write("collection.json", collection())
    return desk


def check(desk: Desk, server: Lab, *more: str) -> Done:
    """The run's next stage, on evidence of now."""
    argv = ["check", "--policy", "policy.json", *FIXED, "--collect", "collection.json", "-o", "json", *more]
    return desk.gate(*argv, PROM=server.url)


@pytest.mark.parametrize(
    ("scenario", "verdict"),
    [
        ("healthy", (0, [], [])),
        ("counter_reset", (0, [], [])),
        ("canary_errors", (1, ["guardrail_violation:error_rate", "budget_violation:error_rate"], [])),
        ("canary_slow", (1, ["guardrail_violation:p95_seconds", "budget_violation:p95_seconds"], [])),
        ("canary_slightly_stale", (2, ["observation_stale:window_coverage"], ["error_rate", "p95_seconds"])),
        ("late_start", (2, ["observation_stale:window_coverage"], ["error_rate", "p95_seconds"])),
        ("lagging_instance", (2, ["observation_stale:window_coverage"], ["error_rate", "p95_seconds"])),
        ("canary_stale", (2, ["observation_stale:over_freshness_budget"], ["error_rate", "p95_seconds"])),
        ("canary_marked_stale", (2, ["observation_stale:over_freshness_budget"], ["error_rate", "p95_seconds"])),
        ("zero_traffic", (2, ["observation_invalid:guardrail_value"], ["error_rate", "p95_seconds"])),
        ("missing_metric", (2, ["observation_missing:empty_result"], ["killswitch", "mismatches"])),
        ("partial_response", (2, ["evidence_missing:partial_response"], EVERY_METRIC)),
        ("lagging_source", (2, ["observation_stale:over_freshness_budget", "observation_stale:watermark_skew"], [])),
    ],
)
def test_what_the_data_are_is_what_the_gate_says(
    scenario: str, verdict: tuple[int, list[str], list[str]], gate: Desk, lab: Labs[Lab]
) -> None:
    """Stale, late, lagging and partial data hold though their ratios look fine; harm is harm."""
    done = check(gate, lab(scenario, end=time.time()))

    assert done.verdict == verdict, done.err


@pytest.mark.parametrize("scenario", ["canary_slightly_stale", "late_start", "lagging_instance"])
def test_data_that_only_looks_fine_never_passes_without_any_limit_either(
    scenario: str, gate: Desk, lab: Labs[Lab]
) -> None:
    """A policy that states no freshness limit is protected by the coverage of the window alone."""
    gate.write("policy.json", {**POLICY, "missing_data_policy": {"on_missing_baseline": "DEGRADE"}})

    done = check(gate, lab(scenario, end=time.time()))

    assert done.verdict[:2] == (2, ["observation_stale:window_coverage"])
    error_rate = done.document["metrics_snapshot"]["metrics"]["error_rate"]
    assert error_rate < 0.02  # what any other gate would look at


def test_a_first_event_of_a_counter_is_harm(gate: Desk, lab: Labs[Lab]) -> None:
    """increase() says 0 of a counter that was born at 1; the counter itself is asked."""
    gate.write("policy.json", {**POLICY, "constraints": [{"kind": "must_be_zero", "metric": "double_charges"}]})
    gate.write("collection.json", collection(double_charges={"source": "prom", "query": "sum(double_charges_total)"}))

    done = check(gate, lab("first_increment", end=time.time()))

    assert done.verdict == (1, ["constraint_violation:double_charges"], [])


def test_a_hold_is_resumed_when_the_data_have_come_back(gate: Desk, lab: Labs[Lab]) -> None:
    """Ten minutes of silence hold; fifteen minutes later the same file is collected again, and the run goes on."""
    server = lab("canary_stale", end=time.time() - 900, own=True)
    held = check(gate, server)
    token = held.document["resume"]["resume_token"]
    assert held.verdict[:2] == (2, ["observation_stale:over_freshness_budget"])

    server.extend("healthy", 900)
    done = gate.gate("resume", token, "--collect", "collection.json", "-o", "json", PROM=server.url)

    assert done.verdict == (0, [], [])
    gate.assert_verifies()


def test_a_cron_job_takes_the_evidence_of_a_hold_again(gate: Desk, lab: Labs[Lab]) -> None:
    """`reevaluate` finds the collection file that was recorded, from whatever directory it runs in."""
    server = lab("canary_stale", end=time.time() - 900, own=True)
    assert check(gate, server).code == 2
    server.extend("healthy", 900)
    elsewhere = gate.place / "elsewhere"
    elsewhere.mkdir()

    line = f"cd '{elsewhere}' && gatekeeper reevaluate --due --log '{gate.log}'"
    done = gate.shell(line, PROM=server.url)

    assert done.code == 0, done.err
    assert gate.events()[-1]["decision"]["verdict"] == "ACCEPT"


def test_a_mended_query_is_used_with_both_digests_recorded(gate: Desk, lab: Labs[Lab]) -> None:
    """Mending the file is the usual way out of a hold; a reviewer must see that it was not the data that changed."""
    server = lab("missing_metric", end=time.time())
    held = check(gate, server)
    assert held.verdict[:2] == (2, ["observation_missing:empty_result"])
    none_yet = {"source": "prom", "query": "sum(ledger_mismatches_total)", "bind": False}
    up = {"source": "prom", "query": "min(up)", "bind": False, "range": [1, 1]}
    gate.write(
        "collection.json",
        collection(
            mismatches={**none_yet, "on_empty": {"zero_if": 'up{job="checkout"}'}},
            killswitch={**up, "query": "0 * min(up)", "kind": "boolean", "range": [0, 1]},
        ),
    )

    done = gate.gate("reevaluate", PROM=server.url)

    assert done.code == 0, done.err
    assert "has changed since the hold" in done.err
    event = gate.events()[-1]
    before = held.document["metrics_snapshot"]["_meta"]["collector_digest"]
    assert event["collector_change"] == {
        "from": before,
        "to": event["metrics_snapshot"]["_meta"]["collector_digest"],
    }
    assert before != event["collector_change"]["to"]
    assert event["metrics_snapshot"]["observations"]["mismatches"]["imputed"] is True


def test_a_stopped_run_does_not_ask_the_server(gate: Desk, lab: Labs[Lab]) -> None:
    """What ended is answered from the log, though the monitoring is down and the variable is not even set."""
    assert check(gate, lab("canary_errors", end=time.time())).code == 1

    argv = ["check", "--policy", "policy.json", *FIXED, "--collect", "collection.json", "-o", "json"]
    done = gate.gate(*argv, PROM=None)

    assert (done.code, done.document["recorded"]) == (1, True)


def test_two_collections_of_one_instant_differ_in_their_own_times_only(gate: Desk, lab: Labs[Lab]) -> None:
    """What was known at a moment can be collected again, and is the same."""
    server = lab("healthy")
    taken = [
        json.loads(gate.gate("collect", "collection.json", "--at", "2026-01-01T00:00:00Z", PROM=server.url).out)
        for _ in range(2)
    ]
    for document in taken:
        for part in (document, document["baseline"]):
            meta = part["_meta"]
            for name in ("collected_at", "snapshot_id", "freshness_seconds"):
                meta.pop(name, None)
            for source in meta["sources"]:
                source.pop("freshness_seconds", None)
    assert taken[0] == taken[1]
    assert taken[0]["_meta"]["query_time"] == "2026-01-01T00:00:00.000000Z"


def test_a_collected_snapshot_is_a_snapshot(gate: Desk, lab: Labs[Lab]) -> None:
    """A pipeline may collect in one job and ask in another; standard input is a file, too."""
    line = (
        "gatekeeper collect collection.json | "
        f"gatekeeper check --policy policy.json {' '.join(FIXED)} --snapshot - -o json"
    )
    done = gate.shell(line, PROM=lab("healthy", end=time.time()).url)

    assert done.verdict == (0, [], [])
