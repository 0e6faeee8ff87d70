"""Code that every Python process of a desk runs before the command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.desk import Desk


def site(desk: Desk, code: str) -> str:
    """A folder whose `sitecustomize` every Python process of the desk runs first."""
    folder = desk.place / "site"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(code)
    return f"{folder}{os.pathsep}{desk.env()['PYTHONPATH']}"
