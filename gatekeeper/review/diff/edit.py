"""One edit of a policy: what stands where, before and after, and the policy with it carried out."""

from __future__ import annotations

from enum import IntEnum

from gatekeeper.model.values import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gatekeeper.model.policy import Policy
    from gatekeeper.review.diff.effects import Consequence


class When(IntEnum):
    """The order in which edits are carried out.

    What is added comes before what it may stand in for is taken away, so that a rule that another one replaces is not
    told as a loosening. A precedence under which one trouble hides another is in force as shortly as can be.
    """

    FIRST = 0
    ADD = 1
    CHANGE = 2
    REMOVE = 3
    LAST = 4


@dataclass(frozen=True)
class Edit:
    """One place that differs.

    Attributes:
        rule: the rule that it is about, named as in findings; otherwise the key.
        pointer: JSON Pointer of the place in the new policy; of what is gone, where it stood in the old one.
        before, after: the JSON values; None where there is none (a policy holds no null).
        was, becomes: the same for people, with the default that an absent value stands for.
        when: how early it is carried out.
        carried_out: the policy with the edit in it, from the one before; None where values stay what they were.
        why_neutral: what to say of it where nothing turns out otherwise.
        known: consequences that a comparison of the policies stage by stage cannot see.
    """

    rule: str
    pointer: str
    before: Any
    after: Any
    was: str
    becomes: str
    when: When = When.CHANGE
    carried_out: Callable[[Policy], Policy] | None = None
    why_neutral: str = ""
    known: tuple[Consequence, ...] = ()

    @property
    def is_removal(self) -> bool:
        """Whether the place is gone."""
        return self.after is None


def setting(part: str | None, **values: Any) -> Callable[[Policy], Policy]:
    """An edit that sets fields of the policy, or of the object *part* of it."""

    def carried_out(policy: Policy) -> Policy:
        if part is None:
            return replace(policy, **values)
        changes: dict[str, Any] = {part: replace(getattr(policy, part), **values)}
        return replace(policy, **changes)

    return carried_out


def replacing(key: str, old: object, new: object) -> Callable[[Policy], Policy]:
    """An edit of the list *key*: *old* becomes *new*; None is an entry that is not there."""

    def carried_out(policy: Policy) -> Policy:
        entries = list(getattr(policy, key))
        if old is None:
            entries.append(new)
        else:
            place = next(index for index, entry in enumerate(entries) if entry is old)
            entries[place : place + 1] = [] if new is None else [new]
        changes: dict[str, Any] = {key: tuple(entries)}
        return replace(policy, **changes)

    return carried_out
