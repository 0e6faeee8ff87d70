"""The head of a segment: enough to go on from where the files before it are not at hand, and no more than that."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.run import RunState
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.segments import files_in_order, lose_state, rotated_log


def test_a_head_tells_of_the_segment_before_and_of_all_runs(tmp_path: Path) -> None:
    """Its file name, seqs, count and last digest; of a stopped run what answers a check; the policies in use."""
    events = rotated_log(tmp_path / "decision.ndjson")
    head, repeated = events[5], events[6]
    assert head["event_id"] == "checkpoint#6"
    assert head["segment"] == {
        "previous": "decision.ndjson.000000000001-000000000005",
        "first_seq": 1,
        "last_seq": 5,
        "events": 5,
        "digest": head["prev"],
        "complete": True,
        "part": 1,
        "parts": 1,
        "policies": 1,
    }
    stopped, held = head["runs"]
    assert (stopped["run_id"], stopped["state"], stopped["stopped_by"]) == ("a", "STOPPED", "a:action#1")
    assert stopped["stands_on"]["reason_codes"] == ["change_refused:stopped"]
    assert stopped["last_digest"] == head["prev"], "its stop is the last line"
    assert (held["run_id"], held["state"], held["hold"]["token"]) == ("h", "HELD", "T")
    assert held["stands_on"] == events[3], "the event of a hold is repeated: it may be decided on its evidence"
    assert held["last_digest"] == events[4]["prev"]
    assert (repeated["policy"], repeated["event_id"]) == (events[0]["policy"], "policy#7")


def test_the_live_file_alone_goes_on_from_its_head(tmp_path: Path) -> None:
    """The sealed files are in cold storage and the state is lost: stopped stays stopped, spent stays spent."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    runs = {run.run_id: run for run in ledger_at(path).view().runs()}
    lose_state(path)
    for file in files_in_order(path)[:-1]:
        file.unlink()
    ledger = ledger_at(path)
    view = ledger.view()
    stopped, going = view.run("a"), view.run("h")
    assert stopped is not None
    assert going is not None
    assert (stopped.state, stopped.history, stopped.revision) == (RunState.STOPPED, "complete", "sha256:rev")
    assert going.last_accept == runs["h"].last_accept
    assert going.next_decision_id("DRY_RUN") == "h:DRY_RUN#3"
    assert view.is_complete
    assert view.warnings == ()
    assert view.token("T") == ("h", "h:DRY_RUN#2")
    answer = view.event("a:action#1")
    assert answer is not None
    assert answer["decision"]["reason_codes"] == ["change_refused:stopped"]
    assert view.policy(policy().digest) == policy().document
    event = ledger.append([decision("new", experiment="e3")], expect=None, actor="t").events[0]
    assert event["seq"] == 11


def test_a_hold_goes_on_from_a_head_with_its_evidence(tmp_path: Path) -> None:
    """An open hold keeps token and attempt, and its last event, on whose evidence a deadline may decide."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    second = files_in_order(path)[1]
    alone = tmp_path / "alone" / "decision.ndjson"
    alone.parent.mkdir()
    alone.write_bytes(b"".join(line + b"\n" for line in second.read_bytes().split(b"\n")[:2]))
    view = ledger_at(alone).view()
    held = view.run("h")
    assert held is not None
    assert held.hold is not None
    assert (held.state, held.hold.token, held.hold.attempt) == (RunState.HELD, "T", 1)
    assert view.event(held.hold.event_id) == events[3]
    assert [run.run_id for run in view.holds()] == ["h"]


def test_a_head_behind_a_missing_segment_vouches_for_it(tmp_path: Path) -> None:
    """The middle one is gone: the runs are those of the last head, and none is held for its history."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    runs = [(run.run_id, run.state, run.version) for run in ledger_at(path).view().runs()]
    lose_state(path)
    files_in_order(path)[1].unlink()
    view = ledger_at(path).view()
    assert [(run.run_id, run.state, run.version) for run in view.runs()] == runs
    assert {run.history for run in view.runs()} == {"complete"}
    assert view.is_complete


def test_a_head_is_repeated_from_a_head(tmp_path: Path) -> None:
    """What a head said of a run whose lines are gone, the next head says again: digest, reasons, evidence."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    lose_state(path)
    for file in files_in_order(path)[:-1]:
        file.unlink()
    ledger = ledger_at(path)
    ledger.append([decision("new", experiment="e3")], expect=None, actor="t")
    before = ledger.view()
    assert before.run("a") is not None
    ledger.rotate(actor="t")
    ledger.close()
    lines = [line for file in files_in_order(path) for line in file.read_bytes().split(b"\n")[:-1]]
    first, last = json.loads(lines[0]), json.loads(lines[3])
    assert [run["run_id"] for run in last["runs"]] == ["a", "h", "new"]
    assert last["runs"][:2] == first["runs"]


def test_an_incomplete_history_stays_incomplete_in_a_head(tmp_path: Path) -> None:
    """A rotation is no way to make a gap forgotten."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    lose_state(path)
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    ledger = ledger_at(path)
    assert not ledger.view().is_complete
    ledger.append([decision("c", experiment="e3", from_stage="SHADOW")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    lose_state(path)
    files_in_order(path)[0].unlink()
    view = ledger_at(path).view()
    assert not view.is_complete
    run = view.run("c")
    assert run is not None
    assert run.history == "incomplete"


def test_a_forged_head_vouches_for_nothing(tmp_path: Path) -> None:
    """One that does not name the line before, or holds what is no run, leaves the gap a gap."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    head = path.read_bytes()
    begins = b'"segment":{"complete":true,"digest":"sha256:'
    forgeries = (
        (b'"last_seq":8', b'"last_seq":7'),
        (b'"state":"STOPPED"', b'"state":"BLESSED"'),
        (begins, begins + b"0"),
        (b'"part":1,"parts":1', b'"part":2,"parts":2'),
    )
    for old, new in forgeries:
        lose_state(path)
        for file in files_in_order(path)[:-1]:
            file.unlink()
        assert old in head
        path.write_bytes(head.replace(old, new))
        view = ledger_at(path).view()
        assert not view.is_complete
        assert view.run("a") is None


def test_a_head_in_parts_is_taken_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs are many lines; where one of them is missing, runs may be, too."""
    monkeypatch.setattr("gatekeeper.model.segment.RUNS_IN_PART", 2)
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    for number in range(5):
        ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    files_in_order(path)[0].unlink()
    whole = path.read_bytes()
    lines = whole.split(b"\n")[:-1]
    assert len(lines) == 3
    lose_state(path)
    view = ledger_at(path).view()
    assert ([run.run_id for run in view.runs()], view.is_complete) == (["r0", "r1", "r2", "r3", "r4"], True)
    lose_state(path)
    path.write_bytes(lines[0] + b"\n" + lines[2] + b"\n")
    view = ledger_at(path).view()
    assert not view.is_complete
    assert {run.history for run in view.runs()} == {"incomplete"}
    lose_state(path)
    path.write_bytes(lines[1] + b"\n" + lines[2] + b"\n")
    view = ledger_at(path).view()
    assert (list(view.runs()), view.is_complete) == ([], False)
    third = {**json.loads(lines[2]), "seq": 7, "prev": "sha256:" + sha256(lines[0]).hexdigest()}
    lose_state(path)
    path.write_bytes(lines[0] + b"\n" + canonical_bytes(third) + b"\n")
    view = ledger_at(path).view()
    assert not view.is_complete, "the third part stands where the second should, and fits the chain"


def test_a_head_that_is_repeated_later_takes_nothing_back(tmp_path: Path) -> None:
    """A copy of the line, put behind a stop: the run stays stopped."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    ledger = ledger_at(path)
    ledger.append([stop("h")], expect=None, actor="t")
    ledger.close()
    lines = path.read_bytes()
    path.write_bytes(lines + lines.split(b"\n")[0] + b"\n")
    for _ in range(2):
        view = ledger_at(path).view()
        run = view.run("h")
        assert run is not None
        assert (run.state, view.is_complete) == (RunState.STOPPED, False)
        lose_state(path)


def test_a_head_whose_last_part_never_came_is_not_whole(tmp_path: Path) -> None:
    """It says that it has two parts, and a decision follows the first: runs may be missing, so they are held."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    second = files_in_order(path)[1]
    head, _, event, _ = second.read_bytes().split(b"\n")
    head = head.replace(b'"parts":1', b'"parts":2')
    following = {**json.loads(event), "seq": 7, "prev": "sha256:" + sha256(head).hexdigest()}
    alone = tmp_path / "alone" / "decision.ndjson"
    alone.parent.mkdir()
    alone.write_bytes(head + b"\n" + json.dumps(following, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    view = ledger_at(alone).view()
    assert not view.is_complete
    assert any("where the head of the segment should go on" in warning for warning in view.warnings)
