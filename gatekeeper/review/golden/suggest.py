"""What decisions of a log say again and again, and no golden case expects yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Final

    from gatekeeper.review.golden.case import LoadedCase

    Key = tuple[str, str, str]

REASON, MISSING = "reason", "missing"
"""What recurs: a reason code, or an entry of `missing`."""


class Suggestion:
    """Something that a case should freeze.

    Attributes:
        policy_id: under which policy it was decided.
        kind, what: REASON and a reason code, or MISSING and an entry of `missing`.
        count: in how many decisions.
        first, last: ids of the first and the last of these.
    """

    __slots__ = ("count", "first", "kind", "last", "policy_id", "what")

    def __init__(self, key: Key, event_id: str) -> None:
        self.policy_id: Final = key[0]
        self.kind: Final = key[1]
        self.what: Final = key[2]
        self.count = 0
        self.first: Final = event_id
        self.last = event_id

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "policy_id": self.policy_id,
            "kind": self.kind,
            "what": self.what,
            "count": self.count,
            "first": self.first,
            "last": self.last,
        }


def recurring(events: Iterable[Mapping[str, Any]]) -> list[Suggestion]:
    """Every reason code and every entry of `missing` of the decisions in *events*, the frequent ones first.

    Equally frequent ones stand in the order in which the log first has them; memory grows with their number only.
    """
    found: dict[Key, Suggestion] = {}
    for event in events:
        decision, event_id = event.get("decision"), event.get("event_id")
        if not isinstance(decision, dict) or not isinstance(event_id, str):
            continue
        policy_id = str(event.get("policy_id"))
        for key in dict.fromkeys(_keys(policy_id, decision)):
            one = found.get(key)
            if one is None:
                one = found[key] = Suggestion(key, event_id)
            one.count += 1
            one.last = event_id
    return sorted(found.values(), key=lambda one: -one.count)


def without_case(recurring: Iterable[Suggestion], cases: Iterable[LoadedCase], *, at_least: int) -> list[Suggestion]:
    """Those that stand in *at_least* decisions and that no case of a policy of the same `policy_id` expects."""
    expected = {key for case in cases for key in _keys(case.policy.policy.policy_id, case.expect)}
    return [one for one in recurring if one.count >= at_least and (one.policy_id, one.kind, one.what) not in expected]


def _keys(policy_id: str, stated: Mapping[str, Any]) -> list[Key]:
    return [
        (policy_id, kind, entry)
        for kind, name in ((REASON, "reason_codes"), (MISSING, "missing"))
        for entry in _texts(stated.get(name))
    ]


def _texts(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
