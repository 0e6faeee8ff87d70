from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.postgres import streaming, taking_in
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import Expectation
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import accept_gap, decision, policy, stop
from tests.ledger.postgres_logs import Database
from tests.ledger.segments import content_of, files_in_order, lose_state, rotated_log
from tests.replay.logs import Writer

pytestmark = pytest.mark.server


other_prev = partial(re.sub, rb'"prev":"sha256:....', b'"prev":"sha256:0000')


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several transactions and several readings for a few lines."""
    monkeypatch.setattr(taking_in, "LINES", 3)
    monkeypatch.setattr(streaming, "LINES", 2)


def recorded(path: Path) -> list[bytes]:
    """Lines of a file ledger: holds, stops, policies, a key, two experiments."""
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("b", experiment="f", verdict="DEGRADE")], expect=None, actor="t")
    ledger.append([decision("b", number=2, experiment="f")], expect=None, policies=[policy()], actor="t")
    ledger.append([stop("a"), decision("c", idempotency_key="job-1")], expect=None, actor="t")
    ledger.append([decision("d", experiment="g", verdict="REJECT")], expect=None, policies=[policy("2")], actor="t")
    ledger.close()
    return path.read_bytes().splitlines()


def test_lines_of_another_log_are_taken_over_byte_by_byte(pg_log: Database, tmp_path: Path) -> None:
    """The same chain and the same state as the log that they come from; the next event goes on from there."""
    path = tmp_path / "decision.ndjson"
    lines = recorded(path)
    ledger = pg_log.ledger()
    assert ledger.take_in(iter(lines)) == len(lines) == 8
    assert list(ledger.lines()) == pg_log.lines() == lines
    assert list(ledger.lines(after=6)) == lines[6:]
    view, other = ledger.view(), ledger_at(path).view()
    assert list(view.runs()) == list(other.runs())
    assert (view.token("token-b"), view.policy(policy("2").digest)) == (("b", "b:DRY_RUN#2"), policy("2").document)
    assert view.key("job-1") == other.key("job-1")
    event = ledger.append([decision("c", "SHADOW")], expect=Expectation("c", 6), actor="t").events[0]
    assert (event["seq"], event["prev"]) == (9, line_digest(lines[7]))


def test_taking_in_goes_on_where_the_log_ends(pg_log: Database, tmp_path: Path) -> None:
    """A second call with the rest; runs go on from where they stood."""
    lines = recorded(tmp_path / "decision.ndjson")
    assert pg_log.ledger().take_in(iter(lines[:4])) == 4
    assert pg_log.ledger().take_in(iter(lines[4:])) == 4
    assert list(pg_log.ledger().view().runs()) == list(ledger_at(tmp_path / "decision.ndjson").view().runs())


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: [*lines[:4], *lines[5:]], "behind seq 4 follows a gap: seq 5 missing"),
        (lambda lines: [*lines[:4], b"no JSON", *lines[4:]], "behind seq 4 is no event of a chain"),
        (lambda lines: [*lines[:4], lines[3], *lines[4:]], "behind seq 4 has seq 4, expected 5"),
        (lambda lines: [*lines[:4], other_prev(lines[4])], "does not hold the digest"),
        (lambda lines: [*lines[:4], b'{"stage":"SHADOW","verdict":"REJECT"}'], "behind seq 4 is no event of a chain"),
    ],
)
def test_lines_that_do_not_continue_the_log_are_refused(
    spoil: Any, told: str, pg_log: Database, tmp_path: Path
) -> None:
    """Nothing of the part with the wrong line is kept; what was committed before stays, and the next call goes on."""
    lines = recorded(tmp_path / "decision.ndjson")
    ledger = pg_log.ledger()
    with pytest.raises(LogDamagedError, match=told):
        ledger.take_in(iter(spoil(lines)))
    assert pg_log.lines() == lines[:3]
    assert ledger.take_in(iter(lines[3:])) == 5
    assert list(ledger.view().runs()) == list(ledger_at(tmp_path / "decision.ndjson").view().runs())


def test_an_id_that_the_log_has_is_refused(pg_log: Database) -> None:
    """A chain that holds, and two events of one name: nobody could say which is meant."""
    writer = Writer()
    writer.event(decision("a"))
    writer.event(decision("a"))
    with pytest.raises(LogDamagedError, match="a:DRY_RUN"):
        pg_log.ledger().take_in(iter(writer.lines))
    assert pg_log.lines() == []


def test_a_pruned_log_begins_with_its_segment_head(pg_log: Database, tmp_path: Path) -> None:
    """Stopped stays stopped, a spent token stays spent, what runs stand on is at hand; a fold anew says the same."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    lines = content_of(files_in_order(path)[1]).splitlines() + path.read_bytes().splitlines()
    files_in_order(path)[0].unlink()
    lose_state(path)
    ledger, other = pg_log.ledger(), ledger_at(path)
    assert ledger.take_in(iter(lines)) == len(lines) == 5
    for view in (ledger.view(), ledger.rebuild()):
        assert list(view.runs()) == list(other.view().runs())
        assert view.token("T") == ("h", "h:DRY_RUN#2")
        assert view.event("a:action#1") == other.view().event("a:action#1")
        assert view.is_complete
    index = ledger.index()
    assert index is not None
    assert index.spans() == [(6, 10)]
    index.close()


def test_the_head_of_a_segment_is_taken_whole_or_not_at_all(
    pg_log: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several parts they are one transaction; lines that end between two parts would forget runs."""
    monkeypatch.setattr("gatekeeper.model.segment.RUNS_IN_PART", 1)
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision(name, experiment=name) for name in "abcde"], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    lines = path.read_bytes().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["checkpoint"] * 5
    taken = pg_log.ledger()
    with pytest.raises(LogDamagedError, match="within the head of a segment"):
        taken.take_in(iter(lines[:4]))
    assert pg_log.lines() == []
    assert taken.take_in(iter(lines)) == 5
    assert [run.run_id for run in taken.view().runs()] == [*"abcde"]


def test_an_accepted_gap_lets_runs_of_an_incomplete_history_go_on(pg_log: Database, tmp_path: Path) -> None:
    """The head says that a part was missing: runs that it does not know are held until a person accepts that."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("b"), decision("b", "SHADOW", from_stage="DRY_RUN")], expect=None, actor="t")
    ledger.close()
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    lose_state(path)
    mended = ledger_at(path)
    assert not mended.view().is_complete
    mended.rotate(actor="t")
    mended.append([decision("b", "CANARY_10", from_stage="SHADOW")], expect=None, actor="t")
    mended.close()
    taken = pg_log.ledger()
    taken.take_in(iter(path.read_bytes().splitlines()))
    view = taken.view()
    assert (view.is_complete, [run.history for run in view.runs()]) == (False, ["incomplete"])
    taken.append([accept_gap()], expect=None, actor="t")
    for view in (taken.view(), taken.rebuild()):
        assert (view.is_complete, [run.history for run in view.runs()]) == (True, ["complete"])


def test_a_rebuild_mends_a_state_that_somebody_has_changed(pg_log: Database, tmp_path: Path) -> None:
    """Rows of runs, tokens and facts come from the lines alone."""
    taken = pg_log.ledger()
    taken.take_in(iter(recorded(tmp_path / "decision.ndjson")))
    runs, facts = list(taken.view().runs()), pg_log.rows("SELECT * FROM gatekeeper.facts ORDER BY seq")
    taken.close()
    pg_log.execute("UPDATE gatekeeper.runs SET state = 'ACTIVE', live = true; DELETE FROM gatekeeper.tokens;")
    pg_log.execute("UPDATE gatekeeper.facts SET facet = NULL, run_id = 'x'")
    assert list(taken.view().runs()) != runs
    assert list(taken.rebuild().runs()) == runs
    assert pg_log.rows("SELECT * FROM gatekeeper.facts ORDER BY seq") == facts
    assert taken.view().token("token-b") == ("b", "b:DRY_RUN#2")
