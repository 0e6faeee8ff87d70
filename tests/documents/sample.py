"""A dataclass with a field of every type that a document may have, and a document that fills all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gatekeeper.documents.structure import structural_problems


class Colour(StrEnum):
    """Words."""

    RED = "red"
    DARK_BLUE = "dark_blue"


@dataclass(frozen=True)
class Leaf:
    """An object in an object."""

    name: str
    count: int = 1


@dataclass(frozen=True)
class Sample:
    """Every type once."""

    title: str
    number: float
    count: int = 8
    flag: bool = True
    colour: Colour = Colour.RED
    leaf: Leaf | None = None
    leaves: tuple[Leaf, ...] = ()
    names: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    range: tuple[float, float] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)
    anything: Any = None


FULL: dict[str, Any] = {
    "title": "t",
    "number": 0.5,
    "count": 3,
    "flag": False,
    "colour": "dark_blue",
    "leaf": {"name": "one", "count": 2},
    "leaves": [{"name": "two"}],
    "names": ["a"],
    "weights": [1, 0.5],
    "range": [0, 1],
    "texts": {"a": "b"},
    "by_name": {"x": {"name": "three"}},
    "parts": {"p": {"deep": [1, True, "x", None]}},
    "anything": [{"a": 1}],
}


def found(document: Any, *, at: tuple[str | int, ...] = (), shape: type = Sample) -> list[tuple[str, str]]:
    """Pointer and code of every structural problem."""
    return [(one.pointer, one.code) for one in structural_problems(shape, document, kind="sample", at=at)]


def encoded(document: Any) -> bytes:
    """Bytes of a file."""
    return json.dumps(document).encode()
