"""What the head of the next segment is made of: the state of all runs, and the policies in use."""

from __future__ import annotations

import json

from gatekeeper.ledger.compression import content_lines
from gatekeeper.ledger.projection_rows import RUN_COLUMNS, run_of_row
from gatekeeper.model.line import decode
from gatekeeper.model.segment import ended_runs, head_of
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.model.run import Run

_RUNS = f"SELECT {RUN_COLUMNS} FROM runs ORDER BY first_seq, number"  # noqa: S608
_DIGEST = "SELECT digest FROM events WHERE seq = ?"
_POLICY = "SELECT document, schema_version FROM policies WHERE digest = ? ORDER BY schema_version DESC LIMIT 1"


def head_end(ops: FileOps, path: str) -> int:
    """Offset behind the head that a file begins with; 0 when it begins with anything else. Raises OSError."""
    left = end = 0
    for offset, raw, is_terminated in content_lines(ops, path):
        if not is_terminated or (offset and left == 0):
            break
        if offset == 0:
            try:
                head = head_of(decode(raw) or {})
            except (KeyError, TypeError, ValueError, AttributeError):
                break
            left = head.parts + head.policies
        left, end = left - 1, offset + len(raw) + 1
    return end


def run_states(connection: sqlite3.Connection) -> list[Run]:
    """All runs as a head states them: each with the digest of the line of its last event."""
    runs = []
    for row in connection.execute(_RUNS).fetchall():
        run = run_of_row(row)
        found = connection.execute(_DIGEST, (run.version,)).fetchone()
        runs.append(run if found is None else replace(run, last_digest="sha256:" + bytes(found[0]).hex()))
    return runs


def used_policies(connection: sqlite3.Connection, runs: Sequence[Run], *, actor: str) -> list[dict[str, Any]]:
    """A `policy` draft for each policy of a run that can go on, as it was recorded before."""
    ended = ended_runs(runs)
    used = dict.fromkeys(run.policy_digest for run in runs if run.run_id not in ended and run.policy_digest)
    drafts = []
    for digest in used:
        row = connection.execute(_POLICY, (digest,)).fetchone()
        if row is None:  # of a founding-style log, or of one that has lost a part: such runs are held for that
            continue
        document = json.loads(row[0])
        drafts.append(
            {
                "kind": "policy",
                "policy_id": document.get("policy_id"),
                "policy_version": document.get("policy_version"),
                "policy_digest": digest,
                "policy": document,
                "schema_version": row[1],
                "actor": actor,
            }
        )
    return drafts
