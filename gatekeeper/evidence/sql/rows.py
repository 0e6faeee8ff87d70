"""What the row of a query says: the value on both sides, the statistics of `promotion`, the watermark."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from gatekeeper.documents.shapes import suggestion
from gatekeeper.evidence.collection import Kind
from gatekeeper.evidence.reading import Reading, ReadingProblem, Side, checked_value, empty_code, value_code
from gatekeeper.model.snapshot import STATISTICS
from gatekeeper.model.times import MICROSECONDS, parse_time, seconds_to_microseconds
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import Columns, SqlMetric

_LONGEST_TEXT = 64  # characters of a text that should have been a number
_LONGEST_NUMBER = 200  # NUMERIC can have 147,000 digits
_PLAIN_EXPONENT = 40  # beyond it a number is written with one
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Answer:
    """What a query yields: the names of its columns, and its first two rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def column_mistake(answer: Answer, columns: Columns) -> str | None:
    """A column that the file names, and that is not there or is there twice: `rate: the query has no column …`."""
    for name, column in _named(columns).items():
        found = answer.columns.count(column)
        if found != 1:
            what = f"has {found} columns" if found else "has no column"
            near = "" if found else suggestion(column, answer.columns)
            return f'{name}: the query {what} "{column}"; {near}it has: {", ".join(answer.columns)}'
    return None


def readings_of(
    answer: Answer, metric: str, spec: SqlMetric, *, source: str, record: Mapping[str, Any]
) -> list[Reading]:
    """The variant's reading and, where a column is named for it, the baseline's."""
    if not answer.rows:
        empty = {side: ReadingProblem(empty_code(side), "the query yields no row") for side in _sides(spec.columns)}
        noted = {**record, "columns": _named(spec.columns)}
        return [Reading(metric, side, source, problem=problem, record=noted) for side, problem in empty.items()]
    if len(answer.rows) > 1:
        several = ReadingProblem("observation_invalid:multiple_series", "the query yields more than one row")
        return without_answer(several, metric, spec, source=source, record=record)
    row = dict(zip(answer.columns, answer.rows[0], strict=True))
    watermark, undated = _watermark(row, spec.columns.watermark)
    statistics, remarks = _statistics(row, spec.columns)
    readings = []
    for side, column in _sides(spec.columns).items():
        value, trouble = _value(row[column], spec, side, column)
        noted = {**record, "columns": _named(spec.columns)}
        if remarks and side is Side.VARIANT:
            noted["infos"] = remarks
        readings.append(
            Reading(
                metric,
                side,
                source,
                value=value,
                value_text=_text(row[column]),
                problem=undated if trouble is None else trouble,
                watermark=watermark,
                statistics=statistics if side is Side.VARIANT else {},
                record=noted,
            )
        )
    return readings


def without_answer(
    problem: ReadingProblem, metric: str, spec: SqlMetric, *, source: str, record: Mapping[str, Any]
) -> list[Reading]:
    """The same readings where there is no row to read."""
    noted = {**record, "columns": _named(spec.columns)}
    return [Reading(metric, side, source, problem=problem, record=noted) for side in _sides(spec.columns)]


def _named(columns: Columns) -> dict[str, str]:
    stated = {name: getattr(columns, name) for name in ("value", "baseline", "watermark", *STATISTICS)}
    return {name: column for name, column in stated.items() if column is not None}


def _sides(columns: Columns) -> dict[Side, str]:
    sides = {Side.VARIANT: columns.value}
    return sides if columns.baseline is None else {**sides, Side.BASELINE: columns.baseline}


def _value(cell: object, spec: SqlMetric, side: Side, column: str) -> tuple[float | bool | None, ReadingProblem | None]:
    if cell is None:
        return None, ReadingProblem(empty_code(side), f'the column "{column}" is NULL')
    if isinstance(cell, bool) and spec.kind is Kind.BOOLEAN:
        return cell, None
    number = _number(cell)
    if number is None:
        return None, ReadingProblem(value_code(spec.kind, side), f'the column "{column}" is {_shown(cell)}')
    return checked_value(number, kind=spec.kind, bounds=spec.range, side=side)


def _statistics(row: Mapping[str, Any], columns: Columns) -> tuple[dict[str, Any], list[str]]:
    """The part of `promotion`, and remarks on what is none of it.

    What is no number stays as its text, as it does in a snapshot file: the evaluator then says which rule it spoils
    (`observation_invalid:promotion_value`), and where statistics are not asked it spoils nothing. Left out, it would
    pass for one that has not been computed yet.
    """
    stated, remarks = {}, []
    for name in STATISTICS:
        column = getattr(columns, name)
        cell = None if column is None else row[column]
        if cell is None:
            continue
        value = _statistic(name, cell)
        if value is None:
            remarks.append(f'{name}: the column "{column}" is {_shown(cell)}')
        stated[name] = _text(cell) if value is None else value
    return stated, remarks


def _statistic(name: str, cell: object) -> float | str | bool | None:
    if name == "sequential_test_state":
        return cell if isinstance(cell, str) else None
    if name == "assignment_stable" and isinstance(cell, bool):
        return cell
    number = _number(cell)
    if number is None:
        return None
    kind = Kind.BOOLEAN if name == "assignment_stable" else Kind.NUMBER
    return checked_value(number, kind=kind, bounds=None, side=Side.VARIANT)[0]


def _watermark(row: Mapping[str, Any], column: str | None) -> tuple[int | None, ReadingProblem | None]:
    if column is None:
        return None, None
    cell = row[column]
    if cell is None:
        return None, ReadingProblem("observation_missing:watermark_event_time", f'the column "{column}" is NULL')
    moment = _moment(cell)
    if moment is not None and _FIRST <= moment <= _LAST:
        return moment, None
    detail = f'the column "{column}" is {_shown(cell)}, not a time with a zone or unix seconds'
    return None, ReadingProblem("observation_invalid:watermark_event_time", detail)


def _moment(cell: object) -> int | None:
    """Microseconds since 1970."""
    if isinstance(cell, datetime):
        return None if cell.utcoffset() is None else (cell - _EPOCH) // timedelta(microseconds=1)
    if isinstance(cell, Decimal) and cell.is_finite():
        return int(cell * MICROSECONDS)
    number = _number(cell)
    if number is None:
        return parse_time(cell)
    return seconds_to_microseconds(number) if isfinite(number) else None


def _number(cell: object) -> float | None:
    """A number as the double that its decimal text is nearest to; None for anything else, a boolean included."""
    if isinstance(cell, Decimal):
        return float("nan") if cell.is_nan() else float(cell)
    return cell if isinstance(cell, (int, float)) and not isinstance(cell, bool) else None


def _text(cell: object) -> str | None:
    """A value as the database wrote it, as far as its driver lets us know."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):
        is_plain = cell.is_finite() and abs(cell.adjusted()) <= _PLAIN_EXPONENT
        return _cut(f"{cell:f}" if is_plain else str(cell), _LONGEST_NUMBER)
    if isinstance(cell, (int, float)):
        return repr(cell)
    if isinstance(cell, (list, tuple)):
        return _cut("[" + ", ".join(_text(item) or "null" for item in cell[:_LONGEST_TEXT]) + "]", _LONGEST_TEXT)
    if isinstance(cell, dict):
        return _cut(json.dumps(cell, ensure_ascii=False, default=str), _LONGEST_TEXT)
    return _shown(cell) if isinstance(cell, (bytes, bytearray, memoryview)) else _cut(str(cell), _LONGEST_TEXT)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _shown(cell: object) -> str:
    """What a value is, for a sentence."""
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return f"{len(cell)} bytes"
    if isinstance(cell, datetime):
        return f"a time: {cell.isoformat()}"
    if isinstance(cell, date):
        return f"a date: {cell.isoformat()}"
    if isinstance(cell, (list, tuple, dict)):
        return f"{'an object' if isinstance(cell, dict) else 'a list'}: {_text(cell)}"
    kind = "a boolean" if isinstance(cell, bool) else "a number" if _number(cell) is not None else "text"
    return f"{kind}: {_text(cell)}"
