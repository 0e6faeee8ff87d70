"""Evidence and contexts around the limits of two policies: sound under one of them, then spoilt in a few places."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.model.times import format_time, require_time
from tests.review.diff.policies import METRICS, PRIMARIES, REFERENCES

if TYPE_CHECKING:
    from random import Random

    from gatekeeper.model.decision import Decision
    from gatekeeper.model.policy import Policy
    from tests.review.diff.policies import Document

EVALUATED_AT = "2026-02-18T12:00:00Z"
NOW = require_time(EVALUATED_AT)
VALUES = tuple(half / 2 for half in range(-5, 15))
ODD_VALUES = (True, False, None, "text", 0, 1)
AGES = (0, 59, 60, 61, 119, 120, 121, 1000)
"""Seconds, around all limits that the policies have."""
PROBLEMS = (
    "observation_missing:empty_result",
    "observation_missing:baseline_metric",
    "observation_missing:source_unavailable",
    "observation_stale:over_freshness_budget",
    "observation_invalid:bad_response",
)

_EFFECTS = (None, -1.5, -1, -0.5, 0, 0.5, 1, 1.5)
_STATISTICS: dict[str, tuple[Any, ...]] = {
    "sample_size": (None, 0, 9, 10, 11, 19, 20, 21),
    "effect_estimate": _EFFECTS,
    "ci_low": _EFFECTS,
    "ci_high": _EFFECTS,
    "assignment_stable": (None, False, "text"),
}
_HEALTHY = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


def moment(age: float) -> str:
    """A time before the evaluation."""
    return format_time(NOW - round(age * 1_000_000))


def judge(policy: Policy, snapshot: Document, context: Document) -> Decision:
    """The decision on one question."""
    return evaluate(policy, snapshot_from_document(snapshot), Context(**context))


def question(random: Random, policy: Document, other: Document, stages: list[str]) -> tuple[Document, Document]:
    """A snapshot and the fields of a context, sound under *policy* but for a few places."""
    stage = random.choice(stages)
    context = _context(random, policy, other, stage)
    snapshot = _sound(random, policy, stage)
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        random.choice(_SPOILS)(random, snapshot, context)
    return snapshot, context


def _context(random: Random, policy: Document, other: Document, stage: str) -> Document:
    before = [name for name in policy["stages"] if name in other["stages"]]
    earlier = before[: before.index(stage)]
    is_first = stage in {policy["stages"][0], other["stages"][0]}
    from_stages = [None, stage, *([] if is_first else earlier[-1:] * 3)]
    from_stage = random.choice(from_stages)
    passed = random.choice([None, None, "REJECT", "ESCALATE"])
    return {
        "stage": stage,
        "evaluated_at": EVALUATED_AT,
        "from_stage": from_stage,
        "stage_entered_at": None if from_stage is None else moment(5000),
        "evidence": dict.fromkeys(REFERENCES, "given"),
        "approvals": ({"stage": stage},),
        "change_class": "reversible",
        "deadline_at": None if passed is None else moment(1),
        "on_deadline": passed,
    }


def _sound(random: Random, policy: Document, stage: str) -> Document:
    metrics = {metric: _sound_value(random, policy, metric, stage) for metric in METRICS}
    metrics |= dict.fromkeys(PRIMARIES, 1)
    snapshot: Document = {
        "metrics": metrics,
        "baseline": {
            "metrics": {metric: value for metric, value in metrics.items() if not isinstance(value, bool)},
            "_meta": {"window": "1m", "watermark_event_time": moment(5)},
        },
        "promotion": {goal["metric"]: _won(goal) for goal in policy.get("primary", [])},
        "observations": {},
        "_meta": {"collected_at": moment(1), "watermark_event_time": moment(5), "window": "1m"},
    }
    if random.random() < 0.3:
        for metric in PRIMARIES:
            snapshot["promotion"].setdefault(metric, _won({"direction": random.choice(["up", "down"])}))
    if random.random() < 0.3:
        snapshot["promotion"] = next(iter(snapshot["promotion"].values()), {})  # the flat form
    if random.random() < 0.2:
        del snapshot["baseline"]
    return snapshot


def _sound_value(random: Random, policy: Document, metric: str, stage: str) -> Any:
    """A value that passes all rules of the metric at the stage, if one of a few does."""
    rules = [one for one in policy["guardrails"] if one["metric"] == metric and stage in one.get("stages", [stage])]
    fits = [
        value
        for value in VALUES
        if all(
            ("threshold" not in one or _HEALTHY[one["op"]](value, one["threshold"]))
            and one.get("range", [-99, 99])[0] <= value <= one.get("range", [-99, 99])[1]
            for one in rules
        )
    ]
    if any(one["metric"] == metric and stage in one.get("stages", [stage]) for one in policy["constraints"]):
        fits = [value for value in fits if value == 0] or [0]
    return random.choice(fits or VALUES)


def _won(goal: Document) -> Document:
    sign = 1 if goal["direction"] == "up" else -1
    low, high = sorted((sign * 2, sign * 4))
    return {"sample_size": 100, "effect_estimate": sign * 3, "ci_low": low, "ci_high": high, "assignment_stable": True}


def _value(random: Random, snapshot: Document, _: Document) -> None:
    snapshot["metrics"][random.choice(METRICS)] = random.choice(VALUES)


def _odd_value(random: Random, snapshot: Document, _: Document) -> None:
    snapshot["metrics"][random.choice([*METRICS, *METRICS, *PRIMARIES])] = random.choice(ODD_VALUES)


def _baseline(random: Random, snapshot: Document, _: Document) -> None:
    """A baseline around the value, of another window, old, or with something missing."""
    baseline = snapshot.setdefault("baseline", {"metrics": {}, "_meta": {"window": "1m"}})
    metric = random.choice(METRICS)
    value = snapshot["metrics"][metric]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        baseline["metrics"][metric] = value + random.choice([-2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5])
    spoil = random.randrange(6)
    if spoil == 0:
        baseline["metrics"][metric] = random.choice([None, 0, -2, 6, "text"])
    elif spoil == 1:
        baseline["_meta"] = {"window": random.choice(["1m", "5m"])}
    elif spoil == 2:
        baseline["_meta"] = {"window": "1m", "watermark_event_time": moment(random.choice(AGES))}
    elif spoil == 3:
        snapshot.pop("baseline")


def _part_of_statistics(random: Random, snapshot: Document, _: Document) -> None:
    parts = snapshot["promotion"]
    part = parts if "sample_size" in parts else parts.get(random.choice(PRIMARIES), {})
    key = random.choice(sorted(_STATISTICS))
    part[key] = random.choice(_STATISTICS[key])


def _no_statistics(random: Random, snapshot: Document, _: Document) -> None:
    snapshot["promotion"].pop(random.choice(PRIMARIES), None)


def _watermark(random: Random, snapshot: Document, _: Document) -> None:
    age = random.choice(AGES)
    where = random.randrange(4)
    if where == 0:
        snapshot["_meta"]["watermark_event_time"] = random.choice([moment(age), None])
    elif where == 1:
        snapshot["_meta"]["freshness_seconds"] = age
    else:
        metric = random.choice([*METRICS, *PRIMARIES])
        snapshot["observations"][metric] = {"watermark_event_time": moment(age)}


def _old_summary(random: Random, snapshot: Document, _: Document) -> None:
    """`_meta` is old or undated, every metric states a young watermark of its own."""
    snapshot["_meta"]["watermark_event_time"] = random.choice([moment(1000), None])
    for metric in (*METRICS, *PRIMARIES):
        snapshot["observations"][metric] = {"watermark_event_time": moment(5)}


def _sources(random: Random, snapshot: Document, _: Document) -> None:
    listed = random.sample([*METRICS, *PRIMARIES], 2)
    lag = random.choice(AGES)
    late: Document = {"name": "late", "watermark_event_time": random.choice([moment(lag), moment(lag), None])}
    if random.random() < 0.7:
        late["metrics"] = listed
    newest = {"name": "newest", "watermark_event_time": moment(0), "metrics": ["other"]}
    snapshot["_meta"]["sources"] = [newest, late]


def _problem(random: Random, snapshot: Document, _: Document) -> None:
    metric = random.choice([*METRICS, *PRIMARIES])
    snapshot["observations"][metric] = {"problem": {"code": random.choice(PROBLEMS), "detail": "…"}}


def _entered(random: Random, snapshot: Document, context: Document) -> None:
    """Into the stage lately: around the waits, and around where the window begins."""
    if context["from_stage"] is not None:
        context["stage_entered_at"] = moment(random.choice([30, 59, 60, 61, 64, 65, 66, 899, 900, 901]))
    snapshot["_meta"]["window"] = random.choice(["1m", "1m", "5m", None])


def _reference(random: Random, _: Document, context: Document) -> None:
    name = random.choice(REFERENCES)
    context["evidence"] = {key: value for key, value in context["evidence"].items() if key != name}
    if name == "approval":
        context["approvals"] = ()


def _class(_random: Random, _: Document, context: Document) -> None:
    context["change_class"] = "stateful_or_irreversible"


_SPOILS = (
    *(_value, _value, _value, _odd_value, _odd_value, _baseline, _baseline, _baseline, _part_of_statistics),
    *(
        _part_of_statistics,
        _no_statistics,
        _watermark,
        _watermark,
        _old_summary,
        _sources,
        _problem,
        _entered,
        _entered,
    ),
    *(_reference, _class),
)
