"""What one process knows of the log as of one head, so that an append need not ask for it again.

It is used for nothing but an append that moves the head on from just there (compare and set): where that succeeds,
nobody has appended meanwhile, and all of this was still true.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gatekeeper.ledger.head import Head
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.run import Run

    Slot = tuple[str, str, bool]


_SEEN = 64
"""Runs that are remembered though the log has gone on."""


class Known:
    """Answers of the database as of `head`.

    Attributes:
        head: None when nothing is known.
        runs: by their ids, None for one that the log does not know.
        seen: runs as they were some time; whoever uses one has its version compared by the database.
        slots: the live run of a slot; `keys`: `seq` of the newest decision with a key, 0 for none.
        policies: digests of documents that the log has; they never go away.
        lacks: digests of documents that it does not have.
        facets: numbers that the table has; they never go away, either.
        doubled_facets: numbers under which the table has another body.
    """

    def __init__(self) -> None:
        self.head: Head | None = None
        self.runs: dict[str, Run | None] = {}
        self.seen: dict[str, Run] = {}
        self.slots: dict[Slot, str | None] = {}
        self.keys: dict[str, int] = {}
        self.policies: set[str] = set()
        self.lacks: set[str] = set()
        self.facets: set[int] = set()
        self.doubled_facets: set[int] = set()

    def move_to(self, head: Head | None) -> None:
        """Nothing that may have changed since another head is known any more."""
        if head is None or self.head is None or (head.seq, head.digest) != (self.head.seq, self.head.digest):
            self.runs.clear()
            self.slots.clear()
            self.keys.clear()
            self.lacks.clear()
        self.head = head

    def see(self, runs: Mapping[str, Run | None]) -> None:
        """Take note of runs as of the head that is known."""
        self.runs |= runs
        if len(self.seen) > _SEEN:
            self.seen.clear()
        self.seen |= {run_id: run for run_id, run in runs.items() if run is not None}

    def suffices(self, run_ids: Iterable[str], expect: Expectation | None, policies: Iterable[str]) -> bool:
        """Whether an append of events of these runs, with these policies, needs to ask nothing."""
        if self.head is None or not self.runs.keys() >= set(run_ids):
            return False
        if not self.policies | self.lacks >= set(policies):
            return False
        return expect is None or (
            expect.run_id in self.runs
            and (expect.slot is None or expect.slot in self.slots)
            and (expect.key is None or expect.key in self.keys)
        )
