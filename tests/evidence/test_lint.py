"""A review tells what makes the gate hold for ever or pass what it should not, and nothing of a file that is mended."""

from __future__ import annotations

import re

import pytest

from gatekeeper.documents.diagnostics import Severity
from gatekeeper.evidence.lint.lint import lint
from gatekeeper.evidence.lint.remarks import DEFECTS, SEVERITIES, WARNINGS
from gatekeeper.review.load import load_policy
from tests.docs.console import read
from tests.evidence.collections import EXAMPLE, FULL
from tests.evidence.lint_cases import POLICY_CASES, PROM, SOURCE_CASES, TIME_CASES, Case
from tests.evidence.lint_files import POLICY, SOUND, file, line_of, policy, reviewed, told, written
from tests.review.documents import MISSING


def test_nothing_is_said_of_a_sound_file_and_its_policy() -> None:
    """Every case below changes one thing in these two."""
    assert told(SOUND) == []
    assert told(SOUND, []) == []


@pytest.mark.parametrize("case", [*POLICY_CASES, *TIME_CASES, *SOURCE_CASES], ids=lambda case: case[0])
def test_what_is_wrong_is_told_at_its_place_and_its_mended_twin_is_not(case: Case) -> None:
    """One remark and no other; nothing of the file that differs only by what mends it."""
    code, pointer, spoilt, spoilt_policy, mended, mended_policy = case
    assert told(file(**spoilt), [policy(**spoilt_policy)]) == [(code, pointer)]
    assert told(file(**mended), [policy(**mended_policy)]) == []


def test_a_file_without_any_window_is_told_where_stages_ask_for_one() -> None:
    """`observation_missing:window` would hold every later stage; the metrics here are of one moment each."""
    moments = {name: SOUND["metrics"][name] for name in ("leaks", "lift", "queue")}
    document = {**file(window=MISSING, metrics=moments), "labels": {}}
    asked = policy(guardrails=[POLICY["guardrails"][2]], constraints=[POLICY["constraints"][0]])
    asked["missing_data_policy"] = {"required_metrics": ["leaks"]}
    assert told(document, [asked]) == [("window_missing", "/window")]
    assert told({**document, "window": "5m"}, [asked]) == []
    assert told(document, [{key: value for key, value in asked.items() if key != "stage_policy"}]) == []


def test_a_file_of_databases_only_is_asked_for_its_window_too() -> None:
    """The window of what is not PromQL must be stated; no parser is needed to say so."""
    document = {**file(window=MISSING, metrics={"lift": SOUND["metrics"]["lift"]}), "labels": {}}
    document["sources"] = {"dwh": SOUND["sources"]["dwh"]}
    asked = policy(guardrails=[], constraints=[{"kind": "must_be_zero", "metric": "lift"}], missing_data_policy={})
    assert told(document, [asked]) == [("window_missing", "/window")]
    assert told({**document, "window": "1d"}, [policy(**{**asked, "stage_policy": {}})]) == []


def test_the_windows_of_queries_count_where_none_is_stated() -> None:
    """A stage of 15 minutes, and a range that reaches 15 minutes back, offset and all, or a second more."""
    latency = "histogram_quantile(0.95, sum by (le) (rate(seconds_bucket[{}] offset 1m))) + sum(up)"
    asked = policy(guardrails=[{"metric": "latency", "op": "<=", "threshold": 1}], constraints=[])
    asked = {key: value for key, value in asked.items() if key not in {"missing_data_policy", "promotion_gate"}}

    def told_of(span: str) -> list[tuple[str, str]]:
        metrics = {"latency": {"source": "prom", "query": latency.format(span)}}
        document = file(window=MISSING, metrics=metrics, sources={"prom": PROM})
        return told(document, [asked])

    assert told_of("14m") == []
    assert told_of("14m1s") == [("window_exceeds_stage", "/window")]


def test_the_age_of_a_baseline_that_is_not_collected_is_not_told_of() -> None:
    """That it is not collected is the one thing to mend."""
    asked = policy(missing_data_policy__max_baseline_age_seconds=59)
    spoilt = file(metrics__errors__bind=False, metrics__latency__baseline_query=MISSING)
    assert told(spoilt, [asked]) == [
        ("budget_without_baseline", "/metrics/errors"),
        ("budget_without_baseline", "/metrics/latency"),
    ]


def test_a_remark_comes_once_though_a_policy_is_given_twice() -> None:
    """`policy check policies/*.json` may name a file twice."""
    assert told(file(metrics__leaks__kind="boolean"), [POLICY, POLICY]) == [("kind_mismatch", "/metrics/leaks/kind")]


def test_a_part_from_a_file_is_believed_to_bring_what_nobody_sees_here() -> None:
    """Baseline, statistics, times and window stand in the part; only a check can miss them."""
    part = {"type": "file", "path": "part.json"}
    spec = {"lift": {"source": "part"}, "queue": {"source": "part"}}
    document = {**file(window=MISSING), "sources": {"part": part}, "metrics": spec, "labels": {}}
    asked = policy(
        guardrails=[POLICY["guardrails"][2]], constraints=[], missing_data_policy={"max_freshness_seconds": 1}
    )
    assert told(document, [asked]) == []


def test_what_one_of_two_policies_asks_for_is_not_unused() -> None:
    """A file that feeds two policies brings for each what the other does not know; a remark on both comes once."""
    first = policy(guardrails=[one for one in POLICY["guardrails"] if one["metric"] != "queue"])
    second = {"policy_id": "ops", "policy_version": "1", "constraints": [{"kind": "must_be_zero", "metric": "queue"}]}
    assert told(SOUND, [first]) == [("metric_unused", "/metrics/queue")]
    assert told(SOUND, [first, second]) == []
    assert told(file(metrics__errors__min_coverage=0), [first, second]) == [
        ("coverage_off", "/metrics/errors/min_coverage")
    ]


def test_each_policy_is_named_where_it_is_the_one_that_asks() -> None:
    """Two policies may differ in their limits: the reader must know which one to change."""
    other = policy(policy_id="strict", missing_data_policy__max_freshness_seconds=30)
    (found,) = reviewed(SOUND, [POLICY, other])
    assert found.code == "collection.freshness_never_met"
    assert "max_freshness_seconds 30 of policy strict" in found.message
    assert "60 s old" in found.message
    assert "allow 75 s" in found.remedy


def test_defects_are_errors_and_doubts_are_warnings() -> None:
    """Exit code 10 hangs on it."""
    found = reviewed(file(metrics__leaks__kind="boolean", metrics__errors__min_coverage=0))
    assert [(one.code, one.severity) for one in found] == [
        ("collection.coverage_off", Severity.WARNING),
        ("collection.kind_mismatch", Severity.ERROR),
    ]


def test_a_file_that_does_not_load_is_told_that_alone() -> None:
    """Rules about values would speak of what is not there."""
    document = file(metrics__leaks__kind="counts", metrics__errors__min_coverage=0)
    loaded, found = lint(written(document), "c.json")
    assert loaded is None
    line = line_of(document, "/metrics/leaks/kind")
    assert [(one.code, one.pointer, one.line) for one in found] == [
        ("collection.unknown_value", "/metrics/leaks/kind", line)
    ]


def test_the_example_of_the_contract_is_not_accused() -> None:
    """SPEC 9 byte for byte: it has two sources that it does not use, and the founding policy asks for more."""
    founding = load_policy(read("policies/exp-eval-policy.json").encode())
    _, found = lint(EXAMPLE.encode(), "c.json", policies=[founding])
    assert [(one.code, one.pointer) for one in found] == [
        ("collection.source_unused", "/sources/dwh"),
        ("collection.source_unused", "/sources/svc"),
        *[("collection.metric_not_collected", "/metrics")] * 4,
        ("collection.metric_unused", "/metrics/ledger_mismatches"),
    ]
    missing = {one.message.split(" ")[0] for one in found if one.code == "collection.metric_not_collected"}
    assert missing == {"conversion_rate", "p95_latency_ms_5m", "pii_leak_incidents", "prohibited_feature_present"}
    assert told(FULL, []) == []


def test_every_code_is_in_the_table_of_the_page_with_its_severity() -> None:
    """The codes as the source writes them, the register and the page say the same."""
    source = "".join(
        read(f"gatekeeper/evidence/{name}.py")
        for name in ("lint/policy", "lint/promql", "lint/sources", "lint/times", "lint/windows", "prometheus/buckets")
    )
    written_codes = set(re.findall(r'"(collection\.\w+)"', source))
    assert written_codes == set(SEVERITIES)
    _, defects, warnings = read("docs/formats/collection-lint.md").split("\n## ")
    for part, codes in ((defects, DEFECTS), (warnings, WARNINGS)):
        rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| `")]
        assert [row[0].strip(" `") for row in rows] == list(codes)
        assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)
