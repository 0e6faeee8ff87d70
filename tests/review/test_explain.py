"""`policy explain`: what is told of a policy is what happens, at each stage, and nothing is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from gatekeeper import Context, evaluate, load_policy, load_snapshot
from gatekeeper.render import load
from gatekeeper.render.page import Layout
from gatekeeper.render.policy_explain import asked, explain_page, seconds_text, sentences
from gatekeeper.review.explain import explanation
from gatekeeper.review.load import load_policy_document
from tests.review.diff.test_meanings import CASES, POLICY, with_known_stages
from tests.review.documents import changed, encoded, policies
from tests.review.test_advice import QUIET

POLICIES = Path(__file__).parents[2] / "policies"
ALWAYS_TOLD = {"change_class", "policy", "history"}
"""Rules of the run, which no policy states."""


def told(document: dict[str, Any]) -> dict[str, Any]:
    """The explanation of a policy."""
    return explanation(load_policy_document(encoded(document)))


def rows(explained: dict[str, Any], stage: str) -> dict[str, dict[str, Any]]:
    """Rule -> its row at a stage."""
    (found,) = [one for one in explained["stages"] if one["stage"] == stage]
    return {row["rule"]: row for row in found["rules"]}


@pytest.mark.parametrize("name", ["checkout-guarded.json", "exp-eval-policy.json"])
def test_every_rule_that_a_check_asks_is_told_and_no_other(name: str) -> None:
    """Held against the findings of real checks at every stage: those that were asked are in the table of the stage."""
    policy = load_policy(POLICIES / name)
    explained = explanation(load_policy_document((POLICIES / name).read_bytes()))
    metrics = {
        **dict.fromkeys(policy.missing_data_policy.required_metrics, 1),
        **{one.metric: 0 if one.op.lower_is_better else 1 for one in policy.guardrails},
        **{one.metric: 0 for one in policy.constraints},
    }
    times = {"window": "5m", "watermark_event_time": "2026-03-10T09:59:00Z"}
    sources = [{"name": name, "watermark_event_time": "2026-03-10T09:59:00Z"} for name in "ab"]
    won = {"sample_size": 1_000_000, "assignment_stable": True}
    sides = {"up": (1, 0.5, 2), "down": (-1, -2, -0.5)}
    promotion = {
        one.metric: {**won, **dict(zip(("effect_estimate", "ci_low", "ci_high"), sides[one.direction], strict=True))}
        for one in policy.primary
    }
    snapshot = {
        "metrics": metrics,
        "baseline": {"metrics": {name: value or 1 for name, value in metrics.items()}, "_meta": times},
        "promotion": promotion,
        "_meta": {**times, "sources": sources},
    }
    for before, stage in zip((None, *policy.stages), policy.stages, strict=False):
        context = Context(
            stage=stage,
            from_stage=before,
            evaluated_at="2026-03-10T10:00:00Z",
            stage_entered_at=None if before is None else "2026-03-10T09:00:00Z",
            evidence=dict.fromkeys(policy.evidence.required, "x"),
        )
        decision = evaluate(policy, load_snapshot(encoded(snapshot)), context)
        assert decision.verdict.value == "ACCEPT", stage
        asked_there = {
            one.rule
            for one in decision.findings
            if one.outcome.value != "NOT_EVALUATED"
            and not (one.outcome.value == "OBSERVED" and one.rule.startswith("promotion:"))
        }
        assert asked_there - ALWAYS_TOLD == rows(explained, stage).keys(), stage


def test_a_row_says_what_follows_from_failure_and_from_absence() -> None:
    """By SPEC 5: harm is REJECT; the rest is what the policy's `on_` keys say; an outage is DEGRADE."""
    document = {
        **QUIET,
        "guardrails": [
            {"metric": "m", "op": "<=", "threshold": 5, "budget_delta": 1, "range": [0, 9]},
            {"metric": "w", "op": ">", "threshold": 2, "enforcement": "observe", "stages": ["CANARY_20"]},
        ],
        "missing_data_policy": {
            "required_metrics": ["m"],
            "on_missing": "REJECT",
            "on_stale": "REJECT",
            "max_freshness_seconds": 60,
            "max_watermark_skew_seconds": 30,
        },
        "evidence": {"required": ["ticket", "approval"], "on_missing": "REJECT"},
        "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 9, "on_not_ready": "REJECT"},
    }
    explained = told(document)
    wanted = {
        "stage_wait": ("DEGRADE", None, True),
        "window": ("DEGRADE", "DEGRADE", True),
        "required:m": (None, "REJECT", False),
        "freshness": ("REJECT", "REJECT", False),
        "skew": ("REJECT", "DEGRADE", False),
        "constraint:leaks": ("REJECT", "REJECT", False),
        "guardrail:m": ("REJECT", "REJECT", False),
        "budget:m": ("REJECT", None, False),  # without on_missing_baseline nothing asks
        "evidence:ticket": (None, "REJECT", False),
        "evidence:approval": (None, "DEGRADE", False),
        "promotion:goal:sample_size": ("REJECT", "REJECT", True),
        "promotion:goal:assignment_stable": ("REJECT", None, True),
        "promotion:goal:min_lift": ("REJECT", "REJECT", True),
    }
    found = {
        rule: (row["on_failure"], row["on_missing"], row["is_asked_on_entering"])
        for rule, row in rows(explained, "ROLLOUT_100").items()
    }
    assert found == wanted
    watched = rows(explained, "CANARY_20")["guardrail:w"]
    assert (watched["is_observed"], watched["on_failure"], watched["on_missing"]) == (True, None, None)
    first = rows(explained, "DRY_RUN")
    assert not {"stage_wait", "window", "guardrail:w"} & first.keys()


def test_a_hold_that_the_policy_does_not_name_is_told_with_its_defaults() -> None:
    """Somebody owns it all the same: SPEC 6."""
    explained = told({**QUIET, "holds": {"evidence_missing": {"deadline_seconds": 60, "owners": ["a", "b"]}}})
    by_category = {one.pop("category"): one for one in explained["holds"]}
    assert by_category["evidence_missing"] == {
        "owners": ["a", "b"],
        "retry_after_seconds": 0,
        "escalate_after_seconds": 1800,
        "deadline_seconds": 60,
        "on_deadline": "ESCALATE",
        "is_named": True,
    }
    assert by_category["observation_stale"] == {
        "owners": ["owner"],
        "retry_after_seconds": 0,
        "escalate_after_seconds": 1800,
        "deadline_seconds": None,
        "on_deadline": None,
        "is_named": False,
    }


@pytest.mark.parametrize(
    ("one", "words"),
    [
        ({"op": "<=", "threshold": 0.01}, "m must be at most 0.01; otherwise the rollout stops."),
        ({"op": "<", "threshold": 12}, "m must be below 12; otherwise the rollout stops."),
        ({"op": ">=", "threshold": 0.97}, "m must be at least 0.97; otherwise the rollout stops."),
        ({"op": ">", "threshold": -1}, "m must be above -1; otherwise the rollout stops."),
        ({"op": "<=", "budget_delta": 20}, "m must be at most 20 above its baseline; otherwise the rollout stops."),
        ({"op": ">=", "budget_delta": 20}, "m must be at most 20 below its baseline; otherwise the rollout stops."),
        ({"op": "<", "budget_ratio": 0.07}, "m must be at most 7 % above its baseline; otherwise the rollout stops."),
        ({"op": "<", "budget_ratio": 10}, "m must be at most 1000 % above its baseline; otherwise the rollout stops."),
        (
            {"op": "<=", "threshold": 1, "range": [0, 5]},
            "m must be at most 1; otherwise the rollout stops. A value outside of 0 to 5 is not believed.",
        ),
        (
            {"op": "<=", "threshold": 1, "enforcement": "observe"},
            "m must be at most 1; it is watched and decides nothing.",
        ),
        (
            {"op": "<=", "threshold": 1, "stages": ["CANARY_20", "ROLLOUT_100"]},
            "m must be at most 1, asked at CANARY_20, ROLLOUT_100; otherwise the rollout stops.",
        ),
    ],
)
def test_a_guardrail_is_told_in_a_sentence(one: dict[str, Any], words: str) -> None:
    """For people who do not read JSON."""
    assert words in sentences(told({**QUIET, "guardrails": [{"metric": "m", **one}]}))


def test_two_limits_of_one_metric_are_both_told() -> None:
    """A stricter one at later stages is no repetition."""
    pair = [
        {"metric": "m", "op": "<=", "threshold": limit, "stages": [stage]}
        for limit, stage in ((5, "DRY_RUN"), (3, "CANARY_20"))
    ]
    found = [one for one in sentences(told({**QUIET, "guardrails": pair})) if one.startswith("m must")]
    assert found == [
        "m must be at most 5, asked at DRY_RUN; otherwise the rollout stops.",
        "m must be at most 3, asked at CANARY_20; otherwise the rollout stops.",
    ]


def test_what_a_policy_leaves_out_is_told_too() -> None:
    """No age limit, no statistics, budgets that nothing checks: silence would read as: it is taken care of."""
    budget = {"metric": "m", "op": "<=", "budget_delta": 1}
    bare = {"policy_id": "p", "policy_version": "1", "guardrails": [budget]}
    found = sentences(told(bare))
    assert "Evidence of any age is taken." in found
    assert "Nothing has to be won: no statistics are asked, at no stage." in found
    assert "Without any baseline, nothing asks whether a metric has worsened." in found


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((0, "0 seconds"), (1, "1 second"), (90, "1 minute 30 seconds"), (3600, "1 hour")),
        *((129600, "1 day 12 hours"), (0.5, "0.5 seconds"), (1e9, "11574 days 1 hour 46 minutes 40 seconds")),
    ],
)
def test_times_are_told_as_people_say_them(seconds: float, words: str) -> None:
    """259200 seconds mean nothing to anybody."""
    assert seconds_text(seconds) == words


@given(document=policies())
def test_every_policy_that_loads_can_be_explained(document: dict[str, Any]) -> None:
    """And every rule of every stage is in the page."""
    explained = told(document)
    page = explain_page(explained)
    assert page.document["sentences"]
    shown = {row.cells[0] for block in page.blocks if hasattr(block, "rows") for row in block.rows}
    assert {row["rule"] for stage in explained["stages"] for row in stage["rules"]} <= shown
    assert all(asked(row) for stage in explained["stages"] for row in stage["rules"])


@pytest.mark.parametrize("on_stale", ["DEGRADE", "REJECT"])
def test_the_age_of_a_baseline_is_told(on_stale: str) -> None:
    """It belongs to every budget and is no rule of its own, so no table has it; it holds even if `on_stale` stops."""
    limits = {"max_baseline_age_seconds": 5400, "on_stale": on_stale}
    explained = told({**QUIET, "missing_data_policy": {**QUIET["missing_data_policy"], **limits}})
    expected = "A baseline older than 1 hour 30 minutes holds the rollout where a metric is held against it."
    assert expected in sentences(explained)
    assert not any("baseline older" in one for one in sentences(told(QUIET)))


FOR_PEOPLE = {"policy_id", "description", "runbook", "owners", "retry_after_seconds", "escalate_after_seconds"}
EDITS = [
    (path, value) for path, value, _, meaning in CASES if meaning != "neutral" or path.rpartition("/")[2] in FOR_PEOPLE
]
"""All but defaults written out and lists in another order."""


@pytest.mark.parametrize(("path", "value"), EDITS)
def test_no_change_of_any_key_leaves_the_explanation_as_it_was(path: str, value: Any) -> None:
    """What changes a verdict and is not told would be a policy that people do not know."""
    new = with_known_stages(changed(POLICY, path, value))
    pages = []
    for document in (POLICY, new):
        explained = {**told(document), "policy_digest": ""}
        pages.append(load("text").page(explain_page(explained), Layout(80)))
    assert pages[0] != pages[1]
