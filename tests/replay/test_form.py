"""A shortcut that takes a line for canonical which RFC 8785 would write otherwise."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes, digest
from gatekeeper.replay.form import is_canonical, part_digest
from tests.replay.tampering import LOG

NUMBERS = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((1e-7, 1e-6, 1e-5, 0.0001, 1e15, 1e16, 1e20, 1e21, 1e22, -0.0, 0.0, 1.0, 1.5e300, 5e-324)),
    st.sampled_from((2**53, 2**53 - 1, -(2**53), 2**63, 2**64, 2.0**53)),
)
TEXTS = st.text(max_size=8) | st.sampled_from(("1.0,", "e5}", "3e7,", '"', "\\", "\x7f", "\u2028", "\x00", "é", "😀"))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> list[bytes]:
    """The value as several writers have it."""
    found = [json.dumps(value).encode(), json.dumps(value, sort_keys=True, separators=(",", ":")).encode()]
    with contextlib.suppress(CanonicalError, TypeError):
        found += [canonical_bytes(value), orjson.dumps(value, option=orjson.OPT_SORT_KEYS)]
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_said_to_be_canonical_is(document: dict[str, Any]) -> None:
    """And so are the digests of its values, taken quickly."""
    for line in written(document):
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if is_canonical(event, line):
            assert canonical_bytes(event) == line
            for value in event.values():
                assert part_digest(value) == digest(value)


@pytest.mark.parametrize("number", ["1.0", "-0", "0.0", "1e-7", "1e-6", "1e5", "1e16", "1e+21", "12e2", "5e-324"])
@pytest.mark.parametrize("form", ['{"a":%s}', '{"a":[%s]}', '{"a":%s,"b":1}'])
def test_a_number_that_may_be_written_otherwise_gets_a_closer_look(number: str, form: str) -> None:
    """Wherever it stands."""
    line = (form % number).encode()
    assert not is_canonical(orjson.loads(line), line)


def test_keys_that_sort_otherwise_get_a_closer_look() -> None:
    """The RFC sorts by UTF-16 code units, where what is beyond the basic plane comes before U+E000."""
    document = {"\ue000": 1, "\U0001f600": 2}
    line = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    assert line != canonical_bytes(document)
    assert not is_canonical(orjson.loads(line), line)


def test_nearly_every_line_of_the_ledger_is_told_at_once() -> None:
    """Or the shortcut would be none."""
    assert all(is_canonical(orjson.loads(line), line) for line in LOG)
