"""The guide's lines for any CI system, with a gate that answers each code there is."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docs.console import blocks

if TYPE_CHECKING:
    from pathlib import Path


CHECK = 'if [ "$1" = --version ]; then exit 0; fi; exit '


def _run(gate: str, directory: Path) -> tuple[int, str]:
    """Exit code of the lines with *gate* as gatekeeper, and what the traffic script was told."""
    (script,) = blocks("docs/guides/ci.md", "bash")
    (directory / "ci").mkdir()
    for name, line in (("gatekeeper", gate), ("ci/set-traffic", 'echo "$1" >> traffic')):
        (directory / name).write_text(f"#!/usr/bin/env bash\n{line}\n")
        (directory / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-e", "-c", script], cwd=directory, env=environment, capture_output=True, check=False
    )
    traffic = directory / "traffic"
    return result.returncode, traffic.read_text().strip() if traffic.exists() else ""


@pytest.mark.parametrize(
    ("code", "moved"),
    [(0, "10"), (1, "0"), (2, ""), (3, ""), (64, ""), (65, ""), (70, ""), (74, ""), (127, ""), (143, "")],
)
def test_only_accept_moves_forward_and_only_reject_moves_back(code: int, moved: str, tmp_path: Path) -> None:
    """Behind `| tee` and without pipefail, as a CI system starts its shell."""
    assert _run(f"{CHECK}{code}", tmp_path) == (code, moved)


def test_an_installation_that_is_broken_moves_nothing(tmp_path: Path) -> None:
    """A Python that cannot start ends with 1, and that is no REJECT."""
    assert _run("echo Traceback >&2; exit 1", tmp_path) == (127, "")
