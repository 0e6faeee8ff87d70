"""Edits of a policy's other keys: what is required, settings, gate, holds, and keys that are only for people."""

from __future__ import annotations

from gatekeeper.model.document import escape_pointer
from gatekeeper.model.hold import UNNAMED
from gatekeeper.model.policy import Precedence
from gatekeeper.model.values import replace
from gatekeeper.review.diff.edit import Edit, When, setting
from gatekeeper.review.diff.effects import Consequence, Effect
from gatekeeper.review.diff.fields import FOR_PEOPLE, NOTHING, Pair, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gatekeeper.model.policy import HoldPolicy, LoadedPolicy, Policy

_ASKED_LATER = "no check is decided by it: it says when somebody is asked again, and who"
_LIMITS = {
    "max_freshness_seconds": "freshness",
    "max_watermark_skew_seconds": "skew",
    "max_baseline_age_seconds": "max_baseline_age_seconds",
}
_FOR_PEOPLE = ("policy_id",)
LISTED = ("primary", "guardrails", "constraints", "stages", "suppressions")
OBJECTS = ("missing_data_policy", "promotion_gate", "stage_policy", "evidence", "holds")
_NOT_COMPARED = ("policy_version", *_FOR_PEOPLE, *LISTED, *OBJECTS)


def missing_data_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Required metrics one by one, and each setting."""
    pair = _pair("missing_data_policy", old, new)
    yield from _names(pair, "missing_data_policy", "required_metrics", "required")
    for key, rule in _LIMITS.items():
        yield from pair.edit(rule, key, _set(pair, "missing_data_policy", key))
    for key in ("on_missing", "on_stale", "on_missing_baseline"):
        yield from pair.edit(key, key, _set(pair, "missing_data_policy", key))
    when = When.LAST if pair.new.precedence is Precedence.EVIDENCE_FIRST else When.FIRST
    yield from pair.edit("precedence", "precedence", _set(pair, "missing_data_policy", "precedence"), when=when)


def evidence_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Required references one by one, and what a missing one means."""
    pair = _pair("evidence", old, new)
    yield from _names(pair, "evidence", "required", "evidence")
    yield from pair.edit("evidence.on_missing", "on_missing", _set(pair, "evidence", "on_missing"))


def gate_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """The promotion gate as a whole where one policy has none, else each of its fields."""
    if old.policy.promotion_gate is None or new.policy.promotion_gate is None:
        yield from _whole("promotion_gate", "promotion", old, new)
        return
    pair = _pair("promotion_gate", old, new)
    yield from pair.edit("promotion", "required_for_stages", _set(pair, "promotion_gate", "required_for_stages"))
    for key, part in (("min_sample_size", "sample_size"), ("require_ci_low_gt", "ci_bound")):
        yield from pair.edit(_part_rule(part, old, new), key, _set(pair, "promotion_gate", key))
    yield from pair.edit("on_not_ready", "on_not_ready", _set(pair, "promotion_gate", "on_not_ready"))


def stage_policy_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """The stage policy as a whole where one policy has none, else the wait."""
    if old.policy.stage_policy is None or new.policy.stage_policy is None:
        yield from _whole("stage_policy", "stage_wait", old, new)
        return
    pair = _pair("stage_policy", old, new)
    yield from pair.edit("stage_wait", "min_stage_seconds", _set(pair, "stage_policy", "min_stage_seconds"))


def hold_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Each category; a deadline and what it does are one rule."""
    before, after = old.document.get("holds", NOTHING), new.document.get("holds", NOTHING)
    for category in dict.fromkeys([*before, *after]):
        pair = Pair(
            f"/holds/{escape_pointer(category)}",
            old.policy.holds.get(category, UNNAMED),
            new.policy.holds.get(category, UNNAMED),
            before.get(category, NOTHING),
            after.get(category, NOTHING),
        )
        rule = f"hold:{category}"
        yield from _deadline(pair, rule, category)
        for key in ("retry_after_seconds", "escalate_after_seconds", "owners"):
            yield from pair.edit(rule, key, why_neutral=_ASKED_LATER)


def other_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Keys that no check reads; a key that nothing here knows is told as one that may go both ways."""
    for key in dict.fromkeys([*old.document, *new.document]):
        before, after = old.document.get(key), new.document.get(key)
        if before == after or (key in _NOT_COMPARED and key not in _FOR_PEOPLE):
            continue
        was, becomes = ("none" if value is None else shown(value) for value in (before, after))
        pointer = f"/{escape_pointer(key)}"
        if key in _FOR_PEOPLE:
            yield Edit(key, pointer, before, after, was, becomes, why_neutral=FOR_PEOPLE)
        else:
            what = "this comparison does not know what the key does: read it"
            known = tuple(Consequence(effect, key, (), what) for effect in (Effect.LETS_MORE, Effect.LETS_LESS))
            yield Edit(key, pointer, before, after, was, becomes, known=known)


def _pair(key: str, old: LoadedPolicy, new: LoadedPolicy) -> Pair:
    return Pair(
        f"/{key}",
        getattr(old.policy, key),
        getattr(new.policy, key),
        old.document.get(key, NOTHING),
        new.document.get(key, NOTHING),
    )


def _set(pair: Pair, part: str, key: str) -> Callable[[Policy], Policy]:
    values: dict[str, Any] = {key: getattr(pair.new, key)}
    return setting(part, **values)


def _names(pair: Pair, part: str, key: str, prefix: str) -> Iterator[Edit]:
    """A list of names, of which each is a rule of its own."""
    old, new = getattr(pair.old, key), getattr(pair.new, key)
    for place, name in enumerate(new):
        if name not in old and name not in new[:place]:
            pointer = f"{pair.pointer}/{key}/{place}"
            yield Edit(f"{prefix}:{name}", pointer, None, name, "none", name, When.ADD, _adding(part, key, name))
    for place, name in enumerate(old):
        if name not in new and name not in old[:place]:
            pointer = f"{pair.pointer}/{key}/{place}"
            yield Edit(f"{prefix}:{name}", pointer, name, None, name, "none", When.REMOVE, _removing(part, key, name))
    if set(old) == set(new) and pair.differs(key):
        before, after = pair.old_document.get(key), pair.new_document.get(key)
        why = "the same names, in another order or more often"
        yield Edit(key, f"{pair.pointer}/{key}", before, after, shown(list(old)), shown(list(new)), why_neutral=why)


def _adding(part: str, key: str, name: str) -> Callable[[Policy], Policy]:
    def carried_out(policy: Policy) -> Policy:
        values: dict[str, Any] = {key: (*getattr(getattr(policy, part), key), name)}
        return setting(part, **values)(policy)

    return carried_out


def _removing(part: str, key: str, name: str) -> Callable[[Policy], Policy]:
    def carried_out(policy: Policy) -> Policy:
        values: dict[str, Any] = {key: tuple(one for one in getattr(getattr(policy, part), key) if one != name)}
        return setting(part, **values)(policy)

    return carried_out


def _whole(key: str, rule: str, old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """An object that one of the policies has not."""
    before, after = old.document.get(key), new.document.get(key)
    if before == after:
        return
    was, becomes = ("none" if value is None else shown(value) for value in (before, after))
    values: dict[str, Any] = {key: getattr(new.policy, key)}
    when = When.REMOVE if after is None else When.ADD
    yield Edit(rule, f"/{key}", before, after, was, becomes, when, setting(None, **values))


def _part_rule(part: str, old: LoadedPolicy, new: LoadedPolicy) -> str:
    """The findings that a limit of the gate is about: of the one primary, or of each of several."""
    metrics = {primary.metric for one in (old, new) for primary in one.policy.primary}
    return f"promotion:{metrics.pop()}:{part}" if len(metrics) == 1 else f"promotion:*:{part}"


def _deadline(pair: Pair, rule: str, category: str) -> Iterator[Edit]:
    keys = ("deadline_seconds", "on_deadline")
    changed = [key for key in keys if pair.differs(key)]
    if not changed:
        return
    both = [
        {key: document[key] for key in changed if key in document} or None
        for document in (pair.old_document, pair.new_document)
    ]
    place = f"/{changed[0]}" if len(changed) == 1 else ""
    before, after = ((one or NOTHING).get(changed[0]) if place else one for one in both)

    def carried_out(policy: Policy) -> Policy:
        hold = policy.holds.get(category, UNNAMED)
        values: dict[str, Any] = {key: getattr(pair.new, key) for key in keys}
        return replace(policy, holds={**policy.holds, category: replace(hold, **values)})

    yield Edit(
        rule,
        f"{pair.pointer}{place}",
        before,
        after,
        _deadline_text(pair.old),
        _deadline_text(pair.new),
        carried_out=carried_out,
        why_neutral="a passed deadline rejects no hold, before as after",
    )


def _deadline_text(hold: HoldPolicy) -> str:
    if hold.deadline_seconds is None:
        return "no deadline"
    return f"{hold.on_deadline.value} after {shown(hold.deadline_seconds)} s"
