"""Defaults: typed wins over the environment, that over gatekeeper.toml, that over the declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper.cli.app import run
from gatekeeper.cli.outcome import Outcome
from tests.cli.support import CHECK, answering, run_with

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper.cli.values import Values


@pytest.fixture(autouse=True)
def _work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def seen(argv: list[str]) -> tuple[str, str, str | None]:
    """Log, output and actor as the handler sees them."""
    found: list[tuple[str, str, str | None]] = []

    def handler(values: Values) -> Outcome:
        found.append((values.text("log"), values.text("output"), values.optional_text("actor")))
        return Outcome()

    assert run_with(handler, argv) == 0
    return found[0]


def test_each_place_gives_way_to_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declaration, file, environment, command line."""
    assert seen(CHECK) == ("logs/decision.ndjson", "text", None)
    (tmp_path / "gatekeeper.toml").write_text('log = "file.ndjson"\noutput = "markdown"\nactor = "bot"\n')
    assert seen(CHECK) == ("file.ndjson", "markdown", "bot")
    monkeypatch.setenv("GATEKEEPER_LOG", "env.ndjson")
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "json")
    assert seen(CHECK) == ("env.ndjson", "json", "bot")
    typed = ["--log", "typed.ndjson", "-o", "text", "--actor", "me"]
    assert seen([*CHECK, *typed]) == ("typed.ndjson", "text", "me")


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """`GATEKEEPER_LOG= gatekeeper …` is how a shell takes a default back."""
    monkeypatch.setenv("GATEKEEPER_LOG", "")
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "")
    assert seen(CHECK) == ("logs/decision.ndjson", "text", None)


def test_running_on_github_changes_nothing_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """An output that depends on where it runs is a surprise."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert seen(CHECK)[1] == "text"


def test_several_logs_for_a_reader_replace_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--log` of a reader repeats; a set log is one of one."""
    found: list[tuple[str, ...]] = []

    def handler(values: Values) -> Outcome:
        found.append(values.texts("log"))
        return Outcome()

    assert run_with(handler, ["replay"]) == 0
    monkeypatch.setenv("GATEKEEPER_LOG", "env.ndjson")
    assert run_with(handler, ["replay"]) == 0
    assert run_with(handler, ["replay", "--log", "a", "--log", "b"]) == 0
    assert found == [("logs/decision.ndjson",), ("env.ndjson",), ("a", "b")]


def test_an_output_that_a_command_does_not_have_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that set github for its checks can still list the queue; typed, it is wrong usage."""
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "github")
    found: list[str] = []

    def handler(values: Values) -> Outcome:
        found.append(values.text("output"))
        return Outcome()

    assert run_with(handler, ["queue"]) == 0
    assert found == ["text"]
    assert run(["queue", "-o", "github"]) == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('outptu = "json"', "unknown key 'outptu'; known are log, output, actor, rotate_bytes; did you mean 'output'?"),
        ('output = "jsn"', "gatekeeper.toml: 'jsn' is not one of"),
        ("log = 3", "log must be a text that is not empty, found 3"),
        ('log = ""', "log must be a text that is not empty"),
        ('actor = " "', "gatekeeper.toml: it is empty"),
        ("log =", "is no TOML"),
        ('[log]\npath = "x"', "log must be a text"),
    ],
)
def test_a_wrong_setting_stops_the_call(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A setting that is passed over silently would send decisions to another log."""
    (tmp_path / "gatekeeper.toml").write_text(text)
    assert run_with(answering(0), CHECK) == 64
    assert message in capsys.readouterr().err


def test_a_settings_file_that_cannot_be_read_stops_the_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory of that name, or bytes that are no text."""
    (tmp_path / "gatekeeper.toml").mkdir()
    assert run_with(answering(0), CHECK) == 64
    assert "cannot be read" in capsys.readouterr().err
    (tmp_path / "gatekeeper.toml").rmdir()
    (tmp_path / "gatekeeper.toml").write_bytes(b'log = "\xff"')
    assert run_with(answering(0), CHECK) == 64
    assert "is not UTF-8" in capsys.readouterr().err


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says which of the three places to mend."""
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "yaml")
    assert run_with(answering(0), CHECK) == 64
    assert "GATEKEEPER_OUTPUT: 'yaml' is not one of text, json" in capsys.readouterr().err


def test_help_needs_no_correct_settings(tmp_path: Path) -> None:
    """Whoever has to mend them may read how."""
    (tmp_path / "gatekeeper.toml").write_text("nonsense")
    assert run(["check", "--help"]) == 0
