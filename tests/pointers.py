"""Every place in a document, by a walk that knows nothing of the code under test."""

from __future__ import annotations

from typing import Any

from gatekeeper.model.document import escape_pointer


def every_pointer(value: Any, pointer: str = "") -> list[str]:
    """JSON Pointers of a value and of all that stands in it; the value's own comes first."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [every_pointer(inner, f"{pointer}/{escape_pointer(str(key))}") for key, inner in members]
    return [pointer, *(one for part in below for one in part)]
