"""The statements by which a fold's changes reach the tables; whoever calls them has begun the transaction."""

from __future__ import annotations

from gatekeeper.ledger.head import Head
from gatekeeper.ledger.projection_rows import body_of, digest_blob, run_of_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import psycopg

    from gatekeeper.ledger.postgres.fold import Fold
    from gatekeeper.model.run import Run

    Connection = psycopg.Connection[tuple[Any, ...]]

RUN_COLUMNS = "0, run_id, experiment_id, variant_id, simulated, state, incomplete, first_seq, version, body"
"""What `projection_rows.run_of_row` takes; a run has no number here."""

HEAD_COLUMNS = "seq, digest, ts, is_complete"

SELECT_RUNS = f"SELECT {RUN_COLUMNS} FROM gatekeeper.runs WHERE run_id = ANY(%s)"  # noqa: S608
SELECT_LIVE = (
    "SELECT run_id FROM gatekeeper.runs WHERE experiment_id = %s AND variant_id = %s AND simulated = %s AND live "
    "ORDER BY first_seq DESC LIMIT 1"
)
SELECT_KEY = "SELECT seq FROM gatekeeper.facts WHERE key = %s ORDER BY seq DESC LIMIT 1"
SELECT_POLICIES = "SELECT digest FROM gatekeeper.policies WHERE schema_version = %s AND digest = ANY(%s)"

# Compare and set: where the head has moved, it would be NULL, which it cannot be, and nothing of all is done.
_MOVE_HEAD = """
UPDATE gatekeeper.head SET
  seq = CASE WHEN seq = %s AND digest = %b THEN %s::bigint END,
  digest = %b, ts = %s, is_complete = %s, is_lazy = %s
"""
_INSERT_EVENT = "INSERT INTO gatekeeper.events (seq, line, digest) VALUES (%s, %b, %b)"
_FACT_COLUMNS = "seq, ts, facet, run_id, experiment_id, variant_id, actor, event_id, key, question"
_INSERT_FACT = f"INSERT INTO gatekeeper.facts ({_FACT_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"  # noqa: S608
# NULL cannot be written: another body under the same number undoes everything
_INSERT_FACET = """
INSERT INTO gatekeeper.facets AS known (id, body) VALUES (%s, %s)
ON CONFLICT (id) DO UPDATE SET body = NULL WHERE known.body <> excluded.body
"""
_PUT_RUN = """
INSERT INTO gatekeeper.runs
  (run_id, experiment_id, variant_id, simulated, state, live, incomplete, first_seq, version, body)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id) DO UPDATE SET
  experiment_id = excluded.experiment_id, variant_id = excluded.variant_id, simulated = excluded.simulated,
  state = excluded.state, live = excluded.live, incomplete = excluded.incomplete, version = excluded.version,
  body = excluded.body
"""
_PUT_HOLD = """
INSERT INTO gatekeeper.tokens (token, run_id, ended_by) VALUES (%s, %s, %s)
ON CONFLICT (token) DO UPDATE SET run_id = excluded.run_id, ended_by = excluded.ended_by
"""
_PUT_POLICY = """
INSERT INTO gatekeeper.policies (digest, schema_version, seq) VALUES (%s, %s, %s)
ON CONFLICT (digest, schema_version) DO UPDATE SET seq = excluded.seq
"""
_PUT_KEPT = """
INSERT INTO gatekeeper.kept (event_id, line) VALUES (%s, %b)
ON CONFLICT (event_id) DO UPDATE SET line = excluded.line
"""
_ACCEPT_GAP = "UPDATE gatekeeper.runs SET incomplete = false WHERE incomplete"
_COPY_EVENTS = "COPY gatekeeper.events (seq, line, digest) FROM STDIN (FORMAT BINARY)"
_COPY_FACTS = f"COPY gatekeeper.facts ({_FACT_COLUMNS}) FROM STDIN (FORMAT BINARY)"
_FACT_TYPES = ("int8", "int8", "int8", "text", "text", "text", "text", "text", "text", "int8")


def head_of_row(row: Sequence[Any]) -> Head:
    """The log's end, of `HEAD_COLUMNS`."""
    seq, digest, ts, is_complete = row
    return Head(seq, digest_text(digest), ts, is_complete=is_complete)


def same_head(head: Head) -> Head:
    """Another head of the same place, to be moved on."""
    return Head(head.seq, head.digest, head.ts, is_complete=head.is_complete)


def digest_text(blob: bytes) -> str:
    """A digest of the tables as lines have it."""
    return f"sha256:{bytes(blob).hex()}"


def runs_of_rows(rows: Iterable[tuple[Any, ...]]) -> dict[str, Run]:
    """Runs by their ids, of `SELECT_RUNS`."""
    return {row[1]: run_of_row(row) for row in rows}


def move_head(connection: Connection, before: Head, after: Head, *, is_lazy: bool = False) -> None:
    """Compare the head with what was read, and move it.

    Args:
        is_lazy: the transaction does not wait for the device itself; whoever reads this head must see to it.

    Raises:
        psycopg.errors.NotNullViolation: it has moved meanwhile.
    """
    connection.execute(
        _MOVE_HEAD,
        (before.seq, digest_blob(before.digest), after.seq, digest_blob(after.digest), after.ts, after.is_complete,
         is_lazy),
    )  # fmt: skip


def insert_event(connection: Connection, seq: int, line: bytes, digest: str) -> None:
    """Append one line."""
    connection.execute(_INSERT_EVENT, (seq, line, digest_blob(digest)))


def write_changes(connection: Connection, fold: Fold, *, known_facets: set[int], doubled_facets: set[int]) -> None:
    """Put all that a fold has gathered of a few lines into the derived tables.

    Args:
        known_facets: numbers that stand in the table already.
        doubled_facets: numbers under which another body stands: such events are not listed.
    """
    for facet, body in fold.facets.items():
        if facet not in known_facets and facet not in doubled_facets:
            connection.execute(_INSERT_FACET, (facet, body))
    for row in fold.facts:
        connection.execute(_INSERT_FACT, _listed(row, doubled_facets))
    _write_state(connection, fold)


def copy_changes(
    connection: Connection,
    fold: Fold,
    lines: Sequence[tuple[int, bytes, str]] = (),
    *,
    known_facets: set[int],
    doubled_facets: set[int],
) -> None:
    """The same of many lines, and the lines themselves (`seq`, bytes, digest) where they are not there yet."""
    with connection.cursor() as cursor:
        if lines:
            with cursor.copy(_COPY_EVENTS) as copy:
                copy.set_types(("int8", "bytea", "bytea"))
                for seq, line, digest in lines:
                    copy.write_row((seq, line, digest_blob(digest)))
        for facet, body in fold.facets.items():
            if facet not in known_facets and facet not in doubled_facets:
                connection.execute(_INSERT_FACET, (facet, body))
        with cursor.copy(_COPY_FACTS) as copy:
            copy.set_types(_FACT_TYPES)
            for row in fold.facts:
                copy.write_row(_listed(row, doubled_facets))
    with connection.pipeline():
        _write_state(connection, fold)


def _write_state(connection: Connection, fold: Fold) -> None:
    if fold.accepts_gap:
        connection.execute(_ACCEPT_GAP)
    for run in fold.changed.values():
        connection.execute(_PUT_RUN, _run_row(run))
    for token, (run_id, ended_by) in fold.tokens.items():
        connection.execute(_PUT_HOLD, (token, run_id, ended_by))
    for (digest, version), seq in fold.policies.items():
        connection.execute(_PUT_POLICY, (digest, version, seq))
    for event_id, line in fold.kept.items():
        connection.execute(_PUT_KEPT, (event_id, line))


def _run_row(run: Run) -> tuple[Any, ...]:
    return (
        run.run_id, run.experiment_id, run.variant_id, run.simulated, run.state.value, run.is_live,
        run.history != "complete", run.first_seq, run.version, body_of(run),
    )  # fmt: skip


def _listed(row: tuple[Any, ...], doubled_facets: set[int]) -> tuple[Any, ...]:
    """The row, as one of an event that is not listed where its facet cannot be told."""
    return (row[0], None, None, *row[3:]) if row[2] in doubled_facets else row
