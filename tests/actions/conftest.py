"""What the tests of actions and examples begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A repository with our actions in it."""
    site = Site(tmp_path)
    site.found()
    return site
