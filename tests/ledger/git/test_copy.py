"""The copy on a machine is only a copy: killed half-way, cut, lost or damaged, it costs time and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogError, StateUnreadableError
from gatekeeper.ledger.git.cache import Cache
from gatekeeper.ledger.git.ledger import GitLedger
from gatekeeper.ledger.git.mirror import Mirror
from tests.lab.git import Bare
from tests.ledger.drafts import decision, stop

pytestmark = pytest.mark.slow  # many processes of git

Damage = Callable[[Path], object]


def begun(team: Bare, copy: Path) -> GitLedger:
    """A ledger with three events, and its copy in *copy*."""
    ledger = team.ledger(cache=copy)
    ledger.append([decision()], expect=None, actor="t")
    ledger.append(
        [decision(stage="SHADOW", from_stage="DRY_RUN"), decision("s", experiment="f")], expect=None, actor="t"
    )
    ledger.close()
    return ledger


def assert_goes_on(team: Bare, copy: Path, ends_with: dict[str, Any] | None = None) -> None:
    """A new process reads all runs, appends behind the last event, and its copy is the branch again."""
    before = team.events()
    ledger = team.ledger(cache=copy)
    assert {run.run_id for run in ledger.view().runs()} == {event["run_id"] for event in before}
    ledger.append([ends_with or stop()], expect=None, actor="t")
    assert [event["seq"] for event in team.events()] == list(range(1, len(before) + 2))
    run = ledger.view().run("r")
    assert run is not None
    assert run.is_stopped
    assert (copy / "log.ndjson").read_bytes() == team.log_bytes()
    assert [json.loads(line) for line in ledger.lines()] == team.events()
    ledger.close()


def _cut(copy: Path) -> None:
    os.truncate(copy / "log.ndjson", 700)


def _tail(copy: Path) -> None:
    with (copy / "log.ndjson").open("ab") as file:
        file.write(b'{"seq":4,"to')


def _stale_locks(copy: Path) -> None:
    for name in ("refs/gatekeeper/tip.lock", "packed-refs.lock", "HEAD.lock"):
        (copy / "repository.git" / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / "repository.git" / name).touch()


def _damaged_objects(copy: Path) -> None:
    for place in (copy / "repository.git" / "objects").glob("??/*"):
        place.chmod(0o644)
        place.write_bytes(b"\0" * 40)


DAMAGES: dict[str, Damage] = {
    "the mirror is lost": lambda copy: (copy / "log.ndjson").unlink(),
    "the mirror is cut": _cut,
    "the mirror ends in half a line": _tail,
    "the state is lost": lambda copy: (copy / "log.ndjson.db").unlink(),
    "the state is no database": lambda copy: (copy / "log.ndjson.db").write_bytes(b"no database" * 400),
    "the level is lost": lambda copy: (copy / "level.json").unlink(),
    "the level is empty": lambda copy: (copy / "level.json").write_bytes(b""),
    "the level is of another start": lambda copy: (copy / "level.json").write_text(
        json.dumps({**json.loads((copy / "level.json").read_text()), "boot": "another"})
    ),
    "the repository is lost": lambda copy: shutil.rmtree(copy / "repository.git"),
    "the repository is half made": lambda copy: (copy / "repository.git" / "config").unlink(),
    "a killed git left its locks": _stale_locks,
    "objects are damaged": _damaged_objects,
    "all is lost": shutil.rmtree,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_is_made_anew(team: Bare, tmp_path: Path, damage: str) -> None:
    """While nobody else appended: the next process answers from the branch and appends onto it."""
    begun(team, tmp_path / "copy")
    DAMAGES[damage](tmp_path / "copy")
    assert_goes_on(team, tmp_path / "copy")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_copy_that_lags_is_made_anew(team: Bare, tmp_path: Path, damage: str) -> None:
    """The same where other machines have appended meanwhile."""
    begun(team, tmp_path / "copy")
    team.ledger(cache=tmp_path / "other").append([decision("t", experiment="g")], expect=None, actor="t")
    DAMAGES[damage](tmp_path / "copy")
    assert_goes_on(team, tmp_path / "copy")


@pytest.mark.parametrize(
    ("owner", "name"), [(Mirror, "take"), (Cache, "note_level")], ids=["after the push", "before the level is noted"]
)
def test_killed_between_the_push_and_the_copy(team: Bare, tmp_path: Path, owner: type, name: str) -> None:
    """The branch has the line, the copy has not, or does not know it: the next call reads it and goes on behind it."""
    begun(team, tmp_path / "copy")
    child = os.fork()
    if child == 0:
        try:
            setattr(owner, name, lambda *_given, **_named: os.kill(os.getpid(), 9))
            team.ledger(cache=tmp_path / "copy").append([decision("t", experiment="g")], expect=None, actor="t")
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    assert team.events()[-1]["run_id"] == "t"
    assert_goes_on(team, tmp_path / "copy")


def test_lines_that_a_killed_process_had_recorded_are_not_forgotten(team: Bare, tmp_path: Path) -> None:
    """Killed before the level was noted, and then the branch is put back: the line in the copy was recorded once."""
    begun(team, tmp_path / "copy")
    tip = team.tip()
    child = os.fork()
    if child == 0:
        try:
            setattr(Cache, "note_level", lambda *_given: os.kill(os.getpid(), 9))  # noqa: B010
            team.ledger(cache=tmp_path / "copy").append([stop()], expect=None, actor="t")
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    recorded = team.tip()
    team.move(tip)
    with pytest.raises(StateUnreadableError, match="another history"):
        team.ledger(cache=tmp_path / "copy").append([decision(stage="CANARY_10")], expect=None, actor="t")
    team.move(recorded)
    assert_goes_on(team, tmp_path / "copy", ends_with=decision("new", experiment="new"))


def test_what_a_power_cut_has_left_is_not_trusted(team: Bare, tmp_path: Path) -> None:
    """Nothing of the copy waits for the device: after another start of the machine it is read anew, zeros and all."""
    begun(team, tmp_path / "copy")
    mirror, level = tmp_path / "copy" / "log.ndjson", tmp_path / "copy" / "level.json"
    data = mirror.read_bytes()
    mirror.write_bytes(data[:100] + b"\0" * 900 + data[1000:])
    level.write_text(json.dumps({**json.loads(level.read_text()), "boot": "another"}))
    assert_goes_on(team, tmp_path / "copy")


def test_a_copy_that_could_not_be_written_is_told_and_the_event_counts(
    team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full after the push: it is recorded, people are told, and the next call takes it over."""
    ledger = begun(team, tmp_path / "copy")

    def full(*_given: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Mirror, "take", full)
        receipt = ledger.append([decision("t", experiment="g")], expect=None, actor="t")
    assert [warning for warning in receipt.warnings if "No space left" in warning]
    assert_goes_on(team, tmp_path / "copy")


def test_a_full_disk_before_the_push_records_nothing(
    team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit cannot be made: 74, with what to do, and the branch is as it was."""
    ledger, before = begun(team, tmp_path / "copy"), team.tip()

    def full(*_given: object, **_named: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("gatekeeper.ledger.git.commits.os.open", full)
        with pytest.raises(LogError, match="No space left on device") as caught:
            ledger.append([decision("t")], expect=None, actor="t")
    assert caught.value.exit_code == 74
    assert team.tip() == before


def test_a_place_for_no_copy_is_told(team: Bare, tmp_path: Path) -> None:
    """A home that cannot be written: 74, naming the place and the variable that moves it."""
    (tmp_path / "file").touch()
    ledger = team.ledger(cache=tmp_path / "file" / "copy")
    with pytest.raises(StateUnreadableError) as caught:
        ledger.view()
    assert (caught.value.exit_code, "XDG_CACHE_HOME" in caught.value.remedy) == (74, True)
    with pytest.raises(LogError):
        ledger.append([decision()], expect=None, actor="t")


def test_a_copy_is_for_its_user_alone(team: Bare, tmp_path: Path) -> None:
    """Evidence is nobody else's business on a machine that many share."""
    begun(team, tmp_path / "deep" / "copy")
    assert (tmp_path / "deep" / "copy").stat().st_mode & 0o777 == 0o700


def test_what_gathers_in_the_copy_is_packed(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three files an append would fill a disk with names; git packs them, and the copy works on."""
    monkeypatch.setattr("gatekeeper.ledger.git.repository._LOOSE_OBJECTS", 1)
    monkeypatch.setattr("gatekeeper.ledger.git.repository._GC_DETACHES", "false")
    ledger = team.ledger(cache=tmp_path / "copy")
    objects = tmp_path / "copy" / "repository.git" / "objects"
    number = 0
    while not list((objects / "pack").glob("*.pack")):
        number += 1
        assert number < 300, "17 is one of 256 directories: some object of three hundred appends stands in it"
        ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    ledger.close()
    team.ledger(cache=tmp_path / "copy").append([stop("r1")], expect=None, actor="t")
    assert [event["seq"] for event in team.events()] == list(range(1, number + 2))
