"""Laws of the difference: what it calls not loosened lets nothing more through and stops no less, and the reverse."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from gatekeeper.model.decision import Decision
from gatekeeper.model.hold import plan_hold
from gatekeeper.model.reasons import HOLD_CATEGORIES, Verdict
from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import LOOSENS, TIGHTENS, Effect
from tests.review.diff.policies import EDITS, Document, changed, loaded
from tests.review.diff.questions import EVALUATED_AT, judge, question

if TYPE_CHECKING:
    from gatekeeper.model.policy import LoadedPolicy

pytestmark = pytest.mark.slow

QUESTIONS = 120
"""Questions to each pair of policies."""
STRENGTH = {Verdict.ACCEPT: 0, Verdict.DEGRADE: 1, Verdict.REJECT: 2}
TIME_LIMITS = ("max_freshness_seconds", "max_watermark_skew_seconds", "max_baseline_age_seconds")
TIME_CODES = (
    "observation_stale:",
    "observation_missing:freshness_seconds",
    "observation_missing:watermark_event_time",
    "observation_missing:window",
    "precondition_unknown:stage_wait_not_elapsed",
)

REJECTS: Document = {
    "policy_id": "p",
    "policy_version": "1",
    "constraints": [{"kind": "must_be_zero", "metric": "a"}],
    "holds": {"evidence_missing": {"deadline_seconds": 200, "on_deadline": "REJECT"}},
}
ESCALATES_SOONER: Document = {
    **REJECTS,
    "policy_version": "2",
    "holds": {**REJECTS["holds"], "observation_stale": {"deadline_seconds": 100}},
}


def effects_of(old: LoadedPolicy, new: LoadedPolicy) -> set[Effect]:
    """In which ways the difference says that something turns out otherwise."""
    return {effect for change in difference(old, new).changes for effect in change.effects}


def has_other_time_limits(old: Document, new: Document) -> bool:
    """Whether harm shown by old evidence may stop under one of them and hold under the other (the documented limit)."""
    parts = [one.get("missing_data_policy", {}) for one in (old, new)]
    return old.get("stage_policy") != new.get("stage_policy") or any(
        parts[0].get(key) != parts[1].get(key) for key in TIME_LIMITS
    )


def is_about_time(decision: Decision) -> bool:
    """Whether some evidence was not judged for its time."""
    return any(finding.code is not None and finding.code.startswith(TIME_CODES) for finding in decision.findings)


def are_statistics_hidden(rejected: Decision, other: Decision) -> bool:
    """Whether only statistics rejected, and the other policy did not get as far as them (the documented limit)."""
    return (
        rejected.verdict is Verdict.REJECT
        and other.verdict is Verdict.DEGRADE
        and set(rejected.reason_codes) <= codes_of_statistics(rejected)
        and not set(other.reason_codes) & codes_of_statistics(other)
    )


def codes_of_statistics(decision: Decision) -> set[str | None]:
    """The reason codes that the promotion gate states."""
    return {finding.code for finding in decision.findings if finding.rule.startswith("promotion:")}


@pytest.mark.parametrize("name", EDITS)
@settings(max_examples=30)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_what_is_called_not_loosened_accepts_nothing_more(name: str, data: st.DataObject, seed: int) -> None:
    """And what is called not tightened accepts nothing less; the same of REJECT, but for the documented limits."""
    pair = data.draw(changed(name))
    old, new = loaded(pair[0]), loaded(pair[1])
    effects = effects_of(old, new)
    stages = [stage for stage in new.policy.stages if stage in old.policy.stages]
    random, other_times = Random(seed), has_other_time_limits(*pair)
    event(", ".join(sorted(effects)) or "neutral")
    for number in range(QUESTIONS):
        first, second = (pair[0], pair[1]) if number % 2 else (pair[1], pair[0])
        snapshot, context = question(random, first, second, stages)
        before, after = judge(old.policy, snapshot, context), judge(new.policy, snapshot, context)
        told = (pair, snapshot, context, before.reason_codes, after.reason_codes)
        if after.verdict is Verdict.ACCEPT and before.verdict is not Verdict.ACCEPT:
            assert effects & LOOSENS, told
        if before.verdict is Verdict.ACCEPT and after.verdict is not Verdict.ACCEPT:
            assert effects & TIGHTENS, told
        if other_times and (is_about_time(before) or is_about_time(after)):
            continue
        if are_statistics_hidden(before, after) or are_statistics_hidden(after, before):
            continue
        if STRENGTH[after.verdict] < STRENGTH[before.verdict]:
            assert effects & LOOSENS, told
        if STRENGTH[after.verdict] > STRENGTH[before.verdict]:
            assert effects & TIGHTENS, told


@settings(max_examples=150)
@given(changed("stages stages"), st.integers(0, 2**32))
def test_a_new_stage_called_not_loosened_reaches_nobody_whom_the_old_policy_kept_out(
    pair: tuple[Document, Document], seed: int
) -> None:
    """What lets users in at a new stage would have let a run into the stage that led to as many of them before."""
    old, new = loaded(pair[0]), loaded(pair[1])
    added = [stage for stage in new.policy.stages if stage not in old.policy.stages and stage.startswith("CANARY")]
    if not added or effects_of(old, new) & LOOSENS:
        return
    random = Random(seed)
    for _ in range(QUESTIONS):
        stage = random.choice(added)
        behind = next(
            name
            for name in old.policy.stages
            if name in new.policy.stages and name.startswith(("CANARY", "ROLLOUT")) and share(name) >= share(stage)
        )
        snapshot, context = question(random, pair[1], {**pair[1], "stages": new.policy.stages}, [stage])
        context |= {"from_stage": None, "stage_entered_at": None, "approvals": ({"stage": stage}, {"stage": behind})}
        if judge(new.policy, snapshot, context).verdict is Verdict.ACCEPT:
            there = judge(old.policy, snapshot, {**context, "stage": behind})
            assert there.verdict is Verdict.ACCEPT, (pair, snapshot, context, there.reason_codes)


def share(stage: str) -> float:
    """Percent of users."""
    return float(stage.partition("_")[2])


def rejected_at(policy: LoadedPolicy, categories: list[str]) -> str:
    """When a hold for reasons of these categories ends in REJECT, as the orchestrator would record it."""
    decision = Decision(Verdict.DEGRADE, tuple(f"{category}:x" for category in categories), (), ())
    resume = plan_hold(
        policy.policy,
        decision,
        run_id="r",
        stage="CANARY_10",
        event_id="r:CANARY_10",
        evaluated_at=EVALUATED_AT,
        snapshot_digest="sha256:0",
        hold=None,
        source=None,
    )
    return str(resume["deadline_at"]) if resume["on_deadline"] == "REJECT" else "never"  # later than any digit


@settings(max_examples=100)
@given(changed("whole holds"), st.lists(st.sampled_from(HOLD_CATEGORIES), min_size=1, unique=True))
@example((REJECTS, ESCALATES_SOONER), ["evidence_missing", "observation_stale"])
def test_a_hold_called_not_loosened_is_rejected_no_later(
    pair: tuple[Document, Document], categories: list[str]
) -> None:
    """Nor earlier where it is called not tightened; a shorter deadline that escalates may hide one that rejects."""
    old, new = loaded(pair[0]), loaded(pair[1])
    effects = effects_of(old, new)
    before, after = rejected_at(old, categories), rejected_at(new, categories)
    if after > before:
        assert Effect.STOPS_LESS in effects
    if after < before:
        assert Effect.STOPS_MORE in effects
