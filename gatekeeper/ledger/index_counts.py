"""Counting events without reading one: kept counts where a whole file or whole days are meant, rows elsewhere."""

from __future__ import annotations

from gatekeeper.ledger.index_selection import condition_of, first_not_before, numbers
from gatekeeper.ledger.projection_index import DAY
from gatekeeper.model.indexed import Count
from gatekeeper.model.times import format_time
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gatekeeper.model.indexed import Selection

    Rows = Callable[..., Iterator[tuple[Any, ...]]]

_DAY = f"ts / {DAY} - (ts % {DAY} < 0)"
_DATE_LENGTH = len("2026-02-18")
_COLUMNS = {"day": _DAY, "run": "run", "experiment": "experiment", "variant": "variant", "actor": "actor"}
_TEXTS = {"run": "SELECT run_id FROM runs WHERE number = ?"}
_NAME = "SELECT name FROM names WHERE id = ?"


def counts_of(
    rows: Rows, selection: Selection, by: Sequence[str], *, segments: str, first: int, last: int
) -> Iterator[Count]:
    """How many of the selected events of some segments share a facet and what *by* names.

    Args:
        rows: gives the rows of a statement.
        first, last: seqs of the first and the last listed event of the segments.
    """
    selection = replace(selection, first_seq=max(first, selection.first_seq), end_seq=min(last + 1, selection.end_seq))
    if selection.run is not None or selection.experiment is not None or not {"day"}.issuperset(by):
        yield from _from_rows(rows, selection, by, segments)
        return
    if not by and (selection.first_seq, selection.end_seq) == (first, last + 1):
        sql = (
            f"SELECT facet, sum(count) FROM totals WHERE segment IN ({segments}) "  # noqa: S608
            f"AND facet IN ({numbers(selection.facets)}) GROUP BY facet"
        )
        for facet, count in rows(sql):
            yield Count(facet, (), count)
        return
    yield from _by_days(rows, selection, by, segments)


def _by_days(rows: Rows, selection: Selection, by: Sequence[str], segments: str) -> Iterator[Count]:
    """The first and the last day of the range from their rows, the days between from what was kept."""
    low, high = (_day_of(rows, selection, segments, order) for order in ("ASC", "DESC"))
    if low is None or high is None:
        return
    begin, end = selection.first_seq, selection.end_seq
    first_end = end if low == high else first_not_before(rows, (low + 1) * DAY, begin, end, segments)
    yield from _from_rows(rows, replace(selection, end_seq=first_end), by, segments)
    if low == high:
        return
    last_begin = first_not_before(rows, high * DAY, begin, end, segments)
    yield from _from_rows(rows, replace(selection, first_seq=last_begin), by, segments)
    column, group = ("day", "day, facet") if by else ("NULL", "facet")
    sql = (
        f"SELECT facet, {column}, sum(count) FROM daily WHERE segment IN ({segments}) AND day > ? AND day < ? "  # noqa: S608
        f"AND facet IN ({numbers(selection.facets)}) GROUP BY {group}"
    )
    for facet, day, count in rows(sql, low, high):
        yield Count(facet, tuple(_date(day) for _ in by), count)


def _from_rows(rows: Rows, selection: Selection, by: Sequence[str], segments: str) -> Iterator[Count]:
    where, parameters = condition_of(selection, segments)
    columns = ", ".join(["facet", *(_COLUMNS[name] for name in by)])
    group = ", ".join(str(number) for number in range(1, len(by) + 2))
    sql = f"SELECT {columns}, count(*) FROM events WHERE {where} GROUP BY {group}"  # noqa: S608
    known: dict[tuple[str, int], str | None] = {}

    def text(name: str, number: int | None) -> str | None:
        if number is None:
            return None
        if name == "day":
            return _date(number)
        if (name, number) not in known:
            found = next(iter(rows(_TEXTS.get(name, _NAME), number)), (None,))
            known[name, number] = found[0]
        return known[name, number]

    for facet, *values, count in rows(sql, *parameters):
        yield Count(facet, tuple(text(name, value) for name, value in zip(by, values, strict=True)), count)


def _day_of(rows: Rows, selection: Selection, segments: str, order: str) -> int | None:
    """The day of the first or last listed event in the range."""
    sql = (
        f"SELECT {_DAY} FROM events WHERE segment IN ({segments}) AND seq >= ? AND seq < ? AND facet IS NOT NULL "  # noqa: S608
        f"ORDER BY seq {order} LIMIT 1"
    )
    for (day,) in rows(sql, selection.first_seq, selection.end_seq):
        return int(day)
    return None


def _date(day: int) -> str:
    return format_time(day * DAY)[:_DATE_LENGTH]
