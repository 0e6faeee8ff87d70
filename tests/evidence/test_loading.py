"""A collection file is loaded as it is meant, or every problem of it is named with its place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import (
    Columns,
    Dialect,
    EvaluateAt,
    FileMetric,
    FileSource,
    HttpMetric,
    HttpSource,
    Kind,
    LabelValues,
    Limits,
    OnEmpty,
    PrometheusMetric,
    PrometheusSource,
    SourceType,
    SqlMetric,
    SqlSource,
    Watermark,
)
from gatekeeper.evidence.collection_file.loading import check_collection, load_collection, read_collection
from gatekeeper.model.canonical import digest
from tests.evidence.collections import EXAMPLE, FULL, collection, errors, refusal
from tests.review.documents import MISSING, changed, encoded

DESIGN = {
    "schema": "gatekeeper/collection/v1",
    "sources": {
        "prom": {
            "type": "prometheus",
            "url": "${PROMETHEUS_URL}",
            "dialect": "prometheus",
            "headers": {"Authorization": "${PROM_AUTH}"},
            "scrape_interval_seconds": 15,
            "connect_timeout_seconds": 2,
            "timeout_seconds": 5,
        }
    },
    "window": "5m",
    "labels": {"variant": {"variant": "canary", "baseline": "baseline"}},
    "evaluate_at": {"settle_seconds": 30, "align_seconds": 15},
    "limits": {"deadline_seconds": 20, "parallelism": 8, "watermark_depth": "30m"},
    "metrics": {
        "error_rate_5m": {
            "source": "prom",
            "query": '(sum(rate(http_requests_total{code=~"5.."}[5m])) or 0 * sum(rate(http_requests_total[5m])))'
            " / sum(rate(http_requests_total[5m]))",
            "range": [0, 1],
            "min_coverage": 0.8,
        },
        "requests_5m": {"source": "prom", "query": "floor(sum(increase(http_requests_total[5m])))", "kind": "count"},
        "mismatches": {
            "source": "prom",
            "query": "sum(ledger_mismatches_total)",
            "bind": False,
            "kind": "count",
            "on_empty": {"zero_if": 'up{job="ledger"}'},
        },
        "killswitch": {"source": "prom", "query": "max(killswitch_engaged)", "bind": False, "kind": "boolean"},
        "billing_lag": {
            "source": "prom",
            "query": "max(billing_lag_seconds)",
            "bind": False,
            "watermark": {"event_time_query": 'max(push_time_seconds{job="billing"})'},
        },
    },
}
"""A file as people with several kinds of metric on one server write it."""


def test_the_example_of_the_contract_loads_unchanged() -> None:
    """Whoever copies it from the page must not be refused."""
    loaded = load_collection(EXAMPLE.encode(), "collection.json")
    ours = loaded.collection
    assert list(ours.sources) == ["prom", "dwh", "svc"]
    assert ours.sources["prom"] == PrometheusSource(SourceType.PROMETHEUS, "${PROMETHEUS_URL}")
    assert ours.sources["dwh"] == SqlSource(SourceType.SQL, "${WAREHOUSE_URL}")
    assert ours.sources["svc"] == HttpSource(SourceType.HTTP, "https://…")
    assert ours.window == "5m"
    assert ours.labels == {"track": LabelValues("canary", "stable")}
    assert ours.limits == Limits()
    assert ours.evaluate_at == EvaluateAt()
    assert list(ours.metrics_of("prom")) == ["error_rate_5m", "ledger_mismatches"]
    assert ours.metrics["ledger_mismatches"] == PrometheusMetric("prom", "sum(ledger_mismatches_total)", bind=False)
    assert ours.metrics_of("svc") == {}
    assert loaded.document == json.loads(EXAMPLE)
    assert loaded.path == "collection.json"


def test_a_file_with_every_kind_of_prometheus_metric_loads() -> None:
    """Counts, switches, pushed times and an imputed zero beside a ratio."""
    metrics = collection(DESIGN).collection.metrics
    assert metrics["requests_5m"] == PrometheusMetric(
        "prom", "floor(sum(increase(http_requests_total[5m])))", kind=Kind.COUNT
    )
    lag = metrics["billing_lag"]
    assert isinstance(lag, PrometheusMetric)
    assert lag.watermark == Watermark(event_time_query='max(push_time_seconds{job="billing"})')


def test_every_key_goes_into_its_field() -> None:
    """A key that is read into nothing would be a limit that nobody keeps."""
    ours = collection(FULL).collection
    assert ours.sources["prom"] == PrometheusSource(
        type=SourceType.PROMETHEUS,
        url="https://metrics.example.com/prometheus?tenant=shop&token=${PROM_TOKEN}",
        dialect=Dialect.VICTORIAMETRICS,
        headers={"Authorization": "Bearer ${PROM_AUTH}", "X-Scope-OrgID": "shop"},
        ca_file="ca.pem",
        cert_file="client.pem",
        key_file="client.key",
        proxy_url="http://gate:${PROXY_PASSWORD}@proxy.example.com:3128",
        scrape_interval_seconds=30,
        connect_timeout_seconds=1.5,
        timeout_seconds=6,
    )
    assert isinstance(ours.sources["svc"], HttpSource)
    assert ours.sources["svc"].max_bytes == 65536
    assert ours.sources["part"] == FileSource(SourceType.FILE, "parts/replay.json")
    assert ours.labels["service"] == LabelValues("checkout")
    assert ours.evaluate_at == EvaluateAt(30, 15)
    assert ours.limits == Limits(30, 4, "1h30m")
    ratio = ours.metrics["error_ratio"]
    assert isinstance(ratio, PrometheusMetric)
    assert (ratio.range, ratio.min_coverage) == ((0, 1), 0.9)
    assert ratio.watermark == Watermark(selector='requests_total{job="checkout"}')
    assert ratio.on_empty == OnEmpty('up{job="checkout"}')
    assert ours.metrics["mismatches"] == PrometheusMetric(
        source="prom",
        variant_query="sum(mismatches) keep_last_value",
        baseline_query="sum(mismatches_before)",
        kind=Kind.COUNT,
        watermark=Watermark(event_time_query='max(push_time_seconds{job="billing"})'),
    )
    assert ours.metrics["queue"] == HttpMetric(
        "svc", "/queues/0/depth", "/queues/1/depth", "/as~1of", Kind.COUNT, (0, 100000)
    )
    assert ours.metrics["replayed"] == FileMetric("part", "replay_errors")
    lift = ours.metrics["lift"]
    assert isinstance(lift, SqlMetric)
    columns = ("rate", "rate_base", "loaded_until", "n", "effect", "low", "high", "p", "state", "stable")
    assert lift.columns == Columns(*columns)


def test_the_digest_is_of_the_file_and_of_nothing_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another password, another path or another layout is no other collection; another number is."""
    before = collection(FULL)
    monkeypatch.setenv("PROM_AUTH", "another one")
    again = load_collection(json.dumps(FULL, indent=3, sort_keys=True).encode(), "elsewhere/c.json")
    assert again.digest == before.digest == digest(FULL)
    assert collection(changed(FULL, "limits/deadline_seconds", 31)).digest != before.digest
    assert collection(changed(FULL, "schema", MISSING)).digest != before.digest  # nothing is filled in


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    """Paths in it are relative to it, so it must be known where it was."""
    path = tmp_path / "collection.json"
    path.write_bytes(encoded(FULL))
    assert read_collection(path) == collection(FULL, str(path))


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    """A path with a slip must not end in a traceback."""
    for path in (str(tmp_path / "nothing.json"), str(tmp_path), "a\0b"):
        with pytest.raises(CollectionError, match="the collection file cannot be read") as caught:
            read_collection(path)
        assert caught.value.message.startswith(path)
        assert caught.value.exit_code == 65


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"sources": {},\n "sources": {}}', "c.json:2:2: duplicate key 'sources' at /sources"),
        (b'{"sources": {},\n}', "c.json:2:1: not JSON: "),
        (b"[]", "c.json:1:1: (whole collection): a collection is one JSON object, found a list"),
        (b"{}", "c.json:1:1: /metrics: the key is missing; allowed: an object"),
        (b"\xff", "c.json:1: not UTF-8"),
    ],
)
def test_what_is_no_collection_at_all_is_refused_with_its_place(data: bytes, line: str) -> None:
    """The first thing a person does wrong."""
    assert refusal(data)[0].startswith(line)


def test_a_refusal_ends_with_65_and_says_how_to_check_again() -> None:
    """The remedy is a command that can be typed."""
    with pytest.raises(CollectionError) as caught:
        load_collection(b"{}", "evidence/c.json")
    assert caught.value.code == "collection.invalid"
    assert caught.value.exit_code == 65
    assert caught.value.remedy == "correct the file, then: gatekeeper collect --lint evidence/c.json"


def test_the_review_says_what_the_refusal_says() -> None:
    """Two readings of one file would be two truths."""
    spoilt = encoded(changed(FULL, "limits/parallelism", 0))
    loaded, found = check_collection(spoilt, "c.json")
    assert loaded is None
    assert [one.text("c.json") for one in found] == refusal(spoilt)
    loaded, found = check_collection(encoded(FULL), "c.json")
    assert (loaded, found) == (load_collection(encoded(FULL), "c.json"), [])
    loaded, found = check_collection(b"{", "c.json")
    assert loaded is None
    assert [(one.line, one.code) for one in found] == [(1, "document.invalid")]


def test_a_source_that_nobody_asks_is_allowed() -> None:
    """The contract's example has two."""
    assert errors({**FULL, "metrics": {"queue": FULL["metrics"]["queue"]}}) == []


def test_a_sound_file_is_loaded_without_pydantic_and_without_any_client() -> None:
    """Each of them costs more than all the rest of a check."""
    program = "import sys; from gatekeeper.evidence.collection_file.loading import load_collection as load;"
    program += f"load({encoded(FULL)!r}, 'c.json');"
    program += "heavy = ('pydantic', 'pydantic_core', 'dataclasses', 'requests', 'sqlalchemy', 'difflib');"
    program += "print([name for name in heavy if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
