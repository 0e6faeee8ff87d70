"""One change of a policy document, and how its parts are put together."""

from __future__ import annotations

from decimal import Decimal

from gatekeeper.documents.wording import pointer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    Path = tuple[str | int, ...]

REMOVED: Any = object()
"""Stands for no value at all."""


class Change:
    """A place in a policy and what shall stand there instead.

    Attributes:
        rule: whose meaning changes, named as in findings where it has one (`guardrail:<metric>`).
        path: keys and indexes; where the place does not exist, a key that stands for its default.
        value: the new value, or REMOVED.
        words: the change in words: `0.02 -> 0.0201`.
        needs: what a case must have to notice it, in words; empty where the change says so itself.
    """

    __slots__ = ("needs", "path", "rule", "value", "words")

    def __init__(self, rule: str, path: Path, value: Any, words: str, needs: str = "") -> None:
        self.rule: Final = rule
        self.path: Final = path
        self.value: Final = value
        self.words: Final = words
        self.needs: Final = needs

    @property
    def pointer(self) -> str:
        """JSON Pointer of the place."""
        return pointer_of(self.path)

    def applied(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """*document* with the change; it is not changed itself, and parts that are equal are shared."""
        changed: dict[str, Any] = _changed(document, self.path, self.value)
        return changed


def _changed(part: Any, path: Path, value: Any) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(part, (list, tuple)):
        items = list(part)
        if not rest and value is REMOVED:
            del items[int(step)]
        else:
            items[int(step)] = _changed(items[int(step)], rest, value) if rest else value
        return items
    members = dict(part or {})
    if not rest and value is REMOVED:
        del members[str(step)]
    else:
        members[str(step)] = _changed(members.get(str(step)), rest, value) if rest else value
    return members


def neighbours(limit: float, *, scale: float = 1) -> tuple[float, float]:
    """The numbers next to *limit*: one less and one more in its third significant digit.

    0.02 has 0.0199 and 0.0201, 800 has 799 and 801. Finer than that nobody sets a limit; coarser, and a case that
    lies far from it would do.

    Args:
        limit: a finite number.
        scale: the size of what is measured, where the limit is 0 and says nothing about it.
    """
    exact = _decimal(limit)
    step = Decimal(1).scaleb((exact or _decimal(scale)).adjusted() - 2)
    return _number(exact - step), _number(exact + step)


def _decimal(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def _number(exact: Decimal) -> float:
    return int(exact) if exact == exact.to_integral_value() else float(exact)
