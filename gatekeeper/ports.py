"""The seams, as Protocols: what the orchestrator needs of the outside world, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from gatekeeper.model.exchange import Expectation, Receipt
from gatekeeper.model.indexed import Count, Facet, Place, Selection, StoredLine
from gatekeeper.model.policy import LoadedPolicy
from gatekeeper.model.run import Run
from gatekeeper.model.snapshot import Snapshot


class Clock(Protocol):
    """The one source of the current time."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...


class EvidenceSource(Protocol):
    """Where a snapshot is collected; asked only when the answer is not on record, and outside any lock."""

    @property
    def digest(self) -> str:
        """Of the collection file as written: what an idempotency key's question stands for (`collector_digest`)."""
        ...

    def collect(self) -> Snapshot:
        """Collect anew, which may take seconds.

        A source that is down, slow or wrong is evidence: it stands in the snapshot's `observations`.

        Raises:
            CollectionError: a mistake in the reviewed file; waiting and asking again do not mend it (65).
            UsageError: what the file takes from the environment, or an extra that it needs, is not there (64).
        """
        ...


class LedgerView(Protocol):
    """State of all runs up to the log's last line, as read now."""

    def run(self, run_id: str) -> Run | None:
        """The run, None when the readable log does not know it."""
        ...

    def runs(self) -> Sequence[Run]:
        """All runs, in the order of their first events."""
        ...

    def holds(self) -> Sequence[Run]:
        """Runs in state HELD, longest held first."""
        ...

    def live_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant that is ACTIVE or HELD."""
        ...

    def latest_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant whose first event is the newest."""
        ...

    def token(self, token: str) -> tuple[str, str | None] | None:
        """`run_id` of the hold, and the `event_id` that ended it (None: open); None: unknown token."""
        ...

    def accepted(self, run_id: str, question: str) -> Mapping[str, Any] | None:
        """The newest recorded ACCEPT of the run with this content digest (`orchestrator.question`)."""
        ...

    def key(self, key: str) -> Mapping[str, Any] | None:
        """The newest decision event with this idempotency key."""
        ...

    def refused(self, run_id: str, question_digest: str) -> bool:
        """Whether a `refusal` event of the run has this question already."""
        ...

    def policy(self, digest: str) -> Mapping[str, Any] | None:
        """Document of a recorded policy validated by this schema version; None when there is none."""
        ...

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """The event with this id, as logged."""
        ...

    @property
    def is_complete(self) -> bool:
        """False where the log's beginning or a part of it is missing and nobody accepted that."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What the reader noticed: missing seqs, repaired state, damaged lines."""
        ...


class EventIndex(Protocol):
    """What the events of one log say of themselves, kept beside it, so that queries need not read the lines.

    Most lines are listed: their seqs rise and their times never fall. The few others (damaged, founding-style,
    doubled) are odd: they are read and judged one by one. It holds one state of the log until it is closed.
    Every method raises IndexUnusableError where it cannot answer; then the log itself is read.
    """

    def facets(self) -> Mapping[int, Facet]:
        """Every facet that a listed event has, by its number."""
        ...

    def spans(self) -> Sequence[tuple[int, int]]:
        """First and last seq of each row of listed events without a gap, in the order of the log."""
        ...

    def odd_lines(self) -> Iterator[StoredLine]:
        """The lines that are not listed, blank ones left out, in the order of the log."""
        ...

    def torn_line(self) -> StoredLine | None:
        """What stands behind the last newline."""
        ...

    def seq_from(self, moment: int) -> int:
        """`seq` of the first listed event that is not before *moment* (microseconds); behind the last if none is."""
        ...

    def places(self, selection: Selection, *, limit: int | None = None) -> Iterator[Place]:
        """The selected events, by rising seq, the first *limit* of them."""
        ...

    def read(self, places: Iterator[Place]) -> Iterator[StoredLine]:
        """Their lines, each compared with the digest that the index knows."""
        ...

    def count(self, selection: Selection, by: Sequence[str]) -> Iterator[Count]:
        """How many of the selected events share a facet and what *by* names; no line is read.

        Args:
            by: any of `COUNTED_BY`.
        """
        ...

    def close(self) -> None:
        """Give the state of the log up that it holds."""
        ...


COUNTED_BY = ("day", "run", "experiment", "variant", "actor")
"""What an `EventIndex` counts by besides facets."""


class Ledger(Protocol):
    """Where events are appended; totally ordered, chained, durable."""

    def view(self) -> LedgerView:
        """Read the state up to the log's last line.

        Raises:
            StateUnreadableError: neither log nor state can be read.
        """
        ...

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Seal and store *drafts* in one write, after `policy` events for the *policies* it lacks.

        MUST NOT return before the lines are on the device. A torn last line is kept aside first.

        Raises:
            ConflictError: the run, its slot or the key is not as expected; nothing was written.
            LogError: it could not be written; nothing of it is left (or the message says so).
        """
        ...

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Best effort: keep an unrecorded REJECT beside the log; its place, None when that failed too."""
        ...

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Events from `seq` *start* on with their line bytes, in order."""
        ...


class SharedLedger(Ledger, Protocol):
    """A ledger that machines without a common disk share; whatever reaches nobody raises LedgerUnreachableError.

    What it tells people names its address with credentials masked.
    """

    def head(self) -> Mapping[str, Any]:
        """The log's end: `seq` (0: no event), `digest` (the next `prev`), `ts`, `is_complete`."""
        ...

    def lines(self, *, after: int = 0) -> Iterator[bytes]:
        """Line bytes without newline behind seq *after*, in order; streamed from the ledger itself, never a copy."""
        ...

    def index(self) -> EventIndex | None:
        """The index over its events; None where the lines themselves must be read."""
        ...

    def take_in(self, lines: Iterator[bytes]) -> int:
        """Append lines of another log as they are, same bytes, and fold them; how many.

        The caller has checked that they continue the head; the ledger checks `seq` and `prev` again, each part
        of them under its lock. What was taken in before something failed stays, and the next call goes on there.

        Raises:
            LogDamagedError: they do not continue the log as it is by now.
            LogError: they could not be stored.
        """
        ...

    def rebuild(self) -> LedgerView:
        """Fold all lines anew."""
        ...

    def close(self) -> None:
        """Give up what it holds open."""
        ...
