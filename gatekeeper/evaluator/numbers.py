"""Numbers as evidence: exact arithmetic on their decimal text, and how a finding shows them.

SPEC 4: numbers are compared as the decimal numbers that their shortest text states, so that a
worsening of 0.013 against 0.012 is exactly 0.001. Doubles keep the order of their shortest texts, so
plain comparisons need no decimals; differences and products do.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from gatekeeper.model.canonical import MAX_SAFE_INTEGER, is_number, number_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# any sum, difference or product of two doubles' shortest texts fits: exponents lie within ±650
_EXACT = Context(prec=1500, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_BILLION = 1_000_000_000
_LARGEST = 1.7976931348623157e308
_SMALLEST = 5e-324
_SHOWN_TEXT = 100


def difference(minuend: float, subtrahend: float) -> float:
    """The double nearest to the exact difference of two numbers; it has the sign of the exact difference."""
    if isinstance(minuend, int) and isinstance(subtrahend, int):
        return _loggable(minuend - subtrahend)
    a, b = _billionths(minuend), _billionths(subtrahend)
    if a is not None and b is not None:
        return (a - b) / _BILLION
    return _to_float(_EXACT.subtract(_to_decimal(minuend), _to_decimal(subtrahend)))


def left_of_budget(worse: float, better: float, allowed: float, reference: float | None) -> float:
    """What is left of an allowed worsening, in the metric's unit; negative when it is used up.

    Args:
        worse, better: the two values in the order in which their difference is the worsening.
        allowed: the budget; with *reference*, as a share of that value's size.
        reference: the baseline's value for a relative budget, None for an absolute one.
    """
    a, b, c = _billionths(worse), _billionths(better), _billionths(allowed)
    size = _BILLION if reference is None else _billionths(abs(reference))
    if a is not None and b is not None and c is not None and size is not None:
        return (c * size - (a - b) * _BILLION) / (_BILLION * _BILLION)
    worsening = _EXACT.subtract(_to_decimal(worse), _to_decimal(better))
    budget = _to_decimal(allowed)
    if reference is not None:
        budget = _EXACT.multiply(budget, _to_decimal(abs(reference)))
    return _to_float(_EXACT.subtract(budget, worsening))


def _billionths(number: float) -> int | None:
    """*number* as a whole count of billionths, if that is what its shortest text states.

    A decimal number of at most 15 digits is told from every other one by its double, so one that gives
    the double back is the one that the shortest text states.
    """
    if not -1e6 < number < 1e6:
        return None
    count = round(number * 1e9)
    return count if count / 1e9 == number else None


def _to_decimal(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def _to_float(number: Decimal) -> float:
    """The nearest double, but neither zero for what is not zero nor an infinity."""
    if not number:
        return 0.0
    nearest = max(-_LARGEST, min(_LARGEST, float(number)))
    return _loggable(nearest) or (_SMALLEST if number > 0 else -_SMALLEST)


def _loggable(number: float) -> float:
    """*number*, or the largest safe integer for one that canonical JSON does not give back."""
    if is_number(number):
        return number
    return MAX_SAFE_INTEGER if number > 0 else -MAX_SAFE_INTEGER


def shown(value: Any) -> float | str | bool | None:
    """*value* as a finding's `observed` can hold it: text is cut, lists and objects are left out."""
    if isinstance(value, bool) or is_number(value):
        return value
    if isinstance(value, str):
        return value[:_SHOWN_TEXT]
    if isinstance(value, float):
        return number_text(value) if abs(value) <= _LARGEST else repr(value)
    return None
