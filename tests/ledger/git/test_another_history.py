"""A branch that was forced, cut or put back: never folded back, and taken as it is only by whoever asks for that."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gatekeeper.errors import LogDamagedError, StateUnreadableError
from gatekeeper.ledger.git.commits import make_commit
from gatekeeper.ledger.git.ledger import GitLedger
from tests.lab.git import BRANCH, Bare, git
from tests.ledger.drafts import decision, stop

pytestmark = pytest.mark.slow  # many processes of git


def seen(team: Bare, tmp_path: Path) -> GitLedger:
    """A ledger that has appended and seen three events, of which the last stops the run."""
    ledger = team.ledger(cache=tmp_path / "seen")
    ledger.append([decision()], expect=None, actor="t")
    ledger.append([decision(stage="SHADOW", from_stage="DRY_RUN")], expect=None, actor="t")
    ledger.append([stop()], expect=None, actor="t")
    ledger.view()
    return ledger


def forced(team: Bare, tmp_path: Path, count: int) -> None:
    """Another log of so many events in the branch's place."""
    team.git("update-ref", "-d", f"refs/heads/{BRANCH}")
    other = team.ledger(cache=tmp_path / "forger")
    for number in range(count):
        other.append([decision(f"x{number}", experiment=f"e{number}")], expect=None, actor="t")


@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_forced_branch_is_refused(team: Bare, tmp_path: Path, count: int) -> None:
    """Shorter, as long, longer: no answer is given from it, and nothing is appended to it."""
    ledger = seen(team, tmp_path)
    forced(team, tmp_path, count)
    tip = team.tip()
    for use in (ledger.view, lambda: ledger.append([stop("x0")], expect=None, actor="t")):
        with pytest.raises(StateUnreadableError, match="another history") as caught:
            use()
        assert (caught.value.exit_code, team.tip()) == (74, tip)


def test_a_branch_put_back_by_two_commits_lets_no_stopped_run_go_on(team: Bare, tmp_path: Path) -> None:
    """The branch stands where the run was not stopped yet: this machine knows better."""
    ledger = seen(team, tmp_path)
    tip = team.tip()
    team.move(team.commits()[0])
    with pytest.raises(StateUnreadableError, match="another history"):
        ledger.view()
    with pytest.raises(StateUnreadableError, match="another history"):
        ledger.append([decision(stage="CANARY_10", from_stage="SHADOW")], expect=None, actor="t")
    copy = tmp_path / "seen" / "repository.git"
    git("--git-dir", str(copy), "push", "--quiet", str(team.path), f"refs/gatekeeper/level:refs/heads/{BRANCH}")
    assert team.tip() == tip
    run = ledger.view().run("r")
    assert run is not None
    assert run.is_stopped


def test_what_is_put_back_while_objects_are_lost_is_seen_in_the_lines(team: Bare, tmp_path: Path) -> None:
    """Without the old commits the lines themselves are compared with those that were seen."""
    ledger = seen(team, tmp_path)
    forced(team, tmp_path, 5)
    shutil.rmtree(tmp_path / "seen" / "repository.git")
    with pytest.raises(StateUnreadableError, match="a line behind byte 0 is another one"):
        ledger.view()


def test_what_is_cut_while_objects_are_lost_is_seen_in_the_lines(team: Bare, tmp_path: Path) -> None:
    """The branch ends one event earlier, and all that is left of it is the same."""
    ledger = seen(team, tmp_path)
    team.move(team.commits()[1])
    shutil.rmtree(tmp_path / "seen" / "repository.git")
    with pytest.raises(StateUnreadableError, match="lines that were recorded are gone"):
        ledger.view()


def test_rebuilding_takes_a_longer_history_and_refuses_a_shorter_one(team: Bare, tmp_path: Path) -> None:
    """Whoever asks for it gets the branch as it is; but what would make runs begin anew is refused, as with a file."""
    ledger = seen(team, tmp_path)
    forced(team, tmp_path, 2)
    with pytest.raises(LogDamagedError, match="ends at seq 2, and seq 3 has been seen") as caught:
        ledger.rebuild()
    assert str(tmp_path / "seen") in caught.value.remedy
    with pytest.raises(StateUnreadableError, match="another history"):
        ledger.view()
    forced(team, tmp_path / "longer", 4)
    assert [run.run_id for run in ledger.rebuild().runs()] == ["x0", "x1", "x2", "x3"]
    ledger.append([stop("x0")], expect=None, actor="t")
    assert [event["seq"] for event in team.events()] == [1, 2, 3, 4, 5]


def test_an_append_forces_nothing(team: Bare, tmp_path: Path) -> None:
    """The branch was put back behind our back, just before the push: it stays where it is, and we are told."""
    ledger = seen(team, tmp_path)
    team.git("config", "receive.denyNonFastForwards", "true")
    team.move(team.commits()[1])
    tip = team.tip()
    with pytest.raises(StateUnreadableError, match="another history"):
        ledger.append([decision("n", experiment="n")], expect=None, actor="t")
    assert team.tip() == tip


def test_one_changed_line_makes_another_history(team: Bare, tmp_path: Path) -> None:
    """The first line edited, all others the same to the byte, pushed by force: the commits behind it differ, too."""
    ledger = seen(team, tmp_path)
    parent = None
    for commit in team.commits():
        data = team.added_by(commit).replace(b'"stage":"DRY_RUN"', b'"stage":"ROLLOUT"')
        parent = make_commit(str(team.path), [json.loads(data)], data, parent=parent, seconds=0)
    assert parent is not None
    team.move(parent)
    with pytest.raises(StateUnreadableError, match="another history"):
        ledger.view()
    shutil.rmtree(tmp_path / "seen" / "repository.git")
    with pytest.raises(StateUnreadableError, match="a line behind byte 0 is another one"):
        ledger.view()
