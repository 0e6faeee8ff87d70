"""A repository that is gone, refuses, hangs, or loses its answer: nothing goes forward unrecorded, nothing twice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gatekeeper.errors import LedgerUnreachableError, LogError, UsageError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.git.ledger import GitLedger
from gatekeeper.model.exchange import ConflictError, Expectation
from gatekeeper.orchestrator import gate
from tests.doubles import StepClock
from tests.lab.git import BRANCH, Bare
from tests.ledger.drafts import decision, stop
from tests.orchestrator.desk import Desk

pytestmark = pytest.mark.slow  # many processes of git

SECRET = "s3cret-Pa55"


def ledger_on(log: str, cache: Path) -> GitLedger:
    """A ledger at another address."""
    return GitLedger(address_of(log), clock=StepClock(), cache_directory=str(cache))


def once(marker: Path, script: str) -> str:
    """A hook that does *script* at its first call only."""
    return f"test -e {marker} && exit 0\ntouch {marker}\n{script}"


def test_a_repository_that_is_gone_is_not_reached(team: Bare, tmp_path: Path) -> None:
    """69 for reading and for appending, with the address and what to try; the log in the copy gives no answer."""
    ledger = team.ledger(cache=tmp_path / "copy")
    ledger.append([decision()], expect=None, actor="t")
    team.path.rename(tmp_path / "elsewhere.git")
    for use in (ledger.view, lambda: ledger.append([stop()], expect=None, actor="t"), ledger.lines, ledger.rebuild):
        with pytest.raises(LedgerUnreachableError) as caught:
            use()
        assert caught.value.exit_code == 69
        assert ledger.address.shown in caught.value.message
        assert "may be recorded" not in caught.value.message
    (tmp_path / "elsewhere.git").rename(team.path)
    assert ledger.head()["seq"] == 1


def test_a_repository_that_was_never_there(tmp_path: Path, team: Bare) -> None:
    """A misspelt path: 69, and nothing is made in its place."""
    ledger = ledger_on(f"git+file://{tmp_path}/nowhere.git", tmp_path / "copy")
    with pytest.raises(LedgerUnreachableError):
        ledger.view()
    with pytest.raises(LedgerUnreachableError):
        ledger.append([decision()], expect=None, actor="t")
    assert not (tmp_path / "nowhere.git").exists()
    assert team.git("for-each-ref") == ""


def test_no_message_shows_a_password(team: Bare, tmp_path: Path) -> None:
    """Neither what git says of the address nor what we say; port 1 refuses every connection."""
    del team
    ledger = ledger_on(f"git+https://ci:{SECRET}@localhost:1/team.git", tmp_path / "copy")
    with pytest.raises(LedgerUnreachableError) as caught:
        ledger.view()
    assert SECRET not in f"{caught.value} {caught.value.remedy} {caught.value.message}"
    assert "localhost" in caught.value.message


def test_without_git_it_is_wrong_usage(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 and what to install, not a traceback."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError) as caught:
        team.ledger().view()
    assert (caught.value.exit_code, caught.value.remedy) == (64, "install git")


def test_a_hook_that_refuses_records_nothing_and_is_heard(team: Bare, tmp_path: Path) -> None:
    """A protected branch: 74 with the rule's own words; once it lets us in, the same append is taken."""
    ledger = team.ledger(cache=tmp_path / "copy")
    ledger.append([decision()], expect=None, actor="t")
    before = team.tip()
    team.hook("pre-receive", 'echo "GL-HOOK: only ci-bot may push" >&2\nexit 1')
    with pytest.raises(LogError, match="only ci-bot may push") as caught:
        ledger.append([stop()], expect=None, actor="t")
    assert (caught.value.exit_code, team.tip()) == (74, before)
    team.hook("pre-receive", "exit 0")
    ledger.append([stop()], expect=None, actor="t")
    assert [event["event_id"] for event in team.events()] == ["r:DRY_RUN", "r:action#1"]


def test_a_push_at_the_same_moment_is_no_refusal(team: Bare, tmp_path: Path) -> None:
    """Another push has the branch's lock while ours arrives, and gives up: ours is tried again."""
    ledger = team.ledger(cache=tmp_path / "copy")
    ledger.append([decision()], expect=None, actor="t")
    lock = team.path / "refs" / "heads" / f"{BRANCH}.lock"
    team.hook("pre-receive", f"test -e {tmp_path}/once && rm -f {lock} || {{ touch {tmp_path}/once {lock}; }}")
    ledger.append([stop()], expect=None, actor="t")
    assert [event["event_id"] for event in team.events()] == ["r:DRY_RUN", "r:action#1"]


def test_an_answer_that_is_lost_is_asked_for(team: Bare, tmp_path: Path) -> None:
    """The receiving side dies after it has moved the branch: the event is recorded, once, and told as recorded."""
    team.hook("post-receive", once(tmp_path / "died", "kill -9 $PPID"))
    ledger = team.ledger()
    receipt = ledger.append([decision()], expect=Expectation("r", 0), actor="t")
    assert (tmp_path / "died").exists()
    assert team.events() == list(receipt.events)


def test_a_push_that_died_before_it_was_taken_is_repeated(team: Bare, tmp_path: Path) -> None:
    """The receiving side dies before it moves the branch: the same commit is pushed again."""
    team.hook("pre-receive", once(tmp_path / "died", "kill -9 $PPID"))
    receipt = team.ledger().append([decision()], expect=Expectation("r", 0), actor="t")
    assert (tmp_path / "died").exists()
    assert team.events() == list(receipt.events)


def test_an_answer_that_is_lost_while_others_go_on(team: Bare, tmp_path: Path) -> None:
    """Taken, not told, and somebody has appended behind it before we ask: found in the history, not appended again."""
    others = team.ledger(cache=tmp_path / "others")
    others.append([decision("other", experiment="f")], expect=None, actor="t")
    ours = team.ledger(cache=tmp_path / "ours")
    ours.view()
    push, pushes = ours._remote.push, list[str]()

    def lost(commit: str, *, expected: str | None) -> object:
        pushes.append(commit)
        if len(pushes) == 1:
            push(commit, expected=expected)
            others.append([stop("other")], expect=None, actor="t")
            return type(push(commit, expected=expected))("unknown", "connection lost")
        return push(commit, expected=expected)

    ours._remote.push = lost  # type: ignore[assignment]
    receipt = ours.append([decision()], expect=Expectation("r", 0), actor="t")
    ids = [event["event_id"] for event in team.events()]
    assert ids == ["other:DRY_RUN", "r:DRY_RUN", "other:action#1"]
    assert (receipt.events[0]["seq"], len(set(pushes))) == (2, 1)


def test_an_equal_event_of_somebody_else_is_not_ours(team: Bare, tmp_path: Path) -> None:
    """Not taken, not told, and somebody has recorded the very same event meanwhile: we were not first."""
    others, ours = team.ledger(cache=tmp_path / "others"), team.ledger(cache=tmp_path / "ours")
    ours.view()
    push, pushes = ours._remote.push, list[str]()

    def lost(commit: str, *, expected: str | None) -> object:
        pushes.append(commit)
        if len(pushes) == 1:
            others.append([decision()], expect=Expectation("r", 0), actor="t")
            return type(push(commit, expected=expected))("unknown", "connection lost")
        return push(commit, expected=expected)

    ours._remote.push = lost  # type: ignore[assignment]
    with pytest.raises(ConflictError):
        ours.append([decision()], expect=Expectation("r", 0), actor="t")
    assert [event["event_id"] for event in team.events()] == ["r:DRY_RUN"]


def test_no_answer_at_all_is_told_as_doubt(team: Bare) -> None:
    """The receiving side dies each time: 69, the message says that it may be recorded and what to do."""
    team.hook("pre-receive", "kill -9 $PPID")
    with pytest.raises(LedgerUnreachableError, match="may be recorded or not") as caught:
        team.ledger().append([decision()], expect=None, actor="t")
    assert "not recorded twice" in caught.value.remedy


def test_a_side_that_hangs_is_given_up(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate never hangs for good: the connection is ended with all that it has started."""
    del team
    note, held = tmp_path / "started", tmp_path / "held"
    never = tmp_path / "never"
    os.mkfifo(held)
    os.mkfifo(never)
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    script = f"#!/bin/sh\nexec 9> {held}\ntouch {note}\nexec cat {never}\n"
    (tmp_path / "ssh").write_text(script, encoding="utf-8")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(tmp_path / "ssh"))
    monkeypatch.setattr("gatekeeper.ledger.git.remote.LOOK_SECONDS", 0.5)
    with pytest.raises(LedgerUnreachableError, match="no answer within"):
        ledger_on("git+ssh://host/team.git", tmp_path / "copy").view()
    assert note.exists()
    os.set_blocking(reading, True)
    assert os.read(reading, 1) == b"", "its end comes when the last that holds the pipe has ended"
    os.close(reading)


def test_the_ledger_over_ssh(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another transport, the same log: whatever the git command reaches."""
    (tmp_path / "ssh").write_text('#!/bin/sh\nfor word; do last=$word; done\nexec sh -c "$last"\n', encoding="utf-8")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(tmp_path / "ssh"))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")
    ledger = ledger_on(f"git+ssh://host{team.path}", tmp_path / "copy")
    ledger.append([decision()], expect=None, actor="t")
    ledger.append([stop()], expect=None, actor="t")
    assert team.ledger(cache=tmp_path / "other").head() == ledger.head()


def test_ssh_asks_nobody(team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host key or a passphrase that ssh would ask a person for fails the call instead of stopping the job."""
    del team
    said = tmp_path / "said"
    (tmp_path / "ssh").write_text(f'#!/bin/sh\necho "$@" > {said}\nexit 255\n', encoding="utf-8")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LedgerUnreachableError):
        ledger_on("git+ssh://host/team.git", tmp_path / "copy").view()
    assert "BatchMode=yes" in said.read_text()


def test_called_from_a_hook_it_leaves_that_repository_alone(
    team: Bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git tells hooks their repository by variables: the ledger's own calls must not land there."""
    around = Bare(tmp_path, "around.git")
    monkeypatch.setenv("GIT_DIR", str(around.path))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(around.path / "objects"))
    ledger = team.ledger()
    ledger.append([decision()], expect=None, actor="t")
    ledger.view()
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.delenv(name)
    assert (around.git("for-each-ref"), len(team.commits())) == ("", 1)
    assert not list((around.path / "objects").glob("??"))


def test_harm_is_told_while_nobody_is_reached_and_recorded_later(team: Bare, tmp_path: Path) -> None:
    """REJECT without the state exits 1 unrecorded; the next call on this machine stops the run on the branch."""
    desk = Desk(tmp_path / "unused", another=lambda clock: team.ledger(clock=clock, cache=tmp_path / "copy"))
    desk.walk("DRY_RUN", "SHADOW")
    team.path.rename(tmp_path / "elsewhere.git")
    answer = gate.ask(desk.question("CANARY_10", metrics={"leaks": 3}), ledger=desk.ledger, clock=desk.clock)
    assert (answer.verdict, answer.is_unrecorded) == ("REJECT", True)
    with pytest.raises(LedgerUnreachableError):
        gate.ask(desk.question("CANARY_10"), ledger=desk.ledger, clock=desk.clock)
    (tmp_path / "elsewhere.git").rename(team.path)
    assert desk.run().state == "STOPPED"
    assert team.events()[-1]["from_marker"] is True


def test_a_note_that_two_calls_find_is_recorded_once(team: Bare, tmp_path: Path) -> None:
    """Two processes of one machine with copies of their own: the run is stopped once, the second has nothing to do."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision()], expect=None, actor="t")
    second.view()
    place = first.leave_marker([decision(verdict="REJECT")])
    assert place is not None
    kept = Path(place).read_bytes()
    first.view()
    Path(place).write_bytes(kept)
    run = second.view().run("r")
    assert run is not None
    assert (run.is_stopped, len(team.events())) == (True, 2)
    assert not Path(place).exists()


def test_a_note_that_is_left_while_another_is_recorded_stays(team: Bare, tmp_path: Path) -> None:
    """Two jobs on one machine: what the second one notes during the first one's push is recorded by the next call."""
    ledger, other = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    ledger.append([decision("r"), decision("s", experiment="f")], expect=None, actor="t")
    ledger.leave_marker([decision("r", verdict="REJECT")])
    push, late = ledger._remote.push, [decision("s", experiment="f", verdict="REJECT")]

    def meanwhile(commit: str, *, expected: str | None) -> object:
        other.leave_marker([late.pop()] if late else [])
        return push(commit, expected=expected)

    ledger._remote.push = meanwhile  # type: ignore[assignment]
    assert [run.run_id for run in ledger.view().runs() if run.is_stopped] == ["r"]
    assert [run.run_id for run in ledger.view().runs() if run.is_stopped] == ["r", "s"]
    assert [event["event_id"] for event in team.events()[2:]] == ["r:DRY_RUN#2", "s:DRY_RUN#2"]
    assert len(ledger.view().runs()) == 2


def test_a_deleted_branch_is_no_empty_log(team: Bare, tmp_path: Path) -> None:
    """Runs that this machine has seen do not begin anew because somebody has deleted the branch."""
    ledger = team.ledger(cache=tmp_path / "copy")
    ledger.append([decision()], expect=None, actor="t")
    tip = team.tip()
    team.git("update-ref", "-d", f"refs/heads/{BRANCH}")
    with pytest.raises(LogError, match="another history"):
        ledger.view()
    with pytest.raises(LogError, match="another history"):
        ledger.append([decision(number=2)], expect=None, actor="t")
    assert team.git("for-each-ref") == ""
    team.move(tip)
    assert ledger.head()["seq"] == 1
    shutil.rmtree(tmp_path / "copy")
