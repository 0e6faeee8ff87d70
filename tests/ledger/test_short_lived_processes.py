"""A check's process ends without closing anything: what each leaves behind must not add up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatekeeper.ledger import projection_schema
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.drafts import decision

WAL_BYTES = 100_000


def append_in_a_process_of_its_own(log: Path, number: int) -> None:
    """One event by a process that ends as `gatekeeper check` does."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            stage, begun = ("DRY_RUN", None) if number == 1 else ("DRY_RUN", "DRY_RUN")
            ledger = ledger_at(log, ops=Unflushed())
            ledger.view()
            ledger.append([decision(stage=stage, number=number, from_stage=begun)], expect=None, actor="a")
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.slow
def test_the_wal_does_not_grow_with_the_number_of_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check reads the whole WAL; left to SQLite, it was never begun anew and a check cost more each time."""
    monkeypatch.setattr(projection_schema, "WAL_BYTES", WAL_BYTES)
    log, longest = tmp_path / "log.ndjson", 0
    for number in range(1, 41):
        append_in_a_process_of_its_own(log, number)
        longest = max(longest, (tmp_path / "log.ndjson.db-wal").stat().st_size)
    assert longest + 50_000 > WAL_BYTES  # it is used at all
    assert longest <= WAL_BYTES
    run = ledger_at(log).view().run("r")
    assert run is not None
    assert run.decisions_at == {"DRY_RUN": 40}


def test_somebody_who_reads_does_not_hold_a_check_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a snapshot open elsewhere the WAL stays long, the event is appended, and a later check folds it."""
    monkeypatch.setattr(projection_schema, "WAL_BYTES", 0)
    log = tmp_path / "log.ndjson"
    append_in_a_process_of_its_own(log, 1)
    reader = ledger_at(log)
    view = reader.view()
    append_in_a_process_of_its_own(log, 2)
    assert (tmp_path / "log.ndjson.db-wal").stat().st_size > 0
    seen = view.run("r")
    assert seen is not None
    assert seen.decisions_at == {"DRY_RUN": 1}
    reader.close()
    append_in_a_process_of_its_own(log, 3)
    assert (tmp_path / "log.ndjson.db-wal").stat().st_size == 0
