"""SPEC 9 beyond keys and types: each rule is broken alone, and its boundary is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.evidence.collection_file.rules import collection_rules
from tests.evidence.collections import FULL, errors, refusal
from tests.review.documents import MISSING, changed, places

ONE: dict[str, Any] = {
    "sources": {"svc": {"type": "http", "url": "https://svc.example.com"}},
    "metrics": {"queue": {"source": "svc", "pointer": "/depth"}},
}
PROM = {"type": "prometheus", "url": "${PROMETHEUS_URL}"}
METRIC = "metrics/error_ratio"

BROKEN: list[tuple[str, Any, str, str]] = [
    ("schema", "gatekeeper/collection/v2", "/schema", "unknown_value"),
    ("window", "5 minutes", "/window", "bad_duration"),
    ("window", "", "/window", "bad_duration"),
    ("window", "0s", "/window", "bad_duration"),
    ("window", "101y", "/window", "bad_duration"),
    ("limits/watermark_depth", "30", "/limits/watermark_depth", "bad_duration"),
    ("limits/deadline_seconds", 0, "/limits/deadline_seconds", "out_of_bounds"),
    ("limits/deadline_seconds", 600.001, "/limits/deadline_seconds", "out_of_bounds"),
    ("limits/parallelism", 0, "/limits/parallelism", "out_of_bounds"),
    ("limits/parallelism", 17, "/limits/parallelism", "out_of_bounds"),
    ("evaluate_at/settle_seconds", -0.001, "/evaluate_at/settle_seconds", "out_of_bounds"),
    ("evaluate_at/settle_seconds", 86401, "/evaluate_at/settle_seconds", "out_of_bounds"),
    ("evaluate_at/align_seconds", 0, "/evaluate_at/align_seconds", "out_of_bounds"),
    ("evaluate_at/align_seconds", 86401, "/evaluate_at/align_seconds", "out_of_bounds"),
    ("labels", {"2nd": {"variant": "a"}}, "/labels/2nd", "bad_label"),
    ("labels", {"a-b": {"variant": "a"}}, "/labels/a-b", "bad_label"),
    ("labels", {"": {"variant": "a"}}, "/labels/", "bad_label"),
    ("labels", {"größe": {"variant": "a"}}, "/labels/größe", "bad_label"),
    ("labels", {"__name__": {"variant": "a"}}, "/labels/__name__", "bad_label"),
    ("labels", {"track": {"variant": "a", "baseline": "a"}}, "/labels", "same_sides"),
    ("sources/prom/scrape_interval_seconds", 0, "/sources/prom/scrape_interval_seconds", "out_of_bounds"),
    ("sources/prom/connect_timeout_seconds", 0, "/sources/prom/connect_timeout_seconds", "out_of_bounds"),
    ("sources/prom/timeout_seconds", 601, "/sources/prom/timeout_seconds", "out_of_bounds"),
    ("sources/svc/timeout_seconds", 0, "/sources/svc/timeout_seconds", "out_of_bounds"),
    ("sources/dwh/timeout_seconds", -1, "/sources/dwh/timeout_seconds", "out_of_bounds"),
    ("sources/dwh/connect_timeout_seconds", 0, "/sources/dwh/connect_timeout_seconds", "out_of_bounds"),
    ("sources/svc/max_bytes", 0, "/sources/svc/max_bytes", "out_of_bounds"),
    ("sources/svc/max_bytes", 67108865, "/sources/svc/max_bytes", "out_of_bounds"),
    ("sources/part/path", "", "/sources/part/path", "empty_text"),
    ("sources/prom/cert_file", MISSING, "/sources/prom/key_file", "key_without_certificate"),
    ("metrics/queue/pointer", "queues/0", "/metrics/queue/pointer", "bad_pointer"),
    ("metrics/queue/pointer", "/a~2b", "/metrics/queue/pointer", "bad_pointer"),
    ("metrics/queue/baseline_pointer", "$.a", "/metrics/queue/baseline_pointer", "bad_pointer"),
    ("metrics/queue/watermark_pointer", "/a~", "/metrics/queue/watermark_pointer", "bad_pointer"),
    ("metrics/queue/range", [1, 0.5], "/metrics/queue/range", "bad_range"),
    ("metrics/lift/query", " \n", "/metrics/lift/query", "empty_text"),
    ("metrics/lift/columns/value", "", "/metrics/lift/columns/value", "empty_text"),
    ("metrics/lift/columns/p_value", " ", "/metrics/lift/columns/p_value", "empty_text"),
    ("metrics/replayed/metric", "", "/metrics/replayed/metric", "empty_text"),
    (f"{METRIC}/min_coverage", 1.01, f"/{METRIC}/min_coverage", "out_of_bounds"),
    (f"{METRIC}/min_coverage", -0.1, f"/{METRIC}/min_coverage", "out_of_bounds"),
    (f"{METRIC}/query", "", f"/{METRIC}/query", "empty_text"),
    (f"{METRIC}/query", MISSING, f"/{METRIC}", "query_choice"),
    (f"{METRIC}/variant_query", "sum(x)", f"/{METRIC}/query", "query_choice"),
    (f"{METRIC}/baseline_query", "sum(x)", f"/{METRIC}/query", "query_choice"),
    ("metrics/mismatches/variant_query", MISSING, "/metrics/mismatches", "query_choice"),
    (f"{METRIC}/watermark", {}, f"/{METRIC}/watermark", "watermark_choice"),
    (f"{METRIC}/watermark/event_time_query", "max(t)", f"/{METRIC}/watermark", "watermark_choice"),
    (f"{METRIC}/watermark/selector", " ", f"/{METRIC}/watermark/selector", "empty_text"),
    (f"{METRIC}/on_empty/zero_if", "", f"/{METRIC}/on_empty/zero_if", "empty_text"),
]

ALLOWED: list[tuple[str, Any]] = [
    ("schema", MISSING),
    ("window", "100y"),
    ("window", "1ms"),
    ("limits", {}),
    ("limits/deadline_seconds", 600),
    ("limits/deadline_seconds", 0.001),
    ("limits/parallelism", 1),
    ("limits/parallelism", 16),
    ("evaluate_at/settle_seconds", 0),
    ("evaluate_at/settle_seconds", 86400),
    ("evaluate_at/align_seconds", 0.001),
    ("labels", {}),
    ("labels", {"_a1": {"variant": "x"}}),
    ("labels", {"track": {"variant": "a", "baseline": "b"}, "service": {"variant": "c", "baseline": "c"}}),
    ("sources/svc/max_bytes", 1),
    ("sources/svc/max_bytes", 67108864),
    ("sources/prom/scrape_interval_seconds", 0.1),
    ("sources/prom/key_file", MISSING),
    ("sources/part/path", "-"),
    ("metrics/queue/pointer", ""),
    ("metrics/queue/pointer", "/"),
    ("metrics/queue/pointer", "/a~0b/~1//é"),
    ("metrics/queue/range", [1, 1]),
    ("metrics/queue/range", [-2, -1]),
    ("metrics/replayed/metric", MISSING),
    (f"{METRIC}/min_coverage", 0),
    (f"{METRIC}/min_coverage", 1),
    ("metrics/mismatches/baseline_query", MISSING),
]


@pytest.mark.parametrize(("path", "value", "pointer", "code"), BROKEN)
def test_a_broken_rule_is_named_once_at_its_place(path: str, value: Any, pointer: str, code: str) -> None:
    """The file does not load, and nothing else is said of a file that is otherwise sound."""
    assert errors(changed(FULL, path, value)) == [(pointer, code)]


@pytest.mark.parametrize(("path", "value"), ALLOWED)
def test_what_the_rules_allow_loads(path: str, value: Any) -> None:
    """A boundary that is refused by one step too far would stop a sound file."""
    assert refusal(changed(FULL, path, value)) == []


def test_a_file_without_sources_or_metrics_is_refused() -> None:
    """It would make a snapshot of nothing, and a policy would hold for ever."""
    assert errors({"sources": {}, "metrics": {}}) == [("/sources", "no_source"), ("/metrics", "no_metric")]
    assert errors({**ONE, "metrics": {}}) == [("/metrics", "no_metric")]
    assert refusal(ONE) == []


@pytest.mark.parametrize("part", ["sources", "metrics"])
def test_a_name_that_is_empty_is_refused(part: str) -> None:
    """No message and no table could point at it."""
    (content,) = ONE[part].values()
    assert errors({**ONE, part: {**ONE[part], "": content}}) == [(f"/{part}/", "empty_text")]


def test_standard_input_is_read_by_one_source_only() -> None:
    """The second one would read nothing, and its metrics would be missing without a reason."""
    files = {name: {"type": "file", "path": path} for name, path in (("a", "-"), ("b", "x.json"), ("c", "-"))}
    document = {"sources": files, "metrics": {"m": {"source": "a"}}}
    assert errors(document) == [("/sources/c/path", "standard_input_twice")]
    assert refusal({**document, "sources": {"a": files["a"], "b": files["b"]}}) == []


def test_a_misspelt_key_is_one_problem_and_not_two() -> None:
    """That a metric then asks nothing is a consequence: it would only hide the slip."""
    spoilt = changed(changed(FULL, f"{METRIC}/query", MISSING), f"{METRIC}/qeury", "sum(x)")
    assert errors(spoilt) == [(f"/{METRIC}/qeury", "unknown_key")]
    assert 'did you mean "query"?' in refusal(spoilt)[0]


def test_all_problems_of_a_file_are_named_at_once() -> None:
    """A reviewer corrects the file once."""
    spoilt = changed(FULL, "limits/parallelism", 99)
    spoilt = changed(spoilt, "metrics/queue/pointer", "x")
    spoilt = changed(spoilt, "sources/dwh/timeout", 5)
    assert errors(spoilt) == [
        ("/sources/dwh/timeout", "unknown_key"),
        ("/limits/parallelism", "out_of_bounds"),
        ("/metrics/queue/pointer", "bad_pointer"),
    ]


_JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from([path for path, _ in places(FULL) if "~" not in path]), _JUNK)
def test_rules_pass_over_whatever_has_the_wrong_type(path: str, junk: Any) -> None:
    """A crash in a rule would be an internal error where a line and a pointer are owed."""
    collection_rules(changed(FULL, path, junk), lambda _: False)
