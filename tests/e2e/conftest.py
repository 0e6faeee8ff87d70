"""A desk per test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty working directory with P0 in it."""
    return Desk(tmp_path)
