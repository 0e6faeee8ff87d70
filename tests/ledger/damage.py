"""A log of three runs, and the ways in which the state beside it can be lost or damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, stop


def make_log(path: Path) -> None:
    """Three runs: one held, one stopped, one active."""
    ledger = ledger_at(path)
    ledger.append([decision("held", "DRY_RUN", experiment="e1")], expect=None, actor="t")
    held = decision("held", "CANARY_10", verdict="DEGRADE", from_stage="DRY_RUN", experiment="e1", token="T")
    ledger.append([held], expect=None, actor="t")
    ledger.append([decision("stopped", experiment="e2"), stop("stopped")], expect=None, actor="t")
    ledger.append([decision("active", experiment="e3")], expect=None, actor="t")
    ledger.close()


def state_files(path: Path) -> list[Path]:
    """What SQLite keeps beside the log."""
    return sorted(found for found in path.parent.iterdir() if found.name.startswith(f"{path.name}.db"))


def database(path: Path) -> Path:
    """The main file of the state."""
    return path.with_name(f"{path.name}.db")


def lose(path: Path) -> None:
    """The state is gone."""
    for found in state_files(path):
        found.unlink()


def empty(path: Path) -> None:
    """0 bytes."""
    database(path).write_bytes(b"")


def garbage(path: Path) -> None:
    """Other bytes."""
    database(path).write_bytes(b"no database at all " * 500)


def half(path: Path) -> None:
    """Cut in the middle."""
    content = database(path).read_bytes()
    database(path).write_bytes(content[: len(content) // 2])


def half_a_page(path: Path) -> None:
    """Cut within the first page."""
    database(path).write_bytes(database(path).read_bytes()[:700])


def zeros_inside(path: Path) -> None:
    """The head is whole, all behind it is zeros."""
    content = bytearray(database(path).read_bytes())
    content[2048:] = bytes(len(content) - 2048)
    database(path).write_bytes(content)


def other_layout(path: Path) -> None:
    """Made by another version."""
    connection = sqlite3.connect(database(path))
    connection.execute("PRAGMA user_version = 999")
    connection.close()


def no_tables(path: Path) -> None:
    """A database without what is looked up."""
    connection = sqlite3.connect(database(path), isolation_level=None)
    connection.execute("DROP TABLE runs")
    connection.close()


def no_head(path: Path) -> None:
    """A database that does not say how far it got."""
    connection = sqlite3.connect(database(path), isolation_level=None)
    connection.execute("DELETE FROM head")
    connection.close()


DAMAGES = [lose, empty, garbage, half, half_a_page, zeros_inside, other_layout, no_tables, no_head]
