"""The queries that are asked about a query: how new its samples are, and how much of its window they cover."""

from __future__ import annotations

from collections.abc import Sequence

import promql_parser as pp

from gatekeeper.evidence.collection import Dialect
from gatekeeper.evidence.prometheus.promql import PromqlError, Selector, bare, matchers_of, parse
from gatekeeper.evidence.prometheus.promql_text import duration_text

_DEEP_STEP = "1m"
"""Finer than the 5 minutes that a sample is looked back for, so that no sample falls between two steps."""


def watermark_query(selector: Selector, targets: Sequence[str]) -> str:
    """Asks how new *selector* is, unix seconds; empty when it has no sample in the last 5 minutes.

    Of a selector with a window it is the newest sample: a target that lags behind shows in the coverage. One of an
    instant is as old as the target whose newest sample is the oldest. The offset stays in the query, and the time is
    the sample's own.

    Args:
        targets: the labels that tell one target from another.
    """
    if selector.window_seconds > 0:
        return f"max(timestamp({_shifted(selector)}))"
    one, loner = (f"timestamp({_of_instance(selector, operator)})" for operator in ("!=", "="))
    return f"min(max by ({', '.join(targets)}) ({one}) or {loner})"


def deep_watermark_query(selector: Selector, depth: str, dialect: Dialect) -> str:
    """As `watermark_query`, looking back for *depth* (a duration): tells a series that stopped from one that never was.

    It costs ten times as much, so it is for those that `watermark_query` did not find. Right after a staleness marker
    Prometheus' answer may be up to a minute too old, never too new.
    """
    if dialect is Dialect.VICTORIAMETRICS:
        return f"max(tlast_over_time({_shifted(selector, depth)}))"
    return f"max(max_over_time(timestamp({_shifted(selector)})[{depth}:{_DEEP_STEP}]))"


def coverage_groups(found: Sequence[Selector]) -> tuple[tuple[Selector, ...], ...]:
    """The selectors of one metric that have a window, those of one name, window and offset together.

    They are asked together because a series that a label gave birth to (the first `code="500"`) covers little of its
    window although its target was there all the time: another series of the same name says so.
    """
    groups: dict[tuple[str, float, float], list[Selector]] = {}
    for one in found:
        if one.window_seconds > 0:
            groups.setdefault((one.name or one.text, one.window_seconds, one.offset_seconds), []).append(one)
    return tuple(tuple(group) for group in groups.values())


def coverage_query(group: Sequence[Selector], targets: Sequence[str]) -> str:
    """Asks how many samples the worst target of a group of `coverage_groups` has in the window.

    Of a target its best series counts; a series without an `instance` is a target of its own. Empty when the group has
    no sample at all.

    Args:
        targets: the labels that tell one target from another.
    """
    many = " or ".join(f"count_over_time({_of_instance(one, '!=')})" for one in group)
    loners = " or ".join(f"count_over_time({_of_instance(one, '=')})" for one in group)
    return f"min(max by ({', '.join(targets)}) ({many}) or {loners})"


def coverage_ratio(samples: float, window_seconds: float, scrape_interval_seconds: float) -> float:
    """The part of the window that so many samples cover, 0 to 1."""
    return min(1.0, samples * scrape_interval_seconds / window_seconds)


def bucket_bounds_query(selector: Selector) -> str:
    """Asks for one series per `le` of the buckets that *selector* finds."""
    return f"count by (le) ({_shifted(selector)})"


def _of_instance(selector: Selector, operator: str) -> str:
    """The selector with its window, of series that have an `instance` (`!=`) or none (`=`)."""
    node = parse(selector.text)
    assert isinstance(node, pp.VectorSelector)
    matchers = [*matchers_of(node), ("instance", operator, "")]
    text = bare(node.name, sorted(set(matchers)))
    return _shifted(selector, duration_text(selector.window_seconds) if selector.window_seconds else None, text=text)


def _shifted(selector: Selector, depth: str | None = None, *, text: str | None = None) -> str:
    if selector.has_at:
        raise PromqlError(f"{selector.text}: @ fixes its time, so its samples have no age")
    reach = f"[{depth}]" if depth is not None else ""
    offset = f" offset {duration_text(selector.offset_seconds)}" if selector.offset_seconds else ""
    return f"{text or selector.text}{reach}{offset}"
