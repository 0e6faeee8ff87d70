"""What the schema of a collection file says of each key beyond its type: words for people, bounds, patterns.

The bounds are those of `rules`, `source_rules` and `metric_rules`; a test finds no document on which the two disagree,
but for what a schema cannot say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema_parts import DURATION_PATTERN, LONGEST_DURATION
from gatekeeper.documents.schema_words import BLANK, NOT_BLANK, exactly, note
from gatekeeper.evidence.collection_file.bounds import LONGEST_TIMEOUT_SECONDS, MOST_BYTES, ONE_DAY_SECONDS
from gatekeeper.evidence.collection_file.rules import LONGEST_DEADLINE_SECONDS, MOST_WORKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTROL = r"\x00-\x1f\x7f"
_VARIABLES = {"pattern": r"^(?![\s\S]*\$\{(?![A-Za-z_][A-Za-z0-9_]*\}))"}
"""`${` stands only before a name and its `}`."""
_WEB = exactly(rf"\$\{{[\s\S]*|[Hh][Tt][Tt][Pp][Ss]?://[^{_CONTROL}{BLANK}]+")
_DATABASE = exactly(rf"\$\{{[\s\S]*|[A-Za-z][A-Za-z0-9_]*(?:\+[A-Za-z0-9_]+)?://[^{_CONTROL}]*")
_PATH = {"pattern": NOT_BLANK, "not": {"pattern": r"\$\{|\x00"}}
_LABEL = exactly(r"(?!__name__$)[A-Za-z_][A-Za-z0-9_]*")
_HEADER = exactly(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = exactly(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_POINTER = exactly(r"(?:/(?:[^~/]|~[01])*)*")
_DURATION = {"pattern": DURATION_PATTERN, "maxLength": LONGEST_DURATION}

_TEXT = {"pattern": NOT_BLANK}
_TIMEOUT = {"exclusiveMinimum": 0, "maximum": LONGEST_TIMEOUT_SECONDS}


def _texts(pattern: str) -> dict[str, Any]:
    return {"allOf": [{"pattern": pattern}, _VARIABLES]}


_TYPE = note("Which kind of source it is; decides the keys of its metrics.")
_URL = note(
    "Address before /api/v1; ${NAME} stands for an environment variable, and a credential never stands here.",
    "${PROMETHEUS_URL}",
    "https://prometheus.example.com",
    **_texts(_WEB),
)
_HEADERS = note(
    "Sent with each request; a value that is a credential comes from the environment.",
    {"Authorization": "Bearer ${PROM_TOKEN}"},
    propertyNames={"pattern": _HEADER},
    additionalProperties=_texts(_HEADER_VALUE),
)
_CONNECT = note("How long a connection may take. Unit: seconds.", 2, **_TIMEOUT)
_ANSWER = note("How long an answer may take. Unit: seconds.", 5, **_TIMEOUT)
_WEB_SOURCE: Mapping[str, Mapping[str, Any]] = {
    "": {"dependentRequired": {"key_file": ["cert_file"]}},
    "type": _TYPE,
    "headers": _HEADERS,
    "ca_file": note("Certificates that the server's is checked with; relative to this file.", "ca.pem", **_PATH),
    "cert_file": note("Our own certificate; relative to this file.", "client.pem", **_PATH),
    "key_file": note("Its key; relative to this file.", "client.key", **_PATH),
    "proxy_url": note("A proxy; that of the environment is never used.", "${PROXY}", **_texts(_WEB)),
    "connect_timeout_seconds": _CONNECT,
    "timeout_seconds": _ANSWER,
}

_SOURCE = note("Name of the source that is asked.", "prom")
_KIND = note("What the value must be: any finite number; an integer from 0 up; 0 or 1, read as false or true.")
_RANGE = note("[low, high] that the value can have at all, bounds included. Unit: the metric's.", [0, 1])
_METRIC: Mapping[str, Mapping[str, Any]] = {"source": _SOURCE, "kind": _KIND, "range": _RANGE}


def _query(description: str, *examples: str) -> dict[str, Any]:
    return note(description, *examples, **_TEXT)


def _column(description: str, example: str) -> dict[str, Any]:
    return note(description, example, **_TEXT)


NOTES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "Frame": {
        "schema": note("Version of this format."),
        "sources": note("What is asked: name of a source, and where it is."),
        "metrics": note("What is read: name of a metric, as the policy has it, and how it is asked."),
        "window": note(
            "The window of the values; stands for $window in queries. Unit: a Prometheus duration.", "5m", **_DURATION
        ),
        "labels": note(
            "How the variant and its baseline are told apart in Prometheus: name of a label, and its values.",
            {"track": {"variant": "canary", "baseline": "stable"}},
            propertyNames={"pattern": _LABEL},
        ),
        "evaluate_at": note("The moment that all queries are asked for."),
        "limits": note("How long a collection may take, and how much it may ask at once."),
    },
    "LabelValues": {
        "variant": note("The value on the variant's side; ${NAME} is replaced.", "canary", **_texts(NOT_BLANK)),
        "baseline": note("The value on the baseline's side; ${NAME} is replaced.", "stable", **_texts(NOT_BLANK)),
    },
    "EvaluateAt": {
        "settle_seconds": note(
            "How far back from the present, so that all samples are in. Unit: seconds.",
            30,
            minimum=0,
            maximum=ONE_DAY_SECONDS,
        ),
        "align_seconds": note(
            "Then back to a multiple of this. Unit: seconds.", 15, minimum=0.001, maximum=ONE_DAY_SECONDS
        ),
    },
    "Limits": {
        "": {"description": "Bounds of a whole collection."},
        "deadline_seconds": note(
            "All of it, by the clock on the wall. Unit: seconds.",
            20,
            exclusiveMinimum=0,
            maximum=LONGEST_DEADLINE_SECONDS,
        ),
        "parallelism": note("Requests at once. Unit: requests.", 8, minimum=1, maximum=MOST_WORKERS),
        "watermark_depth": note(
            "How far back a dead series is looked for. Unit: a Prometheus duration.", "30m", **_DURATION
        ),
    },
    "PrometheusSource": {
        **_WEB_SOURCE,
        "url": _URL,
        "dialect": note("Whose server answers: it decides how the newest sample of a dead series is found."),
        "scrape_interval_seconds": note(
            "What coverage is reckoned with, for each target. Unit: seconds.",
            15,
            exclusiveMinimum=0,
            maximum=ONE_DAY_SECONDS,
        ),
        "target_labels": note(
            "Labels that tell one target from another.", ["job", "instance"], minItems=1, items={"pattern": _LABEL}
        ),
    },
    "HttpSource": {
        **_WEB_SOURCE,
        "url": note(
            "Address of one JSON document; ${NAME} stands for an environment variable.",
            "https://checkout.example.com/health",
            **_texts(_WEB),
        ),
        "max_bytes": note("Of one answer. Unit: bytes.", 1_048_576, minimum=1, maximum=MOST_BYTES),
    },
    "SqlSource": {
        "type": _TYPE,
        "url": note(
            "SQLAlchemy URL; ${NAME} stands for an environment variable, and a password never stands here.",
            "postgresql+psycopg://gate:${WAREHOUSE_PASSWORD}@db.example.com/warehouse",
            **_texts(_DATABASE),
        ),
        "connect_timeout_seconds": _CONNECT,
        "timeout_seconds": note(
            "How long a statement may take, on the server where it can. Unit: seconds.", 10, **_TIMEOUT
        ),
    },
    "FileSource": {
        "type": _TYPE,
        "path": note("A snapshot file, relative to this one; - is standard input.", "reports/pii-scan.json", **_PATH),
    },
    "PrometheusMetric": {
        "": {
            "oneOf": [
                {"required": ["query"], "properties": {"variant_query": False, "baseline_query": False}},
                {"required": ["variant_query"], "properties": {"query": False}},
            ]
        },
        **_METRIC,
        "query": _query(
            "PromQL, asked for the variant and, with the other label values, for the baseline.",
            "sum(rate(http_requests_total[$window]))",
        ),
        "variant_query": _query("Asked in its place for the variant; nothing is bound into it.", "sum(canary_errors)"),
        "baseline_query": _query("And for the baseline.", "sum(stable_errors)"),
        "bind": note("Whether labels are bound into the selectors of query; without, only the variant is asked."),
        "min_coverage": note(
            "The part of each window that samples must cover. Unit: none, a ratio.", 0.8, minimum=0, maximum=1
        ),
        "watermark": note(
            "Where the age is read when the metric's own series do not tell.",
            {"event_time_query": "max(push_time_seconds)"},
        ),
        "on_empty": note("When an empty answer means 0.", {"zero_if": 'up{job="api"}'}),
    },
    "Watermark": {
        "": {
            "description": "Where the age of a Prometheus metric is read, when its own series do not tell.",
            "minProperties": 1,
            "maxProperties": 1,
        },
        "selector": _query("The raw series behind a recording rule.", 'http_requests_total{job="api"}'),
        "event_time_query": _query(
            "A query whose value is the time of the newest event, in unix seconds.", "max(push_time_seconds)"
        ),
    },
    "OnEmpty": {
        "": {"description": "When an empty answer means 0."},
        "zero_if": _query("Must then yield series, each with a value other than 0.", 'up{job="api"}'),
    },
    "SqlMetric": {
        **_METRIC,
        "query": _query("SQL that gives one row.", "SELECT rate, loaded_until FROM checkout_experiment"),
        "columns": note("What the columns of the row are.", {"value": "rate", "watermark": "loaded_until"}),
    },
    "Columns": {
        "": {"description": "Our name: name of the column in the query's one row."},
        "value": _column("The metric's value.", "rate"),
        "baseline": _column("The same of the baseline.", "rate_base"),
        "watermark": _column("How far the data reach.", "loaded_until"),
        "sample_size": _column("The sample's size.", "n"),
        "effect_estimate": _column("Variant minus baseline.", "effect"),
        "ci_low": _column("Lower confidence bound of the effect.", "low"),
        "ci_high": _column("Upper confidence bound of the effect.", "high"),
        "p_value": _column("Recorded, never judged.", "p"),
        "sequential_test_state": _column("Recorded, never judged.", "state"),
        "assignment_stable": _column("Whether users kept their side.", "stable"),
    },
    "HttpMetric": {
        **_METRIC,
        "pointer": note("JSON Pointer of the value.", "/queues/orders/depth", pattern=_POINTER),
        "baseline_pointer": note("JSON Pointer of the baseline's value.", "/baseline/depth", pattern=_POINTER),
        "watermark_pointer": note("JSON Pointer of the time that the data reach.", "/as_of", pattern=_POINTER),
    },
    "FileMetric": {
        "": {"description": "One metric of a snapshot file: value, baseline, statistics, observation and times."},
        "source": _SOURCE,
        "metric": note("Its name there, where it has another one.", "pii_leaks", **_TEXT),
    },
    "Kind": {"": {"description": "What a value must be."}},
    "Dialect": {"": {"description": "Whose server answers PromQL."}},
}
