"""Numbers as evidence: exact arithmetic on their decimal text, and how a finding shows them.

SPEC 4: numbers are compared as the decimal numbers that their shortest text states, so that a
worsening of 0.013 against 0.012 is exactly 0.001. Doubles keep the order of their shortest texts, so
plain comparisons need no decimals; differences and products do.
"""

from __future__ import annotations

from gatekeeper.model.canonical import is_number, number_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BILLION = 1_000_000_000
_COUNTED = 1e6  # below it a count of billionths has at most 15 digits
_SHOWN_TEXT = 100


def difference(minuend: float, subtrahend: float) -> float:
    """The double nearest to the exact difference of two numbers; it has the sign of the exact difference.

    The quick way counts in billionths. A decimal number of at most 15 digits is told from every other
    one by its double, so a count that gives the double back is what the shortest text states.
    """
    if -_COUNTED < minuend < _COUNTED and -_COUNTED < subtrahend < _COUNTED:
        a, b = round(minuend * 1e9), round(subtrahend * 1e9)
        if a / 1e9 == minuend and b / 1e9 == subtrahend:
            return quotient(a - b, _BILLION)
    from gatekeeper.evaluator.decimals import exact_difference

    return exact_difference(minuend, subtrahend)


def left_of_budget(worse: float, better: float, allowed: float, reference: float = 1) -> float:
    """What is left of an allowed worsening, in the metric's unit; negative when it is used up.

    Args:
        worse, better: the two values in the order in which their difference is the worsening.
        allowed: the budget, as a share of the size of *reference*.
        reference: the baseline's value for a relative budget, 1 for an absolute one.
    """
    if (
        -_COUNTED < worse < _COUNTED
        and -_COUNTED < better < _COUNTED
        and -_COUNTED < allowed < _COUNTED
        and -_COUNTED < reference < _COUNTED
    ):
        a, b, c, size = round(worse * 1e9), round(better * 1e9), round(allowed * 1e9), round(abs(reference) * 1e9)
        if a / 1e9 == worse and b / 1e9 == better and c / 1e9 == allowed and size / 1e9 == abs(reference):
            return quotient(c * size - (a - b) * _BILLION, _BILLION**2)
    from gatekeeper.evaluator.decimals import exact_left_of_budget

    return exact_left_of_budget(worse, better, allowed, reference)


def quotient(dividend: int, divisor: int) -> float:
    """The double nearest to a quotient; an integer where it is whole, as a log line writes it."""
    whole, rest = divmod(dividend, divisor)
    return dividend / divisor if rest else whole


def shown(value: Any) -> float | str | bool | None:
    """*value* as a finding's `observed` can hold it: text is cut, lists and objects are left out."""
    if isinstance(value, bool) or is_number(value):
        return value
    if isinstance(value, str):
        return value[:_SHOWN_TEXT]
    if isinstance(value, float):
        return number_text(value)
    return None
