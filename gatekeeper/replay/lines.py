"""One line of a log and what stands in it, for any JSON object that somebody may have written there.

The getters never raise: a field that is not there, or of another type than it should be, is None or
empty. A line without `kind` was written by a founding-style driver and is a decision; such lines may
hold verdict and reason codes beside the other fields, or the verdict as the text of `decision`.
"""

from __future__ import annotations

from gatekeeper.model import line as lines
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.line import is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DAMAGED = "damaged"
TORN = "torn"


def parse_line(source: str, number: int, data: bytes, *, is_terminated: bool = True) -> LogLine:
    """Read the bytes of one line, given without its newline.

    A line that is no JSON object is `damaged`; one without its newline is `torn` whatever it holds,
    because it was never promised to anybody.
    """
    if not is_terminated:
        return LogLine(source, number, data, None, TORN)
    event = lines.bulk_decoder()(data)
    return LogLine(source, number, data, event, DAMAGED if event is None else None)


def is_blank(line: LogLine) -> bool:
    """Whether readers pass the line over: nothing in it but space."""
    return lines.is_blank(line.data)


def kind_of(event: Mapping[str, Any]) -> str:
    """`kind`; `decision` where there is none."""
    return text_of(event, "kind") or "decision"


def seq_of(event: Mapping[str, Any]) -> int | None:
    """`seq`, if it is an integer."""
    seq = event.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None


def text_of(event: Mapping[str, Any], name: str) -> str | None:
    """The field *name*, if it is text."""
    value = event.get(name)
    return value if isinstance(value, str) else None


def part_of(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The field *name*, if it is an object; else an empty one."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def texts_of(part: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts in the list *name*; empty if it is no list."""
    value = part.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def verdict_of(event: Mapping[str, Any]) -> str | None:
    """The verdict of a decision, or of an action that ended a run."""
    return text_of(_decision_of(event), "verdict")


def reasons_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """The reason codes, each once, in the order in which they stand."""
    return tuple(dict.fromkeys(texts_of(_decision_of(event), "reason_codes")))


def stage_of(event: Mapping[str, Any]) -> str | None:
    """The stage asked; that of a refusal is the one that was turned away."""
    return text_of(event, "stage") or text_of(part_of(event, "refusal"), "stage")


def is_simulated(event: Mapping[str, Any]) -> bool:
    """Whether the evaluation time was set by hand (`--as-of`)."""
    return event.get("as_of") is not None


def _decision_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    stated = event.get("decision")
    if isinstance(stated, dict):
        return stated
    if is_chained(event):
        return {}
    return {**event, "verdict": stated} if isinstance(stated, str) else event
