"""The review of a collection file that loads: what will hold for ever, or pass what it should not.

A defect (`Severity.ERROR`) makes the gate's answer wrong or impossible; a warning is worth a second look. With the
policies that the file feeds, they are held against each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.documents.diagnostics import Severity, placed
from gatekeeper.evidence.collection import PrometheusMetric
from gatekeeper.evidence.collection_file.loading import check_collection
from gatekeeper.evidence.lint.policy import policy_remarks
from gatekeeper.evidence.lint.remarks import SEVERITIES
from gatekeeper.evidence.lint.sources import source_remarks
from gatekeeper.evidence.lint.times import stage_remarks, time_remarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.problem import Problem
    from gatekeeper.evidence.collection import LoadedCollection
    from gatekeeper.model.policy import Policy

    AskBuckets = Callable[[LoadedCollection, Sequence[Policy]], Iterable[Problem]]


def lint(
    data: bytes, path: str, *, policies: Sequence[Policy] = (), ask_buckets: AskBuckets | None = None
) -> tuple[LoadedCollection | None, list[Diagnostic]]:
    """The collection if it loads, and everything to say about the file, in its order.

    Args:
        data: the bytes of the file.
        path: where they came from.
        policies: what the snapshots will be judged by.
        ask_buckets: asks the servers for what only they know; None asks nobody.
    """
    loaded, refused = check_collection(data, path)
    if loaded is None:
        return None, refused
    found = [
        *source_remarks(loaded.collection),
        *policy_remarks(loaded.collection, policies),
        *time_remarks(loaded.collection, policies),
    ]
    looks_back_seconds = 0.0
    if any(isinstance(metric, PrometheusMetric) for metric in loaded.collection.metrics.values()):
        from gatekeeper.evidence.lint.promql import promql_remarks  # it loads a parser
        from gatekeeper.evidence.lint.windows import longest_look_seconds, window_remarks

        found += promql_remarks(loaded.collection, policies)
        found += window_remarks(loaded)
        looks_back_seconds = longest_look_seconds(loaded.collection)
    found += stage_remarks(loaded.collection, policies, looks_back_seconds)
    if ask_buckets is not None:
        found += ask_buckets(loaded, policies)
    found = list(dict.fromkeys(found))  # two policies may ask for the same
    remarks = [
        one
        for severity in Severity
        for one in placed((each for each in found if SEVERITIES[each.code] is severity), severity, data, path)
    ]
    return loaded, sorted(remarks, key=lambda one: (one.line or 0, one.column or 0))
