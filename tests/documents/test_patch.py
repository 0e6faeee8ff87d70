"""Changes to the text of a file: one thing changes, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents import patch
from gatekeeper.documents.patch import put, removed, renamed
from gatekeeper.model.document import escape_pointer, parse_json
from tests.pointers import every_pointer

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


def test_a_name_that_ends_in_a_hash_stays_when_the_other_goes() -> None:
    """Two metrics whose names differ by that sign only."""
    assert removed(b'{"a": 1, "a#": 2}', "/a") == b'{"a#": 2}'
    assert removed(b'{"a#": 1, "a": 2}', "/a") == b'{"a#": 1}'
    assert renamed(b'{"a": 1, "a#": 2}', "/a", "b") == b'{"b": 1, "a#": 2}'


def test_a_list_that_loses_its_last_item_closes_up() -> None:
    """Nothing but brackets is left."""
    assert removed(b'{"a": [\n  1\n]}', "/a/0") == b'{"a": []}'
    assert removed(b'{"a": {"b": 1}}', "/a/b") == b'{"a": {}}'


def test_a_value_is_replaced_and_a_name_rewritten_in_place() -> None:
    """The other does not move."""
    assert put(TEXT, "/b/x", [1, "\u00e4"]) == TEXT.replace(b"1.50", '[1, "\u00e4"]'.encode())
    assert renamed(TEXT, "/b/x", "z") == TEXT.replace(b'"x": 1.50', b'"z": 1.50')


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        (b'{"a": {}}', "/a/n", b'{"a": {"n": "why"}}'),
        (b'{"a": {"b": 1}}', "/a/n", b'{"a": {"b": 1, "n": "why"}}'),
        (b'{"z": 0, "a": {"b": 2}}', "/n", b'{"z": 0, "a": {"b": 2}, "n": "why"}'),
        (b'{\n  "a": 1\n}\n', "/n", b'{\n  "a": 1,\n  "n": "why"\n}\n'),
        (b'{\r\n\t"a": 1\r\n}', "/n", b'{\r\n\t"a": 1,\r\n\t"n": "why"\r\n}'),
        (b'\xef\xbb\xbf{"a": 1}', "/n", b'\xef\xbb\xbf{"a": 1, "n": "why"}'),
    ],
)
def test_a_new_member_stands_last_and_looks_like_its_neighbour(text: bytes, pointer: str, expected: bytes) -> None:
    """Line ends, indentation and byte order mark are the author's."""
    assert put(text, pointer, "why") == expected


def test_a_list_that_does_not_fit_on_its_line_gets_a_line_for_each_item() -> None:
    """Diffs of long lists show what came and went; indentation is that of the file."""
    items = [f"guardrail_violation:metric_number_{number}" for number in range(4)]
    after = put(b'{\n    "e": {\n        "r": [],\n        "m": []\n    }\n}', "/e/r", items)
    lines = "".join(f',\n            "{item}"' for item in items)[1:]
    assert after.decode() == '{\n    "e": {\n        "r": [' + lines + '\n        ],\n        "m": []\n    }\n}'


def test_a_byte_order_mark_stays() -> None:
    """Whoever wrote it reads the file again."""
    assert removed(b"\xef\xbb\xbf[1, 2]", "/0") == b"\xef\xbb\xbf[2]"


def test_a_change_that_would_change_something_else_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is read again before anybody gets it."""
    monkeypatch.setattr(patch, "_json", lambda _: "7")
    with pytest.raises(RuntimeError, match="something else"):
        put(b'{"a": 1}', "/a", 8)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(value=_VALUES, data=st.data(), indent=st.sampled_from([None, 0, 2, "\t"]))
def test_any_part_of_any_document_can_be_taken_out(value: Any, data: st.DataObject, indent: int | str | None) -> None:
    """Each function compares what it wrote with what was meant, so that not raising is the proof."""
    pointers = every_pointer(value)[1:]
    if not pointers:
        return
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    if parse_json(text) != parse_json(json.dumps(value).encode()):  # half a surrogate pair
        return
    pointer = data.draw(st.sampled_from(pointers))
    parse_json(removed(text, pointer))
    parse_json(put(text, pointer, {"a": [1.5]}))


@given(
    document=st.dictionaries(st.text(max_size=4), st.integers() | st.text() | st.lists(st.text())),
    value=st.lists(st.text(), max_size=4) | st.text() | st.integers(-5, 5) | st.dictionaries(st.text(), st.text()),
    indent=st.sampled_from([None, 0, 1, 2, "\t"]),
    data=st.data(),
)
def test_a_member_is_put_where_its_name_stands_or_last(
    document: dict[str, Any], value: Any, indent: Any, data: st.DataObject
) -> None:
    """Whatever keys and values there are; the order of the others is the author's."""
    key = data.draw(st.sampled_from(sorted(document)) | st.text(max_size=4) if document else st.text(max_size=4))
    text = json.dumps(document, indent=indent, ensure_ascii=data.draw(st.booleans()))
    try:
        before = text.encode()
    except UnicodeEncodeError:
        return
    after = json.loads(put(before, f"/{escape_pointer(key)}", value))
    assert after == {**document, key: value}
    assert list(after) == list({**document, key: value})
