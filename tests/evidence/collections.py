"""Collection files that load, to be spoilt one thing at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection_file.loading import check_collection, load_collection
from tests.review.documents import encoded

if TYPE_CHECKING:
    from gatekeeper.evidence.collection import LoadedCollection

EXAMPLE = """
{"sources": {"prom": {"type": "prometheus", "url": "${PROMETHEUS_URL}", "timeout_seconds": 5, "scrape_interval_seconds": 15},
             "dwh":  {"type": "sql", "url": "${WAREHOUSE_URL}"}, "svc": {"type": "http", "url": "https://…"}},
 "window": "5m", "labels": {"track": {"variant": "canary", "baseline": "stable"}}, "limits": {"deadline_seconds": 20},
 "metrics": {"error_rate_5m": {"source": "prom", "range": [0, 1], "min_coverage": 0.8,
   "query": "(sum(rate(http_requests_total{code=~\\"5..\\"}[5m])) or 0 * sum(rate(http_requests_total[5m]))) / sum(rate(http_requests_total[5m]))"},
             "ledger_mismatches": {"source": "prom", "query": "sum(ledger_mismatches_total)", "bind": false}}}
"""  # noqa: E501 - as the contract has it
"""The file of SPEC 9, byte for byte."""

FULL: dict[str, Any] = {
    "schema": "gatekeeper/collection/v1",
    "sources": {
        "prom": {
            "type": "prometheus",
            "url": "https://metrics.example.com/prometheus?tenant=shop&token=${PROM_TOKEN}",
            "dialect": "victoriametrics",
            "headers": {"Authorization": "Bearer ${PROM_AUTH}", "X-Scope-OrgID": "shop"},
            "ca_file": "ca.pem",
            "cert_file": "client.pem",
            "key_file": "client.key",
            "proxy_url": "http://gate:${PROXY_PASSWORD}@proxy.example.com:3128",
            "scrape_interval_seconds": 30,
            "connect_timeout_seconds": 1.5,
            "timeout_seconds": 6,
        },
        "svc": {
            "type": "http",
            "url": "https://gate:${SVC_PASSWORD}@svc.example.com:8443/health?since=5m",
            "headers": {"X-Api-Key": "${SVC_KEY}"},
            "ca_file": "ca.pem",
            "cert_file": "client.pem",
            "key_file": "client.key",
            "proxy_url": "${PROXY}",
            "connect_timeout_seconds": 1,
            "timeout_seconds": 4,
            "max_bytes": 65536,
        },
        "dwh": {
            "type": "sql",
            "url": "postgresql+psycopg://gate@db.example.com/warehouse?sslmode=verify-full&sslkey=client.key",
            "connect_timeout_seconds": 3,
            "timeout_seconds": 8,
        },
        "part": {"type": "file", "path": "parts/replay.json"},
    },
    "window": "5m",
    "labels": {"track": {"variant": "${TRACK}", "baseline": "stable"}, "service": {"variant": "checkout"}},
    "evaluate_at": {"settle_seconds": 30, "align_seconds": 15},
    "limits": {"deadline_seconds": 30, "parallelism": 4, "watermark_depth": "1h30m"},
    "metrics": {
        "error_ratio": {
            "source": "prom",
            "query": 'sum(rate(requests_total{code="500"}[$window])) / sum(rate(requests_total[$window]))',
            "bind": True,
            "kind": "number",
            "range": [0, 1],
            "min_coverage": 0.9,
            "watermark": {"selector": 'requests_total{job="checkout"}'},
            "on_empty": {"zero_if": 'up{job="checkout"}'},
        },
        "mismatches": {
            "source": "prom",
            "variant_query": "sum(mismatches) keep_last_value",
            "baseline_query": "sum(mismatches_before)",
            "kind": "count",
            "watermark": {"event_time_query": 'max(push_time_seconds{job="billing"})'},
        },
        "queue": {
            "source": "svc",
            "pointer": "/queues/0/depth",
            "baseline_pointer": "/queues/1/depth",
            "watermark_pointer": "/as~1of",
            "kind": "count",
            "range": [0, 100000],
        },
        "lift": {
            "source": "dwh",
            "query": "select rate, rate_base, loaded_until from lift",
            "columns": {
                "value": "rate",
                "baseline": "rate_base",
                "watermark": "loaded_until",
                "sample_size": "n",
                "effect_estimate": "effect",
                "ci_low": "low",
                "ci_high": "high",
                "p_value": "p",
                "sequential_test_state": "state",
                "assignment_stable": "stable",
            },
            "kind": "number",
            "range": [0, 1],
        },
        "replayed": {"source": "part", "metric": "replay_errors"},
    },
}
"""Every key of every type once."""


def collection(document: dict[str, Any], path: str = "collection.json") -> LoadedCollection:
    """*document* as a file at *path* would be loaded."""
    return load_collection(encoded(document), path)


def refusal(document: Any) -> list[str]:
    """The lines with which a document, or bytes, are refused; none when they load."""
    try:
        load_collection(document if isinstance(document, bytes) else encoded(document), "c.json")
    except CollectionError as error:
        return error.message.splitlines()
    return []


def errors(document: Any) -> list[tuple[str, str]]:
    """Pointer and code of everything that is wrong with *document*, in the order of the file."""
    loaded, found = check_collection(encoded(document), "c.json")
    assert (loaded is None) == bool(found)
    return [(one.pointer, one.code.removeprefix("collection.")) for one in found]
