"""Frozen dataclasses that cost next to nothing at start-up.

The standard library writes and compiles six methods for each dataclass when its module is imported; for
the classes that a check meets, that and the import of `dataclasses` itself would be a third of its time.
Here they share methods that were compiled once. To whoever looks (pydantic, `fields`, `replace`, `asdict`,
a type checker) they are frozen dataclasses: the standard library describes a class at the first look.

Usage: `from gatekeeper.model.values import dataclass, field, replace`; `frozen=True`, no base classes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn


class _Factory:
    """Stands in a class body where a default is made anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def _field(*, default_factory: Callable[[], object]) -> Any:
    return _Factory(default_factory)


def _dataclass(*, frozen: bool) -> Callable[[type], type]:
    if not frozen:
        raise TypeError("values never change: a class that does is no dataclass of this module")
    return _make_value


def _replace(value: Any, /, **changes: object) -> Any:
    cls, names = value.__class__, value.__match_args__
    made = object.__new__(cls)
    fields = made.__dict__
    fields.update(value.__dict__)
    if len(fields) > len(names):  # what a cached property keeps is no field
        for name in fields.keys() - set(names):
            del fields[name]
    if not changes.keys() <= fields.keys():
        raise _misfit(f"{cls.__qualname__}.__init__()", names, (), changes)
    fields.update(changes)
    if hasattr(cls, "__post_init__"):
        made.__post_init__()
    return made


def is_value(shape: object) -> bool:
    """Whether *shape* is a dataclass, of this module or another; unlike `is_dataclass`, it makes nobody describe it."""
    return isinstance(shape, type) and "__dataclass_fields__" in vars(shape)


def required_of(cls: type) -> frozenset[str]:
    """The fields of a dataclass that have no default."""
    described = vars(cls)["__dataclass_fields__"]
    if isinstance(described, _Described):
        return described.required
    from dataclasses import MISSING

    return frozenset(
        name for name, field in described.items() if field.default is MISSING and field.default_factory is MISSING
    )


def _make_value(cls: type) -> type:
    names = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    factories = {name: default.make for name, default in defaults.items() if isinstance(default, _Factory)}
    for name in factories:
        del defaults[name]
        delattr(cls, name)
    methods = {
        "__match_args__": names,
        "__init__": _init_of(cls, names, defaults, factories),
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
        "__dataclass_fields__": _Described("__dataclass_fields__", names, defaults, factories),
        "__dataclass_params__": _Described("__dataclass_params__", names, defaults, factories),
    }
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _init_of(
    cls: type, names: tuple[str, ...], defaults: Mapping[str, object], factories: Mapping[str, Callable[[], object]]
) -> Callable[..., None]:
    every = frozenset(names)
    is_checked = hasattr(cls, "__post_init__")

    def init(self: Any, /, *args: object, **given: object) -> None:
        values = {**defaults, **dict(zip(names, args, strict=False)), **given} if args else {**defaults, **given}
        for name, make in factories.items():
            if name not in values:
                values[name] = make()
        if values.keys() != every or len(args) > len(names) or (args and given and _clash(names, args, given)):
            raise _misfit(f"{cls.__qualname__}.__init__()", names, args, given)
        self.__dict__.update(values)
        if is_checked:
            self.__post_init__()

    return init


def _clash(names: tuple[str, ...], args: tuple[object, ...], given: Mapping[str, object]) -> bool:
    return not given.keys().isdisjoint(names[: len(args)])


def _misfit(call: str, names: tuple[str, ...], args: tuple[object, ...], given: Mapping[str, object]) -> TypeError:
    """What Python says of arguments that do not fit."""
    if len(args) > len(names):
        return TypeError(f"{call} takes {len(names)} values but {len(args)} were given")
    for name in given:
        if name not in names:
            return TypeError(f"{call} got an unexpected keyword argument {name!r}")
        if name in names[: len(args)]:
            return TypeError(f"{call} got multiple values for argument {name!r}")
    return TypeError(f"{call} is missing arguments, it takes: {', '.join(names)}")


def _fields_of(value: Any) -> tuple[object, ...]:
    return tuple([getattr(value, name) for name in value.__match_args__])


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{self.__class__.__qualname__}({shown})"


def _eq(self: Any, other: object) -> bool:
    return _fields_of(self) == _fields_of(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_fields_of(self))


def _refuse_assignment(_self: object, name: str, _value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Described:
    """An attribute by which the standard library knows a dataclass, made by itself when it is first read."""

    def __init__(
        self,
        attribute: str,
        names: tuple[str, ...],
        defaults: Mapping[str, object],
        factories: Mapping[str, Callable[[], object]],
    ) -> None:
        self.required = frozenset(names) - defaults.keys() - factories.keys()
        self._attribute = attribute
        self._defaults = defaults
        self._factories = factories

    def __get__(self, _instance: object, cls: type) -> object:
        import dataclasses

        # of a twin: nothing about the class itself changes while other threads use it
        twin = type(
            cls.__name__,
            (),
            {
                "__annotations__": cls.__annotations__,
                "__module__": cls.__module__,
                **self._defaults,
                **{name: dataclasses.field(default_factory=make) for name, make in self._factories.items()},
            },
        )
        described = getattr(dataclasses.dataclass(frozen=True)(twin), self._attribute)
        setattr(cls, self._attribute, described)
        return described


__all__ = ["dataclass", "field", "is_value", "replace", "required_of"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    dataclass, field, replace = _dataclass, _field, _replace
