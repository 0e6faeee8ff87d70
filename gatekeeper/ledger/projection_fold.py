"""Lines into the projection: each goes through `model.fold.apply` once, and its traces into the tables.

Changes are gathered in memory and written by `flush` in one transaction, so that reading a long log
writes each run once and not once for each of its events.
"""

from __future__ import annotations

from gatekeeper.errors import CanonicalError
from gatekeeper.ledger.chain import break_between, seq_of
from gatekeeper.ledger.projection_index import IndexWriter
from gatekeeper.ledger.projection_rows import begins, digest_blob, tokens_changed, ts_text
from gatekeeper.ledger.projection_runs import RunRows
from gatekeeper.ledger.projection_schema import keep_wal_short, load_head, store_head
from gatekeeper.model.canonical import canonical_bytes, digest_bytes
from gatekeeper.model.event import line_digest
from gatekeeper.model.fold import apply
from gatekeeper.model.line import is_chained
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.run import Run

FLUSH_EVENTS = 8192
"""Events gathered before they are written, so that memory does not grow with the log."""

ACCEPT_GAP = "accept-gap"
"""Name of the action by which a person takes an incomplete history as it is."""

_NAME_TYPES = frozenset({str, type(None)})
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, CanonicalError)


class StaleFoldError(Exception):
    """Another process has committed lines that this fold had gathered too; they are read anew."""


class Fold:
    """Takes lines in the order of the file and knows all that they change.

    Attributes:
        head: the log's end as of the last line taken; ahead of the database until `flush`.
        warnings: damaged lines and breaks, named by line number.
        sealed_line: the last line taken, if this process has sealed it itself.
        index: what is gathered for the index over events.
        is_atomic: nothing is committed before `flush`, however much is gathered.
        parts_left: events of a segment's head that are still to come, where it stands for what is missing.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.head = load_head(connection)
        self._base = self.head.row()  # as the database has it
        self.warnings: list[str] = []
        self.sealed_line: bytes | None = None
        self.index = IndexWriter(connection)
        self.is_atomic, self.parts_left = False, 0
        self._runs = RunRows(connection)
        self._tokens: dict[str, tuple[str, str | None]] = {}
        self._kept: dict[str, bytes | None] = {}  # None: to be removed
        self._policies: dict[tuple[str, int], bytes] = {}
        self._known_policies: set[tuple[str, int]] = set()  # seen in the table, behind the last head

    @property
    def pending(self) -> int:
        """Events that the database does not have yet."""
        return len(self.index)

    def run(self, run_id: str) -> Run | None:
        """The run as of the last line taken."""
        return self._runs.get(run_id)

    def has_event_id(self, event: Mapping[str, Any]) -> bool:
        """Whether an event of this one's id is in the log."""
        event_id = event["event_id"]
        if self.index.is_pending(event_id):
            return True
        run = self._runs.in_hand(event.get("run_id", ""))
        if run is not None and run.is_begun:
            is_decision = event["kind"] == "decision"
            following = run.next_decision_id(event["stage"]) if is_decision else run.next_event_id(event["kind"])
            if event_id == following:  # the run's own count tells: no need to look it up
                return False
        return self.index.has_event_id(event_id)

    def has_policy(self, digest: str, schema_version: int) -> bool:
        """Whether a `policy` event since the last segment head holds this document, validated by these rules."""
        if (digest, schema_version) in self._policies or (digest, schema_version) in self._known_policies:
            return True
        row = self.connection.execute(
            "SELECT 1 FROM policies WHERE digest = ? AND schema_version = ? AND segment > 0", (digest, schema_version)
        ).fetchone()
        if row is not None:
            self._known_policies.add((digest, schema_version))
        return row is not None

    def take(
        self,
        event: Mapping[str, Any] | None,
        line: bytes,
        offset: int,
        *,
        digest: str | None = None,
        said: tuple[Any, ...] | None = None,
        is_sealed: bool = False,
    ) -> None:
        """Fold the next line of the file, which has not been seen before.

        Args:
            event: None for a damaged line.
            digest: of the line, where it was taken before.
            said: what `projection_index.said_of` gives of the event, where it was asked before.
            is_sealed: the caller has just made the line itself.
        """
        head = self.head
        self.sealed_line = line if is_sealed else None
        digest = digest or line_digest(line)
        place = (offset, len(line), digest_blob(digest))
        if event is None:
            self.index.take_odd(head, *place)
            self.note_break(f"line {head.lines + 1} is damaged")
        elif not is_chained(event):
            self.index.take_odd(head, *place, self._take_founding(event))
        else:
            self._take_chained(event, line, place, said)
        head.digest = digest
        head.pass_line(offset, len(line), digest)
        if len(self.index) >= FLUSH_EVENTS:
            (self.write if self.is_atomic else self.flush)()

    def note_break(self, problem: str) -> None:
        """A part of the history is missing: every run that could have had events in it is incomplete."""
        self.warnings.append(f"{problem}: runs that cross it are held until `gatekeeper log rebuild --accept-gap`")
        self.head.is_complete = False
        self.write()
        self.connection.execute("UPDATE runs SET incomplete = 1 WHERE state <> 'STOPPED' AND incomplete = 0")
        self._runs.forget()

    def begin(self) -> None:
        """Open the transaction that `flush` ends.

        Raises:
            StaleFoldError: somebody else has taken lines meanwhile; what was gathered builds on less.
        """
        if self.connection.in_transaction:
            return
        self.connection.execute("BEGIN IMMEDIATE")
        if load_head(self.connection).row() != self._base:
            self.connection.execute("ROLLBACK")
            raise StaleFoldError

    def leave_file(self, name: str | None = None) -> None:
        """Another file stands in the log's place; the one before is called *name* now. Writes at once."""
        last_seq = self.head.listed
        self.head.leave_file()
        self.index.begin_segment(self.head.segment, last_seq=last_seq, name=name)

    def flush(self) -> None:
        """Write all that was gathered, and the head, in one transaction."""
        self.write()
        store_head(self.connection, self.head)
        self.connection.execute("COMMIT")
        self._base = self.head.row()
        self.is_atomic = False
        keep_wal_short(self.connection)

    def _take_chained(
        self, event: Mapping[str, Any], line: bytes, place: tuple[int, int, bytes], said: tuple[Any, ...] | None
    ) -> None:
        head, number = self.head, self.head.lines + 1
        problem = break_between(event, seq=head.seq, digest=head.digest)
        if self.parts_left or (problem is not None and event["kind"] == "checkpoint"):
            from gatekeeper.ledger.projection_head import through_head

            problem = through_head(self, event, problem)
        if problem is not None:
            self.note_break(f"line {number} {problem}")
        seq = seq_of(event)
        if seq is None or seq <= head.seq:
            self.index.take_odd(head, *place)
            seq = None
        else:
            head.seq = seq
        offset, _, digest = place
        try:
            self._apply(event, line)
            if seq is not None:
                self.index.take(event, line, seq=seq, head=head, offset=offset, digest=digest, said=said)
        except _MALFORMED as error:
            self.index.take_odd(head, *place)
            self.note_break(f"line {number} is no event that can be read ({type(error).__name__}: {error})")
            return
        head.ts = max(head.ts, ts_text(event.get("ts")))

    def _apply(self, event: Mapping[str, Any], line: bytes) -> None:
        kind, run_id = event["kind"], event.get("run_id")
        if run_id is not None:
            self._move(run_id, event, line)
        if kind == "policy":
            self._remember_policy(event)
        elif kind == "checkpoint" and "segment" in event:
            self._forget_policies()
        elif kind == "action" and event["action"]["name"] == ACCEPT_GAP:
            self._accept_gap(run_id)

    def _move(self, run_id: str, event: Mapping[str, Any], line: bytes) -> None:
        before = self.run(run_id)
        after = apply(before, event)
        if before is None and not self.head.is_complete and not begins(event):
            after = replace(after, history="incomplete")
        self._change(before, after, event["event_id"])
        self._keep(after, event, line)

    def _change(self, before: Run | None, after: Run, event_id: str) -> None:
        if not _NAME_TYPES.issuperset(map(type, (after.run_id, after.experiment_id, after.variant_id, event_id))):
            raise TypeError("a name is no text")
        self._runs.put(after)
        self._tokens |= tokens_changed(before, after)
        held_before = before.hold if before is not None else None
        if held_before is not None and (after.hold is None or after.hold.event_id != held_before.event_id):
            self._kept[held_before.event_id] = None

    def adopt(self, run: Run, lines: Mapping[str, bytes]) -> None:
        """Take a run as a segment's head states it, and the *lines* that it stands on, by `event_id`."""
        self._change(self.run(run.run_id), run, run.last_event_id)
        self._tokens |= {token: (run.run_id, ended_by) for token, ended_by in run.ended_holds.items()}
        self._kept |= lines

    def _keep(self, after: Run, event: Mapping[str, Any], line: bytes) -> None:
        """Of what a run stands on: the lines that `remembered` could not replace, were their file lost."""
        event_id = event["event_id"]
        is_hold = after.hold is not None and after.hold.event_id == event_id
        if is_hold or (event["kind"] == "action" and after.stopped_by == event_id):
            self._kept[event_id] = line

    def _remember_policy(self, event: Mapping[str, Any]) -> None:
        document = canonical_bytes(event["policy"])
        digest, version = event["policy_digest"], event["schema_version"]
        if digest_bytes(document) == digest and version in range(1 << 31):  # a forged one is for `verify` to name
            self._policies[digest, version] = document

    def _forget_policies(self) -> None:
        """A segment explains itself: what its head does not repeat is recorded again at its next use."""
        self.write()
        self.connection.execute("UPDATE policies SET segment = 0")
        self._known_policies.clear()

    def _accept_gap(self, run_id: str | None) -> None:
        self.write()
        if run_id is None:
            self.head.is_complete = True
            self.connection.execute("UPDATE runs SET incomplete = 0 WHERE incomplete = 1")
        else:
            self.connection.execute("UPDATE runs SET incomplete = 0 WHERE run_id = ?", (run_id,))
        self._runs.forget()

    def _take_founding(self, event: Mapping[str, Any]) -> tuple[str | None, str | None]:
        """Fold a line without `kind`; its id and run if it stops that."""
        from gatekeeper.ledger.founding import apply_founding

        self.head.seq = max(self.head.seq, seq_of(event) or 0)
        moved = apply_founding(event, self.run, seq=self.head.seq)
        if moved is None:
            return None, None
        before, after, event_id = moved
        self.warnings.append(
            f"line {self.head.lines + 1} has no kind: read as a decision that is not part of the chain"
        )
        self._change(before, after, event_id)
        return (event_id, after.run_id) if after.is_stopped else (None, None)

    def write(self) -> None:
        """Write all that was gathered into the open transaction, or a new one; it is not committed."""
        many = self.connection.executemany
        self.begin()
        self._runs.write()
        self.index.write(self._runs.number_of)
        if self._kept:
            gone = [(event_id,) for event_id, line in self._kept.items() if line is None]
            many("DELETE FROM kept WHERE event_id = ?", gone)
            kept = [(event_id, line) for event_id, line in self._kept.items() if line is not None]
            many("INSERT OR REPLACE INTO kept VALUES (?,?)", kept)
        if self._tokens:
            tokens = [(token, *ended) for token, ended in self._tokens.items()]
            many("INSERT OR REPLACE INTO tokens VALUES (?,?,?)", tokens)
        for (digest, version), document in self._policies.items():
            self.connection.execute(
                "INSERT OR REPLACE INTO policies VALUES (?,?,?,?)", (digest, version, document, self.head.segment)
            )
        for gathered in (self._kept, self._tokens, self._policies):
            gathered.clear()
        self._runs.trim(FLUSH_EVENTS)
