"""The guide's lines for any CI system, with a gate that answers each code there is."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docs.console import blocks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("code", "moved"),
    [(0, "10"), (1, "0"), (2, ""), (3, ""), (64, ""), (65, ""), (70, ""), (74, ""), (127, ""), (143, "")],
)
def test_only_accept_moves_forward_and_only_reject_moves_back(code: int, moved: str, tmp_path: Path) -> None:
    """Behind `| tee` and without pipefail, as a CI system starts its shell."""
    (script,) = blocks("docs/guides/ci.md", "bash")
    (tmp_path / "ci").mkdir()
    for name, line in (("gatekeeper", f"exit {code}"), ("ci/set-traffic", 'echo "$1" >> traffic')):
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{line}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert result.returncode == code
    traffic = tmp_path / "traffic"
    assert (traffic.read_text().strip() if traffic.exists() else "") == moved
