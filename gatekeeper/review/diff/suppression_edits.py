"""Edits of suppressions: each is a remark of the review that begins, or ceases, to be answered."""

from __future__ import annotations

from gatekeeper.review.diff.edit import Edit, When
from gatekeeper.review.diff.entries import align, are_reordered
from gatekeeper.review.diff.fields import SAID_BEFORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.model.policy import LoadedPolicy, Suppression

KEY = "suppressions"
_WHY = "no run is judged by it: policy check shows the remark, and it does not count there"


def suppression_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Suppressions belong together by code and rule; all of them are neutral, none goes unnamed."""
    before, after = old.policy.suppressions, new.policy.suppressions
    of_old, of_new = old.document.get(KEY, []), new.document.get(KEY, [])
    pairs, gone, added = align(before, after, _subject)
    for place in added:
        one, pointer = after[place], f"/{KEY}/{place}"
        yield Edit(_rule(one), pointer, None, of_new[place], "none", one.reason, When.ADD, why_neutral=_WHY)
    for place, other in pairs:
        was, becomes = before[place].reason, after[other].reason
        if was != becomes:
            pointer = f"/{KEY}/{other}/reason"
            yield Edit(_rule(after[other]), pointer, was, becomes, was, becomes, why_neutral=_WHY)
    for place in gone:
        one, pointer = before[place], f"/{KEY}/{place}"
        yield Edit(_rule(one), pointer, of_old[place], None, one.reason, "none", When.REMOVE, why_neutral=_WHY)
    if are_reordered(pairs) or (not before and not after and (KEY in old.document) is not (KEY in new.document)):
        why = _WHY if pairs else SAID_BEFORE
        yield Edit(KEY, f"/{KEY}", of_old, of_new, _listed(before), _listed(after), why_neutral=why)


def _subject(one: Suppression) -> tuple[str, str | None]:
    return one.code, one.rule


def _rule(one: Suppression) -> str:
    return f"suppression:{one.code}" + (f":{one.rule}" if one.rule is not None else "")


def _listed(suppressions: tuple[Suppression, ...]) -> str:
    return ", ".join(map(_rule, suppressions)) or "none"
