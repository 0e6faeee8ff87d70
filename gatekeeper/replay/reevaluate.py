"""Judge a recorded decision again, with its recorded policy, evidence and context, and compare."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.errors import CanonicalError
from gatekeeper.evaluator import evaluate
from gatekeeper.model.canonical import digest
from gatekeeper.model.context import Context
from gatekeeper.model.event import input_digest
from gatekeeper.model.policy import Policy, policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.replay.lines import part_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

_COMPARED = ("rule", "outcome", "code")


@dataclass(frozen=True)
class Difference:
    """What a line holds and what it should hold; `code` as in `Problem`."""

    code: str
    what: str
    expected: Any = None
    found: Any = None


class PolicyShelf:
    """The policies that a log has recorded so far, by digest; each is built once."""

    def __init__(self) -> None:
        self._documents: dict[str, Mapping[str, Any]] = {}
        self._policies: dict[str, Policy] = {}
        self.refused: set[str] = set()
        """Digests whose recorded document has another digest: nothing can be judged by it."""

    def add(self, event: Mapping[str, Any]) -> Difference | None:
        """Take a `policy` event; None if its document has the digest that it states."""
        stated = text_of(event, "policy_digest")
        found = _digest_or_problem(event.get("policy"))
        if stated is not None and stated == found:
            self._documents.setdefault(stated, part_of(event, "policy"))
            return None
        if stated is not None and stated not in self._documents:
            self.refused.add(stated)
        return Difference("policy_digest", "policy_digest is not that of the policy on this line", found, stated)

    def policy(self, policy_digest: str) -> Policy | None:
        """The policy; None when no event recorded it.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: its document is no policy.
        """
        if policy_digest not in self._policies:
            document = self._documents.get(policy_digest)
            if document is None:
                return None
            self._policies[policy_digest] = policy_from_document(document)
        return self._policies[policy_digest]


def digest_differences(event: Mapping[str, Any]) -> Iterator[Difference]:
    """Whether snapshot and input of a decision have the digests that it states."""
    stated = event.get("snapshot_digest")
    found = _digest_or_problem(event.get("metrics_snapshot"))
    if found != stated:
        yield Difference("snapshot_digest", "snapshot_digest is not that of metrics_snapshot", found, stated)
    recorded = event.get("input_digest")
    found = _or_problem(lambda: input_digest(event.get("policy_digest"), stated, event.get("context")))  # type: ignore[arg-type]
    if found != recorded:
        yield Difference(
            "input_digest", "input_digest is not that of policy_digest, snapshot_digest and context", found, recorded
        )


def decision_differences(event: Mapping[str, Any], policy: Policy) -> Iterator[Difference]:
    """What *policy* decides otherwise than was recorded: verdict, reason codes, missing, findings.

    `expected` is what the evaluation gives now. An evaluation that fails is a difference.
    """
    try:
        context = Context.from_dict(event["context"])
    except Exception as error:  # noqa: BLE001 - whatever somebody wrote into the log is their difference, not our crash
        yield Difference("context", "its context cannot be read", None, _named(error))
        return
    try:
        snapshot = snapshot_from_document(event["metrics_snapshot"])
        answer = evaluate(policy, snapshot, context).to_dict()
    except Exception as error:  # noqa: BLE001 - the same
        yield Difference("evaluation", "it cannot be evaluated", None, _named(error))
        return
    recorded = part_of(event, "decision")
    for name in ("verdict", "reason_codes", "missing"):
        if recorded.get(name) != answer[name]:
            yield Difference(name, f"decision.{name} differs", answer[name], recorded.get(name))
    yield from _finding_differences(answer["findings"], recorded.get("findings"))


def _finding_differences(expected: list[Any], found: Any) -> Iterator[Difference]:
    """The first finding that differs; those behind it would often only be shifted."""
    listed = found if isinstance(found, list) else []
    for index in range(max(len(expected), len(listed))):
        ours = _compared(expected[index]) if index < len(expected) else None
        theirs = _compared(listed[index]) if index < len(listed) else None
        if ours != theirs:
            yield Difference("findings", f"decision.findings[{index}] differs", ours, theirs)
            return


def _compared(finding: Any) -> Any:
    if not isinstance(finding, dict):
        return finding
    return {name: finding.get(name) for name in _COMPARED}


def _digest_or_problem(value: Any) -> str:
    return _or_problem(lambda: digest(value))


def _or_problem(make: Callable[[], str]) -> str:
    try:
        return make()
    except CanonicalError as error:
        return f"none: {error.message}"


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
