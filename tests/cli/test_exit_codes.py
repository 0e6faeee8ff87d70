"""HO-16 inside one process: no two meanings for one exit code, whatever ends the command."""

from __future__ import annotations

import json
import sys

import pytest

from gatekeeper.cli.app import run
from gatekeeper.cli.exit_codes import MEANINGS
from gatekeeper.cli.failures import INTERRUPTED, TERMINATED, TerminatedError
from gatekeeper.cli.outcome import CODES, Outcome
from gatekeeper.errors import (
    GatekeeperError,
    InputRefusedError,
    LogError,
    PolicyError,
    ServiceUnavailableError,
    UsageError,
)
from tests.cli.support import CHECK, answering, raising, run_with

Capture = pytest.CaptureFixture[str]


class BoldError(GatekeeperError):
    """An error that claims a verdict's code."""

    exit_code = 1


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["chek"],
        ["policy"],
        ["policy", "chek", "p.json"],
        ["policy", "check"],
        ["--polcy", "p.json"],
        ["check", "--polcy", "p.json"],
        [*CHECK, "--wait", "abc"],
        ["replay", "--limit", "abc"],
        ["replay", "--verdict", "MAYBE"],
        [*CHECK, "--change-class"],
        [*CHECK, "--dry-run=1"],
        [*CHECK, "too-much"],
        [*CHECK, "--experiment", "a/b"],
        [*CHECK, "--experiment", "x" * 129],
        [*CHECK, "--policy", ""],
        CHECK[:-2],
        ["stop", "run-1"],
        ["stop", "run-1", "--reason", " "],
        [*CHECK, "--interval", "60s"],
        [*CHECK, "--start-stage", "CANARY_10"],
        [*CHECK, "--reason", "x"],
        [*CHECK, "--start-stage", "CANARY_10", "--reason", "x", "--stage", "CANARY_10"],
        [*CHECK, "--wait", "30m", "--as-of", "snapshot"],
        [*CHECK, "--as-of", "2026-02-18T01:00:00"],
        ["replay", "--follow", "--group-by", "verdict"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_never_a_verdict(argv: list[str], capsys: Capture) -> None:
    """HO-16 a b: 64 with one line and a remedy; nothing is carried out."""
    assert run_with(raising(AssertionError), argv) == 64
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-2].startswith("gatekeeper: ")
    assert captured.err.splitlines()[-1].startswith("  remedy: ")


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["chek"], "did you mean 'check'?"),
        (["check", "--polcy", "p"], "did you mean --policy?"),
        (["replay", "--verdict", "RJECT"], "did you mean 'REJECT'?"),
        (["queue", "-o", "jsn"], "did you mean 'json'?"),
    ],
)
def test_a_typing_mistake_is_answered_with_what_was_meant(argv: list[str], hint: str, capsys: Capture) -> None:
    """For commands, options and words alike."""
    assert run(argv) == 64
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("m", remedy="r"), 64),
        (InputRefusedError("m", remedy="r"), 65),
        (PolicyError("m", remedy="r"), 65),
        (ServiceUnavailableError("m", remedy="r"), 69),
        (LogError("m", remedy="r"), 74),
        (GatekeeperError("m", remedy="r"), 70),
        (BoldError("m", remedy="r"), 70),
        (ZeroDivisionError("m"), 70),
        (OSError(5, "Input/output error"), 70),
        (BrokenPipeError(32, "Broken pipe"), 70),
        (MemoryError(), 70),
        (RecursionError("m"), 70),
        (SystemExit(0), 70),
        (SystemExit(1), 70),
        (SystemExit(2), 70),
        (SystemExit("m"), 70),
        (GeneratorExit(), 70),
        (KeyboardInterrupt(), 130),
        (TerminatedError(), 143),
        (ModuleNotFoundError("No module named 'pydantic'", name="pydantic"), 64),
        (ModuleNotFoundError("No module named 'psycopg.rows'", name="psycopg.rows"), 64),
        (ImportError("cannot import name 'x' from 'rich'", name="rich"), 64),
        (ModuleNotFoundError("No module named 'gatekeeper.x'", name="gatekeeper.x"), 70),
        (ImportError("m"), 70),
    ],
    ids=repr,
)
def test_no_failure_ends_with_a_verdict(error: BaseException, code: int, capsys: Capture) -> None:
    """HO-16 c e f: usage, input, disk, libraries and bugs can be told apart, and from 0, 1 and 2."""
    assert run_with(raising(lambda: error)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gatekeeper: ")
    assert "Traceback" not in captured.err
    assert "  remedy: " in captured.err


@pytest.mark.parametrize("code", [0, 1, 2, 3, 64, 65, 74])
def test_a_verdict_is_passed_on(code: int) -> None:
    """What the handler of a gate command answers is what the process says."""
    assert run_with(answering(code)) == code


@pytest.mark.parametrize("code", [-1, 4, 5, 127, 130, 255, 256])
def test_a_code_without_meaning_is_a_bug(code: int, capsys: Capture) -> None:
    """A gate command cannot invent a code; 256 would reach the shell as 0."""
    assert run_with(answering(code)) == 70
    assert f"answered with exit code {code}" in capsys.readouterr().err


@pytest.mark.parametrize("code", [1, 2, 3])
@pytest.mark.parametrize(
    "argv", [["queue"], ["stop", "r", "--reason", "x"], ["policy", "check", "p"], ["demo"], ["verify"], ["replay"]]
)
def test_a_command_without_verdict_cannot_leave_with_one(argv: list[str], code: int) -> None:
    """A review that finds something is 10 or 65, never REJECT."""
    assert run_with(answering(code), argv) == 70


@pytest.mark.parametrize("typed", [["-o", "json"], ["-ojson"], ["--output", "json"], ["--output=json"]])
@pytest.mark.parametrize("rest", [["--wait", "abc"], ["--nope"], ["--interval", "5s"]])
def test_a_program_that_reads_json_gets_usage_errors_as_json(
    typed: list[str], rest: list[str], capsys: Capture
) -> None:
    """Exactly one document on standard output, even where the command line could not be parsed."""
    assert run([*CHECK, *typed, *rest]) == 64
    captured = capsys.readouterr()
    error = json.loads(captured.out)["error"]
    assert (error["code"], error["exit_code"], sorted(error)) == (
        "usage",
        64,
        ["code", "exit_code", "message", "remedy"],
    )
    assert captured.err == f"gatekeeper: {error['message']}\n  remedy: {error['remedy']}\n"


def test_json_from_the_environment_also_holds_for_errors(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A caller that set GATEKEEPER_OUTPUT=json parses whatever comes; a typed output wins."""
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "json")
    assert run(["chek"]) == 64
    assert json.loads(capsys.readouterr().out)["error"]["exit_code"] == 64
    assert run_with(raising(lambda: PolicyError("p.json:1: no", remedy="mend it"))) == 65
    assert json.loads(capsys.readouterr().out) == {
        "error": {"code": "policy.invalid", "message": "p.json:1: no", "remedy": "mend it", "exit_code": 65}
    }
    assert run([*CHECK, "-o", "text", "--nope"]) == 64
    assert capsys.readouterr().out == ""


def test_an_error_amid_an_answer_does_not_spoil_the_document(capsys: Capture) -> None:
    """Once JSON has gone out, a second document would break its reader."""

    def half(_: object) -> Outcome:
        def chunks() -> object:
            yield '{"n":1}\n'
            raise LogError("the disk went away", remedy="look at it")

        return Outcome(chunks())  # type: ignore[arg-type]

    assert run_with(half, ["replay", "-o", "json"]) == 74
    captured = capsys.readouterr()
    assert captured.out == '{"n":1}\n'
    assert "the disk went away" in captured.err


def test_a_missing_library_is_named_with_what_brings_it(capsys: Capture) -> None:
    """HO-16 f: the remedy is a command to type."""
    absent = ModuleNotFoundError("No module named 'prometheus_api_client'", name="prometheus_api_client")
    assert run_with(raising(lambda: absent)) == 64
    assert "python -m pip install 'prometheus-api-client>=" in capsys.readouterr().err.replace("<0.8,", "")
    assert run_with(raising(lambda: ModuleNotFoundError(name="hypothesis"))) == 64
    assert "python -m pip install 'hypothesis>=6" in capsys.readouterr().err


def test_a_damaged_installation_is_no_reject(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Python itself leaves with 1 for a module that is not there."""
    monkeypatch.setitem(sys.modules, "gatekeeper.cli.call", None)
    assert run(CHECK) == 70
    assert capsys.readouterr().err.startswith("gatekeeper: internal error: ModuleNotFoundError\n")


def test_a_second_interrupt_while_the_first_is_told_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C twice is 130 as well."""

    def impatient(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gatekeeper.cli.call.say", impatient)
    assert run_with(raising(KeyboardInterrupt)) == 130


def test_a_traceback_is_shown_to_those_who_ask_and_holds_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """One line without GATEKEEPER_DEBUG=1; with it the trace, masked like the line."""
    error = ConnectionError(
        "cannot reach https://bot:hunter2@prom.example/api?token=abc123, Authorization: Bearer eyJ0"
    )
    assert run_with(raising(lambda: error)) == 70
    plain = capsys.readouterr().err
    assert len(plain.splitlines()) == 2
    monkeypatch.setenv("GATEKEEPER_DEBUG", "1")
    assert run_with(raising(lambda: error)) == 70
    traced = capsys.readouterr().err
    assert "Traceback (most recent call last)" in traced
    for secret in ("hunter2", "abc123", "eyJ0"):
        assert secret not in plain + traced
    assert "prom.example" in plain


def test_words_for_people_come_before_the_answer_and_not_into_it(capsys: Capture) -> None:
    """The lines of an outcome go to standard error, each on its line."""
    assert run_with(lambda _: Outcome("answer", 0, ("new log created at x", "no baseline"))) == 0
    captured = capsys.readouterr()
    assert captured.out == "answer\n"
    assert captured.err == "new log created at x\nno baseline\n"


def test_help_names_every_code_that_the_process_may_leave_with(capsys: Capture) -> None:
    """Whoever writes the `case` of a pipeline reads it there."""
    assert set(MEANINGS) == {INTERRUPTED, TERMINATED}.union(*CODES.values())
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for code, meaning in MEANINGS.items():
        assert f"{code:<3} {meaning}" in shown
