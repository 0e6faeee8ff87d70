from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gatekeeper.ledger import projection_schema
from gatekeeper.ledger.projection_schema import load_head, open_file
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision


def test_two_that_begin_a_log_at_once_share_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that comes second takes the tables that the first has made, and does not go on in memory."""
    path = str(tmp_path / "log.db")
    plain, others = projection_schema.create_tables, list[sqlite3.Connection]()

    def first_another(connection: sqlite3.Connection) -> None:
        monkeypatch.setattr(projection_schema, "create_tables", plain)
        others.append(open_file(path))
        plain(connection)

    monkeypatch.setattr(projection_schema, "create_tables", first_another)
    second = open_file(path)
    assert load_head(second).row() == load_head(others[0]).row()
    assert not second.in_transaction
    for connection in (second, *others):
        connection.close()


def test_state_that_is_being_made_is_never_seen_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables without a head would be thrown away by whoever comes by; they are made with it, in one transaction."""
    ledger = ledger_at(tmp_path / "log.ndjson")
    ledger.append([decision()], expect=None, actor="t")
    ledger.close()
    seen: list[int] = []
    monkeypatch.setattr(projection_schema, "store_head", lambda *_: seen.append(1))
    connection = open_file(str(tmp_path / "new.db"))
    assert load_head(connection).seq == 0
    assert seen == []
    connection.close()
