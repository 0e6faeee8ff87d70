"""Laws of loading: whatever the bytes are, the answer is a collection or a refusal that names a line."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gatekeeper.documents.reader import adapter, quick_reader
from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import METRIC_SHAPES, SOURCE_SHAPES, Frame
from gatekeeper.evidence.collection_file.loading import check_collection, load_collection
from gatekeeper.evidence.collection_file.schema import collection_schema
from gatekeeper.evidence.collection_file.typed import typed_metrics, typed_sources
from gatekeeper.model.document import parse_json
from tests.evidence.collections import FULL, collection, errors, refusal
from tests.review.documents import changed, encoded, places

PLACES = [path for path, _ in places(FULL) if "~" not in path]
WORDS = [
    "prometheus",
    "sql",
    "http",
    "file",
    "prom",
    "svc",
    "dwh",
    "-",
    "${X}",
    "$window",
    "x",
    "x{",
    "5m",
    "/a",
    "",
    "\ud800",
]
KEYS = [
    "sources",
    "metrics",
    "type",
    "source",
    "url",
    "query",
    "pointer",
    "path",
    "columns",
    "value",
    "labels",
    "\udfff",
]

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 10**17) | st.floats() | st.text(max_size=4) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def names_a_line(message: str) -> bool:
    """Whether every line of a refusal begins with file and line."""
    return all(re.match(r"c\.json:\d+(:\d+)?: ", line) for line in message.splitlines())


@given(JSON)
def test_any_json_ends_in_a_refusal_that_names_a_line(document: Any) -> None:
    """No file can crash the reader, and no refusal sends a person searching."""
    with pytest.raises(CollectionError) as caught:
        load_collection(encoded(document), "c.json")
    assert names_a_line(caught.value.message)


@given(st.sampled_from(PLACES), JSON)
def test_a_spoilt_file_loads_or_is_refused_with_a_line(path: str, junk: Any) -> None:
    """From a sound file on, one value of any kind anywhere."""
    data = encoded(changed(FULL, path, junk))
    loaded, found = check_collection(data, "c.json")
    lines = refusal(data)
    assert (loaded is None) == bool(lines)
    assert lines == [one.text("c.json") for one in found]
    assert names_a_line("\n".join(lines))


@given(st.binary(max_size=30))
def test_bytes_of_any_kind_end_in_a_refusal(data: bytes) -> None:
    """A picture, half a file, another encoding."""
    with pytest.raises(CollectionError) as caught:
        load_collection(data, "c.json")
    assert names_a_line(caught.value.message)


@given(st.sampled_from(["", *[path for path, value in places(FULL) if isinstance(value, dict)]]))
def test_an_unknown_key_anywhere_is_refused(path: str) -> None:
    """A misspelt limit must not be dropped, in whatever object it stands."""
    named = {"sources", "metrics", "labels", *(f"sources/{name}/headers" for name in ("prom", "svc"))}
    if path in named:
        return
    assert (f"/{path}/zzz".replace("//", "/"), "unknown_key") in errors(
        changed(FULL, f"{path}/zzz".removeprefix("/"), "z")
    )


def test_what_loads_equals_what_pydantic_builds() -> None:
    """The quick way of reading and the strict one must read one file as one collection."""
    ours = collection(FULL).collection
    for part in typed_sources(FULL):
        assert ours.sources[part.path[1]] == adapter(SOURCE_SHAPES[part.type]).validate_json(encoded(part.content))
    for part in typed_metrics(FULL):
        assert ours.metrics[part.path[1]] == adapter(METRIC_SHAPES[part.type]).validate_json(encoded(part.content))
    frame = adapter(Frame).validate_json(encoded(FULL))
    assert (ours.window, ours.labels, ours.evaluate_at, ours.limits) == (
        frame.window,
        frame.labels,
        frame.evaluate_at,
        frame.limits,
    )


_SCHEMA = Draft202012Validator(collection_schema())


@given(st.sampled_from(PLACES), JSON)
def test_what_loads_is_valid_by_the_schema(path: str, junk: Any) -> None:
    """An editor that marks a sound file teaches people to look away."""
    document = changed(FULL, path, junk)
    if refusal(document) == []:
        assert _SCHEMA.is_valid(document)


@given(st.sampled_from(PLACES), JSON)
def test_the_quick_yes_is_never_laxer_than_pydantic(path: str, junk: Any) -> None:
    """What passes without the adapter must be what the adapter reads."""
    document = parse_json(encoded(changed(FULL, path, junk)))
    for part in (*typed_sources(document), *typed_metrics(document)):
        shape = (SOURCE_SHAPES if part.path[0] == "sources" else METRIC_SHAPES)[part.type]
        if quick_reader(shape)(part.content):
            assert adapter(shape).validate_json(encoded(part.content)) is not None
