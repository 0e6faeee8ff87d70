"""PromQL in a collection file: what cannot be read, dated or bound is refused before any server is asked."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.evidence.collections import errors, refusal
from tests.review.documents import encoded

SPLIT = {"track": {"variant": "canary", "baseline": "stable"}}
SELECTOR = {"selector": 'x{job="a"}'}
EVENT_TIME = {"event_time_query": "max(push_time_seconds)"}


def one(metric: dict[str, Any], **top: Any) -> dict[str, Any]:
    """A file with one metric."""
    source = {"type": "prometheus", "url": "${PROMETHEUS_URL}"}
    return {"sources": {"prom": source}, "metrics": {"m": {"source": "prom", **metric}}, "labels": SPLIT, **top}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"query": "sum(rate(x[5m])"}, "query", "bad_query"),
    ({"query": "x{"}, "query", "bad_query"),
    ({"query": "keep_last_value(x)"}, "query", "bad_query"),
    ({"query": "keep_last_value(x)", "watermark": SELECTOR}, "query", "bad_query"),
    ({"query": "keep_last_value(x)", "bind": False}, "query", "bad_query"),
    ({"variant_query": "keep_last_value(x)"}, "variant_query", "bad_query"),
    ({"variant_query": "x", "baseline_query": "keep_last_value(x)"}, "baseline_query", "bad_query"),
    ({"query": "x", "on_empty": {"zero_if": "up{"}}, "on_empty/zero_if", "bad_query"),
    ({"query": "x", "watermark": {"event_time_query": "max("}}, "watermark/event_time_query", "bad_query"),
    ({"query": "x", "watermark": {"selector": "max("}}, "watermark/selector", "bad_query"),
    ({"query": "x @ 1767225600"}, "query", "fixed_time"),
    ({"query": "sum(rate(x[5m] @ end()))"}, "query", "fixed_time"),
    ({"query": "max_over_time(x[1h:1m] @ 1767225600)"}, "query", "fixed_time"),
    ({"variant_query": "x @ 1", "watermark": SELECTOR}, "variant_query", "fixed_time"),
    ({"query": "x", "watermark": {"event_time_query": "max(t @ 1)"}}, "watermark/event_time_query", "fixed_time"),
    ({"query": "x", "watermark": {"selector": "x @ 1"}}, "watermark/selector", "fixed_time"),
    ({"query": "sum(job:errors:rate5m)"}, "query", "needs_watermark"),
    ({"query": '{__name__="job:errors:rate5m"}'}, "query", "needs_watermark"),
    ({"query": "x / job:errors:rate5m", "bind": False}, "query", "needs_watermark"),
    ({"variant_query": "x", "baseline_query": "job:x"}, "baseline_query", "needs_watermark"),
    ({"query": "x", "watermark": {"selector": "job:x"}}, "watermark/selector", "needs_watermark"),
    ({"query": "vector(1)"}, "query", "needs_watermark"),
    ({"query": "time()", "bind": False}, "query", "needs_watermark"),
    ({"query": 'x{track=~"canary.*"}'}, "query", "cannot_bind"),
    ({"query": 'sum(x{track!="stable"}) / sum(x)'}, "query", "cannot_bind"),
    ({"query": "x", "on_empty": {"zero_if": 'up{track=~"c.*"}'}}, "on_empty/zero_if", "cannot_bind"),
    ({"query": "x", "watermark": {"selector": 'x{track!="a"}'}}, "watermark/selector", "cannot_bind"),
    ({"query": "x", "watermark": {"selector": "sum(x)"}}, "watermark/selector", "bad_selector"),
    ({"query": "x", "watermark": {"selector": "x[5m]"}}, "watermark/selector", "bad_selector"),
    ({"query": "x", "watermark": {"selector": "x offset 5m"}}, "watermark/selector", "bad_selector"),
    ({"query": "x", "watermark": {"selector": "x + y"}}, "watermark/selector", "bad_selector"),
    ({"query": "x", "watermark": {"selector": "1"}}, "watermark/selector", "bad_selector"),
    ({"query": "x", "bind": False, "on_empty": {"zero_if": "keep_last_value(up)"}}, "on_empty/zero_if", "bad_query"),
    ({"query": "x", "on_empty": {"zero_if": "vector(1)"}}, "on_empty/zero_if", "bad_guard"),
    ({"query": "x", "on_empty": {"zero_if": "up or vector(1)"}}, "on_empty/zero_if", "bad_guard"),
    ({"query": "x", "on_empty": {"zero_if": "absent(x)"}}, "on_empty/zero_if", "bad_guard"),
    ({"query": "x", "on_empty": {"zero_if": "job:up"}}, "on_empty/zero_if", "bad_guard"),
    ({"query": 'sum({__name__=~"job.*"})'}, "query", "needs_watermark"),
    ({"query": 'sum({__name__!="x",job="a"})', "bind": False}, "query", "needs_watermark"),
    ({"query": 'sum({__name__!~"x.*",job="a"})'}, "query", "needs_watermark"),
    ({"query": 'sum({job="a"})'}, "query", "needs_watermark"),
    ({"query": "x", "watermark": {"selector": '{job="a"}'}}, "watermark/selector", "needs_watermark"),
    ({"query": "x", "on_empty": {"zero_if": '{job="a"}'}}, "on_empty/zero_if", "bad_guard"),
    ({"query": "x[5m]"}, "query", "bad_query"),
    ({"query": "(x[5m])", "watermark": SELECTOR}, "query", "bad_query"),
    ({"query": "max(x)[1h:1m]"}, "query", "bad_query"),
    ({"query": '("a text")', "watermark": SELECTOR}, "query", "bad_query"),
    ({"variant_query": "x", "baseline_query": "x[5m]"}, "baseline_query", "bad_query"),
    ({"query": "x", "on_empty": {"zero_if": "up[5m]"}}, "on_empty/zero_if", "bad_query"),
    ({"query": "x", "watermark": {"event_time_query": "t[5m]"}}, "watermark/event_time_query", "bad_query"),
    *(
        ({"query": "x", "watermark": {"event_time_query": text}}, "watermark/event_time_query", "age_not_measured")
        for text in (
            "time()",
            "vector(time())",
            "1767225600",
            "max(push_time_seconds) or vector(time())",
            "vector(time()) and on() up",
            "max(t) or (vector(1) and on() t)",
            "timestamp(sum(x))",
            "max(timestamp(x + 0))",
            "max(timestamp(job:x:sum))",
        )
    ),
    ({"query": "sum(rate(x[$window]))"}, "query", "no_window"),
    ({"variant_query": "keep_last_value(x[$window])", "watermark": SELECTOR}, "variant_query", "no_window"),
]

ALLOWED: list[dict[str, Any]] = [
    {"query": "sum(rate(x[5m]))"},
    {"query": 'x{email="a@b"}'},
    {"query": 'sum({__name__=~"job.*"})', "watermark": SELECTOR},
    {"query": 'sum({__name__="x",job="a"})'},
    {"query": "(max_over_time(max(x)[1h:1m]))"},
    {"query": "x", "watermark": {"event_time_query": "max(timestamp((x)))"}},
    {"query": "x", "watermark": {"event_time_query": "time() - max(age_seconds)"}},
    {"query": "x offset 1h"},
    {"query": 'x{track="canary"}'},
    {"query": 'x{track=~"c.*"}', "bind": False},
    {"variant_query": 'x{track=~"c.*"}', "baseline_query": 'x{track!~"c.*"}'},
    {"variant_query": "keep_last_value(x)", "watermark": SELECTOR},
    {"variant_query": "x", "baseline_query": "keep_last_value(x)", "watermark": EVENT_TIME},
    {"query": "keep_last_value(x)", "bind": False, "watermark": SELECTOR},
    {"variant_query": "x", "watermark": {"event_time_query": "max(tlast_over_time(x[1h]))"}},
    {"query": "sum(job:errors:rate5m)", "watermark": SELECTOR},
    {"query": "sum(job:errors:rate5m)", "watermark": EVENT_TIME},
    {"query": "vector(1)", "watermark": EVENT_TIME},
    {"query": "x", "on_empty": {"zero_if": 'up{job="a"}'}},
    {"query": "x", "on_empty": {"zero_if": "count(up) > 3"}},
]


@pytest.mark.parametrize(("metric", "key", "code"), REFUSED)
def test_a_query_that_cannot_be_trusted_is_refused_at_its_place(metric: dict[str, Any], key: str, code: str) -> None:
    """Later it would be a hold without end, or an age that is always young."""
    assert errors(one(metric)) == [(f"/metrics/m/{key}", code)]


@pytest.mark.parametrize("metric", ALLOWED)
def test_a_query_that_can_be_read_dated_and_bound_loads(metric: dict[str, Any]) -> None:
    """MetricsQL beside a watermark, other operators where nothing is bound, an @ in a text."""
    assert refusal(one(metric)) == []


def test_the_window_of_the_file_stands_for_itself_in_queries() -> None:
    """`$window` is a duration wherever the file states one, and text inside strings."""
    assert refusal(one({"query": "sum(rate(x[$window]))"}, window="10m")) == []
    assert refusal(one({"query": 'label_replace(x, "a", "$window", "b", "(?P<window>.*)")'})) == []


def test_a_window_that_is_none_is_said_once_and_not_for_every_query() -> None:
    """The queries are not what is wrong."""
    assert errors(one({"query": "sum(rate(x[$window]))"}, window="5 m")) == [("/window", "bad_duration")]


def test_labels_that_are_wrong_are_said_once_and_not_for_every_query() -> None:
    """The queries are not what is wrong."""
    assert errors(one({"query": "x"}, labels={"a-b": {"variant": "v"}})) == [("/labels/a-b", "bad_label")]
    assert errors(one({"query": "x"}, labels={"a": "v"})) == [("/labels/a", "wrong_type")]


def test_the_refusal_says_what_the_parser_found_and_where_else_the_text_could_go() -> None:
    """A reviewer needs the reason, not only the place."""
    (line,) = refusal(one({"query": "sum(rate(x[5m])"}))
    assert line.startswith("c.json:1:")
    assert "/metrics/m/query: no PromQL: " in line
    assert "unclosed" in line or "paren" in line or "expected" in line
    assert "MetricsQL goes into variant_query" in line
    (line,) = refusal(one({"query": 'x{track=~"c.*"}'}))
    assert "track with =~" in line
    assert "`bind: false`" in line


def test_half_a_surrogate_pair_in_a_query_is_told_without_words_of_python() -> None:
    """`'utf-8' codec can't encode character` means nothing to whoever reviews a file."""
    lines = refusal(one({"query": 'x{a="\ud800"}'}))
    assert any("no PromQL: it holds half of a surrogate pair" in line for line in lines)
    assert not [line for line in lines if "codec" in line]


def test_a_misspelt_watermark_is_one_problem_and_not_two() -> None:
    """That the recording rule has none is a consequence."""
    assert errors(one({"query": "job:x", "watermrk": SELECTOR})) == [("/metrics/m/watermrk", "unknown_key")]


def test_two_metrics_with_the_same_slip_are_two_problems() -> None:
    """Each has its own place."""
    document = one({"query": "x{"})
    document["metrics"]["n"] = document["metrics"]["m"]
    assert errors(document) == [("/metrics/m/query", "bad_query"), ("/metrics/n/query", "bad_query")]


@pytest.mark.parametrize(("source", "is_loaded"), [("http", False), ("prometheus", True)])
def test_the_parser_is_loaded_for_a_file_with_a_prometheus_metric_only(source: str, is_loaded: bool) -> None:
    """Whoever reads a JSON endpoint should not pay for PromQL."""
    metric = {"source": "s", **({"pointer": ""} if source == "http" else {"query": "x"})}
    document = {"sources": {"s": {"type": source, "url": "${URL}"}}, "metrics": {"m": metric}}
    program = "import sys; from gatekeeper.evidence.collection_file.loading import load_collection as load;"
    program += f"load({encoded(document)!r}, 'c'); print('promql_parser' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(is_loaded)
