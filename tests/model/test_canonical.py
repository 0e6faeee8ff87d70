from __future__ import annotations

import json
import math
from enum import StrEnum
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import (
    MAX_SAFE_INTEGER,
    canonical_bytes,
    canonical_bytes_reference,
    digest,
    digest_bytes,
    is_number,
    number_text,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5), max_leaves=30
)
PUBLISHED = (
    (0x0000000000000000, "0"),
    (0x8000000000000000, "0"),
    (0x0000000000000001, "5e-324"),
    (0x8000000000000001, "-5e-324"),
    (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
    (0xFFEFFFFFFFFFFFFF, "-1.7976931348623157e+308"),
    (0x4340000000000000, "9007199254740992"),
    (0xC340000000000000, "-9007199254740992"),
    (0x4430000000000000, "295147905179352830000"),
    (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
    (0x44B52D02C7E14AF6, "1e+23"),
    (0x44B52D02C7E14AF7, "1.0000000000000001e+23"),
    (0x444B1AE4D6E2EF4E, "999999999999999700000"),
    (0x444B1AE4D6E2EF4F, "999999999999999900000"),
    (0x444B1AE4D6E2EF50, "1e+21"),
    (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
    (0x3EB0C6F7A0B5ED8D, "0.000001"),
    (0x41B3DE4355555553, "333333333.3333332"),
    (0x41B3DE4355555554, "333333333.33333325"),
    (0x41B3DE4355555555, "333333333.3333333"),
    (0x41B3DE4355555556, "333333333.3333334"),
    (0x41B3DE4355555557, "333333333.33333343"),
    (0xBECBF647612F3696, "-0.0000033333333333333333"),
    (0x43143FF3C1CB0959, "1424953923781206.2"),
)
"""RFC 8785, appendix B: bits of a double and its text."""


@given(VALUES)
@example({"\ufb33": 1, "\U0001f600": 2, "\ue000": 3, "\u20ac": 4, "\r": 5, "1": 6, "\u0080": 7, "\u00f6": 8})
@example([1e16, 1e-7, 0.000001, -0.0, 1e21, 5e-324, 123456789012345680000.0, 1.5e300])
def test_the_fast_encoder_writes_what_rfc8785_writes(value: Any) -> None:
    """Any JSON value: numbers, text, order of keys, nesting."""
    assert canonical_bytes(value) == rfc8785.dumps(value) == canonical_bytes_reference(value)


@given(FLOATS)
def test_every_double_has_its_shortest_text(number: float) -> None:
    """ECMAScript's text, which reads back as the same double."""
    assert canonical_bytes(number) == rfc8785.dumps(number)
    assert float(canonical_bytes(number)) == number


@pytest.mark.parametrize(("bits", "text"), PUBLISHED)
def test_the_published_doubles(bits: int, text: str) -> None:
    """RFC 8785, appendix B, by hand and not by the library."""
    import struct

    (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
    assert canonical_bytes(number).decode() == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e16, "10000000000000000"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (250.0, "250"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
        ("/\x7f\u2028é", '"/\x7f\u2028é"'),
        ('\x00\b\t\n\f\r"\\', '"\\u0000\\b\\t\\n\\f\\r\\"\\\\"'),
        ({"\ue000": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ue000":1}'),
    ],
)
def test_the_forms_in_which_other_encoders_differ(value: object, text: str) -> None:
    """Each of these is another text in orjson or in Python's json, and so another digest."""
    assert canonical_bytes(value) == text.encode()


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            '{"collected_at":"2025-01-01T00:00:00Z","metrics":{"error_rate":0.01,"latency_p99_ms":250.0,"requests":100000}}',
            "cb24a4c2aff393585da75d3da004b9a855710a9d487f309876885d56c0b413db",
        ),
        (
            '{"b":1.0,"a":[1e16,1e-7,0.000001,-0.0],"\\ud83d\\ude00":true,"\\ue000":null,"n":"\\u00e9\\u2028\\n"}',
            "53124a09cba1ebcae2bd7a38620adb03894ca98143feef980b67c362141fb8b1",
        ),
    ],
)
def test_the_digests_of_known_documents(document: str, expected: str) -> None:
    """Digests that were measured with another implementation."""
    assert digest(json.loads(document)) == f"sha256:{expected}"


def test_a_digest_is_that_of_a_sha256_tool() -> None:
    """`sha256sum` of the bytes, with its prefix."""
    assert digest_bytes(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest({"a": 1}) == "sha256:" + sha256(b'{"a":1}').hexdigest()


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        2**53,
        -(2**53),
        10**400,
        "\ud800",
        {"\udfff": 1},
        ["ok", {"a": "\ud83d"}],
        {1: "a"},
        {None: 1},
        b"bytes",
        object(),
        {"a", "b"},
    ],
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    """NaN, infinities, unsafe integers, lone surrogates, keys that are no text, what is no JSON."""
    with pytest.raises(CanonicalError):
        canonical_bytes(value)


@given(st.sampled_from("\ud800\udbff\udc00\udfff"), TEXTS, TEXTS, st.booleans())
def test_a_lone_surrogate_is_refused_wherever_it_stands(half: str, before: str, behind: str, is_key: bool) -> None:
    """In a value and in a key, whatever is around it: it has no UTF-8."""
    text = before + half + behind
    with pytest.raises(CanonicalError):
        canonical_bytes({text: 1} if is_key else [text])


def test_nesting_without_end_is_refused() -> None:
    """No RecursionError leaves the encoder."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(CanonicalError):
        canonical_bytes(value)


@given(VALUES)
def test_reading_the_canonical_form_gives_it_again(value: Any) -> None:
    """Canonical bytes of what the canonical bytes state are the same bytes."""
    data = canonical_bytes(value)
    try:
        again = canonical_bytes(json.loads(data))
    except CanonicalError:
        assert any(not is_number(number) for number in _numbers(value))  # a double that is written as a large integer
    else:
        assert again == data


@given(st.dictionaries(TEXTS, SCALARS, max_size=8), st.randoms())
def test_the_order_of_keys_does_not_matter(members: dict[str, Any], random: Any) -> None:
    """Another order, the same bytes."""
    keys = list(members)
    random.shuffle(keys)
    assert canonical_bytes({key: members[key] for key in keys}) == canonical_bytes(members)


def test_words_of_an_enumeration_are_their_text() -> None:
    """Verdicts and outcomes are written as the words that they are; tuples as lists."""

    class Word(StrEnum):
        ACCEPT = "ACCEPT"

    assert canonical_bytes({"a": Word.ACCEPT, "b": (1, 2)}) == b'{"a":"ACCEPT","b":[1,2]}'


@given(FLOATS | INTEGERS)
def test_a_number_is_one_whose_text_gives_it_back(number: float) -> None:
    """`is_number` allows exactly what a strict reader of the canonical text takes for the same number."""
    text = canonical_bytes(number).decode()
    is_large_integer = text.lstrip("-").isdigit() and abs(int(text)) > MAX_SAFE_INTEGER
    assert is_number(number) is not is_large_integer


@pytest.mark.parametrize("value", [True, False, None, "1", math.nan, math.inf, -math.inf, 2**53, 1e400, [], {}])
def test_what_is_no_number(value: object) -> None:
    """Booleans, text, what is not finite and what is not kept exactly."""
    assert not is_number(value)


def test_the_text_of_a_number_is_the_ecmascript_one() -> None:
    """As messages write it."""
    assert [number_text(number) for number in (1.0, 0.002, 1e-7, 1e21, -1.5e-9)] == [
        "1",
        "0.002",
        "1e-7",
        "1e+21",
        "-1.5e-9",
    ]


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in _numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in _numbers(inner)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []
