"""What every `ports.Ledger` promises; each implementation runs the same suite."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.event import content_question_of, line_digest
from gatekeeper.model.exchange import ConflictError, Expectation
from gatekeeper.model.run import RunState
from gatekeeper.ports import Ledger
from tests.doubles import MemoryLedger, StepClock
from tests.lab.git import Bare, alone
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.postgres_logs import Database

Make = Callable[[StepClock], Ledger]


@pytest.fixture
def clock() -> StepClock:
    """2026-02-18T01:00:10Z, until a test moves it."""
    return StepClock()


@pytest.fixture(params=["ndjson", "memory", "git", pytest.param("postgres", marks=pytest.mark.server)])
def ledger(request: pytest.FixtureRequest, clock: StepClock, tmp_path: Path) -> Iterator[Ledger]:
    """Each implementation in turn, empty."""
    if request.param == "memory":
        yield MemoryLedger(clock=clock)
        return
    if request.param == "git":
        with pytest.MonkeyPatch.context() as patch:
            alone(patch, tmp_path)
            git = Bare(tmp_path).ledger(clock=clock)
            yield git
            git.close()
        return
    if request.param == "postgres":
        database: Database = request.getfixturevalue("pg_log")
        yield database.ledger(clock)
        return
    ndjson = NdjsonLedger(str(tmp_path / "logs" / "decision.ndjson"), clock=clock)
    yield ndjson
    ndjson.close()


def lines_of(ledger: Ledger) -> list[bytes]:
    """All lines, without their newlines."""
    return [line for _, line in ledger.read()]


def test_a_ledger_without_events_knows_nothing(ledger: Ledger) -> None:
    """Looking into a log that does not exist is no error and finds no run."""
    view = ledger.view()
    assert (view.run("r"), list(view.runs()), list(view.holds()), view.is_complete) == (None, [], [], True)
    assert view.live_run("e", "B", simulated=False) is None
    assert lines_of(ledger) == []


def test_events_are_numbered_from_one_and_chained(ledger: Ledger) -> None:
    """`seq` counts from 1, the first `prev` is 64 zeros, each next one the digest of the line before."""
    ledger.append([decision()], expect=None, actor="t")
    ledger.append([decision(stage="SHADOW", from_stage="DRY_RUN"), stop()], expect=None, actor="t")
    events = [event for event, _ in ledger.read()]
    lines = lines_of(ledger)
    assert [event["seq"] for event in events] == [1, 2, 3]
    assert events[0]["prev"] == "sha256:" + "0" * 64
    assert [event["prev"] for event in events[1:]] == [line_digest(line) for line in lines[:2]]


def test_the_receipt_holds_the_events_as_logged(ledger: Ledger) -> None:
    """What `check -o json` prints is what the line says."""
    receipt = ledger.append([decision()], expect=None, actor="t")
    assert [json.loads(line) for line in lines_of(ledger)] == [dict(event) for event in receipt.events]


def test_a_view_knows_the_run_after_its_event(ledger: Ledger) -> None:
    """State follows the log."""
    ledger.append([decision()], expect=Expectation("r", 0), actor="t")
    run = ledger.view().run("r")
    assert run is not None
    assert (run.state, run.stage, run.version) == (RunState.ACTIVE, "DRY_RUN", 1)


def test_a_writer_that_saw_an_older_version_writes_nothing(ledger: Ledger) -> None:
    """Two pipelines that decided on the same state: only one of them moves the run."""
    ledger.append([decision()], expect=Expectation("r", 0), actor="t")
    ledger.append([decision(stage="SHADOW")], expect=Expectation("r", 1), actor="t")
    with pytest.raises(ConflictError):
        ledger.append([decision(stage="SHADOW", number=2)], expect=Expectation("r", 1), actor="t")
    assert len(lines_of(ledger)) == 2


def test_a_second_live_run_of_the_slot_is_a_conflict(ledger: Ledger) -> None:
    """Two first checks at once under two run ids: one begins, the other has to read again."""
    ledger.append([decision("r1")], expect=Expectation("r1", 0, slot=("e", "B", False)), actor="t")
    with pytest.raises(ConflictError):
        ledger.append([decision("r2")], expect=Expectation("r2", 0, slot=("e", "B", False)), actor="t")
    seen = Expectation("r2", 0, slot=("e", "B", False), live_run_id="r1")
    ledger.append([stop("r1"), decision("r2")], expect=seen, actor="t")
    live = ledger.view().live_run("e", "B", simulated=False)
    assert live is not None
    assert live.run_id == "r2"


def test_a_key_that_was_used_meanwhile_is_a_conflict(ledger: Ledger) -> None:
    """Two runs of one CI job with one idempotency key do not both decide."""
    ledger.append([decision("r1", idempotency_key="job-7")], expect=Expectation("r1", 0, key="job-7"), actor="t")
    with pytest.raises(ConflictError):
        ledger.append([decision("r2", idempotency_key="job-7")], expect=Expectation("r2", 0, key="job-7"), actor="t")
    ledger.append(
        [decision("r2", idempotency_key="job-7")], expect=Expectation("r2", 0, key="job-7", key_seq=1), actor="t"
    )
    newest = ledger.view().key("job-7")
    assert newest is not None
    assert newest["seq"] == 2


def test_an_event_id_is_never_given_twice(ledger: Ledger) -> None:
    """Ids are unique in the log even where the caller expects nothing."""
    ledger.append([stop("r")], expect=None, actor="t")
    with pytest.raises(ConflictError):
        ledger.append([stop("r")], expect=None, actor="t")
    assert len(lines_of(ledger)) == 1


def test_a_policy_is_recorded_once_before_its_first_use(ledger: Ledger) -> None:
    """A log explains itself: the document stands before the first decision that used it."""
    loaded = policy()
    first = ledger.append([decision("r1")], expect=None, policies=[loaded], actor="ci")
    second = ledger.append([decision("r2")], expect=None, policies=[loaded, loaded], actor="ci")
    assert [event["kind"] for event in first.events] == ["policy", "decision"]
    assert [event["kind"] for event in second.events] == ["decision"]
    assert first.events[0]["event_id"] == "policy#1"
    assert ledger.view().policy(loaded.digest) == loaded.document
    assert ledger.view().policy(policy(threshold=0.02).digest) is None


def test_time_never_runs_back(ledger: Ledger, clock: StepClock) -> None:
    """A clock behind the last line: that line's `ts` is taken, the reading kept, and no one is alarmed under 60 s."""
    ledger.append([decision("r1")], expect=None, actor="t")
    clock.advance(-60)
    receipt = ledger.append([decision("r2")], expect=None, actor="t")
    assert receipt.events[0]["ts"] == "2026-02-18T01:00:10.000000Z"
    assert receipt.events[0]["clock"] == "2026-02-18T00:59:10.000000Z"
    assert not [warning for warning in receipt.warnings if "ahead of this clock" in warning]


def test_a_last_line_far_ahead_of_the_clock_is_reported(ledger: Ledger, clock: StepClock) -> None:
    """More than 60 s: somebody's clock is wrong, and people are told."""
    ledger.append([decision("r1")], expect=None, actor="t")
    clock.advance(-61)
    receipt = ledger.append([decision("r2")], expect=None, actor="t")
    assert [warning for warning in receipt.warnings if "ahead of this clock" in warning]


def test_a_clock_on_time_leaves_no_clock_field(ledger: Ledger, clock: StepClock) -> None:
    """`clock` stands only where it differs."""
    ledger.append([decision("r1")], expect=None, actor="t")
    clock.advance(1)
    event = ledger.append([decision("r2")], expect=None, actor="t").events[0]
    assert (event["ts"], "clock" in event) == ("2026-02-18T01:00:11.000000Z", False)


def test_holds_come_longest_held_first(ledger: Ledger) -> None:
    """The queue shows who waits longest at the top, whatever the order of the log."""
    young = decision("young", verdict="DEGRADE", experiment="e1", first_held_at="2026-02-18T01:00:00Z")
    old = decision("old", verdict="DEGRADE", experiment="e2", first_held_at="2026-02-18T00:00:00Z")
    ledger.append([young, old], expect=None, actor="t")
    assert [run.run_id for run in ledger.view().holds()] == ["old", "young"]


def test_a_token_names_its_hold_and_what_ended_it(ledger: Ledger) -> None:
    """A spent token can be refused by naming the event that ended the hold."""
    ledger.append([decision(verdict="DEGRADE", token="T")], expect=None, actor="t")
    assert ledger.view().token("T") == ("r", None)
    ledger.append([decision(number=2, verdict="DEGRADE", token="T", attempt=2)], expect=None, actor="t")
    assert ledger.view().token("T") == ("r", None)
    ledger.append([decision(number=3)], expect=None, actor="t")
    assert ledger.view().token("T") == ("r", "r:DRY_RUN#3")
    assert ledger.view().token("other") is None
    assert list(ledger.view().holds()) == []


def test_only_an_accept_answers_the_same_question(ledger: Ledger) -> None:
    """A DEGRADE or REJECT of the same content is no recorded ACCEPT; of two ACCEPTs the newest counts."""
    question = content_question_of(decision())
    ledger.append([decision(verdict="DEGRADE")], expect=None, actor="t")
    assert ledger.view().accepted("r", question) is None
    ledger.append([decision(number=2), decision(number=3)], expect=None, actor="t")
    found = ledger.view().accepted("r", question)
    assert found is not None
    assert found["event_id"] == "r:DRY_RUN#3"
    assert ledger.view().accepted("other", question) is None


def test_a_refusal_is_known_by_run_and_question(ledger: Ledger) -> None:
    """The same refusal is recorded once, not once for each retry."""
    refusal = {"kind": "refusal", "run_id": "r", "event_id": "r:refusal#1", "question_digest": "sha256:q", "actor": "t"}
    ledger.append([decision(), refusal], expect=None, actor="t")
    view = ledger.view()
    assert (view.refused("r", "sha256:q"), view.refused("r", "sha256:x"), view.refused("s", "sha256:q")) == (
        True,
        False,
        False,
    )


def test_live_and_latest_run_of_a_slot(ledger: Ledger) -> None:
    """Stopped runs are not live; the newest first event is the latest; simulated runs stay among themselves."""
    ledger.append([decision("r1"), stop("r1"), decision("r2")], expect=None, actor="t")
    ledger.append([decision("s", as_of="2026-01-01T00:00:00Z")], expect=None, actor="t")
    ledger.append([stop("r2")], expect=None, actor="t")
    view = ledger.view()
    assert view.live_run("e", "B", simulated=False) is None
    latest, simulated = view.latest_run("e", "B", simulated=False), view.live_run("e", "B", simulated=True)
    assert latest is not None
    assert simulated is not None
    assert (latest.run_id, simulated.run_id) == ("r2", "s")
    assert [run.run_id for run in view.runs()] == ["r1", "r2", "s"]
    assert view.latest_run("e", "C", simulated=False) is None


def test_an_event_is_found_by_its_id_as_logged(ledger: Ledger) -> None:
    """`explain` and recorded answers show the line, not a summary of it."""
    receipt = ledger.append([decision(), stop()], expect=None, actor="t")
    view = ledger.view()
    assert view.event("r:action#1") == dict(receipt.events[1])
    assert view.event("r:DRY_RUN#9") is None


def test_reading_from_a_seq_on(ledger: Ledger) -> None:
    """`verify --from` gets that event first."""
    ledger.append([decision("a"), decision("b"), decision("c")], expect=None, actor="t")
    assert [event["run_id"] for event, _ in ledger.read(start=2)] == ["b", "c"]


def test_a_reject_that_was_not_recorded_becomes_one(ledger: Ledger) -> None:
    """The caller was told REJECT; the run must not go on because a disk was full at that moment."""
    ledger.append([decision()], expect=None, actor="t")
    assert ledger.leave_marker([decision(stage="SHADOW", verdict="REJECT", from_stage="DRY_RUN")]) is not None
    view = ledger.view()
    run = view.run("r")
    assert run is not None
    assert (run.state, run.stopped_by) == (RunState.STOPPED, "r:SHADOW")
    event = view.event("r:SHADOW")
    assert event is not None
    assert event["from_marker"] is True
    assert len(lines_of(ledger)) == 2
    ledger.view()
    assert len(lines_of(ledger)) == 2


def test_a_marker_takes_the_next_free_id(ledger: Ledger) -> None:
    """While the note lay there others went on: its id is made anew, and it stops the run all the same."""
    ledger.append([decision()], expect=None, actor="t")
    ledger.leave_marker([decision(verdict="REJECT")])
    run = ledger.view().run("r")
    assert run is not None
    assert (run.state, run.stopped_by) == (RunState.STOPPED, "r:DRY_RUN#2")


def test_a_marker_for_a_stopped_run_adds_nothing(ledger: Ledger) -> None:
    """STOPPED is one-way: there is nothing to record."""
    ledger.append([decision(), stop()], expect=None, actor="t")
    ledger.leave_marker([decision(stage="SHADOW", verdict="REJECT")])
    run = ledger.view().run("r")
    assert run is not None
    assert run.stopped_by == "r:action#1"
    assert len(lines_of(ledger)) == 2


def test_a_marker_is_recorded_before_the_next_append_is_judged(ledger: Ledger) -> None:
    """An append that would go forward meets the REJECT as a conflict."""
    ledger.append([decision()], expect=None, actor="t")
    ledger.leave_marker([decision(stage="SHADOW", verdict="REJECT")])
    with pytest.raises(ConflictError):
        ledger.append([decision(stage="SHADOW", number=2)], expect=Expectation("r", 1), actor="t")
