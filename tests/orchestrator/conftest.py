"""The desk as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrator.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A log that does not exist yet."""
    return Desk(tmp_path / "logs" / "decision.ndjson")
