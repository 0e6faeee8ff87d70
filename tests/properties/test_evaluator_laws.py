"""Laws of the judge: worse evidence gives no better answer, less evidence gives no ACCEPT, order is nothing."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from gatekeeper.evaluator import evaluate
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.context import Context, PolicyDigests
from gatekeeper.model.decision import Decision, Outcome
from gatekeeper.model.document import parse_json
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import snapshot_from_document
from tests.properties import strategies

pytestmark = pytest.mark.slow

STRENGTH = {Verdict.ACCEPT: 0, Verdict.DEGRADE: 1, Verdict.REJECT: 2}
PROMOTION_FIELDS = ("sample_size", "effect_estimate", "ci_low", "ci_high")


def judge(policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]) -> Decision:
    """The decision on three documents."""
    return evaluate(policy_from_document(policy), snapshot_from_document(snapshot), Context(**context))


def is_number(value: object) -> bool:
    """Whether a metric can be worsened."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@given(
    strategies.policies("violations_first"),
    strategies.snapshots(),
    strategies.contexts(),
    st.sampled_from(strategies.GUARDED),
    strategies.thousandths(1, 2000),
)
def test_a_worse_value_never_gives_a_better_verdict(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], metric: str, step: float
) -> None:
    """Moving a guarded metric to its unhealthy side, within its range."""
    (guardrail,) = [item for item in policy["guardrails"] if item["metric"] == metric]
    value = snapshot["metrics"][metric]
    assume(is_number(value))
    worse = round(value + step if guardrail["op"] in {"<=", "<"} else value - step, 3)
    if "range" in guardrail:
        low, high = guardrail["range"]
        assume(low <= value <= high)
        assume(low <= worse <= high)
    before = judge(policy, snapshot, context)
    after = judge(policy, {**snapshot, "metrics": {**snapshot["metrics"], metric: worse}}, context)
    event(f"{before.verdict} to {after.verdict}")
    assert STRENGTH[after.verdict] >= STRENGTH[before.verdict]


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.sampled_from([0, 1]))
def test_a_violated_constraint_never_gives_a_better_verdict(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], which: int
) -> None:
    """From healthy to violated, under both precedences."""
    metric, healthy, violated = (("leaks", 0, 1), ("banned", False, True))[which]
    verdicts = [
        judge(policy, {**snapshot, "metrics": {**snapshot["metrics"], metric: value}}, context).verdict
        for value in (healthy, violated)
    ]
    assert STRENGTH[verdicts[1]] >= STRENGTH[verdicts[0]]


def removals(snapshot: dict[str, Any]) -> list[tuple[str, ...]]:
    """Paths of what is taken away one at a time: values, baseline values, statistics, watermarks.

    SPEC lets a stated `freshness_seconds` stand in for a watermark, and a window begin at `collected_at`
    where no watermark is stated; and `assignment_stable` is not asked where it is absent. The watermark of
    a source is asked for once the source is listed, so it may go whatever else is stated.
    """
    paths: list[tuple[str, ...]] = [("metrics", name) for name in snapshot["metrics"]]
    paths += [("baseline", "metrics", name) for name in snapshot.get("baseline", {}).get("metrics", ())]
    paths += [("promotion", strategies.GOAL, name) for name in PROMOTION_FIELDS if "promotion" in snapshot]
    paths += [("observations", name, "watermark_event_time") for name in snapshot["observations"]]
    paths += [("_meta", "watermark_event_time"), ("promotion",), ("_meta", "window"), ("_meta", "freshness_seconds")]
    return paths


def without(snapshot: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """A copy of *snapshot* without what stands at *path*."""
    result = copy.deepcopy(snapshot)
    inner = result
    for key in path[:-1]:
        inner = inner.get(key, {})
    inner.pop(path[-1], None)
    return result


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.data())
def test_taking_evidence_away_never_gives_accept(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], data: st.DataObject
) -> None:
    """Whatever is removed, another verdict does not become ACCEPT."""
    policy.pop("stage_policy", None)  # a window begins later where its watermark is gone: SPEC 4
    path = data.draw(st.sampled_from(removals(snapshot)))
    before = judge(policy, snapshot, context)
    after = judge(policy, without(snapshot, path), context)
    if path == ("_meta", "freshness_seconds"):
        assume(before.verdict is not Verdict.ACCEPT)
        # without the statement, what the watermarks say counts: it is younger, by what the generator states
        assume("observation_stale:over_freshness_budget" not in before.reason_codes)
    event(f"{path[0]}: {before.verdict} to {after.verdict}")
    if before.verdict is not Verdict.ACCEPT:
        assert after.verdict is not Verdict.ACCEPT


@given(strategies.policies(), strategies.snapshots(), strategies.contexts())
def test_an_outage_of_every_source_is_a_hold_whatever_the_policy_says(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """SPEC 5: trouble with a source never rolls back by itself, dated evidence or not."""
    code = "observation_missing:source_unavailable"
    policy.get("evidence", {}).pop("on_missing", None)  # a reference that is missing is no outage
    snapshot["metrics"] = dict.fromkeys(strategies.METRICS)
    snapshot["observations"] = {name: {"problem": {"code": code}} for name in strategies.METRICS}
    decision = judge(policy, snapshot, context)
    event("dated" if "watermark_event_time" in snapshot["_meta"] else "undated")
    assert (decision.verdict, code in decision.reason_codes) == (Verdict.DEGRADE, True)
    del snapshot["_meta"]["watermark_event_time"]
    assert judge(policy, snapshot, context).reason_codes == decision.reason_codes


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.sampled_from([0, 1]))
def test_taking_the_watermark_of_a_source_away_never_gives_accept(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], which: int
) -> None:
    """Where a limit asks for it: with no limit, nothing reads it."""
    policy.pop("stage_policy", None)
    assume("sources" in snapshot["_meta"])
    before = judge(policy, snapshot, context)
    bare = copy.deepcopy(snapshot)
    del bare["_meta"]["sources"][which]["watermark_event_time"]
    after = judge(policy, bare, context)
    if before.verdict is not Verdict.ACCEPT:
        assert after.verdict is not Verdict.ACCEPT


@given(strategies.policies(), strategies.snapshots(), strategies.contexts())
def test_taking_the_whole_baseline_away_gives_accept_only_in_the_founding_form(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """SPEC 3: only where the policy does not state `on_missing_baseline`."""
    assume("on_missing_baseline" in policy["missing_data_policy"])
    before = judge(policy, snapshot, context)
    after = judge(policy, without(snapshot, ("baseline",)), context)
    if before.verdict is not Verdict.ACCEPT:
        assert after.verdict is not Verdict.ACCEPT


def shuffled(value: Any, order: random.Random) -> Any:
    """*value* with the keys of every object, and the order of sources, dealt again."""
    if isinstance(value, dict):
        items = [(key, shuffled(inner, order)) for key, inner in value.items()]
        order.shuffle(items)
        result = dict(items)
        for name in ("sources", "metrics"):
            if isinstance(result.get(name), list):
                order.shuffle(result[name])
        return result
    return [shuffled(inner, order) for inner in value] if isinstance(value, list) else value


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.randoms(use_true_random=False))
def test_the_order_of_keys_metrics_and_sources_changes_nothing(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], order: random.Random
) -> None:
    """The whole decision is the same."""
    assert judge(policy, snapshot, context) == judge(shuffled(policy, order), shuffled(snapshot, order), context)


@given(strategies.policies(), strategies.snapshots(), strategies.contexts())
def test_a_flat_snapshot_is_judged_like_the_wrapped_one(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """The same content, the same decision."""
    flat = {**snapshot["metrics"], **{name: part for name, part in snapshot.items() if name != "metrics"}}
    assert judge(policy, flat, context) == judge(policy, snapshot, context)


@given(
    strategies.policies(),
    strategies.WILD_SNAPSHOTS | st.dictionaries(st.text(max_size=5), strategies.JSON, max_size=4),
    strategies.contexts(),
)
def test_no_json_makes_the_judge_raise(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """And the decision itself is JSON."""
    decision = judge(policy, snapshot, context)
    assert isinstance(json.dumps(decision.to_dict(), allow_nan=False), str)


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.data())
def test_no_json_in_any_place_makes_the_judge_raise(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], data: st.DataObject
) -> None:
    """Well-formed evidence with one part replaced by something else."""
    damaged = copy.deepcopy(snapshot)
    place: Any = damaged
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 2)) == 0:
            place[key] = data.draw(strategies.JSON)
            break
        place = inner
    decision = judge(policy, damaged, context)
    assert isinstance(json.dumps(decision.to_dict(), allow_nan=False), str)


@given(strategies.policies(), strategies.snapshots(), strategies.contexts(), st.booleans())
def test_a_logged_decision_re_evaluates_to_itself(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], is_other_policy: bool
) -> None:
    """From the canonical bytes of policy, snapshot and context."""
    digests = PolicyDigests("sha256:a", "sha256:b") if is_other_policy else None
    asked = Context(**context, policy=digests)
    judged = snapshot_from_document(snapshot)
    decision = evaluate(policy_from_document(policy), judged, asked)
    again = evaluate(
        policy_from_document(parse_json(canonical_bytes(policy))),
        snapshot_from_document(parse_json(canonical_bytes(judged.document))),
        Context.from_dict(parse_json(canonical_bytes(asked.to_dict()))),
    )
    assert again == decision
    assert canonical_bytes(again.to_dict()) == canonical_bytes(decision.to_dict())


@given(strategies.policies(), strategies.snapshots(), strategies.contexts())
def test_findings_codes_and_verdict_belong_together(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """Only a trouble has a code, reasons come from findings, a hold has reasons and actions, an ACCEPT has neither."""
    decision = judge(policy, snapshot, context)
    harmless = {Outcome.PASS, Outcome.OBSERVED, Outcome.NOT_EVALUATED}
    for finding in decision.findings:
        assert (finding.code is None) == (finding.outcome in harmless)
        if finding.would_be is not None:
            assert finding.outcome in {Outcome.STALE, Outcome.OBSERVED}
    codes = [finding.code for finding in decision.findings if finding.code is not None]
    assert list(decision.reason_codes) == [code for code in dict.fromkeys(codes) if code in decision.reason_codes]
    assert (decision.verdict is Verdict.ACCEPT) == (not codes) == (not decision.reason_codes)
    assert list(decision.missing) == sorted(set(decision.missing))
    if decision.verdict is Verdict.DEGRADE:
        assert decision.requested_actions[-1].name == "rerun_gate_check"
    else:
        assert decision.requested_actions == ()
