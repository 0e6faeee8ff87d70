"""Counts that leave events out, count them twice or change their order."""

from __future__ import annotations

import pytest

from gatekeeper.errors import UsageError
from gatekeeper.replay.group import FIELDS, group
from gatekeeper.replay.query import Filter, select
from tests.replay.builder import OTHER_RUN, RUN, changed, parsed, rollout

BY_FIELD = {
    "verdict": [("ACCEPT", 4), ("DEGRADE", 1), ("REJECT", 1)],
    "reason": [(None, 4), ("guardrail_violation:error_rate", 1), ("observation_missing:guardrail_metric", 1)],
    "stage": [("CANARY_10", 2), ("DRY_RUN", 2), ("CANARY_25", 1), ("SHADOW", 1)],
    "run": [(RUN, 5), (OTHER_RUN, 1)],
    "experiment": [("exp-42", 5), ("exp-7", 1)],
    "variant": [("B", 5), ("A", 1)],
    "policy": [("exp-eval-policy", 5), ("other-policy", 1)],
    "policy_version": [("2026-02-18", 5), ("v7", 1)],
    "day": [("2026-02-18", 6)],
    "kind": [("decision", 6)],
    "actor": [("ci", 5), ("bob", 1)],
}


@pytest.mark.parametrize("field", BY_FIELD)
def test_each_field_counts_every_selected_event(field: str) -> None:
    """Most frequent first, equal counts by value."""
    rows = group(select(parsed(rollout()), Filter()), [field])
    assert [(row.values[field], row.count) for row in rows] == BY_FIELD[field]


def test_every_field_that_is_offered_is_tested_here() -> None:
    """A new field needs an expectation of its own."""
    assert set(FIELDS) == set(BY_FIELD)


def test_two_fields_count_their_combinations() -> None:
    """In the order asked; the count is one more column."""
    rows = group(select(parsed(rollout()), Filter(run=RUN)), ["stage", "verdict"])
    assert [row.to_dict() for row in rows] == [
        {"stage": "CANARY_10", "verdict": "ACCEPT", "count": 1},
        {"stage": "CANARY_10", "verdict": "DEGRADE", "count": 1},
        {"stage": "CANARY_25", "verdict": "REJECT", "count": 1},
        {"stage": "DRY_RUN", "verdict": "ACCEPT", "count": 1},
        {"stage": "SHADOW", "verdict": "ACCEPT", "count": 1},
    ]


def test_an_event_with_two_reasons_counts_once_under_each() -> None:
    """And once only where a code stands twice."""
    codes = ["a:1", "b:2", "a:1"]
    line = changed(rollout()[6], lambda event: event["decision"].update(reason_codes=codes))
    rows = group(parsed([line]), ["reason", "verdict"])
    assert [(row.values["reason"], row.count) for row in rows] == [("a:1", 1), ("b:2", 1)]


def test_an_event_that_lacks_the_field_is_counted_under_nothing() -> None:
    """The policy event has no verdict; the two decisions have."""
    rows = group(parsed(rollout()[:3]), ["verdict"])
    assert [(row.values["verdict"], row.count) for row in rows] == [("ACCEPT", 2), (None, 1)]


def test_a_day_is_the_day_in_utc() -> None:
    """23:30 at two hours west is the next day already; a time that does not parse is no day."""
    texts = ["2026-02-18T23:30:00-02:00", "2026-02-19T00:00:00Z", "2026-02-18T23:59:59.999999Z", "yesterday"]
    lines = parsed([changed(rollout()[1], lambda event, ts=text: event.update(ts=ts)) for text in texts])  # type: ignore[misc]
    rows = group(lines, ["day"])
    assert [(row.values["day"], row.count) for row in rows] == [("2026-02-19", 2), (None, 1), ("2026-02-18", 1)]


def test_a_field_named_twice_counts_once() -> None:
    """The second naming adds no column."""
    line = changed(rollout()[6], lambda event: event["decision"].update(reason_codes=["a:1", "b:2"]))
    rows = group(parsed([line]), ["reason", "reason"])
    assert [row.to_dict() for row in rows] == [{"reason": "a:1", "count": 1}, {"reason": "b:2", "count": 1}]


@pytest.mark.parametrize(("field", "near"), [("verdicts", "verdict"), ("policyversion", "policy_version")])
def test_an_unknown_field_is_wrong_usage_with_the_nearest_name(field: str, near: str) -> None:
    """Before anything is read."""
    lines = (pytest.fail("read although the field is unknown") for _ in "x")
    with pytest.raises(UsageError) as caught:
        group(lines, ["stage", field])
    assert caught.value.exit_code == 64
    assert f"did you mean {near!r}?" in caught.value.message


def test_grouping_by_nothing_is_wrong_usage() -> None:
    """One row that counts all would look like an answer."""
    with pytest.raises(UsageError):
        group([], [])


def test_the_order_does_not_depend_on_the_order_of_the_log() -> None:
    """Of equal counts nothing comes before empty text, whichever stands first: two ways of counting agree."""
    lines = [b'{"kind":"decision","actor":""}', b'{"kind":"decision"}']
    for given in (lines, lines[::-1]):
        assert [row.values["actor"] for row in group(parsed(given), ["actor"])] == [None, ""]
