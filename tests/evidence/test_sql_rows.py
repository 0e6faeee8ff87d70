"""One row becomes a value, a baseline, statistics and a watermark, or the code that says why not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from gatekeeper.evidence.collection import Kind
from gatekeeper.evidence.reading import Reading, ReadingProblem
from gatekeeper.evidence.sql.rows import Answer, column_mistake, readings_of
from gatekeeper.model.snapshot import STATISTICS
from gatekeeper.model.times import require_time
from tests.evidence.sql_support import by_side, code, metric

GUARDRAIL = "observation_invalid:guardrail_value"
CONSTRAINT = "observation_invalid:constraint_value"
EMPTY = "observation_missing:empty_result"
NO_BASELINE = "observation_missing:baseline_metric"
INVALID_TIME = "observation_invalid:watermark_event_time"
MOMENT = require_time("2026-02-18T00:59:10Z")


def readings(row: dict[str, Any], *, kind: Kind = Kind.NUMBER, **columns: str) -> dict[str, Reading]:
    """What one row says; the value is in `rate`."""
    answer = Answer(tuple(row), (tuple(row.values()),))
    return by_side(readings_of(answer, "sales", metric("…", kind=kind, **columns), source="dwh", record={}))


def variant(row: dict[str, Any], *, kind: Kind = Kind.NUMBER, **columns: str) -> Reading:
    """The variant's reading."""
    return readings(row, kind=kind, **columns)["variant"]


@pytest.mark.parametrize(
    ("cell", "value", "text"),
    [
        (0.132, 0.132, "0.132"),
        (5, 5, "5"),
        (0, 0, "0"),
        (Decimal("0.1000000000000000055511151231257827"), 0.1, "0.1000000000000000055511151231257827"),
        (Decimal("1E-8"), 1e-8, "0.00000001"),
        (Decimal("5.00"), 5, "5.00"),
        (Decimal("1E+5"), 100000, "100000"),
        (-2.5, -2.5, "-2.5"),
    ],
)
def test_a_number_is_the_double_nearest_to_its_text(cell: Any, value: float, text: str) -> None:
    """The exact text stands beside it: a NUMERIC has more digits than a double."""
    reading = variant({"rate": cell})
    assert (reading.value, reading.value_text, reading.problem) == (value, text, None)
    assert type(reading.value) is type(value)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (Decimal("NaN"), "NaN"),
        (Decimal("sNaN"), "sNaN"),
        (Decimal("Infinity"), "Infinity"),
        (Decimal("1e400"), "1E+400"),
        (Decimal("9" * 400), "9" * 199 + "…"),
        (2**53, "9007199254740992"),
        ("0.1", "0.1"),
        ("", ""),
        (True, "true"),
        (b"0.1", "3 bytes"),
        (memoryview(b"0.1"), "3 bytes"),
        (date(2026, 2, 18), "2026-02-18"),
        (datetime(2026, 2, 18, tzinfo=UTC), "2026-02-18 00:00:00+00:00"),
        ([0.1], "[0.1]"),
    ],
)
def test_what_is_no_number_is_no_value(cell: Any, text: str) -> None:
    """Neither 0 nor the number that a text looks like: nothing that could pass."""
    reading = variant({"rate": cell})
    assert (reading.value, reading.value_text, code(reading)) == (None, text, GUARDRAIL)
    baseline = readings({"rate": 1, "was": cell}, baseline="was")["baseline"]
    assert (baseline.value, code(baseline)) == (None, "observation_invalid:baseline_value")


@pytest.mark.parametrize(
    ("cell", "value", "problem"),
    [
        (True, True, None),
        (False, False, None),
        (0, False, None),
        (1, True, None),
        (Decimal(1), True, None),
        (0.5, None, CONSTRAINT),
        (2, None, CONSTRAINT),
        ("true", None, CONSTRAINT),
        (float("nan"), None, CONSTRAINT),
        (None, None, EMPTY),
    ],
)
def test_a_boolean_is_true_false_0_or_1(cell: Any, value: bool | None, problem: str | None) -> None:
    """`kind: boolean`."""
    reading = variant({"rate": cell}, kind=Kind.BOOLEAN)
    assert reading.value is value
    assert code(reading) == problem


def test_null_is_missing_on_its_own_side_only() -> None:
    """A baseline that is not there does not take the variant with it, nor the other way round."""
    both = readings({"rate": 0.5, "was": None}, baseline="was")
    assert (both["variant"].value, code(both["variant"])) == (0.5, None)
    assert (both["baseline"].value, both["baseline"].value_text, code(both["baseline"])) == (None, None, NO_BASELINE)
    turned = readings({"rate": None, "was": 0.5}, baseline="was")
    assert (code(turned["variant"]), code(turned["baseline"])) == (EMPTY, None)


@pytest.mark.parametrize(
    ("cell", "detail"),
    [
        ([Decimal("0.004"), None], "a list: [0.004, null]"),
        ((Decimal("1E+2"),), "a list: [100]"),
        ({"a": Decimal("0.5"), "b": "é"}, 'an object: {"a": "0.5", "b": "é"}'),
    ],
)
def test_a_list_is_told_without_words_of_python(cell: object, detail: str) -> None:
    """`[Decimal('0.004')]` is how a program prints it; `array_agg` brings one."""
    reading = variant({"rate": cell})
    assert reading.problem is not None
    assert reading.problem.detail == f'the column "rate" is {detail}'


@pytest.mark.parametrize(("rows", "problem"), [([], EMPTY), ([(1, 2), (1, 2)], "observation_invalid:multiple_series")])
def test_no_row_and_several_rows_are_no_value(rows: list[tuple[int, int]], problem: str) -> None:
    """Even where all rows are the same: the query is not what it was taken for."""
    answer = Answer(("rate", "was"), tuple(rows))
    spec = metric("…", baseline="was", sample_size="rate", watermark="rate")
    both = by_side(readings_of(answer, "sales", spec, source="dwh", record={}))
    for side, reading in both.items():
        expected = NO_BASELINE if side == "baseline" and problem == EMPTY else problem
        assert (code(reading), reading.value, reading.value_text, reading.watermark) == (expected, None, None, None)
        assert reading.statistics == {}


@pytest.mark.parametrize(
    "cell",
    [
        datetime(2026, 2, 18, 0, 59, 10, tzinfo=UTC),
        datetime(2026, 2, 18, 2, 59, 10, tzinfo=timezone(timedelta(hours=2))),
        "2026-02-18T00:59:10Z",
        "2026-02-18 01:59:10+01:00",
        1771376350,
        1771376350.0,
        Decimal("1771376350.000000"),
    ],
)
def test_a_watermark_is_a_time_with_a_zone_or_unix_seconds(cell: Any) -> None:
    """All of these are one moment, on both sides."""
    both = readings({"rate": 1, "was": 1, "until": cell}, baseline="was", watermark="until")
    assert [reading.watermark for reading in both.values()] == [MOMENT, MOMENT]
    assert [code(reading) for reading in both.values()] == [None, None]


@pytest.mark.parametrize(
    "cell",
    [
        datetime(2026, 2, 18, 0, 59, 10),  # noqa: DTZ001 - the point
        date(2026, 2, 18),
        "2026-02-18 00:59:10",
        "2026-02-18",
        "1771376350",
        "",
        True,
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("Infinity"),
        1771376350000,
        -1e300,
        b"2026-02-18T00:59:10Z",
    ],
)
def test_a_watermark_without_a_zone_dates_nothing(cell: Any) -> None:
    """Nor do a day, milliseconds or text: a guess would make old data fresh."""
    reading = variant({"rate": 0.5, "until": cell}, watermark="until")
    assert (reading.watermark, code(reading), reading.value) == (None, INVALID_TIME, 0.5)


def test_an_absent_watermark_is_missing_only_where_one_is_named() -> None:
    """NULL in a named column holds; without a column nobody asked."""
    named = variant({"rate": 0.5, "until": None}, watermark="until")
    assert (code(named), named.value) == ("observation_missing:watermark_event_time", 0.5)
    unnamed = variant({"rate": 0.5, "until": None})
    assert (code(unnamed), unnamed.watermark) == (None, None)


def test_a_value_that_is_none_counts_before_its_time() -> None:
    """The first trouble that applies is the one that is told."""
    assert code(variant({"rate": None, "until": None}, watermark="until")) == EMPTY
    out = Answer(("rate", "until"), ((7, None),))
    spec = metric("…", watermark="until")
    (reading,) = readings_of(
        out, "m", type(spec)(spec.source, spec.query, spec.columns, range=(0, 1)), source="dwh", record={}
    )
    assert (code(reading), reading.value) == ("observation_invalid:out_of_range", 7)


def test_statistics_are_read_under_the_names_of_promotion() -> None:
    """Numbers as numbers, a state as its text, 0 and 1 as an assignment."""
    columns: dict[str, Any] = {name: f"c_{name}" for name in STATISTICS}
    row = {
        "rate": 0.132,
        "c_sample_size": 184211,
        "c_effect_estimate": Decimal("0.0031"),
        "c_ci_low": 0.0009,
        "c_ci_high": Decimal("0.0053"),
        "c_p_value": 0.004,
        "c_sequential_test_state": "continue",
        "c_assignment_stable": 1,
    }
    both = readings({**row, "was": 0.129}, baseline="was", **columns)
    assert both["variant"].statistics == {
        "sample_size": 184211,
        "effect_estimate": 0.0031,
        "ci_low": 0.0009,
        "ci_high": 0.0053,
        "p_value": 0.004,
        "sequential_test_state": "continue",
        "assignment_stable": True,
    }
    assert both["variant"].statistics["assignment_stable"] is True
    assert both["baseline"].statistics == {}
    assert both["variant"].record == {"columns": {"value": "rate", "baseline": "was", **columns}}


@pytest.mark.parametrize(
    ("name", "cell", "stated"),
    [
        ("ci_low", float("nan"), "nan"),
        ("ci_low", Decimal("NaN"), "NaN"),
        ("ci_high", float("inf"), "inf"),
        ("ci_low", "0.5", "0.5"),
        ("sample_size", True, "true"),
        ("sample_size", 2**60, str(2**60)),
        ("assignment_stable", "yes", "yes"),
        ("assignment_stable", 2, "2"),
        ("assignment_stable", float("nan"), "nan"),
        ("p_value", b"\0", "1 bytes"),
    ],
)
def test_a_statistic_that_is_none_stays_as_its_text(name: str, cell: Any, stated: str) -> None:
    """It must not pass, nor look as if it had not been computed yet; the value is as good as before."""
    named: dict[str, Any] = {name: "x"}
    reading = variant({"rate": 0.5, "x": cell}, **named)
    assert reading.statistics == {name: stated}
    assert (reading.value, reading.problem) == (0.5, None)
    (remark,) = reading.record["infos"]
    assert remark.startswith(f'{name}: the column "x" is ')


def test_a_statistic_that_is_null_is_left_out() -> None:
    """Absent, as SPEC 5 counts it."""
    reading = variant({"rate": 0.5, "x": None, "y": 3}, ci_low="x", sample_size="y")
    assert reading.statistics == {"sample_size": 3}
    assert "infos" not in reading.record


def test_a_long_text_is_cut() -> None:
    """What should have been a number may be a document."""
    reading = variant({"rate": "x" * 1000})
    assert reading.value_text == "x" * 63 + "…"
    assert isinstance(reading.problem, ReadingProblem)
    assert len(reading.problem.detail) < 100


def test_a_column_that_is_not_there_is_told_with_those_that_are() -> None:
    """Every named column is looked for, the watermark's too."""
    answer = Answer(("rate", "loaded_until"), ())
    assert column_mistake(answer, metric("…", watermark="loaded_until").columns) is None
    assert column_mistake(answer, metric("…", watermark="load_until").columns) == (
        'watermark: the query has no column "load_until"; did you mean "loaded_until"? it has: rate, loaded_until'
    )
    assert column_mistake(answer, metric("…", "RATE").columns) is not None


def test_a_column_that_is_there_twice_is_neither() -> None:
    """`SELECT a.rate, b.rate`: nobody knows which is meant."""
    answer = Answer(("rate", "rate", "n"), ((1, 2, 3),))
    wrong = column_mistake(answer, metric("…").columns)
    assert wrong == 'value: the query has 2 columns "rate"; it has: rate, rate, n'
    assert column_mistake(answer, metric("…", "n").columns) is None
