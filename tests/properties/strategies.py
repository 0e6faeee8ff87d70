"""What laws are tested on: policies that load, evidence in every state, contexts of a run."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gatekeeper.model.times import format_time, require_time

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100")
EVALUATED_AT = "2026-02-18T01:00:10Z"
NOW = require_time(EVALUATED_AT)
COUNTED, FLAGGED, GOAL = "leaks", "banned", "sales"
GUARDED = ("errors", "slow", "success")
METRICS = (*GUARDED, COUNTED, FLAGGED, GOAL)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["2026-02-18T01:00:00Z", "2026-02-18T01:00:00", "5m", "0x10", "nan"]),
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
"""Any JSON value, with the numbers that only some writers call JSON."""

KNOWN_KEYS = st.sampled_from(
    [
        *METRICS,
        "metrics",
        "baseline",
        "promotion",
        "observations",
        "_meta",
        "sources",
        "name",
        "window",
        "problem",
        "code",
        "collected_at",
        "watermark_event_time",
        "freshness_seconds",
        "sample_size",
        "ci_low",
        "ci_high",
        "effect_estimate",
        "assignment_stable",
        "value_text",
        "source",
    ]
)
WILD_SNAPSHOTS = st.dictionaries(
    KNOWN_KEYS,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KNOWN_KEYS, inner, max_size=5)),
    max_size=6,
)
"""Objects with the keys of a snapshot in the wrong places and values of any type."""


def moment(seconds_ago: float) -> str:
    """The text of a time before the evaluation."""
    return format_time(NOW - round(seconds_ago * 1_000_000))


def thousandths(low: int, high: int) -> st.SearchStrategy[float]:
    """Numbers with three digits behind the point, as people write them."""
    return st.integers(low, high).map(lambda count: count / 1000)


@st.composite
def guardrails(draw: st.DrawFn, metric: str) -> dict[str, Any]:
    """One guardrail of *metric* with a threshold, budgets, or both."""
    kinds = draw(st.sets(st.sampled_from(["threshold", "budget_delta", "budget_ratio"]), min_size=1))
    guardrail: dict[str, Any] = {"metric": metric, "op": draw(st.sampled_from(["<=", "<", ">=", ">"]))}
    if "threshold" in kinds:
        guardrail["threshold"] = draw(thousandths(-500, 1500))
    guardrail |= {budget: draw(thousandths(0, 600)) for budget in sorted(kinds - {"threshold"})}
    if draw(st.integers(0, 3)) == 0:
        guardrail["range"] = [-1, 1]
    if draw(st.integers(0, 5)) == 0:
        guardrail["enforcement"] = "observe"
    if draw(st.integers(0, 5)) == 0:
        guardrail["stages"] = draw(st.lists(st.sampled_from(STAGES), min_size=1, unique=True))
    return guardrail


def trouble() -> st.SearchStrategy[str]:
    """What an `on_*` key may say."""
    return st.sampled_from(["DEGRADE", "REJECT"])


@st.composite
def policies(draw: st.DrawFn, precedence: str | None = None) -> dict[str, Any]:
    """A policy document that loads, over METRICS, each guarded at most once."""
    missing: dict[str, Any] = {
        "required_metrics": draw(st.lists(st.sampled_from(METRICS), max_size=2, unique=True)),
        "on_missing": draw(trouble()),
        "on_stale": draw(trouble()),
        "precedence": precedence or draw(st.sampled_from(["violations_first", "evidence_first"])),
    }
    if draw(st.booleans()):
        missing["on_missing_baseline"] = draw(trouble())
    limits = {"max_freshness_seconds": 120, "max_watermark_skew_seconds": 60, "max_baseline_age_seconds": 600}
    missing |= {name: limit for name, limit in limits.items() if draw(st.booleans())}
    document: dict[str, Any] = {
        "policy_id": "law",
        "policy_version": "1",
        "guardrails": [draw(guardrails(metric)) for metric in draw(st.permutations(GUARDED))],
        "constraints": [
            {"kind": "must_be_zero", "metric": COUNTED},
            {"kind": "must_be_false", "metric": FLAGGED},
        ],
        "missing_data_policy": missing,
    }
    if draw(st.booleans()):
        document["primary"] = [
            {"metric": GOAL, "direction": draw(st.sampled_from(["up", "down"])), "min_lift": draw(thousandths(0, 20))}
        ]
        document["promotion_gate"] = {
            "required_for_stages": draw(st.sampled_from([["ROLLOUT_100"], ["CANARY_25", "ROLLOUT_100"]])),
            "min_sample_size": 1000,
            "require_ci_low_gt": 0.0,
            "on_not_ready": draw(trouble()),
        }
    if draw(st.integers(0, 2)) == 0:
        document["stage_policy"] = {"min_stage_seconds": draw(st.sampled_from([60, 900]))}
    if draw(st.integers(0, 2)) == 0:
        document["evidence"] = {"required": ["change_id"], "on_missing": draw(trouble())}
    return document


@st.composite
def statistics(draw: st.DrawFn) -> dict[str, Any]:
    """A promotion part in which the estimate lies between its bounds."""
    low, middle, high = sorted(draw(st.lists(thousandths(-30, 30), min_size=3, max_size=3)))
    part = {"sample_size": draw(st.integers(990, 1010)), "ci_low": low, "effect_estimate": middle, "ci_high": high}
    return {**part, "assignment_stable": draw(st.sampled_from([True, True, False]))}


@st.composite
def snapshots(draw: st.DrawFn) -> dict[str, Any]:
    """Well-formed evidence of any health: values near their limits, some missing, some old.

    A stated freshness is never younger than the watermarks say, and `_meta`'s watermark is the oldest,
    as in a summary of the sources.
    """
    metrics: dict[str, Any] = {metric: draw(thousandths(-1200, 1500)) for metric in GUARDED}
    metrics[COUNTED] = draw(st.sampled_from([0, 0, 0, 1]))
    metrics[FLAGGED] = draw(st.sampled_from([False, False, 0, True]))
    metrics[GOAL] = draw(thousandths(0, 100))
    for metric in draw(st.lists(st.sampled_from(METRICS), max_size=1)):
        metrics[metric] = draw(st.sampled_from([None, "text"]))
    ages = draw(st.lists(st.integers(0, 200), min_size=2, max_size=2))
    oldest = max(ages)
    listed = draw(st.permutations(METRICS))
    meta: dict[str, Any] = {
        "collected_at": moment(draw(st.integers(0, min(ages)))),
        "watermark_event_time": moment(oldest),
        "window": draw(st.sampled_from(["1m", "5m"])),
    }
    if draw(st.booleans()):
        meta["freshness_seconds"] = oldest + draw(st.integers(0, 30))
    if draw(st.booleans()):
        meta["sources"] = [
            {"name": "prom", "watermark_event_time": moment(ages[0]), "metrics": listed[:4]},
            {"name": "dwh", "watermark_event_time": moment(ages[1]), "metrics": listed[3:]},
        ]
    snapshot: dict[str, Any] = {"metrics": metrics, "_meta": meta, "observations": {}}
    if draw(st.integers(0, 3)) > 0:
        snapshot["baseline"] = {
            "metrics": {metric: draw(thousandths(-1000, 1000)) for metric in GUARDED},
            "_meta": {"window": meta["window"], "watermark_event_time": moment(draw(st.integers(0, 700)))},
        }
    if draw(st.booleans()):
        snapshot["promotion"] = {GOAL: draw(statistics())}
    for metric in draw(st.lists(st.sampled_from(METRICS), max_size=2, unique=True)):
        snapshot["observations"][metric] = {
            "source": "prom",
            "watermark_event_time": moment(draw(st.integers(0, oldest))),
        }
    if draw(st.integers(0, 5)) == 0:
        code = draw(st.sampled_from(["observation_missing:empty_result", "evidence_missing:partial_response"]))
        snapshot["observations"][draw(st.sampled_from(METRICS))] = {"problem": {"code": code, "detail": "…"}}
    return snapshot


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    """Fields of a context: the first check, on the way, or remaining."""
    position = draw(st.integers(0, len(STAGES) - 1))
    is_remaining = draw(st.integers(0, 3)) == 0
    stage = STAGES[position]
    entered = stage if is_remaining else (STAGES[position - 1] if position else None)
    return {
        "stage": stage,
        "evaluated_at": EVALUATED_AT,
        "from_stage": entered,
        "stage_entered_at": None if entered is None else moment(draw(st.sampled_from([30, 400, 5000]))),
        "evidence": draw(st.sampled_from([{}, {"change_id": "CHG-1"}])),
        "change_class": draw(st.sampled_from(["reversible", "reversible", "stateful_or_irreversible"])),
        "approvals": tuple(draw(st.sampled_from([[], [{"stage": stage}]]))),
        "looks": draw(st.integers(0, 5)),
        "history": draw(st.sampled_from(["complete", "complete", "complete", "incomplete"])),
    }
