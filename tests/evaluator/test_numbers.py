"""Arithmetic on decimal text: the quick way equals the exact one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.evaluator.numbers import difference, left_of_budget, shown
from gatekeeper.model.canonical import is_number, number_text
from gatekeeper.model.document import NotADouble, parse_json

SHORT = st.decimals(min_value=-999999, max_value=999999, places=9, allow_nan=False).map(float)
NUMBERS = st.one_of(
    SHORT,
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(is_number),
)


def exact(number: float) -> Fraction:
    """The number that the shortest text states."""
    return Fraction(repr(number))


def nearest(number: Fraction) -> float:
    """The nearest double, by Python's own division; the largest that a log can hold where there is none."""
    sign = 1 if number > 0 else -1
    try:
        found = number.numerator / number.denominator
    except OverflowError:
        return sign * 1.7976931348623157e308
    return found if is_number(found) else sign * (2**53 - 1)


@given(NUMBERS, NUMBERS)
@example(0.3, 0.1)
@example(0.013, 0.012)
@example(999999.999999999, -999999.999999999)
@example(1.7976931348623157e308, -1.7976931348623157e308)
@example(5e-324, 0)
@example(-2, 2**53 - 1)
@example(1e20 + 1e21, 1e21)
def test_a_difference_is_that_of_the_decimal_texts(minuend: float, subtrahend: float) -> None:
    """The nearest double to the exact difference, but never zero for what is not zero."""
    wanted, found = exact(minuend) - exact(subtrahend), difference(minuend, subtrahend)
    assert (found > 0, found < 0) == (wanted > 0, wanted < 0)
    assert found == nearest(wanted) or abs(found) == 5e-324


@given(NUMBERS, NUMBERS, NUMBERS.map(abs), NUMBERS | st.just(1))
@example(0.013, 0.012, 0.001, 1)
@example(102, 100, 0.02, 100)
@example(1e-200, 0, 1e-200, 1e-300)
@example(0, 0, 1e-200, 1e-300)
@example(5e-324, 0, 0.4, 1e-323)
@example(0.1234567891234, 0.1, 0.2, 1)
@example(0.1, 0.1234567891234, 0.2, 1)
@example(0.1, 0.2, 0.1234567891234, 1)
@example(0.1, 0.2, 0.1, 0.1234567891234)
@example(1e7, 1, 1, 1)
@example(1, 1e7, 1, 1)
@example(1, 1, 1e7, 1)
@example(1, 1, 1, 1e7)
def test_what_is_left_of_a_budget_has_the_exact_sign(
    worse: float, better: float, allowed: float, reference: float
) -> None:
    """And is the nearest double, but never zero for what is not zero."""
    budget = exact(allowed) * abs(exact(reference))
    left = budget - (exact(worse) - exact(better))
    found = left_of_budget(worse, better, allowed, reference)
    assert (found > 0, found < 0) == (left > 0, left < 0)
    assert found == nearest(left) or abs(found) == 5e-324


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e17)
@example(2.0**53)
@example(1e21)
@example(-1e20)
def test_a_number_that_is_judged_is_read_back_from_the_log_as_itself(number: float) -> None:
    """Any other is text to both, the first reader and the one of the log."""
    read_back = parse_json(number_text(number).encode())
    assert is_number(number) == (not isinstance(read_back, NotADouble))
    if is_number(number):
        assert read_back == number
    else:
        assert shown(number) == shown(read_back)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, True),
        (0.5, 0.5),
        ("x" * 200, "x" * 100),
        ([1], None),
        ({}, None),
        (None, None),
        (float("nan"), "nan"),
        (10**5000, None),
    ],
    ids=["boolean", "number", "text", "list", "object", "null", "nan", "long"],
)
def test_a_finding_shows_scalars_only(value: object, text: object) -> None:
    """Text is cut; lists, objects and endless integers are left out."""
    assert shown(value) == text
