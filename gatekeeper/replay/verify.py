"""`verify`: is the chain intact, and does every decision re-evaluate to what was recorded (SPEC 7)."""

from __future__ import annotations

from collections import Counter

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.decision import EVALUATOR
from gatekeeper.model.line import is_chained
from gatekeeper.replay.chain import ChainCheck
from gatekeeper.replay.lines import TORN, is_blank, kind_of, text_of
from gatekeeper.replay.reevaluate import Difference, PolicyShelf, decision_differences, digest_differences
from gatekeeper.replay.report import Place, Problem, Problems, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gatekeeper.model.exchange import LogLine

_MAX_UNCHAINED = 100
_EXCERPT_BYTES = 40
_POLICY_DIFFERS = "policy differs"
_NO_EVALUATOR = "evaluator not stated"


def verify(lines: Iterable[LogLine], from_seq: int = 1) -> Report:
    """Check a log from *from_seq* on; what stands before gives its policies and nothing else.

    A decision is judged again with the policy that a `policy` event before it recorded, its recorded
    snapshot and context. Decisions of another evaluator version are counted as not comparable; events of
    kind `action` are not judged. Only one thing cannot be seen: a log cut behind a whole line. Compare
    `last_seq` and `head` with those noted elsewhere.

    Args:
        lines: in chain order, over one or several files; read once, not kept.
        from_seq: the first `seq` that is checked.

    Returns:
        The report. It never raises on anything that a log can hold.
    """
    return _Verification(from_seq).run(lines)


class _Verification:
    def __init__(self, from_seq: int) -> None:
        self._from_seq = from_seq
        self._problems = Problems()
        self._chain = ChainCheck(self._problems.add, from_seq=from_seq)
        self._shelf = PolicyShelf()
        self._ids: dict[str, int] = {}  # event_id -> order of the line that has it
        self._order = 0
        self._lines = self._events = self._decisions = self._reevaluated = 0
        self._not_comparable: Counter[str] = Counter()
        self._unchained: list[Place] = []
        self._unchained_count = 0

    def run(self, lines: Iterable[LogLine]) -> Report:
        torn: Place | None = None
        for line in lines:
            if is_blank(line):
                continue
            self._order += 1
            if torn is not None:  # the last line of an earlier file: nothing will ever mend it
                self._add(torn, Difference(TORN, "it is not terminated, and lines follow"), self._order - 1)
                torn = None
            if line.problem == TORN:
                torn = Place(line.source, line.number)
                self._lines += 1
            else:
                self._take(line)
        self._chain.end()
        if self._from_seq > 1 and self._chain.first_seq is None:
            self._add(Place("log", 0), Difference("from", f"no event has seq {self._from_seq} or a later one"), 0)
        return Report(
            lines=self._lines,
            events=self._events,
            decisions=self._decisions,
            reevaluated=self._reevaluated,
            not_comparable=dict(self._not_comparable),
            unchained=tuple(self._unchained),
            unchained_count=self._unchained_count,
            torn=torn,
            first_seq=self._chain.first_seq,
            last_seq=self._chain.last_seq,
            head=self._chain.head,
            problems=self._problems.first(),
            problem_count=self._problems.count,
        )

    def _take(self, line: LogLine) -> None:
        place = self._chain.step(line, self._order)
        event = line.event
        if event is not None and is_chained(event):
            here = place or Place(line.source, line.number)
            if kind_of(event) == "policy":
                self._add(here, self._shelf.add(event))
            self._check_id(event, here, is_counted=place is not None)
        if place is None:
            return
        self._lines += 1
        if event is None:
            self._add(place, Difference("damaged", "the line is damaged: it holds no JSON object"))
        elif not is_chained(event):
            self._unchained_count += 1
            if len(self._unchained) < _MAX_UNCHAINED:
                self._unchained.append(place)
        else:
            self._events += 1
            self._add(place, _form_difference(event, line.data))
            if kind_of(event) == "decision":
                self._check_decision(event, place)

    def _check_id(self, event: Mapping[str, Any], place: Place, *, is_counted: bool) -> None:
        event_id = text_of(event, "event_id")
        before = self._ids.setdefault(event_id, self._order) if event_id is not None else None
        if not is_counted or before == self._order:
            return
        if event_id is None:
            self._add(place, Difference("event_id", "it has no event_id", None, event.get("event_id")))
        else:
            self._add(place, Difference("event_id", "its event_id is not unique in the log", None, event_id))

    def _check_decision(self, event: Mapping[str, Any], place: Place) -> None:
        self._decisions += 1
        for difference in digest_differences(event):
            self._add(place, difference)
        evaluator = event.get("evaluator")
        if evaluator != EVALUATOR:
            self._not_comparable[f"evaluator {evaluator}" if isinstance(evaluator, str) else _NO_EVALUATOR] += 1
            return
        policy_digest = text_of(event, "policy_digest")
        if policy_digest is None or policy_digest in self._shelf.refused:
            self._not_comparable[_POLICY_DIFFERS] += 1
            return
        try:
            policy = self._shelf.policy(policy_digest)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._add(place, Difference("policy", "its recorded policy does not load", policy_digest, str(error)))
            return
        if policy is None:
            self._add(place, Difference("policy", "no policy event before it holds its policy", policy_digest))
            return
        self._reevaluated += 1
        for difference in decision_differences(event, policy):
            self._add(place, difference)

    def _add(self, place: Place, difference: Difference | None, order: int | None = None) -> None:
        if difference is not None:
            order = self._order if order is None else order
            self._problems.add(
                Problem(place, order, difference.code, difference.what, difference.expected, difference.found)
            )


def _form_difference(event: Mapping[str, Any], data: bytes) -> Difference | None:
    """Whether the bytes are the canonical form of the object that they hold (RFC 8785)."""
    what = "the line is not canonical JSON (RFC 8785)"
    try:
        expected = canonical_bytes(event)
    except CanonicalError as error:
        return Difference("canonical", what, None, error.message)
    if expected == data:
        return None
    at = next((index for index, (a, b) in enumerate(zip(expected, data, strict=False)) if a != b), None)
    start = min(len(expected), len(data)) if at is None else at
    return Difference("canonical", f"{what}, byte {start + 1}", _excerpt(expected, start), _excerpt(data, start))


def _excerpt(data: bytes, start: int) -> str:
    return data[start : start + _EXCERPT_BYTES].decode("utf-8", "replace")
