"""What is measured on git must be work: each check a decision on the branch, each push by hand as long a line."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tests.lab.git import alone, git

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.slow


def test_both_sides_push_one_line_a_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds over forty events: the checks are recorded and verify; by hand three commits of one line each."""
    alone(monkeypatch, tmp_path)
    monkeypatch.syspath_prepend(str(BENCH))
    checks, git_checks = importlib.import_module("checks"), importlib.import_module("git_checks")
    for module in (checks, git_checks):
        monkeypatch.setattr(module, "program", lambda _environment, name: str(Path(sys.executable).parent / name))
    monkeypatch.setattr(git_checks, "EVENTS", 40)
    (figure,) = git_checks.checking(str(tmp_path / "out"), 1)
    assert figure.meets_must is not None, figure.measured
    for side, path in (("theirs", "events/000/000/000000042.ndjson"), ("lean", "events.ndjson")):
        repository = tmp_path / "out" / f"{side}.git"
        commits = git("--git-dir", str(repository), "rev-list", "--count", git_checks.BRANCH)
        filled = len((tmp_path / "out" / "fill.ndjson").read_bytes().splitlines())
        assert int(commits) == filled + 3
        last = (tmp_path / "out" / "fill.ndjson").read_bytes().splitlines()[-1]
        pushed = git("--git-dir", str(repository), "show", f"{git_checks.BRANCH}:{path}")
        assert pushed.encode()[: len(last) - 1] == last[:-1]
