"""What one source says of one metric on one side: a value, or why there is none. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from gatekeeper.evidence.collection import Kind
from gatekeeper.model.canonical import is_number
from gatekeeper.model.values import dataclass, field

BAD_RESPONSE = "observation_invalid:bad_response"
"""What came is no answer to the question."""

_LONGEST_DETAIL = 500


class Side(StrEnum):
    """What a value is of: the variant that is rolled out, or what it is compared with."""

    VARIANT = "variant"
    BASELINE = "baseline"


class Unavailable(StrEnum):
    """Why a source could not be asked; `kind` of `observation_missing:source_unavailable`."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"
    UNAUTHORIZED = "unauthorized"
    BAD_ENDPOINT = "bad_endpoint"


@dataclass(frozen=True)
class ReadingProblem:
    """What went wrong, as `observations.<metric>.problem` states it.

    Attributes:
        code: a reason code that `model.reasons.is_observation_problem` knows.
        detail: one masked line for people.
        kind: see `Unavailable`; None with other codes.
    """

    code: str
    detail: str
    kind: Unavailable | None = None

    def to_dict(self) -> dict[str, str]:
        """JSON form."""
        stated = {"code": self.code, "detail": self.detail[:_LONGEST_DETAIL]}
        return stated if self.kind is None else {**stated, "kind": self.kind.value}


def unavailable(kind: Unavailable, detail: str) -> ReadingProblem:
    """The source could not be asked."""
    return ReadingProblem("observation_missing:source_unavailable", detail, kind)


@dataclass(frozen=True)
class Reading:
    """One metric on one side.

    Attributes:
        value: a finite number or a boolean; None when there is none. A part's is passed on whatever it is: `evaluator`
            knows what the metric must be.
        value_text: the value as the source wrote it; None when it wrote none.
        problem: what went wrong; the value then confirms nothing.
        watermark: time of the newest event behind the value, microseconds since 1970; None when it is not known.
        coverage_ratio: the part of the window that samples cover, 0 to 1; None where nothing has a window.
        window_milliseconds: how far back the value looks; None where it is of one moment, or nobody knows.
        statistics: what fills `promotion.<metric>`.
        record: further fields of the observation, masked: `query` as sent, `endpoint`, `http_status`, `infos`, …
    """

    metric: str
    side: Side
    source: str
    value: float | bool | None = None
    value_text: str | None = None
    problem: ReadingProblem | None = None
    watermark: int | None = None
    coverage_ratio: float | None = None
    window_milliseconds: int | None = None
    statistics: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


def checked_value(
    number: float, *, kind: Kind, bounds: tuple[float, float] | None, side: Side
) -> tuple[float | bool | None, ReadingProblem | None]:
    """A number as the value of a metric of *kind* within *bounds*, or what is wrong with it.

    NaN, infinities and integers that JSON cannot keep are no values; one outside *bounds* is kept beside its problem.
    """
    if not is_number(number):
        return None, ReadingProblem(value_code(kind, side), f"not a finite number: {number!r}")
    if kind is Kind.BOOLEAN:
        if number in {0, 1}:
            return number == 1, None
        return None, ReadingProblem(value_code(kind, side), f"neither 0 nor 1: {number!r}")
    value = int(number) if float(number).is_integer() and abs(number) < 2**53 else number
    if kind is Kind.COUNT and (value < 0 or not isinstance(value, int)):
        return value, ReadingProblem("observation_invalid:out_of_range", f"a count cannot be {value!r}")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        detail = f"{value!r} is outside {bounds[0]} to {bounds[1]}"
        return value, ReadingProblem("observation_invalid:out_of_range", detail)
    return value, None


def empty_code(side: Side) -> str:
    """The reason code of an answer that holds nothing."""
    return f"observation_missing:{'baseline_metric' if side is Side.BASELINE else 'empty_result'}"


def value_code(kind: Kind, side: Side) -> str:
    """The reason code of a value that is none."""
    if side is Side.BASELINE:
        return "observation_invalid:baseline_value"
    part = "constraint" if kind is Kind.BOOLEAN else "guardrail"
    return f"observation_invalid:{part}_value"
