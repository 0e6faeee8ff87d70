from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.ledger.group_wire import answer_of, answers_in, events_at, frame_of, handed_in
from gatekeeper.ledger.pieces import joined, place_members
from gatekeeper.ledger.projection_index import said_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.canonical_bulk import bulk_canonical_bytes
from gatekeeper.model.event import encode_line, seal
from gatekeeper.model.exchange import Expectation
from gatekeeper.model.fold import apply
from gatekeeper.model.line import decode
from tests.ledger.drafts import decision

PREV = "sha256:" + "d" * 64
TS = "2026-02-18T01:00:10.000000Z"
SEALED = {"v", "prev", "seq", "ts"}

texts = st.text(max_size=12)
doubles = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | doubles | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["a", "prevail", "prevx", "q", "sequel", "t", "tsar", "u", "vv", "zz"]) | texts
extras = st.dictionaries(names.filter(lambda name: name not in SEALED), values, max_size=5)


@given(extras, st.integers(1, 2**53 - 1), st.sampled_from([canonical_bytes, bulk_canonical_bytes]))
def test_a_line_joined_by_another_is_the_line_that_its_writer_would_have_written(
    extra: dict[str, Any], seq: int, encode: Any
) -> None:
    """Whatever keys stand before, between and behind the gaps, the bytes are the canonical ones."""
    draft = {**extra, **decision()}
    frame = frame_of([draft], expect=Expectation("r", 4), policies=(), reply="x", number=1, encode=encode)
    assert frame is not None
    (handed,) = handed_in(frame)
    ((pieces, _, _),) = handed.drafts
    assert joined(pieces, place_members(prev=PREV, seq=seq, ts=TS)) == encode_line(
        seal(draft, seq=seq, prev=PREV, ts=TS)
    )


@given(st.sampled_from(["ACCEPT", "REJECT", "DEGRADE"]), st.integers(0, 3), values)
def test_what_the_holder_folds_unparsed_is_what_the_line_says(verdict: str, looks: int, value: Any) -> None:
    """The state that it leaves is the fold of the log: numbers, texts and holds as the line's readers find them."""
    draft = decision(verdict=verdict, context={"looks": looks, "evaluated_at": TS, "other": value})
    draft = {**draft, "metrics_snapshot": {"metrics": {"m": value}}, "evidence_refs": {"change_id": "CHG-1"}}
    frame = frame_of([draft], expect=Expectation("r", 4), policies=(), reply="x", number=1)
    ((pieces, said, slim),) = handed_in(frame or b"")[0].drafts
    line = decode(joined(pieces, place_members(prev=PREV, seq=5, ts=TS)))
    assert line is not None
    assert (slim is None) == (verdict == "DEGRADE")
    folded = line if slim is None else seal(slim, seq=5, prev=PREV, ts=TS)
    assert apply(None, folded) == apply(None, line)
    assert said == said_of(line)


@pytest.mark.parametrize(
    ("drafts", "expect"),
    [
        ([], Expectation("r", 1)),
        ([decision()], None),
        ([decision()], Expectation("other", 1)),
        ([decision()], Expectation("r", 0, slot=("e", "B", False))),
        ([decision()], Expectation("r", 1, key="k")),
        ([{key: value for key, value in decision().items() if key != "event_id"}], Expectation("r", 1)),
    ],
)
def test_what_needs_a_look_into_the_tables_is_not_handed_over(
    drafts: list[dict[str, Any]], expect: Expectation | None
) -> None:
    """Slots, keys and ids that the ledger gives are for the lock's holder itself."""
    assert frame_of(drafts, expect=expect, policies=(), reply="x", number=1) is None


def test_a_request_of_another_version_is_passed_over_and_the_next_is_read() -> None:
    """Two releases on one log: each leaves to the other what it does not understand."""
    frames = [
        frame_of([decision(run)], expect=Expectation(run, 1), policies=(), reply=run, number=1) for run in ("a", "b")
    ]
    old, new = (frame or b"" for frame in frames)
    other = re.sub(rb'"wire": ?\[2', lambda found: found[0][:-1] + b"9", old, count=1)
    assert other != old
    assert [handed.reply for handed in handed_in(other + new)] == ["b"]
    assert [handed.reply for handed in handed_in(new + old[:-1])] == ["b"]


def test_an_answer_says_what_the_log_holds() -> None:
    """What a writer makes of its answer is the event as recorded."""
    draft = decision()
    places = [(7, PREV, TS)]
    ((number, told),) = answers_in(answer_of(3, places))
    assert number == 3
    assert events_at([draft], told) == [seal(draft, seq=7, prev=PREV, ts=TS)]
    torn = answer_of(3, places)[:-7]
    assert answers_in(torn) == []
    assert answers_in(torn + b"\n" + answer_of(4, places)) == [(4, [list(places[0])])]
