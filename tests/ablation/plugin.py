"""A pytest plugin for the inner run: switches one control off and writes down how each test ended."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.ablation.controls import CONTROLS

CONTROL_VARIABLE = "ABLATED_CONTROL"
REPORT_VARIABLE = "ABLATION_REPORT"

_patch = pytest.MonkeyPatch()
_failed: dict[str, bool] = {}


def pytest_configure() -> None:
    """Before anything is collected: the name is replaced for the whole process and its children."""
    name = os.environ.get(CONTROL_VARIABLE)
    if name:
        CONTROLS[name].switch_off(_patch)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test with parameters fails when one of its cases does."""
    test = report.nodeid.partition("[")[0]
    _failed[test] = _failed.get(test, False) or report.failed


def pytest_unconfigure() -> None:
    """Tell the outer test, and put everything back."""
    _patch.undo()
    Path(os.environ[REPORT_VARIABLE]).write_text(json.dumps(_failed), encoding="utf-8")
