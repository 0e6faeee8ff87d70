"""A log that is no file, where a test asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.cli import remote
from tests.cli.elsewhere import Elsewhere


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """An empty ledger elsewhere."""
    made = Elsewhere(tmp_path / "elsewhere")
    monkeypatch.setattr(remote, "connect", made.connect)
    return made
