"""What the command line wires together: who asks, what is read as evidence, which files are a log."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from gatekeeper.cli import compose, output
from gatekeeper.cli.compose import (
    CI_ACTORS,
    log_lines,
    read_evidence,
    read_references,
    source_of,
    who_asks,
)
from gatekeeper.cli.reevaluate import read_source
from gatekeeper.errors import DocumentError, LogError, SnapshotError, UsageError


@pytest.fixture(autouse=True)
def _work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_who_asks_is_the_stated_one_then_the_ci_then_the_user() -> None:
    """An empty variable states nobody."""
    assert who_asks("me", {"GITHUB_ACTOR": "octocat"}) == "me"
    assert who_asks(None, {"GITHUB_ACTOR": "", "GITLAB_USER_LOGIN": "tanuki"}) == "tanuki"
    assert who_asks(None, dict.fromkeys(reversed(CI_ACTORS), "x") | {CI_ACTORS[0]: "first"}) == "first"
    assert who_asks(None, {}) == pwd.getpwuid(os.getuid()).pw_name


def test_a_user_without_a_name_asks_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container with a bare uid is no reason to fail."""

    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert who_asks(None, {}) == "uid:4711"


def test_references_come_typed_and_from_files_and_the_last_wins(tmp_path: Path) -> None:
    """A value may hold `=`, and may be empty, which the evaluator takes for missing."""
    (tmp_path / "refs.json").write_text(json.dumps({"change_id": "CHG-1", "ticket_link": "https://t/1"}))
    given = ("change_id=CHG-0", "refs.json", "ticket_link=https://t/?a=b", "dashboard_id=")
    assert read_references(given) == {"change_id": "CHG-1", "ticket_link": "https://t/?a=b", "dashboard_id": ""}
    assert read_references(()) == {}


@pytest.mark.parametrize("content", ["[]", '"x"', "3", '{"change_id": 1}', '{"change_id": null}', '{"a": {"b": "c"}}'])
def test_a_file_of_references_holds_texts_only(content: str, tmp_path: Path) -> None:
    """A number or null would be evidence that nobody can look up."""
    (tmp_path / "refs.json").write_text(content)
    with pytest.raises(UsageError, match=r"refs\.json"):
        read_references(("refs.json",))


def test_what_is_neither_key_and_value_nor_a_file_is_wrong_usage() -> None:
    """`--evidence CHG-123`: the key was forgotten."""
    for odd in ("CHG-123", "=CHG-123"):
        with pytest.raises(UsageError, match="neither KEY=VALUE nor a file"):
            read_references((odd,))


def test_approval_is_never_a_reference(tmp_path: Path) -> None:
    """Typed or in a file: whoever runs the pipeline must not approve by an option."""
    (tmp_path / "refs.json").write_text('{"approval": "me"}')
    for given in ("approval=me", "approval=", "refs.json"):
        with pytest.raises(UsageError, match="approval is never a reference"):
            read_references((given,))


def test_a_broken_file_of_references_is_refused_with_its_place(tmp_path: Path) -> None:
    """A duplicate key would drop one of two change ids."""
    (tmp_path / "refs.json").write_text('{"change_id": "a",\n "change_id": "b"}')
    with pytest.raises(DocumentError, match=r"refs\.json:2"):
        read_references(("refs.json",))


def test_snapshot_and_baseline_cannot_both_be_standard_input() -> None:
    """There is one of it."""
    with pytest.raises(UsageError):
        read_evidence("-", "-")


def test_a_source_is_recorded_by_its_absolute_path(tmp_path: Path) -> None:
    """Cron runs elsewhere; standard input cannot be read again."""
    assert source_of("a.json", None) == {"kind": "file", "snapshot": str(tmp_path / "a.json"), "baseline": None}
    both = source_of("a.json", "b.json")
    assert both is not None
    assert both["baseline"] == str(tmp_path / "b.json")
    assert source_of("-", None) is None
    assert source_of("a.json", "-") is None
    assert source_of("a\udcff.json", None) is None


@pytest.mark.parametrize("source", [{"kind": "http"}, {"kind": "file", "snapshot": "gone.json"}, {}])
def test_a_source_that_cannot_be_read_is_a_snapshot_error(source: dict[str, str]) -> None:
    """So the hold is listed as `needs evidence`, whatever the reason; one bad hold must not end the round."""
    with pytest.raises(SnapshotError):
        read_source(source)


def test_a_source_that_is_broken_by_now_is_a_snapshot_error(tmp_path: Path) -> None:
    """The same for content, a baseline that is stated twice included."""
    (tmp_path / "torn.json").write_text('{"metrics": {')
    (tmp_path / "own.json").write_text('{"metrics": {}, "baseline": {"metrics": {}}}')
    for snapshot, baseline in (("torn.json", None), ("own.json", "own.json")):
        with pytest.raises(SnapshotError):
            read_source({"kind": "file", "snapshot": snapshot, "baseline": baseline})


def test_a_pattern_means_logs_and_not_what_stands_beside_them(tmp_path: Path) -> None:
    """`logs/decision.ndjson*` after a rotation: lock, state, torn tails and notes are no logs, a file counts once."""
    for name in ("d.ndjson", "d.ndjson.1"):
        (tmp_path / name).write_text('{"run_id":"r"}\n')
    for name in (".lock", ".db", ".db-wal", ".db-shm", ".torn-1", ".torn-untold", ".unrecorded", ".unrecorded.bad-1"):
        (tmp_path / f"d.ndjson{name}").write_text("no event\n")
    assert {line.source for line in log_lines(("d.ndjson*",))} == {"d.ndjson", "d.ndjson.1"}
    assert len(list(log_lines(("d.ndjson", "./d.ndjson", "d.ndjson*")))) == 2
    with pytest.raises(LogError, match="no file fits this pattern"):
        list(log_lines(("nowhere/*.ndjson",)))
    assert [line.source for line in log_lines(("d.ndjson.lock",))] == ["d.ndjson.lock"]  # named outright, it is read


def test_a_pattern_that_is_a_files_own_name_is_that_file(tmp_path: Path) -> None:
    """A run id may have ended up in a file's name."""
    (tmp_path / "log[1].ndjson").write_text('{"run_id":"r"}\n')
    assert [line.number for line in log_lines(("log[1].ndjson",))] == [1]


def test_lines_that_cannot_match_are_not_parsed(tmp_path: Path) -> None:
    """And an unfinished last line is given whatever it holds: it must be named."""
    (tmp_path / "d.ndjson").write_text('{"a":1}\n\n{"b":2}\nno json\n{"c"')
    lines = list(log_lines(("d.ndjson",), lambda data: b"b" in data))
    assert [(line.number, line.problem) for line in lines] == [(3, None), (5, "torn")]
    assert [line.problem for line in log_lines(("d.ndjson",))] == [None, None, "damaged", "torn"]


def test_what_a_view_noticed_is_told_at_once_and_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first of a command's two readings notices, and the command may fail before it can tell."""
    (tmp_path / "d.ndjson").write_text("no json\n")
    output.forget_what_was_said()
    compose.open_ledger("d.ndjson").view()
    assert "line 1 is damaged" in capsys.readouterr().err
    output.say_once("x")
    output.say_once("x")
    assert capsys.readouterr().err == "x\n"
    output.forget_what_was_said()
    output.say_once("x")
    assert capsys.readouterr().err == "x\n"
