"""A bare repository for each test, and nothing of this machine's git."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.git import Bare, alone


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bare:
    """A repository without a branch; nobody waits between two tries."""
    alone(monkeypatch, tmp_path)
    monkeypatch.setattr("gatekeeper.ledger.git.pushing.time.sleep", lambda _seconds: None)
    return Bare(tmp_path)
