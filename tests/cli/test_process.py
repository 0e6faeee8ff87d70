"""HO-16 with real processes: closed pipes, full devices, signals, terminals that speak ASCII only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.support import CHECK, DRIVER, environment, finish, shell, start

pytestmark = pytest.mark.slow

ASCII_ONLY = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    ("argv", "code"),
    [(["--polcy", "p.json"], 64), (["check", "--polcy", "p.json"], 64), (["replay", "--limit", "abc"], 64), ([], 64)],
)
def test_wrong_usage_of_the_module_is_no_hold(argv: list[str], code: int) -> None:
    """HO-16 a b as a pipeline calls it: a cron job must not wait for ever on a typing mistake."""
    result = finish(*argv)
    assert result.returncode == code
    assert result.stdout == b""
    assert b"remedy: " in result.stderr


@pytest.mark.parametrize(("scene", "code"), [("reject-long", 1), ("accept-long", 0)])
def test_a_reader_that_leaves_early_does_not_change_the_verdict(scene: str, code: int) -> None:
    """HO-16 h: the pipe closes while megabytes are still to come."""
    with start(*CHECK, scene=scene) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == code


def test_head_does_not_change_the_verdict() -> None:
    """HO-16 h in a shell."""
    result = shell(f"$GATE reject-long {' '.join(CHECK)} | head -1; exit ${{PIPESTATUS[0]}}")
    assert result.returncode == 1
    assert result.stdout == b"x" * 79 + b"\n"


def test_help_into_a_closed_pipe_is_no_reject() -> None:
    """Left to itself, typer leaves with 1 there."""
    result = shell(f"{sys.executable} -m gatekeeper check --help | true; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_streams_closed_from_the_start_do_not_change_the_verdict(closing: str) -> None:
    """A daemon may start jobs without standard streams."""
    assert shell(f"$GATE reject {' '.join(CHECK)} {closing}").returncode == 1


@pytest.mark.parametrize("closing", [">&-", "<&- >&- 2>&-"])
def test_a_closed_stream_does_not_make_the_log_standard_output(closing: str) -> None:
    """The next file opened would get descriptor 1, and the answer would be written into the log."""
    assert shell(f"$GATE descriptor {' '.join(CHECK)} {closing}").returncode == 1


def test_a_full_device_does_not_change_the_verdict() -> None:
    """The decision is in the log; that nobody could read the answer is said."""
    result = shell(f"$GATE reject {' '.join(CHECK)} >/dev/full")
    assert result.returncode == 1
    assert b"could not be written to standard output: No space left on device" in result.stderr


def test_a_report_that_nobody_can_read_is_no_success() -> None:
    """`replay >report` on a full disk must not look done; a command that did something did it."""
    assert shell("$GATE done replay >/dev/full").returncode == 74
    assert shell(f"{sys.executable} -m gatekeeper --help >/dev/full").returncode == 74
    assert shell("$GATE done stop run-1 --reason x >/dev/full").returncode == 0


def test_json_errors_on_a_full_device_are_said_at_least() -> None:
    """The exit code stays the error's."""
    result = shell(f"{sys.executable} -m gatekeeper chek -o json >/dev/full")
    assert result.returncode == 64
    assert b"no such command" in result.stderr


def test_a_broken_pipe_of_somebody_else_is_a_bug_and_no_verdict() -> None:
    """EPIPE from a socket inside the handler is not the reader of our output leaving."""
    assert finish(*CHECK, scene="socket").returncode == 70


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_its_own_code(number: signal.Signals, code: int) -> None:
    """Neither is a verdict, and both say that what was recorded stands."""
    with start("replay", "--follow", scene="wait") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"  # streamed answers are not held back
        process.send_signal(number)
        assert process.wait() == code
        assert process.stdout.read() == b""
        assert b"gatekeeper: " in process.stderr.read()


def test_a_caller_who_ignores_sigterm_is_not_overruled() -> None:
    """As nohup does with SIGHUP, a supervisor may shield its jobs."""
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    argv = [sys.executable, "-c", ignoring, sys.executable, DRIVER, "sigterm", *CHECK]
    assert subprocess.run(argv, env=environment(), check=False).returncode == 1


def test_an_ascii_terminal_gets_escapes_and_no_crash() -> None:
    """UnicodeEncodeError would be exit 1."""
    result = finish(*CHECK, scene="umlauts", **ASCII_ONLY)
    assert (result.returncode, result.stdout) == (2, b"\\xdcberschreitung \\u2717\n")


def test_json_is_utf8_in_every_locale() -> None:
    """The same bytes wherever they are written."""
    result = finish(*CHECK, "-o", "json", scene="umlauts-json", **ASCII_ONLY)
    assert (result.returncode, result.stdout) == (2, '{"text":"Überschreitung ✗"}\n'.encode())


def test_arguments_that_are_no_utf8_do_not_crash_the_message() -> None:
    """Python hands such bytes on as lone surrogates, which no encoding takes."""
    argv = [os.fsencode(sys.executable), b"-m", b"gatekeeper", b"check", b"--wait", b"\xff", b"-o", b"json"]
    result = subprocess.run(argv, env=environment(), capture_output=True, check=False)
    assert result.returncode == 64
    assert rb"\udcff" in result.stdout


def test_a_stray_completion_variable_does_not_turn_a_check_into_success() -> None:
    """Left to itself, typer would print completions and leave with 0, which is ACCEPT."""
    for argv in (CHECK, ["check", "--nope"]):
        result = finish(*argv, scene="reject", _GATEKEEPER_COMPLETE="complete_bash")
        assert result.returncode in {1, 64}


def test_tee_needs_pipefail_and_the_documented_shell_has_it() -> None:
    """HO-16 g: GitHub's `shell: bash` adds pipefail; without it the verdict is swallowed."""
    line = f"$GATE reject {' '.join(CHECK)} | tee /dev/null"
    assert shell(line).returncode == 0
    assert shell(f"set -eo pipefail; {line}; echo went on").returncode == 1
