"""Lines into rows: each goes through `model.fold.apply` once, in memory; `writing` puts what it changes into tables.

The lines must continue the log: another line is refused, never kept aside, since every writer here has the lock.
"""

from __future__ import annotations

from gatekeeper.errors import CanonicalError, LogDamagedError
from gatekeeper.ledger.chain import break_between, seq_of
from gatekeeper.ledger.postgres.preparing import facet_body, facet_number
from gatekeeper.ledger.projection_fold import ACCEPT_GAP
from gatekeeper.ledger.projection_index import said_of
from gatekeeper.ledger.projection_rows import begins, tokens_changed, ts_text
from gatekeeper.model.canonical import canonical_bytes, digest_bytes
from gatekeeper.model.event import line_digest
from gatekeeper.model.facts import text_of
from gatekeeper.model.fold import apply
from gatekeeper.model.line import is_chained, stated_seq
from gatekeeper.model.times import format_time, parse_time
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gatekeeper.ledger.head import Head
    from gatekeeper.model.run import Run

    FactRow = tuple[Any, ...]

_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, CanonicalError, RecursionError)
_INT4 = range(1 << 31)


class Fold:
    """Takes lines behind *head* and gathers what they change.

    Args:
        head: the log's end; moved on with each line.
        run_of: looks a run up that is not in hand yet.

    Attributes:
        parts_left: events of a segment's head that are still to come, where it stands for what is missing.
        facts: rows of the events taken.
        facets: bodies by their numbers.
        changed: runs by their ids; `tokens`, `policies`, `kept`: rows by their keys.
        accepts_gap: whether a person took every incomplete history as it is.
    """

    def __init__(self, head: Head, run_of: Callable[[str], Run | None]) -> None:
        self.head = head
        self.parts_left = 0
        self.facts: list[FactRow] = []
        self.facets: dict[int, str] = {}
        self.changed: dict[str, Run] = {}
        self.tokens: dict[str, tuple[str, str | None]] = {}
        self.policies: dict[tuple[str, int], int] = {}
        self.kept: dict[str, bytes] = {}
        self.accepts_gap = False
        self._run_of = run_of
        self._runs: dict[str, Run | None] = {}

    def run(self, run_id: str) -> Run | None:
        """The run as of the last line taken."""
        if run_id not in self._runs:
            found = self._run_of(run_id)
            if found is not None and self.accepts_gap:
                found = replace(found, history="complete")
            self._runs[run_id] = found
        return self._runs[run_id]

    def clear(self) -> None:
        """All that was gathered is in the tables; the runs must be looked up again."""
        for gathered in (self.facts, self.facets, self.changed, self.tokens, self.policies, self.kept, self._runs):
            gathered.clear()
        self.accepts_gap = False

    def take(
        self,
        event: Mapping[str, Any] | None,
        line: bytes,
        *,
        digest: str | None = None,
        said: tuple[int, str, int | None] | None = None,
    ) -> None:
        """Fold the next line.

        Args:
            event: what the line holds; None if that is no JSON object.
            digest: of the line, where it was taken before.
            said: facet, its body and question, where they were asked before.

        Raises:
            LogDamagedError: the line does not continue the log, or is no event that can be read.
        """
        head = self.head
        if event is None or not is_chained(event):
            raise _damaged(f"the line behind seq {head.seq} is no event of a chain")
        problem = break_between(event, seq=head.seq, digest=head.digest)
        try:
            if self.parts_left or (problem is not None and event["kind"] == "checkpoint" and head.seq == 0):
                from gatekeeper.ledger.projection_head import through_head

                problem = through_head(self, event, problem)
            seq = seq_of(event)
            if problem is not None or seq is None:
                raise _damaged(f"the line behind seq {head.seq} {problem or 'has no seq'}")
            self._apply(event, seq)
            self._note(event, line, seq, said)
        except _MALFORMED as error:
            raise _damaged(
                f"the line behind seq {head.seq} is no event that can be read ({type(error).__name__}: {error})"
            ) from None
        head.seq, head.digest = seq, digest or line_digest(line)
        head.ts = max(head.ts, ts_text(event.get("ts")))

    def adopt(self, run: Run, lines: Mapping[str, bytes]) -> None:
        """Take a run as a segment's head states it, and the *lines* that it stands on, by `event_id`."""
        self._put(self.run(run.run_id), run)
        self.tokens |= {token: (run.run_id, ended_by) for token, ended_by in run.ended_holds.items()}
        self.kept |= lines

    def require_whole_head(self) -> None:
        """Raise LogDamagedError where the lines end within the head of a segment: some runs would be unknown."""
        if self.parts_left:
            raise _damaged(f"the lines end at seq {self.head.seq}, within the head of a segment")

    def _apply(self, event: Mapping[str, Any], seq: int) -> None:
        kind, run_id = event["kind"], event.get("run_id")
        if run_id is not None:
            before = self.run(run_id)
            after = apply(before, event)
            if before is None and not self.head.is_complete and not begins(event):
                after = replace(after, history="incomplete")
            self._put(before, after)
        if kind == "policy":
            digest, version = event["policy_digest"], event["schema_version"]
            if version in _INT4 and digest_bytes(canonical_bytes(event["policy"])) == digest:
                self.policies[digest, version] = seq  # a forged one is for `verify` to name
        elif kind == "action" and event["action"]["name"] == ACCEPT_GAP:
            self._accept_gap(run_id)

    def _put(self, before: Run | None, after: Run) -> None:
        for name in (after.run_id, after.experiment_id, after.variant_id):
            if name is not None and type(name) is not str:
                raise TypeError("a name is no text")
        self._runs[after.run_id] = self.changed[after.run_id] = after
        self.tokens |= tokens_changed(before, after)

    def _accept_gap(self, run_id: str | None) -> None:
        if run_id is None:
            self.head.is_complete = self.accepts_gap = True
        for known in [*self._runs.values()]:
            if known is not None and known.history != "complete" and run_id in {None, known.run_id}:
                self._put(known, replace(known, history="complete"))

    def _note(self, event: Mapping[str, Any], line: bytes, seq: int, said: tuple[int, str, int | None] | None) -> None:
        run_id, event_id = event.get("run_id"), event.get("event_id")
        key = event.get("idempotency_key") if event["kind"] == "decision" else None
        for name in (run_id, event_id, key):
            if name is not None and type(name) is not str:
                raise TypeError("a field that is text holds something else")
        if said is None:
            facts, question = said_of(event)
            body = facet_body(facts)
            said = facet_number(body), body, question
        facet, body, question = said
        ts = parse_time(event.get("ts"))
        is_usual = ts is not None and format_time(ts) >= self.head.ts and stated_seq(line) == seq
        if is_usual:
            self.facets[facet] = body
        texts = text_of(event, "experiment_id"), text_of(event, "variant_id"), text_of(event, "actor")
        place = (ts, facet) if is_usual else (None, None)
        self.facts.append((seq, *place, run_id, *texts, event_id, key, question))


def _damaged(message: str) -> LogDamagedError:
    return LogDamagedError(message, remedy="see what is wrong with: gatekeeper verify")
