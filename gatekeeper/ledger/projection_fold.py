"""Lines into the projection: each goes through `model.fold.apply` once, and its traces into the tables.

Changes are gathered in memory and written by `flush` in one transaction, so that reading a long log
writes each run once and not once for each of its events.
"""

from __future__ import annotations

from gatekeeper.errors import CanonicalError
from gatekeeper.ledger.chain import break_between, seq_of
from gatekeeper.ledger.codec import founding_decision
from gatekeeper.ledger.projection_rows import (
    begins,
    digest_blob,
    event_row,
    founding_run,
    kept_ids,
    run_of_row,
    slot_of,
    ts_text,
    write_run,
)
from gatekeeper.ledger.projection_schema import keep_wal_short, load_head, store_head
from gatekeeper.model.canonical import canonical_bytes, digest_bytes
from gatekeeper.model.event import line_digest
from gatekeeper.model.fold import apply
from gatekeeper.model.line import is_chained
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from typing import Any

FLUSH_EVENTS = 4096
"""Events gathered before they are written, so that memory does not grow with the log."""

ACCEPT_GAP = "accept-gap"
"""Name of the action by which a person takes an incomplete history as it is."""

_NAME_TYPES = frozenset({str, type(None)})
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, CanonicalError)
_INSERT_EVENT = "INSERT OR REPLACE INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_SELECT_RUN = "SELECT body, incomplete FROM runs WHERE run_id = ?"


class StaleFoldError(Exception):
    """Another process has committed lines that this fold had gathered too; they are read anew."""


class Fold:
    """Takes lines in the order of the file and knows all that they change.

    Attributes:
        head: the log's end as of the last line taken; ahead of the database until `flush`.
        warnings: damaged lines and breaks, named by line number.
        sealed_line: the last line taken, if this process has sealed it itself.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.head = load_head(connection)
        self._base = self.head.row()  # as the database has it
        self.warnings: list[str] = []
        self.sealed_line: bytes | None = None
        self._runs: dict[str, Run] = {}
        self._stored: dict[str, tuple[Any, ...]] = {}  # runs that have a row -> what its indexes say
        self._dirty: set[str] = set()
        self._rows: list[tuple[Any, ...]] = []
        self._tokens: dict[str, tuple[str, str | None]] = {}
        self._kept: dict[str, bytes | None] = {}  # None: to be removed
        self._policies: dict[tuple[str, int], bytes] = {}
        self._known_policies: set[tuple[str, int]] = set()  # seen in the table, which forgets none
        self._strays: list[tuple[bytes]] = []
        self._event_ids: set[str] = set()

    @property
    def pending(self) -> int:
        """Events that the database does not have yet."""
        return len(self._rows)

    def run(self, run_id: str) -> Run | None:
        """The run as of the last line taken."""
        known = self._runs.get(run_id)
        if known is not None:
            return known
        row = self.connection.execute(_SELECT_RUN, (run_id,)).fetchone()
        if row is None:
            return None
        run = run_of_row(row[0], row[1])
        self._runs[run_id], self._stored[run_id] = run, slot_of(run)
        return run

    def has_event_id(self, event: Mapping[str, Any]) -> bool:
        """Whether an event of this one's id is in the log."""
        event_id = event["event_id"]
        if event_id in self._event_ids:
            return True
        run = self._runs.get(event.get("run_id", ""))
        if run is not None and run.is_begun:
            is_decision = event["kind"] == "decision"
            following = run.next_decision_id(event["stage"]) if is_decision else run.next_event_id(event["kind"])
            if event_id == following:  # the run's own count tells: no need to look it up
                return False
        found = self.connection.execute("SELECT 1 FROM events WHERE event_id = ?", (event_id,)).fetchone()
        return found is not None

    def has_policy(self, digest: str, schema_version: int) -> bool:
        """Whether a `policy` event has recorded this document, validated by these rules."""
        if (digest, schema_version) in self._policies or (digest, schema_version) in self._known_policies:
            return True
        row = self.connection.execute(
            "SELECT 1 FROM policies WHERE digest = ? AND schema_version = ?", (digest, schema_version)
        ).fetchone()
        if row is not None:
            self._known_policies.add((digest, schema_version))
        return row is not None

    def take(self, event: Mapping[str, Any] | None, line: bytes, offset: int, *, digest: str | None = None) -> None:
        """Fold the next line of the file, which has not been seen before.

        Args:
            event: None for a damaged line.
            digest: of the line, where the caller has just sealed it.
        """
        head = self.head
        is_sealed = digest is not None
        self.sealed_line = line if is_sealed else None
        digest = digest or line_digest(line)
        number = head.lines + 1
        if event is None:
            self._stray(digest)
            self.note_break(f"line {number} is damaged")
        elif not is_chained(event):
            self._take_founding(event, line, digest, number)
        else:
            self._take_chained(event, line, digest, number, offset, is_sealed=is_sealed)
        head.digest = digest
        head.pass_line(offset, len(line), digest)
        if len(self._rows) + len(self._strays) >= FLUSH_EVENTS:
            self.flush()

    def note_break(self, problem: str) -> None:
        """A part of the history is missing: every run that could have had events in it is incomplete."""
        self.warnings.append(f"{problem}: runs that cross it are held until `gatekeeper log rebuild --accept-gap`")
        self.head.is_complete = False
        self._write()
        self.connection.execute("UPDATE runs SET incomplete = 1 WHERE state <> 'STOPPED' AND incomplete = 0")
        self._forget_runs()

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

    def flush(self) -> None:
        """Write all that was gathered, and the head, in one transaction."""
        self._write()
        store_head(self.connection, self.head)
        self.connection.execute("COMMIT")
        self._base = self.head.row()
        keep_wal_short(self.connection)

    def _take_chained(
        self, event: Mapping[str, Any], line: bytes, digest: str, number: int, offset: int, *, is_sealed: bool
    ) -> None:
        head = self.head
        problem = break_between(event, seq=head.seq, digest=head.digest)
        if problem is not None:
            self.note_break(f"line {number} {problem}")
        seq = seq_of(event)
        if seq is None or seq <= head.seq:
            self._stray(digest)
            seq = None
        else:
            head.seq = seq
        try:
            self._apply(event, line)
            place = (self.head.segment, offset, len(line))
            row = None if seq is None else event_row(event, seq=seq, place=place, digest=digest)
        except _MALFORMED as error:
            self._stray(digest)
            self.note_break(f"line {number} is no event that can be read ({type(error).__name__}: {error})")
            return
        head.ts = max(head.ts, event["ts"] if is_sealed else ts_text(event.get("ts")))
        if row is not None:
            self._rows.append(row)
            if event.get("event_id") is not None:
                self._event_ids.add(event["event_id"])

    def _apply(self, event: Mapping[str, Any], line: bytes) -> None:
        kind, run_id = event["kind"], event.get("run_id")
        if run_id is not None:
            self._move(run_id, event, line)
        if kind == "policy":
            self._remember_policy(event)
        elif kind == "action" and event["action"]["name"] == ACCEPT_GAP:
            self._accept_gap(run_id)

    def _move(self, run_id: str, event: Mapping[str, Any], line: bytes) -> None:
        before = self.run(run_id)
        after = apply(before, event)
        if before is None and not self.head.is_complete and not begins(event):
            after = replace(after, history="incomplete")
        self._change(before, after, event["event_id"], line)

    def _change(self, before: Run | None, after: Run, event_id: str, line: bytes) -> None:
        if not _NAME_TYPES.issuperset(map(type, (after.run_id, after.experiment_id, after.variant_id, event_id))):
            raise TypeError("a name is no text")
        self._runs[after.run_id] = after
        self._dirty.add(after.run_id)
        held_before = before.hold if before is not None else None
        if after.hold is not None and (held_before is None or held_before.token != after.hold.token):
            self._tokens[after.hold.token] = (after.run_id, None)
        if held_before is not None and held_before.token in after.ended_holds:
            self._tokens[held_before.token] = (after.run_id, after.ended_holds[held_before.token])
        kept_before, kept_after = kept_ids(before), kept_ids(after)
        for gone in kept_before - kept_after:
            self._kept[gone] = None
        if event_id in kept_after and event_id not in kept_before:
            self._kept[event_id] = line

    def _remember_policy(self, event: Mapping[str, Any]) -> None:
        document = canonical_bytes(event["policy"])
        digest, version = event["policy_digest"], event["schema_version"]
        if digest_bytes(document) == digest and version in range(1 << 31):  # a forged one is for `verify` to name
            self._policies[digest, version] = document

    def _accept_gap(self, run_id: str | None) -> None:
        self._write()
        if run_id is None:
            self.head.is_complete = True
            self.connection.execute("UPDATE runs SET incomplete = 0 WHERE incomplete = 1")
        else:
            self.connection.execute("UPDATE runs SET incomplete = 0 WHERE run_id = ?", (run_id,))
        self._forget_runs()

    def _take_founding(self, event: Mapping[str, Any], line: bytes, digest: str, number: int) -> None:
        """A line of a founding-style driver: a REJECT stops its run, anything else leaves it to a person."""
        self._stray(digest)
        self.head.seq = max(self.head.seq, seq_of(event) or 0)
        decision = founding_decision(event)
        run_id, verdict, stage = decision.get("run_id"), decision["decision"]["verdict"], decision.get("stage")
        if not isinstance(run_id, str):
            return
        before = self.run(run_id)
        after = before if before is not None else founding_run(decision, first_seq=self.head.seq)
        if after.state is RunState.STOPPED:
            return
        after = replace(after, version=max(after.version, self.head.seq), history="incomplete")
        if verdict == "REJECT":
            after = replace(after, state=RunState.STOPPED, hold=None, stopped_by=str(decision["event_id"]))
        elif verdict == "ACCEPT" and isinstance(stage, str):
            after = replace(after, stage=stage)
        self.warnings.append(f"line {number} has no kind: read as a decision that is not part of the chain")
        self._change(before, after, str(decision["event_id"]), line)

    def _stray(self, digest: str) -> None:
        self._strays.append((digest_blob(digest),))

    def _forget_runs(self) -> None:
        self._runs.clear()
        self._stored.clear()

    def _write(self) -> None:
        execute = self.connection.execute
        self.begin()
        for run_id in self._dirty:
            self._stored[run_id] = write_run(self.connection, self._runs[run_id], self._stored.get(run_id))
        if self._rows:
            self.connection.executemany(_INSERT_EVENT, self._rows)
        for event_id, line in self._kept.items():
            if line is None:
                execute("DELETE FROM kept WHERE event_id = ?", (event_id,))
            else:
                execute("INSERT OR REPLACE INTO kept VALUES (?,?)", (event_id, line))
        for token, (run_id, ended_by) in self._tokens.items():
            execute("INSERT OR REPLACE INTO tokens VALUES (?,?,?)", (token, run_id, ended_by))
        for (digest, version), document in self._policies.items():
            execute("INSERT OR IGNORE INTO policies VALUES (?,?,?)", (digest, version, document))
        if self._strays:
            self.connection.executemany("INSERT OR IGNORE INTO strays VALUES (?)", self._strays)
        tables = (self._rows, self._kept, self._tokens, self._policies, self._strays)
        for gathered in (*tables, self._dirty, self._event_ids):
            gathered.clear()
        if len(self._runs) > FLUSH_EVENTS:
            self._forget_runs()
