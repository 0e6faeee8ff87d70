"""Judge a recorded decision again, with its recorded policy, evidence and context, and compare."""

from __future__ import annotations

from operator import itemgetter

from gatekeeper.errors import CanonicalError
from gatekeeper.evaluator import assess
from gatekeeper.model.canonical import digest
from gatekeeper.model.context import Context
from gatekeeper.model.event import input_digest
from gatekeeper.model.policy import Policy, policy_from_document
from gatekeeper.model.snapshot import logged_snapshot
from gatekeeper.replay.form import part_digest
from gatekeeper.replay.lines import part_of, text_of
from gatekeeper.replay.report import Difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.evaluator.verdict import Judgement
    from gatekeeper.model.decision import Finding

_COMPARED = ("rule", "outcome", "code")
_COMPARED_OF = itemgetter(*_COMPARED)


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


def digest_differences(event: Mapping[str, Any], *, is_sure: bool = False) -> Iterator[Difference]:
    """Whether snapshot and input of a decision have the digests that it states.

    Args:
        is_sure: `form.is_canonical` has said so of the line: its values need no careful encoding.
    """
    stated, recorded = event.get("snapshot_digest"), event.get("input_digest")
    if is_sure and part_digest(event.get("metrics_snapshot")) == stated:
        found = stated
    else:
        found = _digest_or_problem(event.get("metrics_snapshot"))
    if found != stated:
        yield Difference("snapshot_digest", "snapshot_digest is not that of metrics_snapshot", found, stated)
    policy_digest, context = event.get("policy_digest"), event.get("context")
    if is_sure:
        parts = {"policy_digest": policy_digest, "snapshot_digest": stated, "context": context}
        if part_digest(parts) == recorded:
            return
    found = _or_problem(lambda: input_digest(policy_digest, stated, context))  # type: ignore[arg-type]
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
        check, judgement = assess(policy, logged_snapshot(event["metrics_snapshot"]), context)
    except Exception as error:  # noqa: BLE001 - the same
        yield Difference("evaluation", "it cannot be evaluated", None, _named(error))
        return
    recorded = part_of(event, "decision")
    if _is_as_recorded(judgement, check.findings, recorded):
        return
    verdict, reason_codes, missing = judgement
    answer = {"verdict": verdict.value, "reason_codes": list(reason_codes), "missing": list(missing)}
    for name, value in answer.items():
        if recorded.get(name) != value:
            yield Difference(name, f"decision.{name} differs", value, recorded.get(name))
    yield from _finding_differences([finding.to_dict() for finding in check.findings], recorded.get("findings"))


def _is_as_recorded(judgement: Judgement, findings: Sequence[Finding], recorded: Mapping[str, Any]) -> bool:
    """Whether all that is compared is equal: quick, for nearly all decisions; False means a closer look."""
    verdict, reason_codes, missing = judgement
    try:
        return (
            recorded["verdict"] == verdict
            and recorded["reason_codes"] == list(reason_codes)
            and recorded["missing"] == list(missing)
            and type(recorded["findings"]) is list
            and list(map(_COMPARED_OF, recorded["findings"]))
            == list(map(_COMPARED_OF, [finding.__dict__ for finding in findings]))
        )
    except (KeyError, TypeError):
        return False


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
