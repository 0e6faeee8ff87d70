"""The version: of the distribution, of `--version`, and of what HTTP servers see in their logs."""

from __future__ import annotations

__version__ = "0.1.0"
