"""All changes that are tried: each limit a little lower, a little higher and gone, each operator, each rule.

Walked over the document, so that each change has the place that a reviewer finds. What no evaluation reads is left
alone: descriptions, runbooks, owners, the times of holds (they reach an evaluation as `context.deadline_at`), and the
list of stages, which says what may be asked and not what is answered.
"""

from __future__ import annotations

from gatekeeper.model.canonical import number_text
from gatekeeper.review.mutants.change import REMOVED, Change, neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.review.mutants.change import Path

_EDGE = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}
_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
_KINDS = {"must_be_zero": "must_be_false", "must_be_false": "must_be_zero"}
_ENFORCEMENTS = {"enforce": "observe", "observe": "enforce"}
_TROUBLES = {"DEGRADE": "REJECT", "REJECT": "DEGRADE"}
_PRECEDENCES = {"violations_first": "evidence_first", "evidence_first": "violations_first"}
_DIRECTIONS = {"up": "down", "down": "up"}

_SETTING = "setting"  # it has no finding of its own, and decides for those of many rules

_TIMES = (
    ("max_freshness_seconds", "freshness", "evidence of an age of {} s"),
    ("max_watermark_skew_seconds", "skew", "a source that lags {} s behind the newest"),
    ("max_baseline_age_seconds", "baseline age", "a baseline of an age of {} s"),
)


def changes_of(document: Mapping[str, Any]) -> Iterator[Change]:
    """Every change of a policy, in the order of the document's parts; some of them make no policy.

    Args:
        document: of a policy that loads.
    """
    for index, guardrail in enumerate(document.get("guardrails", ())):
        yield from _guardrail(("guardrails", index), guardrail)
    for index, constraint in enumerate(document.get("constraints", ())):
        yield from _constraint(("constraints", index), constraint)
    yield from _missing_data(document.get("missing_data_policy", {}))
    for index, primary in enumerate(document.get("primary", ())):
        yield from _primary(("primary", index), primary)
    if "promotion_gate" in document:
        yield from _promotion(document["promotion_gate"], document.get("primary", ()))
    if "stage_policy" in document:
        yield from _stage_policy(document["stage_policy"])
    if "evidence" in document:
        yield from _evidence(document["evidence"])


def _guardrail(path: Path, guardrail: Mapping[str, Any]) -> Iterator[Change]:
    metric, op = guardrail["metric"], guardrail["op"]
    rule = f"guardrail:{metric}" if "threshold" in guardrail else _budget_rules(guardrail)[0]
    yield Change(rule, path, REMOVED, "the guardrail removed")
    yield from _other(rule, (*path, "enforcement"), guardrail.get("enforcement", "enforce"), _ENFORCEMENTS)
    edge = f"{metric} at exactly {number_text(guardrail['threshold'])}" if "threshold" in guardrail else ""
    yield Change(rule, (*path, "op"), _EDGE[op], f"op {op} -> {_EDGE[op]}", edge)
    yield Change(rule, (*path, "op"), _TURNED[op], f"op {op} -> {_TURNED[op]}")
    scale = _scale(guardrail)
    yield from _limit(rule, (*path, "threshold"), guardrail, f"{metric} at {{}}", scale=scale)
    worse = f"{metric} worse than its baseline by {{}}"
    yield from _limit(f"budget:{metric}", (*path, "budget_delta"), guardrail, worse, scale=scale)
    yield from _limit(f"budget_ratio:{metric}", (*path, "budget_ratio"), guardrail, worse + " of it")
    if "range" in guardrail:
        yield Change(rule, (*path, "range"), REMOVED, "range removed", f"{metric} out of its range")
        for place, bound in enumerate(guardrail["range"]):
            for value in neighbours(bound, scale=scale):
                words = f"range {'low' if place == 0 else 'high'} {number_text(bound)} -> {number_text(value)}"
                yield Change(rule, (*path, "range", place), value, words, f"{metric} at {_between(bound, value)}")
    yield from _stages(rule, path, guardrail)


def _constraint(path: Path, constraint: Mapping[str, Any]) -> Iterator[Change]:
    rule = f"constraint:{constraint['metric']}"
    yield Change(rule, path, REMOVED, "the constraint removed")
    yield from _other(rule, (*path, "kind"), constraint["kind"], _KINDS)
    yield from _stages(rule, path, constraint)


def _missing_data(part: Mapping[str, Any]) -> Iterator[Change]:
    path: Path = ("missing_data_policy",)
    for index, metric in enumerate(part.get("required_metrics", ())):
        yield Change(f"required:{metric}", (*path, "required_metrics", index), REMOVED, f"{metric} not required")
    yield from _other(_SETTING, (*path, "on_missing"), part.get("on_missing", "DEGRADE"), _TROUBLES)
    for key, rule, needs in _TIMES:
        yield from _limit(rule, (*path, key), part, needs)
    yield from _other(_SETTING, (*path, "on_stale"), part.get("on_stale", "DEGRADE"), _TROUBLES)
    baseline, place = part.get("on_missing_baseline"), (*path, "on_missing_baseline")
    for value in ("DEGRADE", "REJECT"):
        if value != baseline:
            yield Change(_SETTING, place, value, f"on_missing_baseline {baseline or 'not stated'} -> {value}")
    if baseline is not None:
        yield Change(_SETTING, place, REMOVED, "on_missing_baseline removed", "no baseline at all")
    precedence = part.get("precedence", "violations_first")
    yield from _other(_SETTING, (*path, "precedence"), precedence, _PRECEDENCES)


def _primary(path: Path, primary: Mapping[str, Any]) -> Iterator[Change]:
    metric = primary["metric"]
    yield Change(f"promotion:{metric}", path, REMOVED, "the primary removed")
    yield from _other(f"promotion:{metric}", (*path, "direction"), primary["direction"], _DIRECTIONS)
    yield from _limit(f"promotion:{metric}:min_lift", (*path, "min_lift"), primary, f"a lift of {metric} of {{}}")


def _promotion(gate: Mapping[str, Any], primaries: Sequence[Mapping[str, Any]]) -> Iterator[Change]:
    path: Path = ("promotion_gate",)
    yield Change("promotion", path, REMOVED, "the promotion gate removed")
    for index, stage in enumerate(gate["required_for_stages"]):
        needs = f"statistics that are not ready, on entering {stage}"
        yield Change("promotion", (*path, "required_for_stages", index), REMOVED, f"not asked at {stage}", needs)
    yield from _limit("promotion:sample_size", (*path, "min_sample_size"), gate, "a sample of {}")
    lifts = [primary["min_lift"] for primary in primaries if primary.get("min_lift")]
    scale = max(map(abs, lifts), default=1)
    yield from _limit("promotion:ci_bound", (*path, "require_ci_low_gt"), gate, "a bound of {}", scale=scale)
    yield from _other(_SETTING, (*path, "on_not_ready"), gate.get("on_not_ready", "DEGRADE"), _TROUBLES)


def _stage_policy(part: Mapping[str, Any]) -> Iterator[Change]:
    path: Path = ("stage_policy",)
    yield Change("stage_wait", path, REMOVED, "the stage policy removed")
    yield from _limit("stage_wait", (*path, "min_stage_seconds"), part, "a stage entered {} s ago")


def _evidence(part: Mapping[str, Any]) -> Iterator[Change]:
    for index, name in enumerate(part.get("required", ())):
        yield Change(f"evidence:{name}", ("evidence", "required", index), REMOVED, f"{name} not required")
    on_missing = part.get("on_missing", "DEGRADE")
    yield from _other(_SETTING, ("evidence", "on_missing"), on_missing, _TROUBLES)


def _limit(rule: str, path: Path, part: Mapping[str, Any], needs: str, *, scale: float = 1) -> Iterator[Change]:
    """A limit a little lower, a little higher, and gone; *needs* has a place for the number between old and new."""
    key = str(path[-1])
    limit = part.get(key)
    if limit is None:
        return
    for value in neighbours(limit, scale=scale):
        words = f"{key} {number_text(limit)} -> {number_text(value)}"
        yield Change(rule, path, value, words, needs.replace("{}", _between(limit, value)))
    yield Change(rule, path, REMOVED, f"{key} removed")


def _other(rule: str, path: Path, value: str, others: Mapping[str, str]) -> Iterator[Change]:
    yield Change(rule, path, others[value], f"{path[-1]} {value} -> {others[value]}")


def _stages(rule: str, path: Path, part: Mapping[str, Any]) -> Iterator[Change]:
    """A rule that is asked at some stages: at one less, and everywhere."""
    stages = part.get("stages")
    if stages is None:
        return
    for index, stage in enumerate(stages):
        yield Change(rule, (*path, "stages", index), REMOVED, f"not asked at {stage}", f"its trouble at {stage}")
    yield Change(rule, (*path, "stages"), REMOVED, "asked at every stage", "its trouble at another stage")


def _budget_rules(guardrail: Mapping[str, Any]) -> list[str]:
    keys = (("budget_delta", "budget"), ("budget_ratio", "budget_ratio"))
    return [f"{rule}:{guardrail['metric']}" for key, rule in keys if key in guardrail]


def _scale(guardrail: Mapping[str, Any]) -> float:
    """The size of what a guardrail measures, by the largest number that it states; 1 where all are 0."""
    stated = [guardrail.get("threshold", 0), guardrail.get("budget_delta", 0), *guardrail.get("range", ())]
    return max(map(abs, stated)) or 1


def _between(one: float, other: float) -> str:
    return f"{number_text(min(one, other))} to {number_text(max(one, other))}"
