from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import Policy, loaded_policy, policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.review.golden.judge import answer_of
from gatekeeper.review.mutants.meaning import meaning
from gatekeeper.review.mutants.survey import mutants_of
from tests.properties.strategies import GUARDED, WILD_SNAPSHOTS, contexts, guardrails, policies, snapshots

if TYPE_CHECKING:
    from collections.abc import Callable

Guardrails = list[dict[str, Any]]
LOOSE: dict[str, Any] = {"metric": "m", "op": "<=", "threshold": 20}
STRICT: dict[str, Any] = {"metric": "m", "op": "<=", "threshold": 10}
OTHER: dict[str, Any] = {"metric": "n", "op": "<=", "threshold": 5}
BUDGET: dict[str, Any] = {"metric": "m", "op": "<=", "budget_delta": 3}


def policy(*rules: dict[str, Any], **more: Any) -> Policy:
    """A policy with these guardrails."""
    document = {"policy_id": "p", "policy_version": "1", "guardrails": list(rules), **more}
    return policy_from_document(document)


@st.composite
def crowded(draw: st.DrawFn) -> dict[str, Any]:
    """A policy with several guardrails on few metrics, limits from a coarse grid: many of them are superfluous."""
    document = draw(policies())
    metrics = draw(st.lists(st.sampled_from(GUARDED[:2]), min_size=2, max_size=5))
    document["guardrails"] = [draw(guardrails(metric)) for metric in metrics]
    for guardrail in document["guardrails"]:
        for key in ("threshold", "budget_delta", "budget_ratio"):
            if key in guardrail:
                guardrail[key] = round(guardrail[key] * 4) / 4
        if draw(st.booleans()):
            guardrail.pop("stages", None)
    document["constraints"] *= draw(st.sampled_from([1, 2]))
    return document


def changed(draw: Callable[[Any], Any], document: dict[str, Any]) -> Policy:
    """A mutant, or two guardrails in another order, or one twice."""
    how = draw(st.sampled_from(["mutant", "mutant", "swapped", "doubled", "dropped"]))
    other = deepcopy(document)
    place = draw(st.integers(0, len(document["guardrails"]) - 1))
    if how == "swapped":
        other["guardrails"].insert(0, other["guardrails"].pop(place))
    elif how == "doubled":
        other["guardrails"].append(other["guardrails"][place])
    elif how == "dropped":
        del other["guardrails"][place]
    else:
        found: Policy = draw(st.sampled_from([one for _, one in mutants_of(loaded_policy(document))]))
        return found
    return policy_from_document(other)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(document=crowded(), data=st.data())
def test_policies_of_equal_meaning_answer_every_question_alike(document: dict[str, Any], data: st.DataObject) -> None:
    """The claim by which a change is not held against the cases."""
    before, after = policy_from_document(document), changed(data.draw, document)
    assume(meaning(before) == meaning(after))
    for _ in range(4):
        snapshot = snapshot_from_document(data.draw(st.one_of(snapshots(), snapshots(), WILD_SNAPSHOTS)))
        context = Context.from_dict(data.draw(contexts()))
        assert answer_of(evaluate(before, snapshot, context)) == answer_of(evaluate(after, snapshot, context))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([STRICT, LOOSE], [STRICT]),  # what the loose one refuses, the strict one has refused
        ([LOOSE, STRICT], [STRICT]),  # side by side: the code stands at the same place
        ([STRICT, STRICT], [STRICT]),
        ([OTHER, STRICT, LOOSE], [OTHER, STRICT]),
        ([STRICT, {**LOOSE, "enforcement": "observe"}], [STRICT]),  # it only watches
        ([STRICT, {**LOOSE, "stages": ["CANARY_10"]}], [STRICT]),
        ([{**STRICT, "stages": ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100"]}], [STRICT]),
        ([{**STRICT, "range": [0, 10]}], [{**STRICT, "range": [0, 10], "threshold": 11}]),  # neither can fire
        ([{**STRICT, "range": [0, 10], "budget_delta": 3}], [{**BUDGET, "range": [0, 10]}]),
        ([{**STRICT, "range": [11, 20]}], [{**STRICT, "range": [11, 20], "threshold": 10.5}]),  # both always do
        ([BUDGET], [{**BUDGET, "op": "<"}]),
        ([{**STRICT, "range": [0, 9], "budget_delta": 9}], [{**STRICT, "range": [0, 9], "budget_delta": 12}]),
    ],
)  # fmt: skip
def test_a_limit_that_others_make_superfluous_has_no_meaning_of_its_own(one: Guardrails, other: Guardrails) -> None:
    """No case could notice that it has changed, so none is missing."""
    assert meaning(policy(*one)) == meaning(policy(*other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([LOOSE, OTHER, STRICT], [OTHER, STRICT]),  # the order of the codes differs where both fire
        ([STRICT, {**LOOSE, "range": [0, 100]}], [STRICT]),  # 101 is invalid for one of them
        ([STRICT, {**LOOSE, "op": ">="}], [STRICT]),
        ([{**LOOSE, "budget_delta": 3}, STRICT], [BUDGET, STRICT]),  # the budget's code stands between the two
        ([STRICT, {**STRICT, "op": "<"}], [STRICT]),  # 10 is refused by one of them
        ([{**STRICT, "stages": ["CANARY_10"]}, LOOSE], [{**STRICT, "stages": ["CANARY_10"]}]),
        ([{**STRICT, "range": [0, 10]}], [{**STRICT, "range": [0, 10], "op": "<"}]),  # 10 is a value it can have
        ([{**STRICT, "range": [0, 10.5]}], [{**STRICT, "range": [0, 10.5], "threshold": 10.4}]),
        ([{**STRICT, "range": [0, 9], "budget_delta": 9}], [{**STRICT, "range": [0, 9], "budget_delta": 8.9}]),
        ([{**STRICT, "range": [0, 10], "budget_delta": 30}], [{**STRICT, "range": [0, 10]}]),  # it needs a baseline
    ],
)
def test_a_limit_that_can_make_a_difference_keeps_its_meaning(one: Guardrails, other: Guardrails) -> None:
    """A change that would be taken for harmless here would hide from every reviewer."""
    assert meaning(policy(*one)) != meaning(policy(*other))


GATE: dict[str, Any] = {
    "primary": [{"metric": "g", "direction": "up", "min_lift": 1}],
    "promotion_gate": {"required_for_stages": ["CANARY_50"], "min_sample_size": 10, "require_ci_low_gt": 0},
}


@pytest.mark.parametrize(
    ("rules", "one", "other"),
    [
        ([STRICT], {"missing_data_policy": {"precedence": "evidence_first"}}, {}),
        ([STRICT], {"missing_data_policy": {"on_missing": "REJECT"}}, {}),
        ([STRICT], {"missing_data_policy": {"on_missing_baseline": "REJECT"}}, {}),  # a problem may state the code
        ([BUDGET], {"missing_data_policy": {"on_missing_baseline": "DEGRADE"}}, {}),
        ([STRICT], {"missing_data_policy": {"max_freshness_seconds": 9}}, {}),
        ([STRICT], {"missing_data_policy": {"max_watermark_skew_seconds": 9}}, {}),
        ([STRICT], {"missing_data_policy": {"required_metrics": ["m"]}}, {}),
        ([STRICT], {"stage_policy": {}}, {}),
        ([STRICT], {"stage_policy": {"min_stage_seconds": 9}}, {"stage_policy": {}}),
        ([STRICT], {"evidence": {"required": ["approval"]}}, {}),
        ([STRICT], {"evidence": {"required": ["a", "b"]}}, {"evidence": {"required": ["b", "a"]}}),
        ([STRICT], {"constraints": [{"kind": "must_be_zero", "metric": "c"}]}, {}),
        ([STRICT], GATE, {}),
        ([STRICT], GATE, {**GATE, "promotion_gate": {**GATE["promotion_gate"], "min_sample_size": 11}}),
        ([STRICT], GATE, {**GATE, "promotion_gate": {**GATE["promotion_gate"], "require_ci_low_gt": 1}}),
        ([STRICT], GATE, {**GATE, "promotion_gate": {**GATE["promotion_gate"], "on_not_ready": "REJECT"}}),
        ([STRICT], GATE, {**GATE, "primary": [{"metric": "g", "direction": "down", "min_lift": 1}]}),
        ([STRICT], GATE, {**GATE, "primary": [{"metric": "g", "direction": "up"}]}),
    ],
)
def test_a_setting_that_some_evidence_asks_for_is_part_of_the_meaning(
    rules: Guardrails, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Each is worth a case."""
    assert meaning(policy(*rules, **one)) != meaning(policy(*rules, **other))


def test_a_guardrail_that_only_watches_says_what_a_required_metric_may_be() -> None:
    """With it true is no value of the metric, without it true is one: the one thing that it decides."""
    needed = {"missing_data_policy": {"required_metrics": ["n"]}}
    watching = policy(STRICT, {**OTHER, "enforcement": "observe"}, **needed)
    assert meaning(watching) != meaning(policy(STRICT, **needed))


def test_codes_keep_their_order_even_where_the_metrics_are_asked_in_the_same() -> None:
    """Both ask m first; where m and n are beyond their limits, the codes come in another order."""
    needed = {"missing_data_policy": {"required_metrics": ["m"]}}
    assert meaning(policy(LOOSE, OTHER, STRICT, **needed)) != meaning(policy(OTHER, STRICT, **needed))
    never = {**LOOSE, "range": [0, 15]}  # reports unusable evidence first
    strict = {**STRICT, "range": [0, 15]}
    assert meaning(policy(never, OTHER, strict, **needed)) != meaning(policy(OTHER, strict, **needed))


def test_settings_count_where_something_asks_for_them() -> None:
    """Without budgets no baseline grows old, without a gate no goal is asked, without references none is missing."""
    with_age = {"missing_data_policy": {"max_baseline_age_seconds": 600}}
    assert meaning(policy(STRICT, **with_age)) == meaning(policy(STRICT))
    assert meaning(policy(BUDGET, **with_age)) != meaning(policy(BUDGET))
    goal = {"primary": [{"metric": "g", "direction": "up", "min_lift": 1}]}
    assert meaning(policy(STRICT, **goal)) == meaning(policy(STRICT))
    refused = {"evidence": {"on_missing": "REJECT"}}
    assert meaning(policy(STRICT, **refused)) == meaning(policy(STRICT))
    assert meaning(policy(STRICT, evidence={"on_missing": "REJECT", "required": ["a"]})) != meaning(
        policy(STRICT, evidence={"required": ["a"]})
    )
    # a problem that a snapshot states may have this code, so the setting counts without any rule
    assert meaning(policy(STRICT, missing_data_policy={"on_stale": "REJECT"})) != meaning(policy(STRICT))
