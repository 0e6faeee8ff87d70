"""Changes to the text of a YAML file: one thing changes, comments and every other byte stay, or nothing does."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.patches import UnchangeableError
from gatekeeper.documents.yaml_patch import put, removed, renamed
from gatekeeper.documents.yaml_reading import parse_yaml
from gatekeeper.errors import DocumentError
from tests.pointers import every_pointer

TEXT = """\
# whose it is
policy_id: p   # the id
names:
  - one   # the first
  # about two
  - two
  - three
rules:
- metric: m
  op: '=<'   # which?
  range: [10, 0]
- metric: other
  op: =<
  range:
  - 10
  - 0
flow: {x: 1.50, z: "\\u00e4"}
last:
  deep:
    k: |
      two
      lines

# the end
"""


def lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that are gone, and those that came."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("pointer", "gone", "new"),
    [
        ("/names/0", ["  - one   # the first"], []),
        ("/names/1", ["  - two"], []),
        ("/names/2", ["  - three"], []),
        ("/policy_id", ["policy_id: p   # the id"], []),
        ("/rules/0", ["- metric: m", "  op: '=<'   # which?", "  range: [10, 0]"], []),
        ("/rules/0/metric", ["- metric: m", "  op: '=<'   # which?"], ["- op: '=<'   # which?"]),
        ("/rules/0/range/1", ["  range: [10, 0]"], ["  range: [10]"]),
        ("/rules/0/range/0", ["  range: [10, 0]"], ["  range: [0]"]),
        ("/flow/z", ['flow: {x: 1.50, z: "\\u00e4"}'], ["flow: {x: 1.50}"]),
        ("/last/deep", ["last:", "  deep:", "    k: |", "      two", "      lines"], ["last: {}"]),
    ],
)
def test_what_is_taken_out_takes_its_lines_along(pointer: str, gone: list[str], new: list[str]) -> None:
    """And its own comment, but nobody else's."""
    assert lines(TEXT, removed(TEXT.encode(), pointer).decode()) == (gone, new)


@pytest.mark.parametrize(
    ("pointer", "value", "gone", "new"),
    [
        ("/rules/0/op", "<=", ["  op: '=<'   # which?"], ['  op: "<="   # which?']),
        ("/rules/1/op", "<=", ["  op: =<"], ["  op: <="]),
        ("/rules/1/op", ">=", ["  op: =<"], ['  op: ">="']),
        ("/rules/0/range", [0, 10], ["  range: [10, 0]"], ["  range: [0, 10]"]),
        ("/rules/1/range", [], ["  range:", "  - 10", "  - 0"], ["  range: []"]),
        ("/rules/1/range", ["x", 5], ["  - 10", "  - 0"], ['  - "x"', "  - 5"]),
        ("/policy_id", "on", ["policy_id: p   # the id"], ['policy_id: "on"   # the id']),
        ("/rules/1/new", "a b", [], ['  new: "a b"']),
        ("/last/deep/new", 1, [], ["    new: 1"]),
        ("/new", {"a": "\x7f"}, [], ['new: {"a": "\\u007f"}']),
        ("/flow/new", True, ['flow: {x: 1.50, z: "\\u00e4"}'], ['flow: {x: 1.50, z: "\\u00e4", new: true}']),
        ("/new", ["a" * 70, "b" * 50], [], ["new:", f'- "{"a" * 70}"', f'- "{"b" * 50}"']),
    ],
)
def test_a_value_is_put_where_its_name_stands_or_last(
    pointer: str, value: Any, gone: list[str], new: list[str]
) -> None:
    """Without quotes where there were none and all readers take it for text; laid out as its neighbours are."""
    assert lines(TEXT, put(TEXT.encode(), pointer, value).decode()) == (gone, new)


def test_a_name_is_rewritten_in_place() -> None:
    """In quotes where readers would take it for something else."""
    assert renamed(TEXT.encode(), "/rules/0/metric", "name") == TEXT.replace("metric: m", "name: m").encode()
    assert renamed(TEXT.encode(), "/flow/x", "no") == TEXT.replace("{x:", '{"no":').encode()


def test_line_ends_and_byte_order_mark_are_the_authors() -> None:
    """A file with mixed line ends is a diff of all lines later."""
    before = b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n"
    assert put(before, "/c", "d") == b'\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\nc: "d"\r\n'
    assert removed(before, "/a") == b"\xef\xbb\xbfb:\r\n  - x\r\n"


def test_a_change_that_would_lose_a_comment_is_none() -> None:
    """Somebody wrote it for a reason that no program knows."""
    with pytest.raises(UnchangeableError, match="/names"):
        put(TEXT.encode(), "/names", ["one"])
    with pytest.raises(UnchangeableError, match="/a/0"):
        removed(b"a: # why\n  - x\n", "/a/0")


def test_a_text_that_would_say_something_else_is_no_change() -> None:
    """A key on a line of its own is a form that single changes do not know; it is read again before anybody gets it."""
    with pytest.raises(UnchangeableError):
        removed(b"? a\n: {}\nb: 1\n", "/a")


_VALUES = st.recursive(
    st.booleans()
    | st.integers(-9, 9)
    | st.text(max_size=3)
    | st.sampled_from(["on", "n", ">=", "a: b", "# x", "two\nlines"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(
    value=_VALUES,
    new=_VALUES,
    data=st.data(),
    flow=st.sampled_from([None, False, True]),
    style=st.sampled_from([None, '"']),
    comment=st.integers(0, 20),
)
def test_a_change_is_made_as_meant_or_not_at_all(
    value: Any, new: Any, data: st.DataObject, flow: bool | None, style: str | None, comment: int
) -> None:
    """Any part of any document, in any layout, with a comment anywhere; most layouts can be changed."""
    pointers = every_pointer(value)[1:]
    text = yaml.safe_dump(value, default_flow_style=flow, default_style=style, sort_keys=False, allow_unicode=True)
    commented = text.splitlines()
    commented.insert(min(comment, len(commented)), "# kept")
    try:
        if not pointers or parse_yaml("\n".join(commented).encode()) != value:
            return
    except (DocumentError, UnicodeEncodeError):
        return
    pointer = data.draw(st.sampled_from(pointers))
    for change in (partial(removed, pointer=pointer), partial(put, pointer=pointer, value=new)):
        with suppress(UnchangeableError):
            changed = change("\n".join(commented).encode())
            assert b"# kept" in changed or (
                change.func is removed and _goes_with_the_lines_around(commented, changed.decode())
            )
            parse_yaml(changed)


def _goes_with_the_lines_around(before: list[str], after: str) -> bool:
    """Whether one piece of whole lines was taken out, with the comment between two of them."""
    at, rest = before.index("# kept"), after.splitlines()
    count = len(before) - len(rest)
    return any(before[:start] + before[start + count :] == rest for start in range(at - count + 2, at))
