"""Any dataclass can be read: every type is as strict, every problem named after the kind of file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.build import build
from gatekeeper.documents.problem import Problem
from gatekeeper.documents.reader import adapter, quick_reader
from gatekeeper.documents.structure import last_said, soundness, structural_problems
from gatekeeper.model.document import parse_json
from tests.documents.sample import FULL, Colour, Leaf, Sample, encoded, found


def test_a_document_with_every_type_is_sound_and_needs_no_adapter() -> None:
    """A type that the quick form forgets makes every first sight of such a file slow."""
    assert found(FULL) == []
    assert quick_reader(Sample)(FULL)


@pytest.mark.parametrize(
    ("key", "wrong", "message"),
    [
        ("title", 1, "found a number 1; allowed: text"),
        ("number", "1", 'found text "1"; allowed: a number'),
        ("number", True, "found a boolean true; allowed: a number"),
        ("count", 1.5, "found a number 1.5; allowed: an integer"),
        ("count", True, "found a boolean true; allowed: an integer"),
        ("count", "8", 'found text "8"; allowed: an integer'),
        ("flag", 1, "found a number 1; allowed: true or false"),
        ("flag", "true", 'found text "true"; allowed: true or false'),
        ("colour", 1, 'found a number 1; allowed: "red", "dark_blue"'),
        ("leaf", [], "found a list; allowed: an object with name, count"),
        ("leaves", {}, "found an object; allowed: a list of objects"),
        ("names", "a", 'found text "a"; allowed: a list of texts'),
        ("weights", 1, "found a number 1; allowed: a list of numbers"),
        ("range", {}, "found an object; allowed: two numbers [low, high]"),
        ("texts", [], "found a list; allowed: an object of texts"),
        ("by_name", [], "found a list; allowed: an object"),
        ("parts", "p", 'found text "p"; allowed: an object'),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_is_allowed(key: str, wrong: Any, message: str) -> None:
    """No reading bends a value into what is wanted."""
    assert structural_problems(Sample, {**FULL, key: wrong}, kind="sample") == [
        Problem("sample.wrong_type", f"/{key}", message)
    ]


@pytest.mark.parametrize(
    ("key", "wrong", "pointer", "code"),
    [
        ("texts", {"a": 1}, "/texts/a", "sample.wrong_type"),
        ("by_name", {"x": {"nam": "three"}}, "/by_name/x/nam", "sample.unknown_key"),
        ("leaves", [{"name": "two", "count": None}], "/leaves/0/count", "sample.null"),
        ("colour", "darkblue", "/colour", "sample.unknown_value"),
        ("range", [1], "/range", "sample.wrong_length"),
        ("texts", {"a": "\ud800"}, "/texts/a", "sample.bad_text"),
    ],
)
def test_each_code_begins_with_the_kind_of_the_file(key: str, wrong: Any, pointer: str, code: str) -> None:
    """A machine that counts problems of policies must not count those of other files."""
    assert (pointer, code) in found({**FULL, key: wrong})


@pytest.mark.parametrize("key", ["parts", "anything"])
def test_where_anything_may_stand_null_is_a_value_and_odd_numbers_are_none(key: str) -> None:
    """What a part may hold is said by the dataclass that reads it; what has no digest is refused at once."""
    document = {**FULL, key: parse_json(b'{"a": null, "b": NaN, "c": 1e400}')}
    assert found(document) == [(f"/{key}/c", "sample.not_a_number"), (f"/{key}/b", "sample.not_a_number")]


def test_a_name_that_is_no_unicode_is_refused_where_anything_may_stand() -> None:
    """Such a document has no digest, whatever stands behind the name."""
    assert found({**FULL, "parts": {"\ud800": None}}) == [("/parts/\ud800", "sample.bad_text")]


def test_the_problems_of_a_part_point_into_its_file() -> None:
    """A part is read by a dataclass of its own; a reviewer knows only the file."""
    part = {"name": 7, "cuont": 1, "count": None}
    at = ("parts", "a/b", 0)
    pointers = {"/parts/a~1b/0/name", "/parts/a~1b/0/cuont", "/parts/a~1b/0/count"}
    assert {pointer for pointer, _ in found(part, at=at, shape=Leaf)} == pointers
    (problem,) = structural_problems(Leaf, [], kind="sample", at=at)
    message = "found a list; allowed: an object with name, count"
    assert problem == Problem("sample.wrong_type", "/parts/a~1b/0", message)


def test_a_part_may_be_as_deep_as_its_file_leaves_it() -> None:
    """Counted from the part, a file could be twice as deep as any reader looks."""
    value: Any = 1
    for _ in range(14):
        value = [value]
    assert found({**FULL, "anything": value}) == []  # the document itself is the first level
    deep = {**FULL, "anything": [value]}
    (place,) = found({**FULL, "anything": [[value]]})
    assert place == ("/anything" + "/0" * 15, "sample.too_deep")
    assert found(deep) == []
    assert found(deep, at=("parts",)) == [("/parts/anything" + "/0" * 14, "sample.too_deep")]


def test_a_file_that_is_no_object_is_told_how_one_begins() -> None:
    """The kind of the file and its form are the caller's words."""
    (problem,) = structural_problems(Sample, [], kind="sample", form='{"title": …}')
    assert problem == Problem(
        "sample.wrong_type", "", "a sample is one JSON object, found a list", 'write {"title": …}'
    )


def test_what_a_parts_own_reader_says_replaces_what_its_file_said() -> None:
    """Two passes over one place are one problem."""
    first, second = Problem("a", "/x", "of the file"), Problem("b", "/x", "of the part")
    assert last_said([first, Problem("c", "/y", "other"), second]) == [second, Problem("c", "/y", "other")]


def test_only_what_stands_at_or_below_a_place_makes_it_unsound() -> None:
    """`/a` has nothing to do with `/ab`."""
    sound = soundness([Problem("x", "/ab/0", "")])
    assert [sound(pointer) for pointer in ("", "/ab", "/ab/0")] == [False] * 3
    assert [sound(pointer) for pointer in ("/a", "/ab/0/b", "/ab/1", "/ab/00")] == [True] * 4


_LEAVES = st.fixed_dictionaries({"name": st.text()}, optional={"count": st.integers(-9, 9)})
_WORDS = st.sampled_from(list(Colour)).map(str)
_NUMBERS = st.integers(-9, 9) | st.floats(0.25, 0.75)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_SAMPLES = st.fixed_dictionaries(
    {"title": st.text(), "number": _NUMBERS},
    optional={
        "count": st.integers(-9, 9),
        "flag": st.booleans(),
        "colour": _WORDS,
        "leaf": _LEAVES,
        "leaves": st.lists(_LEAVES, max_size=2),
        "names": st.lists(st.text(), max_size=2),
        "weights": st.lists(_NUMBERS, max_size=2),
        "range": st.lists(_NUMBERS, min_size=2, max_size=2),
        "texts": st.dictionaries(st.text(), st.text(), max_size=2),
        "by_name": st.dictionaries(st.text(), _LEAVES, max_size=2),
        "parts": st.dictionaries(st.text(), _JSON, max_size=2),
        "anything": _JSON,
    },
)


@given(_SAMPLES)
def test_what_is_built_equals_what_pydantic_builds(document: dict[str, Any]) -> None:
    """The builder needs no adapter and must not read a document in another way."""
    assert found(document) == []
    built = build(Sample, document)
    assert built == adapter(Sample).validate_json(encoded(document))
    assert isinstance(built.colour, Colour)


@given(_SAMPLES, st.sampled_from(sorted(FULL)), _JSON)
def test_the_quick_yes_to_a_sample_is_never_laxer_than_pydantic(document: dict[str, Any], key: str, junk: Any) -> None:
    """What passes without the adapter must be what the adapter reads."""
    spoilt = {**document, key: junk}
    if quick_reader(Sample)(spoilt):
        assert adapter(Sample).validate_json(encoded(spoilt)) is not None
