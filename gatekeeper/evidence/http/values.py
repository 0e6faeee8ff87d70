"""What a metric's JSON Pointers find in a document: value, baseline, time of the newest event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.collection import Kind
from gatekeeper.evidence.reading import (
    BAD_RESPONSE,
    Reading,
    ReadingProblem,
    Side,
    checked_value,
    empty_code,
    value_code,
)
from gatekeeper.model.canonical import is_number
from gatekeeper.model.document import NotADouble, unescape_pointer
from gatekeeper.model.snapshot import json_type
from gatekeeper.model.times import MICROSECONDS, parse_time, seconds_to_microseconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import HttpMetric
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.secrets import Secrets

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_LONGEST_TEXT = 64
FIRST_TIME = -62_135_596_800 * MICROSECONDS
"""The first moment of the year 1: what lies before has no text."""
_LAST_TIME = 253_402_300_800 * MICROSECONDS - 1  # of the year 9999


def readings_of(
    metric: str,
    spec: HttpMetric,
    document: Any,
    problem: ReadingProblem | None,
    *,
    source: str,
    record: Mapping[str, Any],
    shared: Round,
) -> list[Reading]:
    """The sides of *metric* that are asked for.

    Args:
        document: the parsed answer.
        problem: why there is none; every reading then has it.
    """
    pointers = {Side.VARIANT: spec.pointer}
    if spec.baseline_pointer is not None:
        pointers[Side.BASELINE] = spec.baseline_pointer
    watermark = undated = lost = None
    if problem is None and spec.watermark_pointer is not None:
        watermark, undated = _watermark(document, spec.watermark_pointer)
        lost = undated if undated is not None and undated.code == BAD_RESPONSE else None
    readings = []
    for side, pointer in pointers.items():
        value, text, trouble = None, None, problem
        if problem is None:
            try:
                found = resolve(document, pointer)
            except LookupError as error:
                trouble = ReadingProblem(BAD_RESPONSE, str(error))
            else:
                value, trouble = _value(found, spec, side, pointer)
                text = _text(found, shared.secrets)
        readings.append(
            Reading(
                metric,
                side,
                source,
                value=value,
                value_text=text,
                problem=lost or trouble or undated,  # an answer of another form says of nothing that it is missing
                watermark=watermark,
                record={**record, "pointer": pointer},
            )
        )
    return readings


def resolve(document: Any, pointer: str) -> Any:
    """The value at *pointer* (RFC 6901); `-` and an index with leading zeros name no element of a list.

    Raises:
        LookupError: it leads nowhere, which a null that stands there does not.
    """
    value = document
    for token in pointer.split("/")[1:]:
        key = unescape_pointer(token)
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise LookupError(f'"{pointer}" leads nowhere in the answer')
    return value


def event_time(value: object) -> int | None:
    """Microseconds since 1970 of an RFC 3339 time with a zone, or of unix seconds; None for anything else."""
    moment = parse_time(value)
    if moment is None and is_number(value):
        moment = seconds_to_microseconds(value)
    return moment if moment is not None and FIRST_TIME <= moment <= _LAST_TIME else None


def _watermark(document: Any, pointer: str) -> tuple[int | None, ReadingProblem | None]:
    try:
        found = resolve(document, pointer)
    except LookupError as error:
        return None, ReadingProblem(BAD_RESPONSE, str(error))
    if found is None:
        return None, ReadingProblem("observation_missing:watermark_event_time", f'"{pointer}" is null')
    moment = event_time(found)
    if moment is not None:
        return moment, None
    detail = f'"{pointer}" is {json_type(found)} that is neither an RFC 3339 time with a zone nor unix seconds'
    return None, ReadingProblem("observation_invalid:watermark_event_time", detail)


def _value(found: Any, spec: HttpMetric, side: Side, pointer: str) -> tuple[float | bool | None, ReadingProblem | None]:
    if found is None:
        return None, ReadingProblem(empty_code(side), f'"{pointer}" is null')
    if isinstance(found, bool) and spec.kind is Kind.BOOLEAN:
        return found, None
    code = value_code(spec.kind, side)
    if isinstance(found, NotADouble):
        return None, ReadingProblem(code, f"not a finite number: {found[:_LONGEST_TEXT]}")
    if not is_number(found):
        expected = "true, false, 0 or 1" if spec.kind is Kind.BOOLEAN else "a number"
        return None, ReadingProblem(code, f'"{pointer}" is {json_type(found)}, not {expected}')
    return checked_value(found, kind=spec.kind, bounds=spec.range, side=side)


def _text(found: Any, secrets: Secrets) -> str | None:
    """A scalar as text, for the record; lists and objects are not kept."""
    if isinstance(found, str):
        return secrets.mask(found)[:_LONGEST_TEXT]
    if isinstance(found, bool):
        return "true" if found else "false"
    return repr(found) if isinstance(found, (int, float)) else None
