"""A desk per test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty working directory with P0 in it."""
    return Desk(tmp_path)


@pytest.fixture
def key(desk: Desk) -> str:
    """A signing key; its public half stands beside it."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(desk.place / "key")], check=True)
    return "key"
