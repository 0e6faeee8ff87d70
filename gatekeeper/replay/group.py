"""`replay --group-by`: count events by what they have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

from gatekeeper.errors import UsageError
from gatekeeper.model.times import format_time, parse_time
from gatekeeper.replay.lines import kind_of, reasons_of, stage_of, text_of, verdict_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gatekeeper.model.exchange import LogLine

    Value = str | None
    Getter = Callable[[Mapping[str, Any]], Sequence[Value]]

_DATE_LENGTH = len("2026-02-18")
_NOTHING: tuple[Value, ...] = (None,)


@dataclass(frozen=True)
class GroupRow:
    """One combination of values and how many events have it.

    Attributes:
        values: field -> value, in the order asked; None where an event does not have the field.
        count: of events; an event with several reason codes counts once under each.
    """

    values: Mapping[str, Value]
    count: int

    def to_dict(self) -> dict[str, Value | int]:
        """The fields and `count`."""
        return {**self.values, "count": self.count}


def group(lines: Iterable[LogLine], fields: Sequence[str]) -> list[GroupRow]:
    """Count the events of *lines* by *fields*: most frequent first, then by value (None before text).

    Args:
        fields: names of FIELDS; one that is named twice counts once.

    Raises:
        UsageError: no field, or one that is unknown.
    """
    names = list(dict.fromkeys(fields))
    return rows_of(names, counted(lines, names))


def counted(lines: Iterable[LogLine], names: Sequence[str]) -> Counter[tuple[Value, ...]]:
    """How many events of *lines* have each combination of values. Raises as `group` does."""
    getters = getters_of(names)
    counts: Counter[tuple[Value, ...]] = Counter()
    for line in lines:
        if line.event is not None:
            event = line.event
            counts.update(product(*(getter(event) for getter in getters)))
    return counts


def rows_of(names: Sequence[str], counts: Mapping[tuple[Value, ...], int]) -> list[GroupRow]:
    """The counted combinations in the order of `group`."""
    ordered = sorted(
        counts.items(), key=lambda item: (-item[1], [(value is not None, value or "") for value in item[0]])
    )
    return [GroupRow(dict(zip(names, values, strict=True)), count) for values, count in ordered]


def getters_of(names: Sequence[str]) -> list[Getter]:
    """What gives each value of an event. Raises as `group` does."""
    if not names:
        raise UsageError("nothing to group by", remedy=f"name one or more of: {', '.join(FIELDS)}")
    return [_getter(name) for name in names]


def _getter(name: str) -> Getter:
    getter = _GETTERS.get(name)
    if getter is None:
        from difflib import get_close_matches

        near = get_close_matches(name, FIELDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"cannot group by {name!r}{hint}", remedy=f"fields to group by: {', '.join(FIELDS)}")
    return getter


def _one(get: Callable[[Mapping[str, Any]], Value]) -> Getter:
    return lambda event: (get(event),)


def _field(name: str) -> Getter:
    return lambda event: (text_of(event, name),)


def _day(event: Mapping[str, Any]) -> Value:
    """The day in UTC."""
    moment = parse_time(event.get("ts"))
    return None if moment is None else format_time(moment)[:_DATE_LENGTH]


_GETTERS: dict[str, Getter] = {
    "verdict": _one(verdict_of),
    "reason": lambda event: reasons_of(event) or _NOTHING,
    "stage": _one(stage_of),
    "run": _field("run_id"),
    "experiment": _field("experiment_id"),
    "variant": _field("variant_id"),
    "policy": _field("policy_id"),
    "policy_version": _field("policy_version"),
    "day": _one(_day),
    "kind": _one(kind_of),
    "actor": _field("actor"),
}

FIELDS = tuple(_GETTERS)
"""What events can be grouped by."""
