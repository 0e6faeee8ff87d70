"""A long log is taken in by two processes: what the second prepares must be what the first would have made itself."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings

from gatekeeper.ledger import ahead, projection
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.projection_fold import Fold
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.damage import lose
from tests.ledger.drafts import decision, policy, stop
from tests.processes import children
from tests.replay.logs import logs

pytestmark = pytest.mark.slow

TABLES = (
    "head", "runs", "tokens", "policies", "names", "facets", "events", "other_ids", "keys", "odd", "jumps", "totals",
    "daily", "kept",
)  # fmt: skip


def tables_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of the state beside a log, as a new process makes it from the log alone."""
    lose(path)
    ledger = ledger_at(path, ops=Unflushed())
    warnings = ledger.view().warnings
    ledger.close()
    connection = sqlite3.connect(f"{path}.db")
    rows = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in TABLES}
    connection.close()
    return {**rows, "warnings": [(warning,) for warning in warnings]}


def alone(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """The same, made by one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "BULK_BYTES", 1 << 40)
        return tables_of(path)


def by_two(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """The same, made by two, however short the log is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "BULK_BYTES", 0)
        patch.setattr(ahead, "AHEAD_BYTES", 0)
        patch.setattr(ahead, "_may_fork", lambda: True)
        return tables_of(path)


def long_log(path: Path, events: int = 600) -> None:
    """Runs of every end: active, held, stopped by a REJECT and by hand, completed, with keys and statistics."""
    ledger = ledger_at(path, ops=Unflushed())
    looked = {"looks": 1, "evaluated_at": "2026-02-18T01:00:10Z"}
    finding = {"rule": "promotion:m:sample_size", "outcome": "PASS"}
    for number in range(events // 6):
        run = f"r-{number}"
        full = decision(run, "ROLLOUT_100", from_stage="SHADOW", experiment=run, context=looked, previous_run="r-0")
        full["decision"]["findings"] = [finding]
        drafts = [
            decision(run, experiment=run, idempotency_key=f"k-{number}"),
            decision(run, "SHADOW", verdict="DEGRADE", from_stage="DRY_RUN", experiment=run, token=f"T-{number}"),
            full if number % 3 else decision(run, "SHADOW", number=2, verdict="REJECT", experiment=run),
            {"kind": "refusal", "run_id": run, "event_id": f"{run}:refusal#1", "question_digest": "q", "actor": "t"},
        ]
        ledger.append(drafts, expect=None, policies=[policy(str(number % 5))], actor="t")
        if number % 2:
            ledger.append([stop(run)], expect=None, actor="t")
    ledger.close()


def test_two_processes_make_the_same_state_as_one(tmp_path: Path) -> None:
    """Every kind of run and event, in several batches."""
    path = tmp_path / "decision.ndjson"
    long_log(path)
    assert by_two(path) == alone(path)


@settings(max_examples=60, deadline=None)
@given(log=logs())
def test_two_processes_agree_on_any_log(
    log: tuple[list[bytes], bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Damage, gaps, founding-style lines, fields of other types."""
    lines, rest = log
    path = tmp_path_factory.mktemp("log") / "decision.ndjson"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)
    assert by_two(path) == alone(path)


def test_the_second_process_does_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that fails in silence would cost twice and gain nothing."""
    path = tmp_path / "decision.ndjson"
    long_log(path, 60)
    prepared = []
    take = Fold.take

    def watched(self: Fold, *given: object, said: object = None, **named: object) -> None:
        prepared.append(said is not None)
        take(self, *given, said=said, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Fold, "take", watched)
    by_two(path)
    assert sum(prepared) == path.read_bytes().count(b'"kind":"decision"')


@pytest.mark.parametrize("batches", [0, 1])
def test_a_child_that_dies_costs_time_only(batches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before its first answer or after it: the rest is prepared here, and nobody is left behind."""
    path = tmp_path / "decision.ndjson"
    long_log(path)
    send, sent = ahead._send, list[None]()

    def dying(pipe: int, batch: list[tuple[object, ...]]) -> None:
        if len(sent) == batches:
            os.kill(os.getpid(), signal.SIGKILL)
        send(pipe, batch)
        sent.append(None)

    expected, before = alone(path), children()
    monkeypatch.setattr(ahead, "_send", dying)
    assert by_two(path) == expected
    assert children() == before


def test_a_reader_that_stops_half_way_leaves_no_child(tmp_path: Path) -> None:
    """Ctrl-C while a long log is taken in: the child ends with its pipe."""
    path = tmp_path / "decision.ndjson"
    long_log(path)
    descriptor, before = os.open(path, os.O_RDONLY), children()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "AHEAD_BYTES", 0)
        patch.setattr(ahead, "_may_fork", lambda: True)
        lines = ahead.prepared_lines(FileOps(), descriptor, start=0, end=path.stat().st_size)
        next(lines)
        lines.close()  # type: ignore[attr-defined]
    os.close(descriptor)
    assert children() == before


def test_an_answer_about_another_line_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file was changed between the two readers: each line is then prepared where it is folded."""
    path = tmp_path / "decision.ndjson"
    long_log(path, 60)
    expected, following = alone(path), ahead._Child.next
    skipped: list[object] = []

    def one_behind(self: ahead._Child) -> tuple[object, ...] | None:
        if not skipped:
            skipped.append(following(self))
        return following(self)

    monkeypatch.setattr(ahead._Child, "next", one_behind)
    assert by_two(path) == expected
