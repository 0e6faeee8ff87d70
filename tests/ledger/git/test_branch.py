"""What stands on the branch, and that every reader gets just that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.git.ledger import GitLedger
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.event import line_digest
from gatekeeper.model.indexed import Selection
from tests.doubles import StepClock
from tests.lab.git import BRANCH, Bare, git
from tests.ledger.drafts import decision, policy, stop

pytestmark = pytest.mark.slow  # many processes of git


def test_an_append_is_one_commit_with_its_lines_alone(team: Bare) -> None:
    """Three events in two appends: two commits, and their files one after the other are the log."""
    ledger = team.ledger()
    ledger.append([decision()], expect=None, policies=[policy()], actor="t")
    ledger.append([stop()], expect=None, actor="t")
    assert [len(team.added_by(commit).splitlines()) for commit in team.commits()] == [2, 1]
    assert [event["seq"] for event in team.events()] == [1, 2, 3]
    assert [line for _, line in ledger.read()] == team.log_bytes().splitlines()
    assert team.git("ls-tree", "-r", "--name-only", BRANCH) == "events.ndjson"
    team.git("fsck", "--strict")


def test_a_repository_on_this_machine_waits_for_the_device(team: Bare, tmp_path: Path) -> None:
    """Durable before told: what git leaves to the system by default is flushed before the push is answered."""
    team.hook("pre-receive", f"git config core.fsync > {tmp_path}/waits-for")
    team.ledger().append([decision()], expect=None, actor="t")
    assert (tmp_path / "waits-for").read_text() == "all\n"


def test_a_commit_names_its_events_and_their_time(team: Bare) -> None:
    """`git log` alone tells people what was decided when: the message begins with the event's id."""
    ledger = team.ledger()
    ledger.append([decision()], expect=None, actor="t")
    ledger.append([decision(number=2), stop()], expect=None, actor="t")
    assert team.git("log", "--format=%an %cI %s", BRANCH).splitlines() == [
        "gatekeeper 2026-02-18T01:00:10+00:00 r:action#1 (seq 2 to 3)",
        "gatekeeper 2026-02-18T01:00:10+00:00 r:DRY_RUN",
    ]
    assert "r:DRY_RUN#2\nr:action#1\n" in team.git("log", "-1", "--format=%b", BRANCH)


def test_a_name_with_a_line_break_forges_no_message(team: Bare) -> None:
    """An experiment's name is free text; it stays one line of the commit's message."""
    team.ledger().append([decision("r\nSigned-off-by: root")], expect=None, actor="t")
    assert team.git("log", "-1", "--format=%s", BRANCH) == "r?Signed-off-by: root:DRY_RUN"


def test_the_branch_of_the_address_is_the_log(team: Bare) -> None:
    """Two branches of one repository are two logs."""
    other = GitLedger(address_of(f"{team.log}#gates/web"), clock=StepClock())
    other.append([decision("web")], expect=None, actor="t")
    team.ledger().append([decision("r")], expect=None, actor="t")
    assert [event["run_id"] for event, _ in other.read()] == ["web"]
    assert team.git("for-each-ref", "--format=%(refname:short)").split() == [BRANCH, "gates/web"]


def test_an_empty_machine_sees_what_the_others_see(team: Bare, tmp_path: Path) -> None:
    """A CI job starts without a copy: it reads the whole branch, and a first append continues it."""
    first, second = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    first.append([decision(), decision(stage="SHADOW", from_stage="DRY_RUN")], expect=None, actor="t")
    run = second.view().run("r")
    assert run == first.view().run("r")
    second.append([stop()], expect=None, actor="t")
    assert [event["seq"] for event in team.events()] == [1, 2, 3]
    seen = first.view().run("r")
    assert seen is not None
    assert (seen.is_stopped, first.head()) == (True, second.head())


def test_a_machine_that_lags_takes_over_what_is_new_only(team: Bare, tmp_path: Path) -> None:
    """Of eleven commits by others in between each line is taken in once, in order."""
    ours, theirs = team.ledger(cache=tmp_path / "a"), team.ledger(cache=tmp_path / "b")
    ours.append([decision("r0")], expect=None, actor="t")
    for number in range(1, 12):
        theirs.append([decision(f"r{number}")], expect=None, actor="t")
    assert [run.run_id for run in ours.view().runs()] == [f"r{number}" for number in range(12)]
    assert (tmp_path / "a" / "log.ndjson").read_bytes() == team.log_bytes()


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5, 9])
def test_lines_behind_a_seq(team: Bare, after: int) -> None:
    """Whole lines in order, whether a commit holds one of them or several."""
    ledger = team.ledger()
    ledger.append([decision("a"), decision("b"), decision("c")], expect=None, actor="t")
    ledger.append([decision("d")], expect=None, actor="t")
    ledger.append([decision("e")], expect=None, actor="t")
    assert [json.loads(line)["seq"] for line in ledger.lines(after=after)] == list(range(after + 1, 6))


def test_lines_come_from_the_branch_and_not_from_the_copy(team: Bare, tmp_path: Path) -> None:
    """`verify` must see what others see: a line that was changed in the copy alone is no line of the log."""
    ledger = team.ledger(cache=tmp_path / "a")
    ledger.append([decision()], expect=None, actor="t")
    copy = tmp_path / "a" / "log.ndjson"
    copy.write_bytes(copy.read_bytes().replace(b"ACCEPT", b"REJECT"))
    assert list(ledger.lines()) == team.log_bytes().splitlines()


def test_what_people_do_on_the_branch_records_nothing(team: Bare, tmp_path: Path) -> None:
    """A commit with a README beside the lines, and a merge, change no event; the log goes on behind them."""
    ledger = team.ledger(cache=tmp_path / "a")
    ledger.append([decision()], expect=None, actor="t")
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--branch", BRANCH, str(team.path), str(clone))
    (clone / "README.md").write_text("Do not touch.\n", encoding="utf-8")
    git("add", "README.md", directory=clone)
    git("commit", "--quiet", "--message", "what this is", directory=clone)
    git("push", "--quiet", directory=clone)
    ledger.append([stop()], expect=None, actor="t")
    elsewhere = team.ledger(cache=tmp_path / "b")
    assert [json.loads(line)["event_id"] for line in elsewhere.lines()] == ["r:DRY_RUN", "r:action#1"]
    assert elsewhere.head() == ledger.head()


def test_head_and_lines(team: Bare) -> None:
    """`head` is the end of the branch, and lines are asked for by the seq before them."""
    ledger = team.ledger()
    assert (ledger.head()["seq"], list(ledger.lines())) == (0, [])
    ledger.append([decision(), stop()], expect=None, actor="t")
    lines = team.log_bytes().splitlines()
    assert (ledger.head()["seq"], ledger.head()["digest"]) == (2, line_digest(lines[1]))
    assert [list(ledger.lines(after=seq)) for seq in (0, 1, 2)] == [lines, lines[1:], []]


def test_the_index_counts_what_the_branch_holds(team: Bare, tmp_path: Path) -> None:
    """Queries on a machine that has only just fetched give the events of the others; sources are named as people do."""
    team.ledger(cache=tmp_path / "a").append([decision("a"), decision("b"), stop("a")], expect=None, actor="t")
    index = team.ledger(cache=tmp_path / "b").index()
    assert index is not None
    places = list(index.places(Selection(index.facets(), run=None, experiment=None, first_seq=1, end_seq=9)))
    assert [place.seq for place in places] == [1, 2, 3]
    assert [(line.source, line.data) for line in index.read(iter(places))] == [
        (f"git+file://{team.path}#{BRANCH}", line) for line in team.log_bytes().splitlines()
    ]
    index.close()


def recorded(directory: Path, count: int) -> list[bytes]:
    """Lines of a file ledger with so many events."""
    ledger = NdjsonLedger(str(directory / "source.ndjson"), clock=StepClock(step=1_000_000))
    ledger.append([decision(f"r{number}") for number in range(count)], expect=None, actor="t")
    ledger.close()
    return (directory / "source.ndjson").read_bytes().splitlines()


def test_another_log_is_taken_in_as_it_is(team: Bare, tmp_path: Path) -> None:
    """1,203 lines: the same bytes on the branch, in three commits, and the state that they amount to."""
    lines, ledger = recorded(tmp_path, 1203), team.ledger()
    assert ledger.take_in(iter(lines)) == 1203
    assert team.log_bytes().splitlines() == lines
    assert len(team.commits()) == 3
    assert len(ledger.view().runs()) == 1203
    ledger.append([stop("r7")], expect=None, actor="t")
    assert team.events()[-1]["prev"] == line_digest(lines[-1])


def test_lines_that_do_not_continue_the_log_are_refused(team: Bare, tmp_path: Path) -> None:
    """Somebody has appended since the importer looked: the chain is not forked, nothing is taken in."""
    lines, ledger = recorded(tmp_path, 4), team.ledger()
    ledger.take_in(iter(lines[:2]))
    ledger.append([stop("r0")], expect=None, actor="t")
    with pytest.raises(LogDamagedError):
        ledger.take_in(iter(lines[2:]))
    assert [event["seq"] for event in team.events()] == [1, 2, 3]
