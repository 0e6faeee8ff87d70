"""The statements by which a fold's changes reach the tables; whoever calls them has begun the transaction."""

from __future__ import annotations

from functools import lru_cache

from gatekeeper.ledger.head import Head
from gatekeeper.ledger.projection_rows import body_of, digest_blob, run_of_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    import psycopg

    from gatekeeper.ledger.postgres.fold import Fold
    from gatekeeper.model.run import Run

    Connection = psycopg.Connection[tuple[Any, ...]]

RUN_COLUMNS = "0, run_id, experiment_id, variant_id, simulated, state, incomplete, first_seq, version, body"
"""What `projection_rows.run_of_row` takes; a run has no number here."""

HEAD_COLUMNS = "seq, digest, ts, is_complete"

SELECT_LIVE = (
    "SELECT run_id FROM gatekeeper.runs WHERE experiment_id = %s AND variant_id = %s AND simulated = %s AND live "
    "ORDER BY first_seq DESC LIMIT 1"
)
SELECT_KEY = "SELECT seq FROM gatekeeper.facts WHERE key = %s ORDER BY seq DESC LIMIT 1"
SELECT_POLICIES = "SELECT digest FROM gatekeeper.policies WHERE schema_version = %s AND digest = ANY(%s::text[])"

_RUN_FIELDS = "run_id, experiment_id, variant_id, simulated, state, live, incomplete, first_seq, version, body"
# Compare and set: where the head has moved, no row of any table is written.
_MOVE_HEAD = (
    "UPDATE gatekeeper.head SET seq = %s, digest = %b, ts = %s, is_complete = %s, is_lazy = {} "
    "WHERE seq = %s AND digest = %b RETURNING 1"
)
_IF_MOVED = "SELECT new.* FROM moved, (VALUES {}) AS new"
_DO_NOT_WAIT = "set_config('synchronous_commit', 'off', true)"  # the commit of the transaction that is open

_ACCEPT_GAP = "UPDATE gatekeeper.runs SET incomplete = false WHERE incomplete"


class Table:
    """A table as appends write it.

    Attributes:
        name: without the schema.
        columns: as a list in SQL; `types` of the same, in the same order.
        meeting: what becomes of a row whose key is there already.
    """

    __slots__ = ("columns", "meeting", "name", "row", "types")

    def __init__(self, name: str, columns: str, types: str, meeting: str = "") -> None:
        self.name = name
        self.columns = columns
        self.types = types.split()
        self.meeting = meeting
        self.row = "(" + ", ".join(f"{'%b' if one == 'bytea' else '%s'}::{one}" for one in self.types) + ")"

    def insert(self, source: str) -> str:
        """The statement that puts the rows of *source* there."""
        return f"INSERT INTO gatekeeper.{self.name} AS known ({self.columns}) {source} {self.meeting}"


EVENTS = Table("events", "seq, line, digest", "bigint bytea bytea")
FACTS = Table(
    "facts",
    "seq, ts, facet, run_id, experiment_id, variant_id, actor, event_id, key, question",
    "bigint bigint bigint text text text text text text bigint",
)
# NULL cannot be written: another body under the same number undoes everything
FACETS = Table(
    "facets",
    "id, body",
    "bigint text",
    "ON CONFLICT (id) DO UPDATE SET body = NULL WHERE known.body <> excluded.body",
)
RUNS = Table(
    "runs",
    _RUN_FIELDS,
    "text text text boolean text boolean boolean bigint bigint text",
    "ON CONFLICT (run_id) DO UPDATE SET experiment_id = excluded.experiment_id, variant_id = excluded.variant_id, "
    "simulated = excluded.simulated, state = excluded.state, live = excluded.live, incomplete = excluded.incomplete, "
    "version = excluded.version, body = excluded.body",
)
TOKENS = Table(
    "tokens",
    "token, run_id, ended_by",
    "text text text",
    "ON CONFLICT (token) DO UPDATE SET run_id = excluded.run_id, ended_by = excluded.ended_by",
)
POLICIES = Table(
    "policies",
    "digest, schema_version, seq",
    "text integer bigint",
    "ON CONFLICT (digest, schema_version) DO UPDATE SET seq = excluded.seq",
)
KEPT = Table("kept", "event_id, line", "text bytea", "ON CONFLICT (event_id) DO UPDATE SET line = excluded.line")

_TABLES = (EVENTS, FACTS, FACETS, RUNS, TOKENS, POLICIES, KEPT)


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
    """Runs by their ids, of `RUN_COLUMNS`."""
    return {row[1]: run_of_row(row) for row in rows}


def event_row(seq: int, line: bytes, digest: str) -> tuple[int, bytes, bytes]:
    """A row of `events`."""
    return seq, line, digest_blob(digest)


def change_rows(fold: Fold, *, known_facets: set[int], doubled_facets: set[int]) -> dict[Table, list[tuple[Any, ...]]]:
    """All rows that a fold has gathered for the derived tables.

    Args:
        known_facets: numbers that stand in the table already.
        doubled_facets: numbers under which another body stands: such events are not listed.
    """
    passed = known_facets | doubled_facets
    return {
        FACTS: [(row[0], None, None, *row[3:]) if row[2] in doubled_facets else row for row in fold.facts],
        FACETS: [row for row in fold.facets.items() if row[0] not in passed],
        RUNS: [_run_row(run) for run in fold.changed.values()],
        TOKENS: [(token, *ended) for token, ended in fold.tokens.items()],
        POLICIES: [(*key, seq) for key, seq in fold.policies.items()],
        KEPT: [*fold.kept.items()],
    }


def store(
    connection: Connection,
    before: Head,
    fold: Fold,
    rows: Mapping[Table, Sequence[tuple[Any, ...]]],
    *,
    is_lazy: bool = False,
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Compare the head with what was read, move it, and put the rows into their tables: one statement.

    Args:
        is_lazy: the transaction is not to wait for the device itself; whoever reads this head must see to it.

    Returns:
        One row: how many heads were moved. Where it is 0, somebody was first, and nothing at all was done.
    """
    if fold.accepts_gap:
        connection.execute(_ACCEPT_GAP)
    after = fold.head
    parameters: list[object] = [
        after.seq, digest_blob(after.digest), after.ts, after.is_complete, before.seq, digest_blob(before.digest)
    ]  # fmt: skip
    for table in _TABLES:
        for row in rows.get(table, ()):
            parameters += row
    counts = tuple(len(rows.get(table, ())) for table in _TABLES)
    return connection.execute(_statement(counts, is_lazy=is_lazy), parameters)


def copy_rows(connection: Connection, rows: Mapping[Table, Sequence[tuple[Any, ...]]], *, accepts_gap: bool) -> None:
    """The same of many rows, without the head."""
    with connection.cursor() as cursor:
        for table in (EVENTS, FACTS):
            if rows.get(table):
                with cursor.copy(f"COPY gatekeeper.{table.name} ({table.columns}) FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types(table.types)
                    for row in rows[table]:
                        copy.write_row(row)
        if accepts_gap:
            cursor.execute(_ACCEPT_GAP)
        for table in _TABLES[2:]:
            if rows.get(table):
                cursor.executemany(table.insert(f"VALUES {table.row}"), rows[table])


@lru_cache(maxsize=64)
def _statement(counts: tuple[int, ...], *, is_lazy: bool) -> bytes:
    """For so many rows of each table; every part depends on the head having been moved."""
    parts = [f"WITH moved AS ({_MOVE_HEAD.format(is_lazy)})"]
    for table, count in zip(_TABLES, counts, strict=True):
        if count:
            values = ", ".join([table.row] * count)
            parts.append(f"put_{table.name} AS ({table.insert(_IF_MOVED.format(values))})")
    waits = f", {_DO_NOT_WAIT}" if is_lazy else ""
    return f"{', '.join(parts)} SELECT count(*){waits} FROM moved".encode()  # noqa: S608 - our own names


def _run_row(run: Run) -> tuple[Any, ...]:
    return (
        run.run_id, run.experiment_id, run.variant_id, run.simulated, run.state.value, run.is_live,
        run.history != "complete", run.first_seq, run.version, body_of(run),
    )  # fmt: skip
