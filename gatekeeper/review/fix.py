"""`policy check --fix`: what can be mended without a doubt about what its author meant.

One mend at a time, each on the text, until nothing is left that can be mended. What a policy suppresses is meant.
"""

from __future__ import annotations

import re

from gatekeeper.documents.load import parsed
from gatekeeper.documents.patches import patches_of
from gatekeeper.documents.pointers import path_to, value_at
from gatekeeper.errors import DocumentError
from gatekeeper.model.document import unescape_pointer
from gatekeeper.model.policy import Policy
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.review.advice import Beside
from gatekeeper.review.load import diagnose_policy
from gatekeeper.review.warnings import warnings_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Final

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.patches import Patches

_MOST = 10_000
"""Mends of one file: beyond, something mends what another mend makes."""

_NOT_A_LETTER = re.compile(r"[^a-z0-9<>=]")


class Mend:
    """One thing that was mended: the code that had said so, where, and what was done."""

    __slots__ = ("code", "message", "pointer")

    def __init__(self, code: str, pointer: str, message: str) -> None:
        self.code: Final = code
        self.pointer: Final = pointer
        self.message: Final = message

    def to_dict(self) -> dict[str, object]:
        """JSON form, as `policy check -o json` prints it."""
        return {"code": self.code, "pointer": self.pointer, "message": self.message}


def mended(data: bytes, source: str = "-", *, beside: Beside | None = None) -> tuple[bytes, list[Mend]]:
    """The bytes of a policy file with all that can be mended mended, and what was done, in order.

    Args:
        data: the bytes of a file; with one that is not JSON, or YAML, nothing is done.
        source: where they came from, which tells the language.
        beside: what is known of the files around it.

    Raises:
        UnchangeableError: a YAML file, of which a mend would lose something.
    """
    done: list[Mend] = []
    while len(done) < _MOST:
        step = _step(data, source, beside)
        if step is None:
            return data, done
        data, mend = step
        done.append(mend)
    raise RuntimeError(f"{source}: mending does not come to an end")


def _step(data: bytes, source: str, beside: Beside | None) -> tuple[bytes, Mend] | None:
    try:
        document = parsed(data, source)
    except DocumentError:
        return None
    loaded, found = diagnose_policy(data, source)
    if loaded is not None:
        found = warnings_for(loaded, data, beside=beside)
    patches = patches_of(source)
    for one in found:
        way = _WAYS.get(one.code) if one.suppressed is None else None
        step = way(patches, data, document, one) if way is not None else None
        if step is not None:
            changed, message = step
            return changed, Mend(one.code, one.pointer, message)
    return None


def _without_repetition(patches: Patches, data: bytes, _document: Any, one: Diagnostic) -> tuple[bytes, str]:
    return patches.removed(data, one.pointer), f"taken out: {one.message}"


def _with_baseline_rule(patches: Patches, data: bytes, document: Any, _one: Diagnostic) -> tuple[bytes, str]:
    key, value = "on_missing_baseline", "DEGRADE"
    message = f'added "{key}": "{value}" to missing_data_policy'
    if "missing_data_policy" in document:
        return patches.put(data, f"/missing_data_policy/{key}", value), message
    return patches.put(data, "/missing_data_policy", {key: value}), message


def _without_suppression(patches: Patches, data: bytes, document: Any, one: Diagnostic) -> tuple[bytes, str]:
    alone = len(document["suppressions"]) == 1
    return patches.removed(data, "/suppressions" if alone else one.pointer), f"taken out: {one.message}"


def _with_range_turned(patches: Patches, data: bytes, document: Any, one: Diagnostic) -> tuple[bytes, str] | None:
    low, high = value_at(document, one.pointer)
    if low == high:
        return None
    return patches.put(data, one.pointer, [high, low]), f"range turned round: [{high}, {low}]"


def _with_key_respelt(patches: Patches, data: bytes, document: Any, one: Diagnostic) -> tuple[bytes, str] | None:
    from gatekeeper.documents.shapes import keys_of, shape_at

    parent, _, token = one.pointer.rpartition("/")
    holder, key = value_at(document, parent), unescape_pointer(token)
    keys = HOLD_CATEGORIES if parent == "/holds" else keys_of(shape_at(Policy, path_to(document, parent)))
    meant = _surely(key, keys)
    if meant is None or meant in holder:
        return None
    return patches.renamed(data, one.pointer, meant), f'"{key}" is written "{meant}"'


def _with_word_respelt(patches: Patches, data: bytes, document: Any, one: Diagnostic) -> tuple[bytes, str] | None:
    from gatekeeper.documents.shapes import OTHER_SPELLINGS, shape_at, words_of

    word = value_at(document, one.pointer)
    words = words_of(shape_at(Policy, path_to(document, one.pointer)))
    other = OTHER_SPELLINGS.get(word.strip().casefold())
    meant = other if other in words else _surely(word, words)
    if meant is None:
        return None
    return patches.put(data, one.pointer, meant), f'"{word}" is written "{meant}"'


def _surely(word: str, options: Sequence[str]) -> str | None:
    """The option that is written with the same letters and signs, or the same signs in another order."""
    letters = _NOT_A_LETTER.sub("", word.casefold())
    same = [str(one) for one in options if _NOT_A_LETTER.sub("", one.casefold()) == letters]
    turned = [str(one) for one in options if set(letters) <= set("<>=") and sorted(one) == sorted(letters)]
    return next(iter(same or turned), None)


_WAYS: dict[str, Callable[[Patches, bytes, Any, Diagnostic], tuple[bytes, str] | None]] = {
    "policy.bad_range": _with_range_turned,
    "policy.budget_without_baseline_rule": _with_baseline_rule,
    "policy.duplicate_constraint": _without_repetition,
    "policy.duplicate_entry": _without_repetition,
    "policy.duplicate_guardrail": _without_repetition,
    "policy.duplicate_required_metric": _without_repetition,
    "policy.unknown_key": _with_key_respelt,
    "policy.unknown_value": _with_word_respelt,
    "policy.unused_suppression": _without_suppression,
}
"""Code -> what mends it: the new bytes and what was done, or None where there is a doubt."""
