"""Three encoders, one text: a line whose bytes depend on who wrote it would break chain and digests."""

import enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes, canonical_bytes_reference
from gatekeeper.model.canonical_bulk import bulk_canonical_bytes

LIMIT = 2**53 - 1
TEXTS = st.text(max_size=6) | st.sampled_from(
    ["1.0,", ".0}", "a.0]", "%s", "%", "é", "\U0001f600", "\ufb33", '"\\\n\x7f']
)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1.0, -3.0, 1e-4, 9.9e-5, 1e-7, 1e15, 1e16, 1e21, 2.0**53, 5e-324, 0.1, 360.0, 12.5]
)
SCALARS = st.none() | st.booleans() | st.integers(-LIMIT, LIMIT) | DOUBLES | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=5), max_leaves=25
)


class Word(enum.StrEnum):
    """A text by inheritance."""

    YES = "yes"


def refused(value: object) -> list[bool]:
    """Whether each of our encoders refuses *value*."""
    answers = []
    for encode in (canonical_bytes, bulk_canonical_bytes):
        try:
            encode(value)
        except CanonicalError:
            answers.append(True)
        else:
            answers.append(False)
    return answers


@pytest.mark.slow
@given(VALUES)
@settings(max_examples=500)
def test_all_encoders_write_what_the_library_for_the_rfc_writes(value: object) -> None:
    """Whatever the value, at the top, in a list and in an object."""
    for placed in (value, [value], {"a": value, "b.0": [value, 1.0]}):
        expected = canonical_bytes_reference(placed)
        assert canonical_bytes(placed) == expected
        assert bulk_canonical_bytes(placed) == expected


@given(st.dictionaries(TEXTS, SCALARS, min_size=2, max_size=6))
def test_the_order_in_which_keys_were_added_changes_nothing(members: dict[str, object]) -> None:
    """What is remembered of an object's keys is of keys, not of their order."""
    turned = dict(reversed(members.items()))
    assert canonical_bytes(turned) == canonical_bytes(members) == canonical_bytes_reference(members)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), -float("inf"), LIMIT + 1, -LIMIT - 1, 2**70, "\ud800", {"\ud800": 1}, {1: 2},
        {None: 1}, b"bytes", {1, 2}, object(), {"a": [1.0, {"b": float("nan")}]},
    ],
    ids=lambda value: "object()" if type(value) is object else repr(value),
)  # fmt: skip
def test_what_no_reader_could_keep_is_refused_by_both(value: object) -> None:
    """NaN must never become null, nor a large integer another one."""
    assert refused(value) == [True, True]
    assert refused({"a": [value, 1]}) == [True, True]


def test_json_by_inheritance_is_json() -> None:
    """A StrEnum is its text, a tuple is a list."""
    value = {"verdict": Word.YES, "pair": (1, 2.0), Word.YES: "no"}
    assert canonical_bytes(value) == bulk_canonical_bytes(value) == b'{"pair":[1,2],"verdict":"yes","yes":"no"}'
