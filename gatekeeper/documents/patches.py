"""Which module changes the text of a file: `patch` for JSON, `yaml_patch` for YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gatekeeper.model.document import is_yaml

if TYPE_CHECKING:
    from typing import Any


class UnchangeableError(ValueError):
    """The text cannot be changed without losing something of it; it says where, by a JSON Pointer."""


class Patches(Protocol):
    """Single changes to a text; every other byte stays. In YAML they may raise `UnchangeableError`."""

    def removed(self, data: bytes, pointer: str) -> bytes:
        """Without the item or member at a pointer."""

    def put(self, data: bytes, pointer: str, value: Any) -> bytes:
        """With a value at a pointer: for the one that stands there, or as the last member of the object around."""

    def renamed(self, data: bytes, pointer: str, name: str) -> bytes:
        """With another name for the member at a pointer."""


def patches_of(source: str) -> Patches:
    """What changes the text of the file of this name."""
    if is_yaml(source):
        from gatekeeper.documents import yaml_patch

        return yaml_patch
    from gatekeeper.documents import patch

    return patch
