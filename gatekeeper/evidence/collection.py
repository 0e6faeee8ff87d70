"""The collection file as frozen values: which sources are asked what (SPEC 9).

The dataclasses are the definition of keys, types and defaults. `collection_file` reads a file into them; which
class an object of `sources` or `metrics` is read by depends on the `type` of the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from gatekeeper.model.values import dataclass, field

SCHEMA = "gatekeeper/collection/v1"
"""What the key `schema` of a collection file may say; absent means this one."""


class SourceType(StrEnum):
    """What kind of thing is asked; a key of `readers.READERS`."""

    PROMETHEUS = "prometheus"
    SQL = "sql"
    HTTP = "http"
    FILE = "file"


class Dialect(StrEnum):
    """Whose server answers PromQL: they differ in how the newest sample of a dead series is found."""

    PROMETHEUS = "prometheus"
    VICTORIAMETRICS = "victoriametrics"


class Kind(StrEnum):
    """What a value must be: any finite number; an integer from 0 up; 0 or 1, read as false or true."""

    NUMBER = "number"
    COUNT = "count"
    BOOLEAN = "boolean"


TARGET_LABELS = ("job", "instance", "cluster", "namespace", "pod", "replica", "prometheus", "prometheus_replica")
"""Labels that tell one target from another, unless a source states its own."""


@dataclass(frozen=True)
class PrometheusSource:
    """A server with the Prometheus query API.

    `url` is the address before `/api/v1`; `${NAME}` in it, in the values of `headers` and in `proxy_url` stands
    for an environment variable. `scrape_interval_seconds` is what coverage is reckoned with, for each target: series
    that differ in one of `target_labels` are of two.
    """

    type: SourceType
    url: str
    dialect: Dialect = Dialect.PROMETHEUS
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    proxy_url: str | None = None
    scrape_interval_seconds: float = 15
    target_labels: tuple[str, ...] = TARGET_LABELS
    connect_timeout_seconds: float = 2
    timeout_seconds: float = 5


@dataclass(frozen=True)
class HttpSource:
    """An endpoint that answers a GET with one JSON document of at most `max_bytes`."""

    type: SourceType
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    proxy_url: str | None = None
    connect_timeout_seconds: float = 2
    timeout_seconds: float = 5
    max_bytes: int = 1_048_576


@dataclass(frozen=True)
class SqlSource:
    """A database, by SQLAlchemy URL; `timeout_seconds` bounds each statement, on the server where it can."""

    type: SourceType
    url: str
    connect_timeout_seconds: float = 5
    timeout_seconds: float = 10


@dataclass(frozen=True)
class FileSource:
    """A snapshot file as a part; `path` is relative to the collection file, `-` is standard input."""

    type: SourceType
    path: str


@dataclass(frozen=True)
class Watermark:
    """Where the age of a Prometheus metric is read, when its own series do not tell: one of the two.

    Attributes:
        selector: the raw series behind a recording rule; the newest sample's time counts.
        event_time_query: a query whose value is the time of the newest event, in unix seconds (Pushgateway,
            textfile collector: their samples are always new).
    """

    selector: str | None = None
    event_time_query: str | None = None


@dataclass(frozen=True)
class OnEmpty:
    """When an empty answer means 0: `zero_if` must then yield series, each with a value other than 0."""

    zero_if: str


@dataclass(frozen=True)
class PrometheusMetric:
    """One metric asked of a Prometheus server.

    Attributes:
        query: asked for the variant and, with the other label values, for the baseline.
        variant_query, baseline_query: in its place, where one text will not do; nothing is bound into them.
        bind: whether `labels` are bound into the selectors of `query`; without, only the variant side is asked.
        range: [low, high] that the value can have at all.
        min_coverage: the part of each window that samples must cover, 0 to 1.
    """

    source: str
    query: str | None = None
    variant_query: str | None = None
    baseline_query: str | None = None
    bind: bool = True
    kind: Kind = Kind.NUMBER
    range: tuple[float, float] | None = None
    min_coverage: float = 0.8
    watermark: Watermark | None = None
    on_empty: OnEmpty | None = None


@dataclass(frozen=True)
class Columns:
    """Our name -> name of the column in the query's one row."""

    value: str
    baseline: str | None = None
    watermark: str | None = None
    sample_size: str | None = None
    effect_estimate: str | None = None
    ci_low: str | None = None
    ci_high: str | None = None
    p_value: str | None = None
    sequential_test_state: str | None = None
    assignment_stable: str | None = None


@dataclass(frozen=True)
class SqlMetric:
    """One metric read from one row of a query."""

    source: str
    query: str
    columns: Columns
    kind: Kind = Kind.NUMBER
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class HttpMetric:
    """One metric read from a JSON document by JSON Pointers (RFC 6901)."""

    source: str
    pointer: str
    baseline_pointer: str | None = None
    watermark_pointer: str | None = None
    kind: Kind = Kind.NUMBER
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class FileMetric:
    """One metric of a snapshot file: value, baseline, statistics, observation and times; `metric` is its name there."""

    source: str
    metric: str | None = None


SourceSpec = PrometheusSource | HttpSource | SqlSource | FileSource
MetricSpec = PrometheusMetric | HttpMetric | SqlMetric | FileMetric

SOURCE_SHAPES: Mapping[SourceType, type] = {
    SourceType.PROMETHEUS: PrometheusSource,
    SourceType.SQL: SqlSource,
    SourceType.HTTP: HttpSource,
    SourceType.FILE: FileSource,
}
METRIC_SHAPES: Mapping[SourceType, type] = {
    SourceType.PROMETHEUS: PrometheusMetric,
    SourceType.SQL: SqlMetric,
    SourceType.HTTP: HttpMetric,
    SourceType.FILE: FileMetric,
}


@dataclass(frozen=True)
class LabelValues:
    """The value of one label on the two sides; `${NAME}` stands for an environment variable."""

    variant: str
    baseline: str | None = None


@dataclass(frozen=True)
class EvaluateAt:
    """The evaluation instant: the present, `settle_seconds` back, then back to a multiple of `align_seconds`."""

    settle_seconds: float = 0
    align_seconds: float = 1


@dataclass(frozen=True)
class Limits:
    """Bounds of a whole collection: wall-clock seconds, requests at once, how far back a dead series is looked for."""

    deadline_seconds: float = 20
    parallelism: int = 8
    watermark_depth: str = "30m"


@dataclass(frozen=True)
class Frame:
    """The collection file as written, its `sources` and `metrics` still unread: their classes depend on types."""

    sources: Mapping[str, Any]
    metrics: Mapping[str, Any]
    schema: str = SCHEMA
    window: str | None = None
    labels: Mapping[str, LabelValues] = field(default_factory=dict)
    evaluate_at: EvaluateAt = EvaluateAt()
    limits: Limits = Limits()


@dataclass(frozen=True)
class Collection:
    """A collection file: sources and metrics by name, each metric naming its source."""

    sources: Mapping[str, SourceSpec]
    metrics: Mapping[str, MetricSpec]
    window: str | None
    labels: Mapping[str, LabelValues]
    evaluate_at: EvaluateAt
    limits: Limits

    def metrics_of(self, source: str) -> dict[str, MetricSpec]:
        """The metrics that *source* is asked for, in the file's order."""
        return {name: metric for name, metric in self.metrics.items() if metric.source == source}


@dataclass(frozen=True)
class LoadedCollection:
    """A collection with the document it was read from.

    Attributes:
        document: as written, nothing filled in, `${NAME}` not expanded.
        digest: `collector_digest`, of the document's canonical form.
        path: the file, for messages and for paths that are relative to it.
    """

    collection: Collection
    document: Mapping[str, Any]
    digest: str
    path: str
