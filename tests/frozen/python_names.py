"""The names that `import gatekeeper` gives to programs, and what may change of them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import gatekeeper
from tests.frozen.changes import Change, beneath
from tests.frozen.tables import Rule, compare_tables

_NAME = {"attributes": Rule.WORDS}
_PARAMETER = {"required": Rule.DEMAND}
_OF_ANY_OBJECT = frozenset({*dir(BaseException), *dir(object), *dir(str)})

Names = Mapping[str, Mapping[str, Any]]


def python_names() -> dict[str, dict[str, Any]]:
    """Public name -> what it is, its attributes, and the parameters of a call."""
    return {name: _described(getattr(gatekeeper, name)) for name in gatekeeper.__all__}


def compare_python_names(old: Names, new: Names) -> Iterator[Change]:
    """What differs between two of them."""
    yield from compare_tables(_without(old), _without(new), _NAME)
    for name in sorted({*old} & {*new}):
        where = beneath("", name, "parameters")
        yield from compare_tables(old[name]["parameters"], new[name]["parameters"], _PARAMETER, where)


def _without(names: Names) -> Names:
    return {
        name: {field: value for field, value in fields.items() if field != "parameters"}
        for name, fields in names.items()
    }


def _described(value: Any) -> dict[str, Any]:
    if not callable(value):
        return {"is": "value", "attributes": [], "parameters": {}}
    is_class = isinstance(value, type)
    return {
        "is": "class" if is_class else "function",
        "attributes": _attributes(value) if is_class else [],
        "parameters": _parameters(value),
    }


def _attributes(kind: type) -> list[str]:
    """Fields, properties and methods; what every object, text or exception has is nobody's promise."""
    stated = {name for base in kind.__mro__ for name in getattr(base, "__annotations__", ())}
    return sorted(name for name in {*dir(kind), *stated} - _OF_ANY_OBJECT if not name.startswith("_"))


def _parameters(value: Any) -> dict[str, dict[str, Any]]:
    """Of a function, and of a value that is made from its fields; nobody else makes the other classes."""
    if dataclasses.is_dataclass(value):
        absent = dataclasses.MISSING
        return {
            one.name: {"kind": "field", "required": one.default is absent and one.default_factory is absent}
            for one in dataclasses.fields(value)
        }
    if isinstance(value, type):
        return {}
    return {
        name: {"kind": parameter.kind.name.lower(), "required": parameter.default is parameter.empty}
        for name, parameter in inspect.signature(value).parameters.items()
    }
