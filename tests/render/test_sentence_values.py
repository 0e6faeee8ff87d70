"""Values in sentences: numbers, times, limits, and whatever an old log holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.render.codes import CODES
from gatekeeper.render.sentences import limit_text, remedy, second_text, sentence, time_text, value_text


def test_a_reference_can_be_attached_by_copying_the_next_step() -> None:
    """The name of the reference stands in the option."""
    assert remedy("evidence_missing:cab") == "attach it: --evidence cab=VALUE"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (13.0, "13"),
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        ("a b", "a b"),
        ([1, "x"], '[1,"x"]'),
        ({"b": 1.0, "a": None}, '{"a":null,"b":1}'),
        (float("nan"), "nan"),
        ("https://u:p@h/q?t=1", "https://***@h/q?***"),
    ],
)
def test_numbers_read_as_json_writes_them(value: object, text: str) -> None:
    """People and programs see the same digits."""
    assert value_text(value) == text


def test_a_page_of_text_as_a_value_does_not_flood_the_sentence() -> None:
    """80 characters of an observed text are shown."""
    assert value_text("x" * 500) == "x" * 80 + "..."


def test_times_lose_zeros_only_where_nothing_is_lost() -> None:
    """`not_before` is exact; a list shows seconds."""
    assert time_text("2026-02-18T01:05:10.000000Z") == "2026-02-18T01:05:10Z"
    assert time_text("2026-02-18T01:05:10.500000Z") == "2026-02-18T01:05:10.500000Z"
    assert second_text("2026-02-18T01:05:10.500000Z") == "2026-02-18T01:05:10Z"


def test_a_limit_of_zero_is_not_taken_for_no_limit() -> None:
    """0 and false are limits."""
    assert limit_text({"op": "==", "limit": 0}) == "== 0"
    assert limit_text({"op": "==", "limit": False}) == "== false"
    assert limit_text({"op": "<=", "limit": None}) == "-"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELD = st.sampled_from(
    ["rule", "outcome", "code", "metric", "observed", "op", "limit", "baseline", "margin", "source", "would_be"]
)
OUTCOMES = st.sampled_from(["PASS", "VIOLATED", "MISSING", "OBSERVED", "NOT_EVALUATED", "STALE"])


@given(st.dictionaries(FIELD, JSON | OUTCOMES | st.sampled_from(sorted(CODES))))
def test_no_finding_of_an_old_or_forged_log_breaks_the_output(fields: dict[str, Any]) -> None:
    """A sentence comes out of any JSON."""
    assert sentence(fields)
