"""A YAML document is the JSON document of the same content, or one refusal with its place and what to write."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.yaml_reading import locate_yaml, parse_yaml
from gatekeeper.errors import DocumentError, UsageError
from gatekeeper.model.document import MOST_LEVELS, is_yaml, locate, parse_json


def read(text: str) -> Any:
    """The value of a YAML document."""
    return parse_yaml(text.encode(), source="p.yaml")


def refused(text: str | bytes) -> DocumentError:
    """The refusal of a YAML document."""
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text if isinstance(text, bytes) else text.encode(), source="p.yaml")
    return caught.value


BLOCK = """\
# the name is quoted, since 2026-02-18 alone is a date to some
policy_id: checkout
policy_version: "2026-02-18"
guardrails:
- metric: error_rate_5m   # of all requests
  op: <=
  threshold: 0.01
  range: [0, 1]
- {metric: p95, op: ">", threshold: 400.0}
query: |
  sum(rate(x{code=~"5.."}[5m]))
    / sum(rate(x[5m]))
note: >-
  folded
  text
on_hold: 'it''s'
"""


def test_block_and_flow_style_are_read_as_json_is() -> None:
    """Lists, mappings, every style of text, comments."""
    assert read(BLOCK) == {
        "policy_id": "checkout",
        "policy_version": "2026-02-18",
        "guardrails": [
            {"metric": "error_rate_5m", "op": "<=", "threshold": 0.01, "range": [0, 1]},
            {"metric": "p95", "op": ">", "threshold": 400},
        ],
        "query": 'sum(rate(x{code=~"5.."}[5m]))\n  / sum(rate(x[5m]))\n',
        "note": "folded text",
        "on_hold": "it's",
    }


def test_places_are_those_of_the_file() -> None:
    """Line and column of values and of names, counted by hand in BLOCK."""
    places = locate_yaml(BLOCK.encode())
    assert places[""] == (2, 1)
    assert places["/policy_version"] == (3, 17)
    assert places["/guardrails"] == (5, 1)
    assert places["/guardrails/0"] == (5, 3)
    assert places["#/guardrails/0/threshold"] == (7, 3)
    assert places["/guardrails/0/threshold"] == (7, 14)
    assert places["/guardrails/0/range/1"] == (8, 14)
    assert places["/guardrails/1"] == (9, 3)
    assert places["/guardrails/1/op"] == (9, 21)
    assert places["/query"] == (10, 8)


NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.integers(-(10**6), 10**6).map(lambda number: number / 1000)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"), max_size=8
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | st.sampled_from(["yes", "012", "2026-02-18", "", "~", "a: b", "# c"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_yaml(document: Any, is_ascii: bool, indent: int | None) -> None:
    """A file that is renamed keeps its digest and all its places."""
    data = json.dumps(document, ensure_ascii=is_ascii, indent=indent).encode()
    assert json.dumps(parse_yaml(data)) == json.dumps(parse_json(data))  # as text: 1 is not true
    assert locate_yaml(data) == locate(data)


def block_style(value: Any, indent: int = 0) -> str:
    """*value* as people write YAML: a line for each member, texts in quotes; begins behind a dash or a colon."""
    if value and isinstance(value, (dict, list)):
        margin = "\n" + " " * indent
        heads = [f"{json.dumps(key)}:" for key in value] if isinstance(value, dict) else ["-"] * len(value)
        members = value.values() if isinstance(value, dict) else value
        return "".join(
            margin + head + block_style(inner, indent + 2) for head, inner in zip(heads, members, strict=True)
        )
    return f" {json.dumps(value)}"


@given(DOCUMENTS)
def test_block_style_says_the_same(document: Any) -> None:
    """The same content has the same digest, however it is laid out."""
    expected = parse_json(json.dumps(document).encode())
    assert json.dumps(read(block_style(document) + "\n")) == json.dumps(expected)


REFUSED = {
    "anchor": ("a: &x 1\n", 1, 4, "an anchor"),
    "anchor at a list": ("a: 1\nb: &x [1]\n", 2, 4, "an anchor"),
    "anchor at a key": ("&x a: 1\n", 1, 1, "an anchor"),
    "anchor at a quoted text": ('- &x "1"\n', 1, 3, "an anchor"),
    "alias": ("a: *x\n", 1, 4, "an alias"),
    "alias as key": ("*x : 1\n", 1, 1, "an alias"),
    "tag": ("a: !!str 1\n", 1, 4, "a tag"),
    "tag of its own": ("a: !Ref x\n", 1, 4, "a tag"),
    "tag at a mapping": ("a: !!map {}\n", 1, 4, "a tag"),
    "tag at a key": ("!!str a: 1\n", 1, 1, "a tag"),
    "bare tag": ("a: ! x\n", 1, 4, "a tag"),
    "merge key": ("a: 1\n<<: {b: 1}\n", 2, 1, "merges"),
    "duplicate key": ("a:\n  b: 1\n  'b': 2\n", 3, 3, "duplicate key 'b' at /a/b"),
    "second document": ("a: 1\n---\nb: 1\n", 2, 1, "a second document"),
    "empty second document": ("a: 1\n---\n", 2, 1, "a second document"),
    "directive": ("%YAML 1.1\n---\na: 1\n", 1, 1, "a directive"),
    "unknown directive": ("%FOO bar\n---\na: 1\n", 1, 1, "a directive"),
    "no document": ("# nothing\n", 1, 1, "no document"),
    "empty file": ("", 1, 1, "no document"),
    "number as key": ("7: a\n", 1, 1, "a key that is no text"),
    "true as key": ("a: 1\ntrue: a\n", 2, 1, "a key that is no text"),
    "list as key": ("? [a]\n: 1\n", 1, 3, "a key that is no text"),
    "mapping as key": ("{a: 1}: 1\n", 1, 1, "a key that is no text"),
    "on as key": ("on: push\n", 1, 1, "`on` without quotes"),
    "no key": (": 1\n", 1, 1, "not YAML"),
    "no value": ("a:\nb: 1\n", 1, 3, "there is no value"),
    "no item": ("-\n- 1\n", 1, 2, "there is no value"),
    "tab as indentation": ("a:\n\tb: 1\n", 2, 1, "a tab"),
    "tab behind a colon": ("a:\t1\n", 1, 3, "a tab"),
    "tab behind a value": ("a: 1\t\n", 1, 5, "a tab"),
    "operator": ("op: >=\n", 1, 6, "begin a text of several lines"),
    "operator alone": ("op: >\nthreshold: 1\n", 1, 5, "`>` begins a text of several lines"),
    "colon in a text": ("a: b: c\n", 1, 5, "within a text without quotes"),
    "variable in braces": ("{a: ${X}}\n", 1, 6, "in brackets"),
    "reserved sign": ("a: @x\n", 1, 4, "cannot begin like this"),
    "not closed": ("a: [1\n", 2, 1, "not YAML"),
    "no character": ('a: "\\U00110000"\n', 1, 7, "an escape"),
    "next line": ("a: 'x\x85y'\n", 1, 6, "U+0085"),
    "line separator": ("a: 1\nb: 'x\u2028y'\n", 2, 6, "U+2028"),
    "control character": ("a: 'x\x07'\n", 1, 6, "U+0007"),
    "second byte order mark": ("a: \ufeffx\n", 1, 4, "U+FEFF"),
    "date": ("a: 1\nb: 2026-02-18\n", 2, 4, "a date"),
}


@pytest.mark.parametrize(("text", "line", "column", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_json_does_not_have_is_refused_where_it_stands(text: str, line: int, column: int, message: str) -> None:
    """File, line, column, what was found, and what to write."""
    error = refused(text)
    assert (error.line, error.column) == (line, column)
    assert error.message.startswith(f"p.yaml:{line}:{column}: ")
    assert message in error.message
    assert error.remedy


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    """UTF-16 and Latin-1 are other programs' files."""
    assert refused(b"a: 1\nb: \xff\n").message == "p.yaml:2: not UTF-8 at byte 8"


def test_a_byte_order_mark_is_passed_over() -> None:
    """Some editors write one."""
    assert parse_yaml(b"\xef\xbb\xbfa: 1\n") == {"a": 1}
    assert locate_yaml(b"\xef\xbb\xbfa: 1\n")["/a"] == (1, 4)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 5_000 + "1", "{a: " * 1_000 + "1" + "}" * 1_000])
def test_nesting_without_end_is_refused(text: str) -> None:
    """And quickly, whatever the library could do."""
    assert f"more than {MOST_LEVELS} levels" in refused(text).message


SAME = {"---\na: 1\n": {"a": 1}, "a: 1\n...\n": {"a": 1}, 'a: "\\ud83d\\ude00"\n': {"a": "\U0001f600"}}


@pytest.mark.parametrize(("text", "value"), SAME.items())
def test_what_is_only_another_way_to_write_it_is_read(text: str, value: Any) -> None:
    """The marks around one document, and a character beyond U+FFFF as JSON escapes it."""
    assert read(text) == value


@given(
    st.text(max_size=30)
    | st.lists(st.sampled_from([*"abc:-?!&*|>%@`'\"\\{}[],# \n\t~01", "---", "..."]), max_size=20).map("".join)
)
def test_no_text_crashes_the_reader(text: str) -> None:
    """It is a value or a refusal."""
    with suppress(DocumentError):
        json.dumps(parse_yaml(text.encode("utf-8", "replace")))


def test_without_the_library_it_is_wrong_usage_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 and the command that helps, never `not JSON`."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"p\.yaml: a YAML file needs the library PyYAML") as caught:
        read("a: 1\n")
    assert caught.value.exit_code == 64
    assert caught.value.remedy.startswith("python -m pip install 'pyyaml>=6.0.2'")


@pytest.mark.parametrize(
    ("source", "said"),
    [("p.yaml", True), ("a/p.yml", True), ("P.YAML", True), ("git:HEAD:a/p.yml", True), ("p.json", False), ("-", False),
     ("yaml", False), ("p.yaml.json", False), ("", False)],
)  # fmt: skip
def test_the_name_tells_the_language(source: str, said: bool) -> None:
    """Nobody guesses by the content, which a slip would turn into the other language."""
    assert is_yaml(source) is said
