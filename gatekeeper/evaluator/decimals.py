"""Differences and products of numbers as exact decimals: the slow way, for what `numbers` cannot count in integers.

`decimal` costs every check its import, so nothing imports this module before it is needed.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

from gatekeeper.model.canonical import MAX_SAFE_INTEGER, is_number

# any sum, difference or product of two doubles' shortest texts fits: exponents lie within ±650
_EXACT = Context(prec=1500, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_LARGEST = 1.7976931348623157e308
_SMALLEST = 5e-324


def exact_difference(minuend: float, subtrahend: float) -> float:
    """The double nearest to the exact difference."""
    return _to_float(_EXACT.subtract(_to_decimal(minuend), _to_decimal(subtrahend)))


def exact_left_of_budget(worse: float, better: float, allowed: float, reference: float) -> float:
    """The double nearest to what is exactly left of an allowed worsening; see `numbers.left_of_budget`."""
    worsening = _EXACT.subtract(_to_decimal(worse), _to_decimal(better))
    budget = _EXACT.multiply(_to_decimal(allowed), _to_decimal(abs(reference)))
    return _to_float(_EXACT.subtract(budget, worsening))


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
