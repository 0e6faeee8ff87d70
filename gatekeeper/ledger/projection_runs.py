"""The runs that a fold has in hand: read from their rows once, changed in memory, written together."""

from __future__ import annotations

from gatekeeper.ledger.projection_rows import RUN_COLUMNS, run_of_row, slot_of, write_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from gatekeeper.model.run import Run

_SELECT_RUN = f"SELECT {RUN_COLUMNS} FROM runs WHERE run_id = ?"  # noqa: S608


class RunRows:
    """Runs by their ids.

    Args:
        connection: the tables; whoever calls `write` has opened the transaction.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._runs: dict[str, Run] = {}
        self._stored: dict[str, tuple[Any, ...]] = {}  # runs that have a row -> its number, what its indexes say
        self._numbers: dict[str, int] = {}
        self._dirty: set[str] = set()

    def get(self, run_id: str) -> Run | None:
        """The run as it was put last."""
        known = self._runs.get(run_id)
        if known is not None:
            return known
        row = self._connection.execute(_SELECT_RUN, (run_id,)).fetchone()
        if row is None:
            return None
        run = run_of_row(row)
        self._runs[run_id], self._stored[run_id], self._numbers[run_id] = run, (row[0], slot_of(run)), row[0]
        return run

    def in_hand(self, run_id: str) -> Run | None:
        """The run, if it need not be looked up."""
        return self._runs.get(run_id)

    def put(self, run: Run) -> None:
        """The run has changed."""
        self._runs[run.run_id] = run
        self._dirty.add(run.run_id)

    def number_of(self, run_id: str) -> int:
        """The number of the row of a run that was written."""
        known = self._numbers.get(run_id)
        if known is None:
            row = self._connection.execute("SELECT number FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            known = self._numbers[run_id] = int(row[0])
        return known

    def write(self) -> None:
        """Write the rows of the runs that have changed."""
        for run_id in self._dirty:
            self._stored[run_id] = stored = write_run(self._connection, self._runs[run_id], self._stored.get(run_id))
            self._numbers[run_id] = stored[0]
        self._dirty.clear()

    def forget(self) -> None:
        """The rows were changed otherwise: read them again. Nothing may be waiting to be written."""
        self._runs.clear()
        self._stored.clear()

    def trim(self, most: int) -> None:
        """Hold no more than about *most* runs in memory; those that were written can be read again."""
        if len(self._runs) > most:
            self.forget()
            self._numbers.clear()
