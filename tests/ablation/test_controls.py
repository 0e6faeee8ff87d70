"""A test that passes without the control that it is named for would hold nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ablation.controls import CONTROLS
from tests.ablation.plugin import CONTROL_VARIABLE, REPORT_VARIABLE

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.server]


def failed_tests(control: str, report: Path) -> set[str]:
    """The named tests of all controls that fail while *control* is off; none is switched off for ''."""
    tests = [one.test for one in CONTROLS.values()]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.ablation.plugin", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, CONTROL_VARIABLE: control, REPORT_VARIABLE: str(report)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=110)
    assert report.exists(), done.stdout + done.stderr
    ended: dict[str, bool] = json.loads(report.read_text(encoding="utf-8"))
    assert set(ended) == set(tests), done.stdout
    return {test for test, has_failed in ended.items() if has_failed}


@pytest.mark.parametrize("control", CONTROLS)
def test_switching_a_control_off_fails_its_own_test_and_no_other(control: str, tmp_path: Path) -> None:
    """The named test notices; the tests of the other controls still pass."""
    assert failed_tests(control, tmp_path / "report.json") == {CONTROLS[control].test}


def test_with_every_control_on_all_of_them_pass(tmp_path: Path) -> None:
    """Else the table above would prove nothing."""
    assert failed_tests("", tmp_path / "report.json") == set()
