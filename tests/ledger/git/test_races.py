"""Two machines at one branch: the push decides who was first, and the other one leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.model.exchange import ConflictError, Expectation
from tests.lab.git import Bare
from tests.ledger.drafts import decision, policy, stop

pytestmark = pytest.mark.slow  # many processes of git


def test_the_second_of_two_machines_overwrites_nothing(team: Bare, tmp_path: Path) -> None:
    """Both have read the same state; the loser is told of the conflict, and the winner's commit stays the tip."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision()], expect=Expectation("r", 0), actor="t")
    second.view()
    first.append([decision(stage="SHADOW", from_stage="DRY_RUN")], expect=Expectation("r", 1), actor="t")
    tip = team.tip()
    with pytest.raises(ConflictError):
        second.append([stop()], expect=Expectation("r", 1), actor="t")
    assert (team.tip(), [event["seq"] for event in team.events()]) == (tip, [1, 2])


def test_two_that_begin_a_log_at_once_begin_one(team: Bare, tmp_path: Path) -> None:
    """Neither has seen a branch: the second commit stands on the first one, not beside it."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    pushed = list[str]()
    push = second._remote.push

    def late(commit: str, *, expected: str | None) -> object:
        if not pushed:
            first.append([decision("a", experiment="a")], expect=None, policies=[policy()], actor="t")
        pushed.append(commit)
        return push(commit, expected=expected)

    second._remote.push = late  # type: ignore[assignment]
    second.append([decision("b", experiment="b")], expect=None, policies=[policy()], actor="t")
    assert [event["event_id"] for event in team.events()] == ["policy#1", "a:DRY_RUN", "b:DRY_RUN"]
    assert len(pushed) == 2


def test_who_moves_another_run_is_no_conflict(team: Bare, tmp_path: Path) -> None:
    """The push came too late, but nothing that was read has changed: sealed anew behind the other's line."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision("a", experiment="a")], expect=None, actor="t")
    second.view()
    first.append([stop("a")], expect=None, actor="t")
    receipt = second.append([decision("b", experiment="b")], expect=Expectation("b", 0), actor="t")
    assert [event["seq"] for event in receipt.events] == [3]
    assert team.events()[-1] == receipt.events[0]


def test_a_view_is_as_of_now(team: Bare, tmp_path: Path) -> None:
    """An answer that appends nothing is not proved by a push: it must have looked at the branch itself."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision()], expect=None, actor="t")
    assert len(second.view().runs()) == 1
    first.append([stop()], expect=None, actor="t")
    run = second.view().run("r")
    assert run is not None
    assert run.is_stopped


def test_a_look_ahead_ends_with_the_first_append(team: Bare, tmp_path: Path) -> None:
    """What was asked for at the beginning of a call counts for its reading, and never behind an append."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision()], expect=None, actor="t")
    second.look_ahead()
    assert len(second.view().runs()) == 1
    second.append([decision("s", experiment="f")], expect=None, actor="t")
    first.append([stop()], expect=None, actor="t")
    run = second.view().run("r")
    assert run is not None
    assert run.is_stopped


def test_a_look_ahead_is_soon_too_old(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that appends nothing asks again: an answer of more than a second ago is not one of now."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    now = [1000.0]
    monkeypatch.setattr("gatekeeper.ledger.git.looking.time.monotonic", lambda: now[0])
    second.look_ahead()
    assert len(second.view().runs()) == 0
    first.append([decision()], expect=None, actor="t")
    assert len(second.view().runs()) == 0
    now[0] += 1.1
    assert len(second.view().runs()) == 1
