"""Edits of what a policy lists: guardrails, constraints, primaries."""

from __future__ import annotations

from gatekeeper.model.policy import Enforcement, Precedence
from gatekeeper.model.values import replace
from gatekeeper.review.diff.edit import Edit, When, replacing
from gatekeeper.review.diff.effects import Consequence, Effect
from gatekeeper.review.diff.entries import align, are_reordered
from gatekeeper.review.diff.fields import FOR_PEOPLE, Pair, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gatekeeper.model.policy import Constraint, Guardrail, LoadedPolicy, Primary

_SAME_STAGES = "at every stage that both policies have, it is asked as before"
_ORDER = "the order of rules decides nothing"


def guardrail_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Guardrails belong together by metric, then by stages and operator, then in order."""
    likenesses = (
        lambda one: (one.metric, one.stages, one.op),
        lambda one: (one.metric, one.stages),
        lambda one: (one.metric, one.op),
        lambda one: one.metric,
    )
    yield from _list_edits("guardrails", old, new, _guardrail, guardrail_rule, likenesses)


def constraint_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Constraints belong together by metric, then by kind, then in order."""
    likenesses = (
        lambda one: (one.metric, one.kind, one.stages),
        lambda one: (one.metric, one.kind),
        lambda one: one.metric,
    )
    yield from _list_edits("constraints", old, new, _constraint, constraint_rule, likenesses)


def primary_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Primaries belong together by metric, of which each has one."""
    yield from _list_edits("primary", old, new, _primary, primary_rule, (lambda one: one.metric,))


def guardrail_rule(guardrail: Guardrail) -> str:
    """The name of its first finding."""
    if guardrail.threshold is not None:
        return f"guardrail:{guardrail.metric}"
    return f"{'budget' if guardrail.budget_delta is not None else 'budget_ratio'}:{guardrail.metric}"


def constraint_rule(constraint: Constraint) -> str:
    """The name of its finding."""
    return f"constraint:{constraint.metric}"


def primary_rule(primary: Primary) -> str:
    """What the names of its findings begin with."""
    return f"promotion:{primary.metric}"


def _list_edits(
    key: str,
    old: LoadedPolicy,
    new: LoadedPolicy,
    changes: Callable[[Pair], Iterator[Edit]],
    rule_of: Callable[[Any], str],
    likenesses: tuple[Callable[[Any], object], ...],
) -> Iterator[Edit]:
    before, after = getattr(old.policy, key), getattr(new.policy, key)
    of_old, of_new = old.document.get(key, []), new.document.get(key, [])
    pairs, gone, added = align(before, after, *likenesses)
    for place in added:
        document, entry = of_new[place], after[place]
        pointer = f"/{key}/{place}"
        yield Edit(
            rule_of(entry), pointer, None, document, "none", shown(document), When.ADD, replacing(key, None, entry)
        )
    for place, other in pairs:
        yield from changes(Pair(f"/{key}/{other}", before[place], after[other], of_old[place], of_new[other]))
    for place in gone:
        document, entry = of_old[place], before[place]
        pointer = f"/{key}/{place}"
        yield Edit(
            rule_of(entry), pointer, document, None, shown(document), "none", When.REMOVE, replacing(key, entry, None)
        )
    if are_reordered(pairs):
        yield _reordering(key, old, new)


def _reordering(key: str, old: LoadedPolicy, new: LoadedPolicy) -> Edit:
    """Under `evidence_first` the first of several troubles decides alone."""
    phased = Precedence.EVIDENCE_FIRST
    is_order_asked = key != "primary" and phased is old.policy.missing_data_policy.precedence
    is_order_asked = is_order_asked and phased is new.policy.missing_data_policy.precedence
    what = "of two rules in trouble, another one comes first and decides alone"
    known = tuple(
        Consequence(effect, key, (), what) for effect in (Effect.STOPS_LESS, Effect.STOPS_MORE) if is_order_asked
    )
    names = [[entry["metric"] for entry in one.document[key]] for one in (old, new)]
    return Edit(key, f"/{key}", names[0], names[1], shown(names[0]), shown(names[1]), why_neutral=_ORDER, known=known)


def _guardrail(pair: Pair) -> Iterator[Edit]:
    """Limits are edited while the guardrail only watches, where it does so before or after."""
    chain = _Chain("guardrails", pair)
    rule = guardrail_rule(pair.new if pair.new.threshold is not None else pair.old)
    observes_now = pair.new.enforcement is Enforcement.OBSERVE
    first, last = (("enforcement",), ()) if observes_now else ((), ("enforcement",))
    if _shrinks(pair):
        first = (*first, "stages")
    else:
        last = ("stages", *last)
    for key in first:
        yield from chain.edit(rule, key)
    yield from chain.edit(rule, "range")
    yield from _limit(chain, pair, rule)
    metric = pair.new.metric
    yield from chain.edit(f"budget:{metric}", "budget_delta")
    yield from chain.edit(f"budget_ratio:{metric}", "budget_ratio")
    for key in last:
        yield from chain.edit(rule, key)
    yield from _words(pair, rule)


def _limit(chain: _Chain, pair: Pair, rule: str) -> Iterator[Edit]:
    """Operator and threshold are one rule: neither means anything alone."""
    changed = [key for key in ("op", "threshold") if pair.differs(key)]
    if not changed:
        return
    both = [
        {key: document[key] for key in changed if key in document}
        for document in (pair.old_document, pair.new_document)
    ]
    place = f"/{changed[0]}" if len(changed) == 1 else ""
    before, after = (one.get(changed[0]) if place else one for one in both)
    yield Edit(
        rule,
        f"{pair.pointer}{place}",
        before,
        after,
        _limit_text(pair.old),
        _limit_text(pair.new),
        carried_out=chain.step(op=pair.new.op, threshold=pair.new.threshold),
    )


def _limit_text(guardrail: Guardrail) -> str:
    threshold = "no threshold" if guardrail.threshold is None else shown(guardrail.threshold)
    return f"{guardrail.op.value} {threshold}"


def _constraint(pair: Pair) -> Iterator[Edit]:
    chain = _Chain("constraints", pair)
    rule = constraint_rule(pair.new)
    keys = ("stages", "kind") if _shrinks(pair) else ("kind", "stages")
    for key in keys:
        yield from chain.edit(rule, key)
    yield from _words(pair, rule)


def _primary(pair: Pair) -> Iterator[Edit]:
    chain = _Chain("primary", pair)
    rule = primary_rule(pair.new)
    yield from chain.edit(rule, "direction")
    yield from chain.edit(f"{rule}:min_lift", "min_lift")
    yield from pair.edit(rule, "description", why_neutral=FOR_PEOPLE)


def _words(pair: Pair, rule: str) -> Iterator[Edit]:
    yield from pair.edit(rule, "description", why_neutral=FOR_PEOPLE)
    yield from pair.edit(rule, "runbook", why_neutral=FOR_PEOPLE)


def _shrinks(pair: Pair) -> bool:
    """Whether it is asked at fewer stages than before."""
    old, new = pair.old.stages, pair.new.stages
    return new is not None and (old is None or set(new) <= set(old))


class _Chain:
    """The edits of one entry, each made to what the one before it left."""

    def __init__(self, key: str, pair: Pair) -> None:
        self._key = key
        self._pair = pair
        self._entry = pair.old

    def step(self, **values: object) -> Callable[[Any], Any]:
        """Set fields of the entry."""
        before, self._entry = self._entry, replace(self._entry, **values)
        return replacing(self._key, before, self._entry)

    def edit(self, rule: str, key: str) -> Iterator[Edit]:
        """The edit of one field, if it differs."""
        if self._pair.differs(key):
            meant: dict[str, Any] = {key: getattr(self._pair.new, key)}
            carried_out = None if self._pair.means_the_same(key) else self.step(**meant)
            yield from self._pair.edit(rule, key, carried_out, why_neutral=_SAME_STAGES if key == "stages" else "")
