"""A rotation that fails half way, is finished later, or begins from a state that lags: no line in a sealed file."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.segment_heads import head_end, used_policies
from gatekeeper.model.run import Run
from tests.faults.faulty_ops import FaultyOps, fails_with
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.segments import all_events, files_in_order, lose_state, put_state_back, rotated_log, state_of


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two events."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    return path


class Replacing(Unflushed):
    """Renames fail from the n-th on; what was done is noted."""

    def __init__(self, at: int) -> None:
        self._left = at - 1
        self.log: list[str] = []

    def replace(self, old: str, new: str) -> None:
        """The database has renames of its own; they are not counted."""
        self.log.append("replace")
        if self._left == 0:
            raise OSError(errno.EIO, "Input/output error")
        self._left -= 1
        super().replace(old, new)


def test_a_rotation_that_fails_at_its_last_step_is_taken_back(log: Path) -> None:
    """The file gets its name again, on the device, so that writers who have it open still write to the log."""
    whole = log.read_bytes()
    count = FaultyOps()
    ledger = ledger_at(log, ops=count)
    ledger.view()
    state = state_of(log)
    count.arm()
    ledger.rotate(actor="t")
    second = [at for at, name in enumerate(count.log, 1) if name == "replace"][1]
    ledger.close()
    for file in [*files_in_order(log)]:
        file.unlink()
    log.write_bytes(whole)
    put_state_back(log, state)
    ops = FaultyOps(second, fails_with(errno.EIO))
    ledger = ledger_at(log, ops=ops)
    ledger.view()
    ops.arm()
    with pytest.raises(LogError):
        ledger.rotate(actor="t")
    assert files_in_order(log) == [log]
    assert log.read_bytes() == whole
    assert ops.log[second - 1 : second + 2] == ["replace", "replace", "flush_directory"]


def test_an_append_never_goes_into_a_file_that_was_sealed(log: Path) -> None:
    """The last rename fails, and so does taking the first one back: the event begins a new file."""
    ops = Replacing(2)
    receipt = ledger_at(log, ops=ops, rotate_bytes=100).append([decision("c", experiment="e3")], expect=None, actor="t")
    assert ops.log.count("replace") >= 3
    assert any("was not rotated" in warning for warning in receipt.warnings)
    assert [file.name for file in files_in_order(log)] == ["decision.ndjson.000000000001-000000000002", log.name]
    assert [event["event_id"] for event in all_events(log)] == ["a:DRY_RUN", "b:DRY_RUN", "c:DRY_RUN"]
    assert files_in_order(log)[0].read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("call", ["write", "flush", "make_like"])
def test_a_head_that_could_not_be_written_is_not_left_behind(call: str, log: Path) -> None:
    """The disk is full: the log is as it was, and nothing lies beside it."""
    ops = FaultyOps(0, fails_with(errno.ENOSPC), frozenset({call}))
    ledger = ledger_at(log, ops=ops)
    ledger.view()
    ops.arm()
    with pytest.raises(LogError):
        ledger.rotate(actor="t")
    assert not log.with_name("decision.ndjson.next").exists()
    assert files_in_order(log) == [log]


def between_the_renames(log: Path) -> Path:
    """As a kill leaves it: the sealed file, and the head under a name of its own."""
    ledger = ledger_at(log)
    ledger.view()
    state = state_of(log)
    ledger.rotate(actor="t")
    ledger.close()
    put_state_back(log, state)
    return log.rename(log.with_name("decision.ndjson.next"))


def test_the_head_that_was_left_takes_its_place_on_the_device(log: Path) -> None:
    """Its name is flushed before anything is appended behind it."""
    head = between_the_renames(log).read_bytes()
    ops = FaultyOps()
    ledger = ledger_at(log, ops=ops)
    ops.arm()
    ledger.append([decision("c", experiment="e3")], expect=None, actor="t")
    assert log.read_bytes().startswith(head)
    assert ops.log[ops.log.index("replace") + 1] == "flush_directory"
    assert [event["kind"] for event in all_events(log)] == ["decision", "decision", "checkpoint", "decision"]


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.replace(b'"seq":3', b'"seq":4'),
        lambda head: head.replace(b'"prev":"sha256:', b'"prev":"sha256:0'),
        lambda head: head.replace(b'"kind":"checkpoint"', b'"kind":"decision"'),
        lambda head: head[:-1],
        lambda head: b"no JSON" + head,
    ],
)
def test_what_is_no_head_of_this_log_does_not_take_its_place(change: Callable[[bytes], bytes], log: Path) -> None:
    """Another seq, another log's line before it, another kind, cut short, damaged: it goes, and a new file begins."""
    left = between_the_renames(log)
    head = left.read_bytes()
    assert change(head) != head
    left.write_bytes(change(head))
    ledger_at(log).append([decision("c", experiment="e3")], expect=None, actor="t")
    assert not left.exists()
    assert not list(log.parent.glob("*.torn*")), "nothing of it was ever taken for the log's end"
    assert [event["event_id"] for event in all_events(log)] == ["a:DRY_RUN", "b:DRY_RUN", "c:DRY_RUN"]


def test_a_file_exactly_as_long_as_asked_is_not_larger(log: Path) -> None:
    """`--max-bytes` is the size that a file may have."""
    size = log.stat().st_size
    assert ledger_at(log).rotate(actor="t", larger_than=size) is None
    assert ledger_at(log).rotate(actor="t", larger_than=size - 1) is not None


def test_people_are_told_of_a_torn_line_that_was_cut(log: Path) -> None:
    """Where its bytes are kept, when nobody has appended since."""
    with log.open("ab") as file:
        file.write(b'{"torn')
    done = ledger_at(log).rotate(actor="t")
    assert done is not None
    assert any("unfinished line was cut off" in warning and "torn-1" in warning for warning in done.warnings)


@pytest.mark.parametrize("keep", [True, False])
def test_a_head_states_what_the_state_had_not_read_yet(keep: bool, tmp_path: Path) -> None:
    """The state lags behind the log, or is lost: the run that was stopped meanwhile is stopped in the head."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    ledger.close()
    state = state_of(path)
    ledger = ledger_at(path)
    ledger.append([stop("a"), decision("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    put_state_back(path, state) if keep else lose_state(path)
    ledger_at(path).rotate(actor="t")
    head = all_events(path)[-1]
    assert [(run["run_id"], run["state"]) for run in head["runs"]] == [("a", "STOPPED"), ("b", "ACTIVE")]
    assert (head["segment"]["events"], head["segment"]["last_seq"]) == (3, 3)


def test_a_head_states_what_a_burst_of_appends_has_not_stored_yet(tmp_path: Path) -> None:
    """A process that appends in a row writes the state later; the append that rotates in between needs it now."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path, rotate_bytes=3500)
    for number in range(8):
        ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    events = all_events(path)
    head = next(event for event in events if event["kind"] == "checkpoint")
    assert head["seq"] > 3, "there were some in a row"
    assert [run["run_id"] for run in head["runs"]] == [f"r{number}" for number in range(head["seq"] - 1)]
    assert head["segment"]["events"] == head["seq"] - 1


def test_only_policies_of_runs_that_can_go_on_are_repeated(tmp_path: Path) -> None:
    """Of a stopped run nobody judges anything any more."""
    path, first, second = tmp_path / "decision.ndjson", policy(), policy("2")
    assert first.digest != second.digest
    ledger = ledger_at(path)
    ended = [decision("a", policy_digest=first.digest), stop("a")]
    ledger.append(ended, expect=None, policies=[first], actor="t")
    going = [decision("b", experiment="e2", policy_digest=second.digest)]
    ledger.append(going, expect=None, policies=[second], actor="t")
    ledger.rotate(actor="t")
    events = all_events(path)
    head = next(at for at, event in enumerate(events) if event["kind"] == "checkpoint")
    assert [event["policy_digest"] for event in events[head + 1 :]] == [second.digest]
    assert events[head]["segment"]["policies"] == 1


def test_of_a_policy_that_was_validated_twice_the_newer_validation_is_repeated() -> None:
    """The log holds it from before an upgrade, and from after."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE policies (digest, schema_version, document)")
    rows: list[tuple[Any, ...]] = [("d", version, b'{"policy_id":"p","policy_version":"1"}') for version in (2, 3, 1)]
    connection.executemany("INSERT INTO policies VALUES (?,?,?)", rows)
    (draft,) = used_policies(connection, [Run("r", policy_digest="d")], actor="t")
    assert draft["schema_version"] == 3
    connection.close()


def test_where_the_head_of_a_file_ends(tmp_path: Path) -> None:
    """Behind its last policy; 0 for a file that begins with anything else; what is torn does not count."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    head, repeated, _ = path.read_bytes().split(b"\n")
    whole = head + b"\n" + repeated + b"\n"
    place = tmp_path / "file"
    for content, end in (
        (whole, len(whole)),
        (whole + b'{"kind":"decision"}\n', len(whole)),
        (head + b"\n" + repeated, len(head) + 1),
        (head, 0),
        (repeated + b"\n" + whole, 0),
        (head.replace(b'"STOPPED"', b'"BLESSED"') + b"\n", 0),
        (b"no JSON\n" + whole, 0),
        (b"", 0),
    ):
        place.write_bytes(content)
        assert head_end(FileOps(), str(place)) == end, content[:80]
