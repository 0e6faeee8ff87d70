"""Changes to the text of a file: one thing changes, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents import patch
from gatekeeper.documents.patch import added, removed, renamed, replaced
from gatekeeper.model.document import escape_pointer, parse_json

TEXT = b"""{
  "a": [1, 2,
        3],
  "b": {"x": 1.50, "y": "\\u00e4"},
  "c": {}
}
"""


@pytest.mark.parametrize(
    ("pointer", "before", "after"),
    [
        ("/a/0", b"[1, 2,", b"[2,"),
        ("/a/1", b"[1, 2,\n        3]", b"[1, 3]"),
        ("/a/2", b"2,\n        3]", b"2]"),
        ("/b/x", b'{"x": 1.50, "y"', b'{"y"'),
        ("/b/y", b'1.50, "y": "\\u00e4"}', b"1.50}"),
        ("/c", b',\n  "c": {}\n', b"\n"),
    ],
)
def test_what_is_taken_out_takes_its_comma_along(pointer: str, before: bytes, after: bytes) -> None:
    """A comma too many makes the file unreadable; the rest is untouched, numbers and escapes included."""
    assert TEXT.count(before) == 1
    assert removed(TEXT, pointer) == TEXT.replace(before, after)


def test_a_list_that_loses_its_last_item_closes_up() -> None:
    """Nothing but brackets is left."""
    assert removed(b'{"a": [\n  1\n]}', "/a/0") == b'{"a": []}'
    assert removed(b'{"a": {"b": 1}}', "/a/b") == b'{"a": {}}'


def test_a_value_is_replaced_and_a_name_rewritten_in_place() -> None:
    """The other does not move."""
    assert replaced(TEXT, "/b/x", [1, "\u00e4"]) == TEXT.replace(b"1.50", '[1, "\u00e4"]'.encode())
    assert renamed(TEXT, "/b/x", "z") == TEXT.replace(b'"x": 1.50', b'"z": 1.50')


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        (b'{"a": {}}', "/a", b'{"a": {"n": true}}'),
        (b'{"a": {"b": 1}}', "/a", b'{"a": {"n": true, "b": 1}}'),
        (b'{"a": { "b": 1 }}', "/a", b'{"a": { "n": true, "b": 1 }}'),
        (b'{\r\n\t"b": 1\r\n}', "", b'{\r\n\t"n": true,\r\n\t"b": 1\r\n}'),
    ],
)
def test_a_new_member_is_laid_out_as_its_neighbour(text: bytes, pointer: str, expected: bytes) -> None:
    """A line and its indent where the neighbour has one, a space where it has none."""
    assert added(text, pointer, "n", True) == expected


def test_a_byte_order_mark_stays() -> None:
    """Whoever wrote it reads the file again."""
    assert removed(b"\xef\xbb\xbf[1, 2]", "/0") == b"\xef\xbb\xbf[2]"


def test_a_change_that_would_change_something_else_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is read again before anybody gets it."""
    monkeypatch.setattr(patch, "_json", lambda _: "7")
    with pytest.raises(RuntimeError, match="something else"):
        replaced(b'{"a": 1}', "/a", 8)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def _pointers(value: Any, pointer: str = "") -> list[str]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, inner in members:
        here = f"{pointer}/{escape_pointer(str(key))}"
        found += [here, *_pointers(inner, here)]
    return found


@given(value=_VALUES, data=st.data(), indent=st.sampled_from([None, 0, 2, "\t"]))
def test_any_part_of_any_document_can_be_taken_out(value: Any, data: st.DataObject, indent: int | str | None) -> None:
    """Each function compares what it wrote with what was meant, so that not raising is the proof."""
    pointers = _pointers(value)
    if not pointers:
        return
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    if parse_json(text) != parse_json(json.dumps(value).encode()):  # half a surrogate pair
        return
    pointer = data.draw(st.sampled_from(pointers))
    parse_json(removed(text, pointer))
    parse_json(replaced(text, pointer, {"a": [1.5]}))
