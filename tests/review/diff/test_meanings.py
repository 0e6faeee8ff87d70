"""What single changes are called: a law is kept by calling everything both ways, a reviewer is not served by it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.model.policy import (
    Constraint,
    EvidencePolicy,
    Guardrail,
    HoldPolicy,
    MissingDataPolicy,
    Policy,
    Primary,
    PromotionGate,
    StagePolicy,
)
from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import Effect
from tests.review.diff.policies import loaded
from tests.review.diff.questions import EVALUATED_AT, judge
from tests.review.documents import MISSING, changed

if TYPE_CHECKING:
    from gatekeeper.review.diff.difference import Change
    from tests.review.diff.policies import Document

POLICY: Document = {
    "policy_id": "meanings",
    "policy_version": "1",
    "primary": [{"metric": "sales", "direction": "up", "min_lift": 1}],
    "guardrails": [
        {"metric": "p95", "op": "<=", "threshold": 400, "budget_delta": 20, "budget_ratio": 0.1, "range": [0, 9000]},
        {"metric": "success", "op": ">", "threshold": 0.9, "stages": ["CANARY_10", "ROLLOUT_100"]},
        {"metric": "cpu", "op": "<", "threshold": 5, "enforcement": "observe"},
    ],
    "constraints": [
        {"kind": "must_be_zero", "metric": "leaks"},
        {"kind": "must_be_false", "metric": "banned", "stages": ["CANARY_10"]},
    ],
    "missing_data_policy": {
        "required_metrics": ["p95", "extra"],
        "on_missing": "DEGRADE",
        "on_stale": "REJECT",
        "on_missing_baseline": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
        "max_baseline_age_seconds": 600,
    },
    "promotion_gate": {
        "required_for_stages": ["ROLLOUT_100"],
        "min_sample_size": 1000,
        "require_ci_low_gt": 0,
        "on_not_ready": "DEGRADE",
    },
    "stages": ["DRY_RUN", "CANARY_10", "CANARY_50", "ROLLOUT_100"],
    "stage_policy": {"min_stage_seconds": 900},
    "evidence": {"required": ["change_id"], "on_missing": "DEGRADE"},
    "holds": {"evidence_missing": {"deadline_seconds": 600, "on_deadline": "REJECT", "owners": ["sre"]}},
}
GUARDRAIL = {"metric": "p95", "op": "<=", "threshold": 400}
EVERY_STAGE = POLICY["stages"]

CASES: list[tuple[str, Any, str, str]] = [
    # path, value, rule, meaning
    ("guardrails/0/threshold", 401, "guardrail:p95", "loosened"),
    ("guardrails/0/threshold", 399, "guardrail:p95", "tightened"),
    ("guardrails/0/threshold", MISSING, "guardrail:p95", "loosened"),
    ("guardrails/0/op", "<", "guardrail:p95", "tightened"),
    ("guardrails/0/op", ">=", "guardrail:p95", "both"),
    ("guardrails/1/op", ">=", "guardrail:success", "loosened"),
    ("guardrails/1/threshold", 0.95, "guardrail:success", "tightened"),
    ("guardrails/1/threshold", 0.85, "guardrail:success", "loosened"),
    ("guardrails/0/budget_delta", 21, "budget:p95", "loosened"),
    ("guardrails/0/budget_delta", 19, "budget:p95", "tightened"),
    ("guardrails/0/budget_delta", MISSING, "budget:p95", "loosened"),
    ("guardrails/0/budget_ratio", 0.2, "budget_ratio:p95", "loosened"),
    ("guardrails/0/budget_ratio", 0.05, "budget_ratio:p95", "tightened"),
    ("guardrails/0/budget_ratio", MISSING, "budget_ratio:p95", "loosened"),
    ("guardrails/1/budget_delta", 0.1, "budget:success", "tightened"),
    ("guardrails/0/range", [0, 500], "guardrail:p95", "both"),
    ("guardrails/0/range", [0, 300], "guardrail:p95", "both"),
    ("guardrails/0/range", [-9, 9000], "guardrail:p95", "both"),
    ("guardrails/0/range", MISSING, "guardrail:p95", "both"),
    ("guardrails/0/enforcement", "observe", "guardrail:p95", "loosened"),
    ("guardrails/0/enforcement", "enforce", "guardrail:p95", "neutral"),
    ("guardrails/2/enforcement", "enforce", "guardrail:cpu", "tightened"),
    ("guardrails/2/threshold", 9, "guardrail:cpu", "neutral"),
    ("guardrails/2", MISSING, "guardrail:cpu", "neutral"),
    ("guardrails/0/stages", ["CANARY_10"], "guardrail:p95", "loosened"),
    ("guardrails/0/stages", EVERY_STAGE, "guardrail:p95", "neutral"),
    ("guardrails/1/stages", MISSING, "guardrail:success", "tightened"),
    ("guardrails/1/stages", ["ROLLOUT_100", "CANARY_10"], "guardrail:success", "neutral"),
    ("guardrails/1/stages", ["CANARY_50", "CANARY_10"], "guardrail:success", "both"),
    ("guardrails/0", MISSING, "guardrail:p95", "loosened"),
    ("guardrails/0/description", "words", "guardrail:p95", "neutral"),
    ("guardrails/0/runbook", "https://example.com/p95", "guardrail:p95", "neutral"),
    ("constraints/0/kind", "must_be_false", "constraint:leaks", "both"),
    ("constraints/0/stages", ["CANARY_10"], "constraint:leaks", "loosened"),
    ("constraints/1/stages", MISSING, "constraint:banned", "tightened"),
    ("constraints/0/description", "words", "constraint:leaks", "neutral"),
    ("constraints/0/runbook", "https://example.com", "constraint:leaks", "neutral"),
    ("constraints/1", MISSING, "constraint:banned", "loosened"),
    ("missing_data_policy/required_metrics", ["p95"], "required:extra", "loosened"),
    ("missing_data_policy/required_metrics", ["p95", "extra", "more"], "required:more", "tightened"),
    ("missing_data_policy/required_metrics", ["extra"], "required:p95", "neutral"),  # its guardrail needs it as much
    ("missing_data_policy/required_metrics", ["extra", "p95"], "required_metrics", "neutral"),
    ("missing_data_policy/on_missing", "REJECT", "on_missing", "tightened"),
    ("missing_data_policy/on_missing", MISSING, "on_missing", "neutral"),
    ("missing_data_policy/on_stale", "DEGRADE", "on_stale", "loosened"),
    ("missing_data_policy/on_missing_baseline", "REJECT", "on_missing_baseline", "tightened"),
    ("missing_data_policy/on_missing_baseline", MISSING, "on_missing_baseline", "loosened"),
    ("missing_data_policy/max_freshness_seconds", 121, "freshness", "loosened"),
    ("missing_data_policy/max_freshness_seconds", 119, "freshness", "tightened"),
    ("missing_data_policy/max_freshness_seconds", MISSING, "freshness", "loosened"),
    ("missing_data_policy/max_watermark_skew_seconds", 61, "skew", "loosened"),
    ("missing_data_policy/max_watermark_skew_seconds", 59, "skew", "tightened"),
    ("missing_data_policy/max_baseline_age_seconds", 601, "max_baseline_age_seconds", "loosened"),
    ("missing_data_policy/max_baseline_age_seconds", 599, "max_baseline_age_seconds", "tightened"),
    ("missing_data_policy/precedence", "evidence_first", "precedence", "loosened"),
    ("missing_data_policy/precedence", "violations_first", "precedence", "neutral"),
    ("promotion_gate", MISSING, "promotion", "loosened"),
    ("promotion_gate/required_for_stages", ["CANARY_50", "ROLLOUT_100"], "promotion", "tightened"),
    ("promotion_gate/required_for_stages", ["CANARY_50"], "promotion", "both"),
    ("promotion_gate/min_sample_size", 999, "promotion:sales:sample_size", "loosened"),
    ("promotion_gate/min_sample_size", 1001, "promotion:sales:sample_size", "tightened"),
    ("promotion_gate/min_sample_size", MISSING, "promotion:sales:sample_size", "loosened"),
    ("promotion_gate/require_ci_low_gt", -1, "promotion:sales:ci_bound", "loosened"),
    ("promotion_gate/require_ci_low_gt", 1, "promotion:sales:ci_bound", "tightened"),
    ("promotion_gate/on_not_ready", "REJECT", "on_not_ready", "tightened"),
    ("primary/0/min_lift", 0, "promotion:sales:min_lift", "loosened"),
    ("primary/0/min_lift", 2, "promotion:sales:min_lift", "tightened"),
    ("primary/0/min_lift", MISSING, "promotion:sales:min_lift", "loosened"),
    ("primary/0/direction", "down", "promotion:sales", "both"),
    ("primary/0/description", "words", "promotion:sales", "neutral"),
    ("stage_policy", MISSING, "stage_wait", "loosened"),
    ("stage_policy/min_stage_seconds", 899, "stage_wait", "loosened"),
    ("stage_policy/min_stage_seconds", 901, "stage_wait", "tightened"),
    ("stage_policy/min_stage_seconds", MISSING, "stage_wait", "loosened"),
    ("evidence/required", [], "evidence:change_id", "loosened"),
    ("evidence/required", ["change_id", "approval"], "evidence:approval", "tightened"),
    ("evidence/on_missing", "REJECT", "evidence.on_missing", "tightened"),
    ("stages", ["DRY_RUN", "CANARY_50", "ROLLOUT_100"], "stage:CANARY_10", "loosened"),
    ("stages", ["CANARY_10", "CANARY_50", "ROLLOUT_100"], "stage:DRY_RUN", "loosened"),
    ("stages", ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_50", "ROLLOUT_100"], "stage:SHADOW", "tightened"),
    ("stages", ["DRY_RUN", "CANARY_10", "CANARY_30", "CANARY_50", "ROLLOUT_100"], "stage:CANARY_30", "tightened"),
    ("stages", ["DRY_RUN", "CANARY_10", "CANARY_50", "CANARY_90", "ROLLOUT_100"], "stage:CANARY_90", "both"),
    ("holds/evidence_missing/deadline_seconds", 601, "hold:evidence_missing", "loosened"),
    ("holds/evidence_missing/deadline_seconds", 599, "hold:evidence_missing", "tightened"),
    ("holds/evidence_missing/on_deadline", "ESCALATE", "hold:evidence_missing", "loosened"),
    ("holds/evidence_missing/owners", ["someone"], "hold:evidence_missing", "neutral"),
    ("holds/evidence_missing/retry_after_seconds", 60, "hold:evidence_missing", "neutral"),
    ("holds/evidence_missing/escalate_after_seconds", 60, "hold:evidence_missing", "neutral"),
    ("policy_id", "another", "policy_id", "neutral"),
]


def changes(old: Document, new: Document) -> list[Change]:
    """What the difference tells."""
    return list(difference(loaded(old), loaded(new)).changes)


def with_known_stages(document: Document) -> Document:
    """Rules may only name stages that there are."""
    copy = deepcopy(document)
    for entry in [*copy["guardrails"], *copy["constraints"]]:
        if "stages" in entry:
            entry["stages"] = [stage for stage in entry["stages"] if stage in copy["stages"]] or ["ROLLOUT_100"]
    return copy


@pytest.mark.parametrize(
    ("path", "value", "rule", "meaning"),
    CASES,
    ids=[f"{path}={'-' if value is MISSING else value}" for path, value, _, _ in CASES],
)
def test_a_single_change_is_called_what_it_is(path: str, value: Any, rule: str, meaning: str) -> None:
    """The rule that it is about, and its meaning, thought through by hand from SPEC 3 to 6."""
    old, new = POLICY, changed(POLICY, path, value)
    if path == "stages":  # of the stages that both have, the rules name the same
        new = with_known_stages(new)
        old = {**new, "stages": POLICY["stages"]}
    (change,) = changes(old, new)
    assert (change.edit.rule, change.meaning.value) == (rule, meaning)


@pytest.mark.parametrize(
    ("limit", "meaning", "example"),
    [
        ({"op": "<", "threshold": 401}, "loosened", "p95 400.5 stopped, now passes"),
        ({"op": "<", "threshold": 400.5}, "loosened", "p95 400.25 stopped, now passes"),
        ({"op": ">=", "threshold": 0}, "both", "p95 9000 stopped, now passes"),
    ],
)
def test_operator_and_threshold_are_one_limit(limit: Document, meaning: str, example: str) -> None:
    """`< 401` is wider than `<= 400` by what lies between, though neither number tells."""
    new = {**POLICY, "guardrails": [{**POLICY["guardrails"][0], **limit}, *POLICY["guardrails"][1:]]}
    (change,) = changes(POLICY, new)
    assert (change.edit.pointer, change.meaning.value) == ("/guardrails/0", meaning)
    assert change.consequences[0].example == example


def test_a_renamed_metric_is_a_rule_gone_and_a_rule_come() -> None:
    """What is asked of the old name is asked no more."""
    found = changes(POLICY, changed(POLICY, "guardrails/1/metric", "passed"))
    assert [(one.edit.rule, one.meaning.value) for one in found] == [
        ("guardrail:success", "loosened"),
        ("guardrail:passed", "tightened"),
    ]


def test_a_stage_that_is_renamed_is_a_smaller_step_and_a_bigger_one() -> None:
    """A rule that named it asks the same of all stages that stayed."""
    new = changed(changed(POLICY, "stages/1", "CANARY_20"), "guardrails/1/stages/0", "CANARY_20")
    found = changes(POLICY, changed(new, "constraints/1/stages/0", "CANARY_20"))
    assert {one.edit.rule: one.meaning.value for one in found} == {
        "stage:CANARY_10": "loosened",
        # all that CANARY_50 asks is asked there; what was asked at CANARY_10 moved with it
        "stage:CANARY_20": "tightened",
        "guardrail:success": "neutral",
        "constraint:banned": "neutral",
    }


def test_a_guardrail_that_a_stricter_one_replaces_is_no_loosening() -> None:
    """Two guardrails of one metric are one conjunction: only the limit that binds counts."""
    both = {**POLICY, "guardrails": [GUARDRAIL, {**GUARDRAIL, "threshold": 300}]}
    one = {**POLICY, "guardrails": [{**GUARDRAIL, "threshold": 300}]}
    (change,) = changes(both, one)
    assert change.meaning.value == "neutral"
    split = [{**GUARDRAIL, "stages": EVERY_STAGE[:2]}, {**GUARDRAIL, "stages": EVERY_STAGE[2:]}]
    found = changes({**POLICY, "guardrails": [GUARDRAIL]}, {**POLICY, "guardrails": split})
    assert {change.meaning.value for change in found} == {"neutral"}


def test_a_watching_guardrail_that_goes_lets_a_flag_pass_as_a_number() -> None:
    """It says of a required metric that its values are numbers, even where it decides nothing itself."""
    old = changed(POLICY, "missing_data_policy/required_metrics", ["cpu"])
    (change,) = changes(old, changed(old, "guardrails/2", MISSING))
    (consequence,) = change.consequences
    assert (change.meaning.value, consequence.rule) == ("loosened", "required:cpu")
    assert consequence.example == "cpu true held, now passes"


def test_a_shorter_deadline_that_escalates_hides_one_that_rejects() -> None:
    """Of several reasons the shortest deadline counts, with what it does (SPEC 6)."""
    (change,) = changes(POLICY, changed(POLICY, "holds/observation_stale", {"deadline_seconds": 300}))
    (consequence,) = change.consequences
    assert (change.meaning.value, consequence.effect) == ("loosened", Effect.STOPS_LESS)
    assert consequence.example == (
        "a hold for observation_stale together with evidence_missing was rejected after 600 s, now never"
    )


def test_what_evidence_first_hides_is_told_only_there() -> None:
    """A required metric that is missing hides harm under the founding order, so it goes both ways there."""
    added = ["p95", "extra", "more"]
    phased = changed(POLICY, "missing_data_policy/precedence", "evidence_first")
    for old, meaning in ((POLICY, "tightened"), (phased, "both")):
        (change,) = changes(old, changed(old, "missing_data_policy/required_metrics", added))
        assert change.meaning.value == meaning


def test_rules_in_another_order_mean_something_under_evidence_first_only() -> None:
    """There the first guardrail in trouble decides alone."""
    phased = changed(POLICY, "missing_data_policy/precedence", "evidence_first")
    for old, meaning in ((POLICY, "neutral"), (phased, "both")):
        (change,) = changes(old, {**old, "guardrails": old["guardrails"][::-1]})
        assert (change.edit.rule, change.meaning.value) == ("guardrails", meaning)


@pytest.mark.parametrize(
    "new",
    [
        {**POLICY, "holds": {**POLICY["holds"], "observation_missing": {}}},
        changed(POLICY, "guardrails/0/enforcement", "enforce"),
    ],
)
def test_a_default_that_is_written_out_is_a_change_without_meaning(new: Document) -> None:
    """The digest differs, so a run is held for it: the difference must not be silent."""
    (change,) = changes(POLICY, new)
    assert (change.meaning.value, change.consequences) == ("neutral", ())


def test_the_same_content_in_another_spelling_is_no_change() -> None:
    """Order of keys, and 400.0 for 400."""
    again = changed(dict(reversed(POLICY.items())), "guardrails/0/threshold", 400.0)
    assert changes(POLICY, again) == []


def test_a_second_primary_takes_the_flat_form_of_statistics_away() -> None:
    """A gate that asks for a stable assignment alone reads none there, and is content (SPEC 4)."""
    goals = [{"metric": "p", "direction": "up"}, {"metric": "q", "direction": "up"}]
    gate = {"required_for_stages": ["CANARY_10"]}
    base = {"policy_id": "p", "policy_version": "1", "guardrails": [{"metric": "a", "op": "<=", "threshold": 1}]}
    one, two = ({**base, "promotion_gate": gate, "primary": goals[:count]} for count in (1, 2))
    snapshot = {"metrics": {"a": 1}, "promotion": {"assignment_stable": False}}
    context = {"stage": "CANARY_10", "evaluated_at": EVALUATED_AT}
    assert [judge(loaded(each).policy, snapshot, context).verdict for each in (one, two)] == ["DEGRADE", "ACCEPT"]
    for old, new, effect in ((one, two, Effect.LETS_MORE), (two, one, Effect.LETS_LESS)):
        (change,) = changes(old, new)
        assert effect in change.effects


def test_what_loosens_is_told_first() -> None:
    """Then what goes both ways, what tightens, and what means nothing."""
    new = changed(changed(POLICY, "guardrails/0/threshold", 1), "guardrails/0/runbook", "https://example.com")
    new = changed(changed(new, "guardrails/1/op", ">="), "primary/0/direction", "down")
    assert [one.meaning.value for one in changes(POLICY, new)] == ["loosened", "both", "tightened", "neutral"]


def test_a_guardrail_that_begins_to_decide_is_not_judged_by_the_limit_it_watched_before() -> None:
    """With a wider limit and in force, it only tightens; watching from now on, its new limit means nothing."""
    watching = POLICY["guardrails"][2]
    deciding = {**watching, "enforcement": "enforce", "threshold": 50}
    old, new = ({**POLICY, "guardrails": [GUARDRAIL, one]} for one in (watching, deciding))
    assert [one.meaning.value for one in changes(old, new)] == ["tightened", "neutral"]
    assert [one.meaning.value for one in changes(new, old)] == ["loosened", "neutral"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("", Policy),
        ("primary", Primary),
        ("guardrails", Guardrail),
        ("constraints", Constraint),
        ("missing_data_policy", MissingDataPolicy),
        ("promotion_gate", PromotionGate),
        ("stage_policy", StagePolicy),
        ("evidence", EvidencePolicy),
        ("holds", HoldPolicy),
    ],
)
def test_no_key_of_a_policy_is_passed_over_in_silence(part: str, kind: type) -> None:
    """A key that the format gets must be changed above, or its changes would be told as none."""
    paths = [path.split("/") for path, *_ in CASES]
    changed_keys = {path[0] if not part else path[-1] for path in paths if not part or path[0] == part}
    told_otherwise = {"policy_version", "suppressions", "metric"}  # these, renamed metrics too, have tests of their own
    assert {one.name for one in fields(kind)} - told_otherwise <= changed_keys
