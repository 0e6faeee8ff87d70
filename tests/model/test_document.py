from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import DocumentError
from gatekeeper.model.document import NotADouble, locate, parse_json
from tests.pointers import every_pointer

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e6, 1e6) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_plain_json_is_read_as_it_is(value: Any, indent: int | str | None) -> None:
    """What Python's json writes comes back, whatever the spacing."""
    assert parse_json(json.dumps(value, indent=indent).encode()) == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1, "a": 2}', "1:10: duplicate key 'a' at /a"),
        ('{"a": {"b": 1,\n "c": 2,\n  "b": 3}}', "3:3: duplicate key 'b' at /a/b"),
        ('[0, {"x": [], "\\u0078": 1}]', "1:15: duplicate key 'x' at /1/x"),
        ('{"a/b~": 1, "a/b~": 1}', "1:13: duplicate key 'a/b~' at /a~1b~0"),
    ],
)
def test_a_duplicate_key_is_refused_with_its_place(text: str, where: str) -> None:
    """Readers of JSON silently keep the last one: line, column and pointer of the second are named."""
    with pytest.raises(DocumentError) as caught:
        parse_json(text.encode(), source="p.json")
    assert caught.value.message == f"p.json:{where}"
    assert caught.value.exit_code == 65


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"", 1, 1),
        (b"{", 1, 2),
        (b'{"a": 1}\n{}', 2, 1),
        (b'{"a": 1,\n}', 2, 1),
        (b"{'a': 1}", 1, 2),
        (b"[1\n2]", 2, 1),
        (b"{} x", 1, 4),
        (b"[01]", 1, 3),
        (b'["\t"]', 1, 3),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(data: bytes, line: int, column: int) -> None:
    """Line and column where it stops being JSON."""
    with pytest.raises(DocumentError) as caught:
        parse_json(data, source="s.json")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.message.startswith(f"s.json:{line}:{column}: not JSON")


def test_bytes_that_are_no_utf8_are_refused() -> None:
    """The line is named; a byte order mark is passed over."""
    with pytest.raises(DocumentError) as caught:
        parse_json(b'{"a":\n "\xff"}', source="s.json")
    assert caught.value.message == "s.json:2: not UTF-8 at byte 8"
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e400",
        "9007199254740992",
        "-9007199254740992",
        "1e17",
        "9" * 5000,
        "100000000000000000000",
    ],
)
def test_a_number_that_no_double_keeps_becomes_its_text(text: str) -> None:
    """It never takes part in arithmetic; whoever reads the document decides what it means."""
    (value,) = parse_json(f"[{text}]".encode())
    assert isinstance(value, NotADouble)
    assert value == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9007199254740991", 2**53 - 1),
        ("-9007199254740991", 1 - 2**53),
        ("1e21", 1e21),
        ("-0", 0),
        ("1E2", 100),
        ("250.0", 250),
        ("-0.0", 0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("1e-400", 0),
    ],
)
def test_a_number_that_a_double_keeps_is_that_number(text: str, number: float) -> None:
    """The largest and the smallest ones included; a whole number is an integer, however it was written."""
    (value,) = parse_json(f"[{text}]".encode())
    assert (value, type(value)) == (number, type(number))


def test_nesting_without_end_is_refused() -> None:
    """No RecursionError leaves the reader."""
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse_json(b"[" * 200_000)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_that_a_later_reader_could_not_walk_down_is_refused(opening: bytes, closing: bytes) -> None:
    """What is logged must be read again, in whatever depth of calls: a line that nobody reads is a damaged log."""
    parse_json(opening * 200 + b"1" + closing * 200)
    with pytest.raises(DocumentError, match="nested too deeply, more than 200 levels"):
        parse_json(opening * 201 + b"1" + closing * 201)


def test_a_wide_document_is_not_a_deep_one() -> None:
    """Thousands of metrics stand side by side."""
    assert len(parse_json(b"[" + b",".join([b'{"a":[1]}'] * 5_000) + b"]")) == 5_000


def test_every_value_is_found_by_its_pointer() -> None:
    """Line and column of values and of members' names, through lists and escapes."""
    text = '{"a": 1,\n "b/c": [true,\n  {"d~": "x"}]}'
    assert locate(text.encode()) == {
        "": (1, 1),
        "#/a": (1, 2),
        "/a": (1, 7),
        "#/b~1c": (2, 2),
        "/b~1c": (2, 9),
        "/b~1c/0": (2, 10),
        "/b~1c/1": (3, 3),
        "#/b~1c/1/d~0": (3, 4),
        "/b~1c/1/d~0": (3, 10),
    }


@given(VALUES)
def test_every_pointer_of_a_document_is_located(value: Any) -> None:
    """Whatever the document, each value has its place."""
    found = locate(json.dumps(value, indent=1, ensure_ascii=False).encode())
    assert {pointer for pointer in found if not pointer.startswith("#")} == set(every_pointer(value))


def test_a_name_that_ends_in_a_hash_is_not_taken_for_the_place_of_another() -> None:
    """Each name and each value has a place of its own, in whatever order they stand."""
    assert locate(b'{"a": 1, "a#": 2}') == {"": (1, 1), "#/a": (1, 2), "/a": (1, 7), "#/a#": (1, 10), "/a#": (1, 16)}
