from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.edits import edited
from gatekeeper.model.document import escape_pointer


def test_nothing_but_the_value_changes() -> None:
    """Spaces, order, escapes and odd numbers of the author stay byte for byte."""
    before = b'{ "a":1.50,\n\t"b" : [1,\n 2], "c":"\\u00e9", "d": 1e400 }\n\n'
    after = b'{ "a":1.50,\n\t"b" : ["x"], "c":"\\u00e9", "d": 1e400 }\n\n'
    assert edited(before, {"/b": ["x"]}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"a": 1}', b'{"a": 1,"r": "why"}'),
        (b'{"z": 0, "a": {"b": 2}}', b'{"z": 0, "a": {"b": 2}, "r": "why"}'),
        (b'{\n  "a": 1\n}\n', b'{\n  "a": 1,\n  "r": "why"\n}\n'),
        (b'{\r\n\t"a": 1\r\n}', b'{\r\n\t"a": 1,\r\n\t"r": "why"\r\n}'),
        (b'\xef\xbb\xbf{"a": 1}', b'\xef\xbb\xbf{"a": 1,"r": "why"}'),
    ],
)
def test_a_new_member_stands_last_and_looks_like_its_neighbour(before: bytes, after: bytes) -> None:
    """Line ends, indentation and byte order mark are the author's."""
    assert edited(before, {"/r": "why"}) == after


def test_a_list_that_does_not_fit_on_its_line_gets_a_line_for_each_item() -> None:
    """Diffs of long lists show what came and went; indentation is that of the file."""
    items = [f"guardrail_violation:metric_number_{number}" for number in range(4)]
    after = edited(b'{\n    "e": {\n        "r": [],\n        "m": []\n    }\n}', {"/e/r": items})
    lines = "".join(f',\n            "{item}"' for item in items)[1:]
    assert after.decode() == '{\n    "e": {\n        "r": [' + lines + '\n        ],\n        "m": []\n    }\n}'


@given(
    document=st.dictionaries(st.text(max_size=4), st.integers() | st.text() | st.lists(st.text()), min_size=1),
    value=st.lists(st.text(), max_size=4) | st.text() | st.integers(-5, 5) | st.dictionaries(st.text(), st.text()),
    indent=st.sampled_from([None, 0, 1, 2, "\t"]),
    data=st.data(),
)
def test_the_edited_file_says_what_was_asked_and_keeps_the_rest(
    document: dict[str, Any], value: Any, indent: Any, data: st.DataObject
) -> None:
    """Whatever keys and values it holds, old member or new."""
    key = data.draw(st.sampled_from(sorted(document)) | st.text(max_size=4))
    text = json.dumps(document, indent=indent, ensure_ascii=data.draw(st.booleans()))
    try:
        before = text.encode()
    except UnicodeEncodeError:
        return
    after = json.loads(edited(before, {f"/{escape_pointer(key)}": value}))
    assert after == {**document, key: value}
    assert list(after) == list({**document, key: value})
