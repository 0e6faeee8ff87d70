"""What SPEC 3 asks of a policy beyond keys and types, asked of the document as it stands.

Every rule passes over what has the wrong type (`documents.structure` has said so already), so that a
reviewer sees all problems of a file at once. Rules about a whole object are asked only of an object
that is otherwise sound: a misspelt `threshold` is one problem, not two.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gatekeeper.documents.problem import Problem
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.policy import Policy
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.model.stages import DEFAULT_STAGES, DRY_RUN, ROLLOUT_100, SHADOW, is_exposed, stage_percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Sound = Callable[[str], bool]

LONGEST_SECONDS = 3_153_600_000
"""100 years of 365 days: beyond, a hold's times would leave the calendar."""

_LIMITS = ("max_freshness_seconds", "max_watermark_skew_seconds", "max_baseline_age_seconds")
_URL = re.compile(r"[Hh][Tt][Tt][Pp][Ss]?://(?P<authority>[^\s/?#]+)(?:[/?#]\S*)?")
_STAGE_FORM = f"{DRY_RUN}, {SHADOW}, CANARY_<percent> (above 0, below 100, no leading zero), {ROLLOUT_100}"


def policy_problems(document: Mapping[str, Any], sound: Sound) -> list[Problem]:
    """Every rule of SPEC 3 that *document* breaks.

    Args:
        document: the JSON object as parsed, whatever it holds.
        sound: whether no structural problem is known at or below a JSON pointer.
    """
    return [
        *_identity(document),
        *_primaries(document),
        *_guardrails(document, sound),
        *_constraints(document),
        *_missing_data(document),
        *_stages(document),
        *_promotion(document),
        *_stage_policy(document),
        *_evidence(document),
        *_holds(document, sound),
        *_suppressions(document),
        *_has_rule(document, sound),
    ]


def _identity(document: Mapping[str, Any]) -> Iterator[Problem]:
    for key in ("policy_id", "policy_version"):
        yield from _text(document, "", key, "name and version identify the policy in every decision")


def _primaries(document: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for pointer, primary in _objects(document, "primary"):
        yield from _metric(primary, pointer)
        metric = primary.get("metric")
        if isinstance(metric, str) and seen.setdefault(metric, pointer) != pointer:
            message = f'primary metric "{metric}" stands twice, first at {seen[metric]}'
            yield Problem("policy.duplicate_primary", f"{pointer}/metric", message, "keep one of the two")


def _guardrails(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    for pointer, guardrail in _objects(document, "guardrails"):
        yield from _metric(guardrail, pointer)
        for key in ("budget_delta", "budget_ratio"):
            yield from _bound(guardrail, pointer, key)
        limits = ("threshold", "budget_delta", "budget_ratio")
        if sound(pointer) and not any(key in guardrail for key in limits):
            message = f"the guardrail limits nothing; allowed: one or more of {', '.join(limits)}"
            yield Problem("policy.guardrail_without_limit", pointer, message)
        bounds = guardrail.get("range")
        if isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_number, bounds)) and bounds[0] >= bounds[1]:
            message = f"found [{bounds[0]}, {bounds[1]}]; allowed: [low, high] with low below high"
            yield Problem("policy.bad_range", f"{pointer}/range", message)
        yield from _rule_stages(document, guardrail, pointer, "stages")
        yield from _runbook(guardrail, pointer)


def _constraints(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, constraint in _objects(document, "constraints"):
        yield from _metric(constraint, pointer)
        yield from _rule_stages(document, constraint, pointer, "stages")
        yield from _runbook(constraint, pointer)


def _missing_data(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, part in _object(document, "missing_data_policy"):
        for key in _LIMITS:
            yield from _bound(part, pointer, key, most=LONGEST_SECONDS)
        for place, metric in _texts(part, pointer, "required_metrics"):
            if not metric:
                yield Problem("policy.empty_text", place, "found an empty text; allowed: a metric's name")


def _stages(document: Mapping[str, Any]) -> Iterator[Problem]:
    names = document.get("stages")
    if not isinstance(names, list):
        return
    if not names:
        yield Problem("policy.stage_order", "/stages", f"found an empty list; allowed, in this order: {_STAGE_FORM}")
    problems = 0
    for place, name in _texts(document, "", "stages"):
        if stage_percent(name) is None:
            problems += 1
            message = f'unknown stage "{name}"; {_meant(name, DEFAULT_STAGES)}allowed, in this order: {_STAGE_FORM}'
            yield Problem("policy.unknown_stage", place, message)
    if problems or not names or not all(isinstance(name, str) for name in names):
        return
    for index, (before, name) in enumerate(pairwise(names), start=1):
        if _rank(name) <= _rank(before):
            message = f'"{name}" stands behind "{before}"; allowed, in this order, percent rising: {_STAGE_FORM}'
            yield Problem("policy.stage_order", f"/stages/{index}", message)
    if ROLLOUT_100 not in names:
        yield Problem("policy.stage_order", "/stages", f'the last stage is "{names[-1]}"; allowed: {ROLLOUT_100}')
    if not any(0 < _rank(name) < 100 for name in names):
        message = f"no canary step before {ROLLOUT_100}; allowed: one or more CANARY_<percent>"
        yield Problem("policy.stage_order", "/stages", message)


def _promotion(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, gate in _object(document, "promotion_gate"):
        yield from _bound(gate, pointer, "min_sample_size")
        yield from _rule_stages(document, gate, pointer, "required_for_stages")
        primary = document.get("primary", [])
        if isinstance(primary, list) and not primary:
            message = "the promotion gate has nothing to ask: the policy has no primary"
            yield Problem("policy.gate_without_primary", pointer, message, "add a primary, or take the gate out")


def _stage_policy(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, part in _object(document, "stage_policy"):
        yield from _bound(part, pointer, "min_stage_seconds", above=True, most=LONGEST_SECONDS)


def _evidence(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, part in _object(document, "evidence"):
        for place, name in _texts(part, pointer, "required"):
            if not name.strip():
                yield Problem("policy.empty_text", place, "found an empty text; allowed: a reference's name")


def _holds(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    holds = document.get("holds")
    for category in holds if isinstance(holds, dict) else ():
        if category not in HOLD_CATEGORIES:
            message = f"unknown hold category; {_meant(category, HOLD_CATEGORIES)}allowed: {', '.join(HOLD_CATEGORIES)}"
            yield Problem("policy.unknown_key", f"/holds/{escape_pointer(category)}", message, at_key=True)
    for pointer, hold in _members(holds):
        yield from _bound(hold, pointer, "retry_after_seconds", most=LONGEST_SECONDS)
        yield from _bound(hold, pointer, "escalate_after_seconds", most=LONGEST_SECONDS)
        yield from _bound(hold, pointer, "deadline_seconds", above=True, most=LONGEST_SECONDS)
        if sound(pointer) and "on_deadline" in hold and "deadline_seconds" not in hold:
            message = "on_deadline without deadline_seconds: the deadline would never pass"
            yield Problem("policy.deadline_missing", f"{pointer}/on_deadline", message, "add deadline_seconds")
        if hold.get("owners") == []:
            yield Problem("policy.empty_list", f"{pointer}/owners", "found an empty list; allowed: one owner or more")
        for place, owner in _texts(hold, pointer, "owners"):
            if not owner.strip():
                yield Problem("policy.empty_text", place, "found an empty text; allowed: an owner's name")


def _suppressions(document: Mapping[str, Any]) -> Iterator[Problem]:
    for pointer, suppression in _objects(document, "suppressions"):
        yield from _text(suppression, pointer, "code", "a suppression names the code that it answers")
        yield from _text(suppression, pointer, "reason", "a suppression says why")
        yield from _text(suppression, pointer, "rule", "leave it out where every rule is meant")


def _has_rule(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    """A policy that asks nothing would accept everything."""
    enforced = [one for _, one in _objects(document, "guardrails") if one.get("enforcement", "enforce") == "enforce"]
    if enforced or document.get("constraints") or not (sound("/guardrails") and sound("/constraints")):
        return
    keys = list(Policy.__match_args__)
    misspelt = [key for key in document if key not in keys and _closest(key, keys) in {"guardrails", "constraints"}]
    if not misspelt:
        message = "no enforced guardrail and no constraint: this policy would accept everything"
        yield Problem("policy.no_rule", "", message, "add a guardrail or a constraint")


def _rule_stages(document: Mapping[str, Any], rule: Mapping[str, Any], pointer: str, key: str) -> Iterator[Problem]:
    """The stages that a rule names: at least one, each a stage of this policy."""
    if rule.get(key) == []:
        message = "found an empty list, which is asked nowhere; allowed: one stage or more"
        yield Problem("policy.empty_list", f"{pointer}/{key}", message)
    known = document.get("stages", list(DEFAULT_STAGES))
    if not isinstance(known, list) or not all(isinstance(name, str) for name in known):
        return
    for place, name in _texts(rule, pointer, key):
        if name not in known:
            message = f'"{name}" is no stage of this policy; {_meant(name, known)}allowed: {", ".join(known)}'
            yield Problem("policy.unknown_stage", place, message)


def _runbook(rule: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    url = rule.get("runbook")
    if not isinstance(url, str):
        return
    match = _URL.fullmatch(url)
    if match is None or not url.isprintable():
        message = f'found "{url}"; allowed: a URL that begins with https:// or http://'
        yield Problem("policy.bad_url", f"{pointer}/runbook", message)
    elif "@" in match["authority"]:
        message = "the URL carries credentials, and the log keeps every policy in full; allowed: a URL without them"
        yield Problem("policy.bad_url", f"{pointer}/runbook", message)


def _metric(rule: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    if rule.get("metric") == "":
        yield Problem("policy.empty_text", f"{pointer}/metric", "found an empty text; allowed: a metric's name")


def _text(part: Mapping[str, Any], pointer: str, key: str, why: str) -> Iterator[Problem]:
    value = part.get(key)
    if isinstance(value, str) and not value.strip():
        yield Problem("policy.empty_text", f"{pointer}/{key}", f"found an empty text; {why}")


def _bound(
    part: Mapping[str, Any], pointer: str, key: str, *, above: bool = False, most: float | None = None
) -> Iterator[Problem]:
    """A number is at least 0, or above it, and at most *most*."""
    value = part.get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return
    if value < 0 or (above and value == 0) or (most is not None and value > most):
        least = "above 0" if above else "0 or more"
        limit = f", at most {most} (100 years)" if most is not None else ""
        yield Problem("policy.out_of_bounds", f"{pointer}/{key}", f"found {value}; allowed: {least}{limit}")


def _rank(stage: str) -> float:
    if not is_exposed(stage):
        return -1 if stage == SHADOW else -2
    return stage_percent(stage) or 0


def _meant(word: str, options: list[str] | tuple[str, ...]) -> str:
    from gatekeeper.documents.shapes import suggestion  # only a refusal needs it

    return suggestion(word, options)


def _closest(word: str, options: list[str]) -> str | None:
    from gatekeeper.documents.shapes import closest

    return closest(word, options)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _objects(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    values = document.get(key)
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield f"/{key}/{index}", value


def _object(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    value = document.get(key)
    if isinstance(value, dict):
        yield f"/{key}", value


def _members(holds: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for category, hold in holds.items() if isinstance(holds, dict) else ():
        if isinstance(hold, dict):
            yield f"/holds/{escape_pointer(category)}", hold


def _texts(part: Mapping[str, Any], pointer: str, key: str) -> Iterator[tuple[str, str]]:
    values = part.get(key)
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, str):
            yield f"{pointer}/{key}/{index}", value
