"""A selection of events as SQL, and the way through the tables by which it touches the fewest rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.model.indexed import Selection

    Rows = Callable[..., Iterator[tuple[Any, ...]]]

_SORTED = 4
"""A row that is found by its facet and sorted into its place costs so many that are passed over in their order."""


def condition_of(selection: Selection, segments: str) -> tuple[str, list[object]]:
    """`WHERE …` of a selection among the listed events of some segments, with its parameters."""
    terms = [f"segment IN ({segments})", "seq >= ?", "seq < ?", f"facet IN ({numbers(selection.facets)})"]
    parameters: list[object] = [selection.first_seq, selection.end_seq]
    if selection.run is not None:
        terms.append("run = (SELECT number FROM runs WHERE run_id = ?)")
        parameters.append(selection.run)
    if selection.experiment is not None:
        terms.append("experiment = (SELECT id FROM names WHERE name = ?)")
        parameters.append(selection.experiment)
    return " AND ".join(terms), parameters


def plan_of(
    selection: Selection, totals: Mapping[int, int], spans: Sequence[tuple[int, int]], *, limit: int | None
) -> str:
    """Which index to take, as SQLite is told.

    Args:
        totals: how many listed events there are of each facet.
        spans: their seqs.
    """
    if selection.run is not None:
        return "INDEXED BY events_name"
    if selection.experiment is not None:
        return "INDEXED BY events_experiment"
    low, high = selection.first_seq, selection.end_seq
    passed = sum(max(0, min(last + 1, high) - max(first, low)) for first, last in spans)
    share = sum(totals.get(facet, 0) for facet in selection.facets) / max(1, sum(totals.values()))
    found = passed * share
    if limit is not None and share:
        passed = min(passed, int(limit / share))
    return "INDEXED BY events_facet" if found * _SORTED < passed else "NOT INDEXED"


def first_not_before(rows: Rows, moment: int, low: int, high: int, segments: str) -> int:
    """`seq` of the first listed event from *low* on, below *high*, that is not before *moment*; *high* if none is.

    Their times never fall, so this takes as many look-ups as the range has binary digits.
    """
    sql = (
        f"SELECT seq, ts FROM events WHERE seq >= ? AND seq < ? AND segment IN ({segments}) "  # noqa: S608
        "AND facet IS NOT NULL ORDER BY seq LIMIT 1"
    )
    end = high
    while low < high:
        middle = (low + high) // 2
        row = next(rows(sql, middle, high), None)
        if row is not None and row[1] < moment:
            low = row[0] + 1
        else:
            high = middle
    return next((seq for seq, _ in rows(sql, low, end)), end)


def numbers(found: Iterable[int]) -> str:
    """Facets or segments as an SQL list; nothing but digits and commas."""
    return ",".join([str(int(number)) for number in sorted(found)])
