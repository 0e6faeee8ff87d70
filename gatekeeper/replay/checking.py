"""One pass over the lines of a log, or of a part of it: chain, form, digests, decisions."""

from __future__ import annotations

from collections import Counter

from gatekeeper.model.decision import EVALUATOR
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.replay.chain import ChainCheck
from gatekeeper.replay.form import form_difference, is_canonical
from gatekeeper.replay.lines import TORN, kind_of, seq_of, text_of
from gatekeeper.replay.links import Link
from gatekeeper.replay.reevaluate import PolicyShelf, decision_differences, digest_differences
from gatekeeper.replay.report import Difference, Place, Problem, Problems, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.replay.blocks import Range
    from gatekeeper.replay.ids import ExactIds, HashedIds

MAX_UNCHAINED = 100
_BLOCK_BYTES = 1 << 18  # each line costs far more than a read, and all lines of a block are in memory at once
_POLICY_DIFFERS = "policy differs"
_NO_EVALUATOR = "evaluator not stated"


class Tally:
    """What was counted and found, apart from the chain's state.

    Attributes:
        order: lines so far that are not blank.
        lines, events, decisions, reevaluated, unchained_count, not_comparable: as in `Report`.
        torn: an unterminated line that none has followed yet.
    """

    def __init__(self, order: int = 0) -> None:
        self.order = order
        self.lines = self.events = self.decisions = self.reevaluated = self.unchained_count = 0
        self.not_comparable: Counter[str] = Counter()
        self.unchained: list[Place] = []
        self.torn: Place | None = None
        self.problems = Problems()

    def note(self, place: Place, difference: Difference | None, order: int | None = None) -> None:
        """Add a problem of the line at *place*, if there is a difference."""
        if difference is not None:
            order = self.order if order is None else order
            self.problems.add(
                Problem(place, order, difference.code, difference.what, difference.expected, difference.found)
            )

    def go_on(self) -> None:
        """Another line follows; a torn one before it will never be mended."""
        if self.torn is not None:
            self.note(self.torn, Difference(TORN, "it is not terminated, and lines follow"))
            self.torn = None
        self.order += 1

    def adopt(self, later: Tally) -> None:
        """Add what was found in the lines behind."""
        if later.order > self.order:
            self.go_on()
        self.order = later.order
        self.lines += later.lines
        self.events += later.events
        self.decisions += later.decisions
        self.reevaluated += later.reevaluated
        self.unchained_count += later.unchained_count
        self.not_comparable += later.not_comparable
        self.unchained += later.unchained[: MAX_UNCHAINED - len(self.unchained)]
        self.torn = later.torn
        self.problems.extend(later.problems.first(), count=later.problems.count)


class Checker:
    """Takes a log's lines in order; `report` tells the outcome.

    Args:
        from_seq: the first `seq` that is checked.
        ids: knows which event ids were there before; None: only the chain is followed.
        order: how many lines that are not blank stand before the first.
    """

    def __init__(self, from_seq: int, ids: ExactIds | HashedIds | None, *, order: int = 0) -> None:
        self.tally = Tally(order)
        # not a method of this object: in a circle it would outlive its range, and be as many as a log has ranges
        self.chain = ChainCheck(self.tally.problems.add, from_seq=from_seq)
        self.shelf = PolicyShelf()
        self.policies = 0
        self._from_seq = from_seq
        self._ids = ids

    def take_range(self, part: Range, lines_before: int) -> int:
        """All lines of a range; how many stand before the next one in its file."""
        from gatekeeper.replay.blocks import blocks_of

        decode, path, number = bulk_decoder(), part.source.path, lines_before
        for block in blocks_of(part, _BLOCK_BYTES):
            for data in block.lines():
                number += 1
                if not data or is_blank(data):
                    continue
                if block.is_terminated:
                    self.take(path, number, data, decode(data))
                else:
                    self.take_torn(path, number)
        return number

    def take_torn(self, source: str, number: int) -> None:
        """An unterminated line: nobody was promised it."""
        self.tally.go_on()
        self.tally.torn = Place(source, number)
        self.tally.lines += 1

    def take(self, source: str, number: int, data: bytes, event: Mapping[str, Any] | None) -> None:
        """A line that is neither blank nor torn."""
        self.tally.go_on()
        seq = seq_of(event) if event is not None else None
        link = Link(source, number, seq, self.tally.order, line_digest(data))
        is_counted = self.chain.step(link, event)
        if event is not None and self._ids is not None and is_chained(event):
            if kind_of(event) == "policy":
                self.policies += 1
                self.tally.note(link.place if is_counted else Place(source, number), self.shelf.add(event))
            self._check_id(event, link, self._ids, is_counted=is_counted)
        if is_counted:
            self._check(event, link, data)

    def _check(self, event: Mapping[str, Any] | None, link: Link, data: bytes) -> None:
        tally = self.tally
        tally.lines += 1
        if event is None:
            tally.note(link.place, Difference("damaged", "the line is damaged: it holds no JSON object"))
        elif not is_chained(event):
            tally.unchained_count += 1
            if len(tally.unchained) < MAX_UNCHAINED:
                tally.unchained.append(link.place)
        else:
            tally.events += 1
            if self._ids is None:
                return
            is_sure = is_canonical(event, data)
            if not is_sure:
                tally.note(link.place, form_difference(event, data))
            if kind_of(event) == "decision":
                self._check_decision(event, link, is_sure=is_sure)

    def _check_id(self, event: Mapping[str, Any], link: Link, ids: ExactIds | HashedIds, *, is_counted: bool) -> None:
        event_id = text_of(event, "event_id")
        if event_id is None:
            if is_counted:
                self.tally.note(link.place, Difference("event_id", "it has no event_id", None, event.get("event_id")))
        elif ids.is_known(event_id) and is_counted:
            self.tally.note(link.place, repeated_id(event_id))

    def _check_decision(self, event: Mapping[str, Any], link: Link, *, is_sure: bool) -> None:
        tally = self.tally
        tally.decisions += 1
        for difference in digest_differences(event, is_sure=is_sure):
            tally.note(link.place, difference)
        evaluator = event.get("evaluator")
        if evaluator != EVALUATOR:
            tally.not_comparable[f"evaluator {evaluator}" if isinstance(evaluator, str) else _NO_EVALUATOR] += 1
            return
        policy_digest = text_of(event, "policy_digest")
        if policy_digest is None or policy_digest in self.shelf.refused:
            tally.not_comparable[_POLICY_DIFFERS] += 1
            return
        try:
            policy = self.shelf.policy(policy_digest)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            tally.note(link.place, Difference("policy", "its recorded policy does not load", policy_digest, str(error)))
            return
        if policy is None:
            tally.note(link.place, Difference("policy", "no policy event before it holds its policy", policy_digest))
            return
        tally.reevaluated += 1
        for difference in decision_differences(event, policy):
            tally.note(link.place, difference)

    def report(self) -> Report:
        """The outcome; nothing may be taken any more."""
        tally, chain = self.tally, self.chain
        chain.end()
        if self._from_seq > 1 and chain.state.first_seq is None:
            tally.note(Place("log", 0), Difference("from", f"no event has seq {self._from_seq} or a later one"), 0)
        return Report(
            lines=tally.lines,
            events=tally.events,
            decisions=tally.decisions,
            reevaluated=tally.reevaluated,
            not_comparable=dict(tally.not_comparable),
            unchained=tuple(tally.unchained),
            unchained_count=tally.unchained_count,
            torn=tally.torn,
            first_seq=chain.state.first_seq,
            last_seq=chain.last_seq,
            head=chain.head,
            problems=tally.problems.first(),
            problem_count=tally.problems.count,
        )


def repeated_id(event_id: str) -> Difference:
    """What is wrong with the second line of an id."""
    return Difference("event_id", "its event_id is not unique in the log", None, event_id)
