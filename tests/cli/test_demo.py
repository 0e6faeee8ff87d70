"""`demo` tells the whole story anywhere, through the real commands, and says so when it does not come out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gatekeeper.cli import demo, demo_story
from gatekeeper.cli.app import run
from tests.cli.support import environment, finish, shell

if TYPE_CHECKING:
    from pathlib import Path

CODES = [0, 0, 0, 2, 0, 1, 0, 0]
"""Three stages pass, a hold, its resume, a reject, replay, verify."""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the demo makes its directory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def _typed(output: str) -> list[str]:
    """The command lines that the demo shows, lines joined as a shell joins them."""
    return re.findall(r"^\$ (gatekeeper .*)$", output.replace("\\\n", " "), re.MULTILINE)[: len(CODES)]


def test_the_story_comes_out_and_can_be_typed_again(scratch: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exit codes as the issue states them; the same commands in the same directory give them once more."""
    before = os.getcwd()
    assert run(["demo"]) == 0
    assert os.getcwd() == before
    output = capfd.readouterr().out
    assert [int(code) for code in re.findall(r"^Exit code (\d+): ", output, re.MULTILINE)] == CODES
    (directory,) = scratch.iterdir()
    assert str(directory) in output, "it says where"
    for name in directory.glob("decision.ndjson*"):
        name.unlink()
    for line, code in zip(_typed(output), CODES, strict=True):
        program = f"{sys.executable} -m {line}"
        result = subprocess.run(program, shell=True, cwd=directory, env=environment(), capture_output=True, check=False)
        assert result.returncode == code, line


def test_each_answer_is_shown_behind_its_command(capfd: pytest.CaptureFixture[str]) -> None:
    """The commands print by themselves: the story must not run ahead of them."""
    assert run(["demo"]) == 0
    output = capfd.readouterr().out
    marks = re.findall(r"^(\$ gatekeeper \w+|\[\w+\]|the log verifies|Exit code)", output, re.MULTILINE)
    check, done = "$ gatekeeper check", "Exit code"
    assert marks[:18] == [
        *(check, "[OK]", done) * 3,
        *(check, "[HOLD]", done),
        *("$ gatekeeper resume", "[OK]", done),
        *(check, "[STOP]", done),
    ]
    assert marks[-4:-1] == ["$ gatekeeper verify", "the log verifies", done]


def test_a_narrow_terminal_that_speaks_ascii_only_is_enough() -> None:
    """COLUMNS=40, no terminal, LANG=C: no line is longer but where one word is, no character is lost."""
    result = finish("demo", COLUMNS="40", LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert result.returncode == 0
    text = result.stdout.decode("ascii")
    captions = [line for line in text.splitlines() if re.match(r"(\d\. |Exit code|A rollout|That was)", line)]
    assert len(captions) == 18
    assert max(map(len, captions)) <= 40


def test_defaults_of_the_caller_do_not_get_into_the_story(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A simulated run in the team's log, or a story in JSON, would be no demo."""
    home = scratch / "home"
    home.mkdir()
    (home / "gatekeeper.toml").write_text('output = "json"\nlog = "team.ndjson"\n')
    monkeypatch.chdir(home)
    monkeypatch.setenv("GATEKEEPER_LOG", str(home / "team.ndjson"))
    monkeypatch.setenv("GATEKEEPER_OUTPUT", "json")
    assert run(["demo"]) == 0
    assert capfd.readouterr().out.count("[OK]") == 4
    assert os.listdir(home) == ["gatekeeper.toml"]
    assert os.environ["GATEKEEPER_OUTPUT"] == "json"


def test_a_step_that_ends_otherwise_is_a_bug_and_no_success(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """70, naming the step: a demo that shrugs would prove nothing."""
    first, *rest = demo_story.STEPS
    monkeypatch.setattr(demo, "STEPS", (replace(first, exit_code=2), *rest))
    assert run(["demo"]) == 70
    assert "step 1 of the demo ended with exit code 0, and 2 was expected" in capfd.readouterr().err


def test_ctrl_c_within_a_step_ends_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command answers 130; that is no wrong step, and the next one must not begin."""
    monkeypatch.setattr("gatekeeper.cli.check.check", _interrupted)
    assert run(["demo"]) == 130


def _interrupted(_: object) -> None:
    raise KeyboardInterrupt


def test_no_place_to_write_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """74 and how to help, not a traceback."""

    def fail(prefix: str) -> str:
        raise OSError(28, "No space left on device", prefix)

    monkeypatch.setattr("tempfile.mkdtemp", fail)
    assert run(["demo"]) == 74
    assert "set TMPDIR" in capfd.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    """`gatekeeper demo | head -3`."""
    result = shell(f"{sys.executable} -m gatekeeper demo | head -3; exit ${{PIPESTATUS[0]}}")
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 3


def test_a_working_directory_that_is_gone_is_no_failure(scratch: Path) -> None:
    """A shell whose directory was removed meanwhile."""
    gone = scratch / "gone"
    gone.mkdir()
    result = shell(f"cd {gone} && rmdir {gone} && {sys.executable} -P -m gatekeeper demo")
    assert result.returncode == 0, result.stderr
