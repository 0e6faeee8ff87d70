"""Values are dataclasses: a lookalike that differs would break validation, replay or a person's trust in `==`."""

import copy
import dataclasses
import importlib
import pickle
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import gatekeeper
from gatekeeper.model import values


@values.dataclass(frozen=True)
class Light:
    """A value."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()
    params: dict[str, int] = values.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Standard:
    """The same, by the standard library."""

    name: str
    size: int = 3
    tags: tuple[str, ...] = ()
    params: dict[str, int] = dataclasses.field(default_factory=dict)


@values.dataclass(frozen=True)
class Checked:
    """A value that refuses some."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("negative")


ARGUMENTS = st.tuples(
    st.lists(st.integers(0, 3), max_size=5),
    st.dictionaries(st.sampled_from(["name", "size", "tags", "params", "colour"]), st.integers(0, 3)),
)


def made(kind: type, args: list[int], given_by_name: dict[str, int]) -> object:
    """The fields of an instance, or the type of the error."""
    try:
        return dataclasses.asdict(kind(*args, **given_by_name))
    except TypeError:
        return TypeError


def hot_classes() -> list[type]:
    """All classes of the package that `values.dataclass` made."""
    names = [module.name for module in pkgutil.walk_packages(gatekeeper.__path__, "gatekeeper.")]
    things = {
        thing
        for name in names
        if name != "gatekeeper.__main__"
        for thing in vars(importlib.import_module(name)).values()
        if isinstance(thing, type) and vars(thing).get("__repr__") is vars(Light)["__repr__"]
    }
    return sorted(things, key=lambda kind: kind.__qualname__)


@given(ARGUMENTS)
def test_arguments_are_taken_and_refused_as_by_the_standard_library(
    arguments: tuple[list[int], dict[str, int]],
) -> None:
    """Whatever is given by place or by name makes the same fields, or is a TypeError in both."""
    assert made(Light, *arguments) == made(Standard, *arguments)


def test_every_instance_gets_a_default_of_its_own() -> None:
    """One instance's dict must never be another's."""
    first, second = Light("a"), Light("a")
    assert first == second
    assert first.params is not second.params


def test_values_are_equal_by_their_fields_and_only_to_their_own_kind() -> None:
    """A cached attribute is no part of a value, another class with equal fields is another thing."""
    one, other = Light("a", 1), Light("a", 1)
    one.__dict__["cached"] = 7
    assert one == other
    assert Light("a", 1) != Light("a", 2)
    other_kind: object = Standard("a")
    assert Light("a") != other_kind
    assert hash(Checked(1)) == hash(Checked(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Light("a"))


def test_a_value_cannot_be_changed() -> None:
    """Neither assigned nor deleted, with the error of the standard library."""
    value = Light("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.size = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.size
    assert value == Light("a", 3)


def test_checks_of_a_class_run_at_every_way_of_making_one() -> None:
    """`__post_init__` is not passed by, not even by replacing a field."""
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)
    with pytest.raises(ValueError, match="negative"):
        values.replace(Checked(1), size=-1)


def test_replacing_keeps_the_other_fields() -> None:
    """Ours and the standard library's `replace` agree; an unknown field is refused."""
    value = Light("a", 1, ("x",), {"k": 1})
    assert values.replace(value, size=2) == dataclasses.replace(value, size=2) == Light("a", 2, ("x",), {"k": 1})
    value.__dict__["cached"] = 7
    assert vars(values.replace(value, size=2)).keys() == {"name", "size", "tags", "params"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        values.replace(value, colour=1)  # type: ignore[call-arg]


def test_the_words_for_a_value_are_those_of_the_standard_library() -> None:
    """Error messages and test failures show values."""
    assert repr(Light("a")) == repr(Standard("a")).replace("Standard", "Light")


def test_the_standard_library_and_pydantic_see_a_dataclass() -> None:
    """`fields`, `is_dataclass`, `match` and a TypeAdapter work on class and instance."""

    def described(kind: type) -> list[tuple[object, ...]]:
        return [(field.name, field.type, field.default, field.default_factory) for field in dataclasses.fields(kind)]

    assert dataclasses.is_dataclass(Light)
    assert dataclasses.is_dataclass(Light("a"))
    assert described(Light) == described(Standard)
    assert Light.__match_args__ == ("name", "size", "tags", "params")
    assert TypeAdapter(Light).validate_python({"name": "a", "size": "4"}) == Light("a", 4)


def test_a_class_tells_its_mandatory_fields_before_and_after_it_is_described() -> None:
    """A field with a default that is called mandatory would refuse sound documents, and the reverse let others in."""

    @values.dataclass(frozen=True)
    class Fresh:
        name: str
        size: int = 3
        params: dict[str, int] = values.field(default_factory=dict)

    assert values.required_of(Fresh) == {"name"}
    assert dataclasses.is_dataclass(Fresh)  # which describes it
    assert values.required_of(Fresh) == values.required_of(Standard) == {"name"}


def test_a_dataclass_is_known_without_being_described() -> None:
    """Describing a class imports `dataclasses` and compiles what no check needs."""

    class Pattern:
        __match_args__ = ("name",)

    assert values.is_value(Light)
    assert values.is_value(Standard)
    assert not any(values.is_value(other) for other in (int, Pattern, Light("a"), dict[str, int], None))


def test_a_value_survives_copying_and_pickling() -> None:
    """As values of the standard library do."""
    value = Light("a", 1, ("x",), {"k": 1})
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_a_class_that_can_change_is_refused() -> None:
    """Only frozen classes are values."""
    with pytest.raises(TypeError, match="never change"):
        values.dataclass(frozen=False)


@pytest.mark.parametrize("kind", hot_classes(), ids=lambda kind: kind.__qualname__)
def test_no_class_uses_what_values_do_not_offer(kind: type) -> None:
    """No base class and no field option that only the standard library would honour."""
    assert kind.__mro__ == (kind, object)
    for field in dataclasses.fields(kind):
        assert field.init
        assert field.compare
        assert "ClassVar" not in str(field.type)
        assert "InitVar" not in str(field.type)
