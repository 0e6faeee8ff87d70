"""A query that leaves something out, or gives something that was not asked."""

from __future__ import annotations

import pytest

from gatekeeper.model.event import encode_line
from gatekeeper.model.policy import loaded_policy
from gatekeeper.replay.holes import Holes
from gatekeeper.replay.query import Filter, select
from tests.replay.builder import (
    OTHER_POLICY,
    OTHER_RUN,
    POLICY,
    RUN,
    START,
    changed,
    parsed,
    rollout,
    seqs,
)

MINUTE = 60_000_000
ALL_KINDS = ("decision", "policy", "approval", "action", "checkpoint", "refusal")

FILTERS: dict[str, tuple[Filter, list[int]]] = {
    "nothing asked: decisions": (Filter(), [2, 3, 4, 5, 7, 9]),
    "no kind given: decisions": (Filter(kinds=()), [2, 3, 4, 5, 7, 9]),
    "one kind": (Filter(kinds=("policy",)), [1, 8]),
    "several kinds": (Filter(kinds=("refusal", "action")), [6, 10]),
    "all kinds": (Filter(kinds=ALL_KINDS), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    "run": (Filter(run=OTHER_RUN), [9]),
    "run with all kinds": (Filter(run=RUN, kinds=ALL_KINDS), [2, 3, 4, 5, 6, 7]),
    "run that is only a prefix": (Filter(run="exp-42"), []),
    "experiment": (Filter(experiment="exp-42"), [2, 3, 4, 5, 7]),
    "one verdict": (Filter(verdicts=("REJECT",)), [7]),
    "two verdicts are alternatives": (Filter(verdicts=("REJECT", "DEGRADE")), [4, 7]),
    "verdict of a stop": (Filter(verdicts=("REJECT",), kinds=("decision", "action")), [7, 10]),
    "stage": (Filter(stage="CANARY_10"), [4, 5]),
    "stage of a refusal": (Filter(stage="ROLLOUT_100", kinds=("refusal",)), [6]),
    "reason code": (Filter(reason="guardrail_violation:error_rate"), [7]),
    "reason code that is only a prefix": (Filter(reason="guardrail_violation:error"), []),
    "reason glob": (Filter(reason="*:guardrail_metric"), [4]),
    "reason glob with a set": (Filter(reason="guardrail_violation:[d-f]rror_*"), [7]),
    "reason category": (Filter(reason="observation_missing"), [4]),
    "reason in another case": (Filter(reason="GUARDRAIL_VIOLATION:*"), []),
    "policy id": (Filter(policy="other-policy"), [9]),
    "policy version": (Filter(policy="2026-02-18"), [2, 3, 4, 5, 7]),
    "policy id and version": (Filter(policy="other-policy@v7"), [9]),
    "policy id with another's version": (Filter(policy="other-policy@2026-02-18"), []),
    "policy digest": (Filter(policy=loaded_policy(POLICY).digest), [2, 3, 4, 5, 7]),
    "policy digest cut short": (Filter(policy=loaded_policy(OTHER_POLICY).digest[:15]), [9]),
    "policy digest cut too short": (Filter(policy="sha256:"), []),
    "policy of policy events": (Filter(policy="other-policy", kinds=ALL_KINDS), [8, 9, 10]),
    "since, its own moment included": (Filter(since=START + 5 * MINUTE), [5, 7, 9]),
    "until, its own moment included": (Filter(until=START + 5 * MINUTE), [2, 3, 4, 5]),
    "range": (Filter(since=START + 3 * MINUTE, until=START + 4 * MINUTE), [3, 4]),
    "range between two events": (Filter(since=START + 3 * MINUTE + 1, until=START + 4 * MINUTE - 1), []),
    "limit": (Filter(limit=2), [2, 3]),
    "limit counts what fits": (Filter(limit=1, verdicts=("REJECT",)), [7]),
    "limit above all": (Filter(limit=100, run=OTHER_RUN), [9]),
    "limit of nothing": (Filter(limit=0), []),
    "simulated left out": (Filter(include_simulated=False), [2, 3, 4, 5, 7]),
    "everything at once": (
        Filter(
            run=RUN,
            experiment="exp-42",
            verdicts=("REJECT",),
            stage="CANARY_25",
            reason="guardrail_*",
            policy="exp-eval-policy",
            since=START,
            until=START + 60 * MINUTE,
            kinds=("decision",),
            limit=5,
            include_simulated=False,
        ),
        [7],
    ),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_gives_the_lines_that_it_means_and_no_others(name: str) -> None:
    """Each option of `replay` alone and together, in the order of the log."""
    wanted, expected = FILTERS[name]
    assert seqs(select(parsed(rollout()), wanted)) == expected


def test_a_metric_whose_name_looks_like_a_glob_is_still_found_by_its_code() -> None:
    """`error[5m]` as a glob would mean `error5` or `errorm`."""
    code = "guardrail_violation:error[5m]*"
    lines = parsed([changed(rollout()[6], lambda event: event["decision"].update(reason_codes=[code]))])
    assert seqs(select(lines, Filter(reason=code))) == [7]


def test_lines_of_a_founding_driver_are_not_lost_to_a_query() -> None:
    """Without `kind` they are decisions; the verdict may stand in three places."""
    lines = parsed(
        [
            b'{"seq": 1, "run_id": "r-41", "stage": "CANARY_10", "verdict": "REJECT", "reason_codes": ["a:b"]}',
            b'{"seq": 2, "run_id": "r-41", "decision": {"verdict": "REJECT", "reason_codes": ["a:b"]}}',
            b'{"seq": 3, "run_id": "r-41", "decision": "REJECT", "reason_codes": ["a:b"]}',
            b'{"seq": 4, "run_id": "r-41", "decision": "ACCEPT", "reason_codes": ["a:b"]}',
        ]
    )
    assert seqs(select(lines, Filter(run="r-41", verdicts=("REJECT",), reason="a:*"))) == [1, 2, 3]
    assert seqs(select(lines, Filter(kinds=("action",)))) == []


def test_a_damaged_line_is_neither_silently_dropped_nor_in_the_way() -> None:
    """Lines before and behind it are given, it is named by file and number; blank lines are nothing."""
    whole = rollout()
    lines = parsed([*whole[:2], b'{"seq": 3, "run_id": "r-4', b"", b"\r", b"[1]", b"\xff", *whole[2:]])
    holes = Holes()
    assert seqs(select(lines, Filter(), holes=holes)) == [2, 3, 4, 5, 7, 9]
    assert [(line.source, line.number, line.problem) for line in holes.damaged] == [
        ("decision.ndjson", 3, "damaged"),
        ("decision.ndjson", 6, "damaged"),
        ("decision.ndjson", 7, "damaged"),
    ]


def test_a_query_goes_on_when_a_line_holds_fields_of_other_types() -> None:
    """Whatever somebody wrote there, it is no match and no crash."""
    odd = encode_line(
        {
            "kind": "decision",
            "seq": True,
            "ts": 7,
            "run_id": ["x"],
            "policy_id": {},
            "stage": 1,
            "decision": {"verdict": {}, "reason_codes": [1, None]},
        }
    )
    for wanted in (wanted for wanted, _ in FILTERS.values()):
        if wanted.kinds != ALL_KINDS and any((wanted.run, wanted.verdicts, wanted.stage, wanted.reason, wanted.policy)):
            assert list(select(parsed([odd]), wanted)) == []


def test_a_time_range_reads_no_further_than_it_must() -> None:
    """`ts` never runs back in one log, so the first chained line behind `until` ends the reading."""
    read: list[int] = []

    def lines() -> object:
        for line in parsed(rollout()):
            read.append(line.number)
            yield line

    assert seqs(select(lines(), Filter(until=START + 4 * MINUTE))) == [2, 3, 4]  # type: ignore[arg-type]
    assert read == [1, 2, 3, 4, 5]


def test_a_line_outside_the_chain_does_not_end_a_time_range() -> None:
    """A founding driver's clock is its own: only the chain promises that time never runs back."""
    foreign = b'{"seq":99,"prev":"x","ts":"2027-01-01T00:00:00Z","run_id":"r","verdict":"ACCEPT"}'
    lines = parsed([*rollout()[:2], foreign, *rollout()[2:]])
    assert seqs(select(lines, Filter(until=START + 4 * MINUTE))) == [2, 3, 4]


def test_a_line_without_a_time_lies_in_no_range() -> None:
    """Nobody can say that it happened then."""
    line = parsed([b'{"seq": 1, "run_id": "r-41", "verdict": "REJECT", "ts": "yesterday"}'])
    assert seqs(select(line, Filter())) == [1]
    assert seqs(select(line, Filter(since=0))) == []
    assert seqs(select(line, Filter(until=START))) == []


def test_a_limit_reached_reads_no_further() -> None:
    """With --follow the call would otherwise wait for one event more before it ends."""

    def lines() -> object:
        yield from parsed(rollout())[:2]
        raise AssertionError("read on behind the limit")

    assert seqs(select(lines(), Filter(limit=1))) == [2]  # type: ignore[arg-type]
