"""Edits of single fields, and how a value is shown to people."""

from __future__ import annotations

from gatekeeper.model.canonical import canonical_bytes, is_number, number_text
from gatekeeper.review.diff.edit import Edit, When

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from gatekeeper.model.policy import Policy

    Document = Mapping[str, Any]

NOTHING: Document = {}
SAID_BEFORE = "it writes out what was meant before"
FOR_PEOPLE = "it is for people: no check reads it"
_UNSHOWN = ("metric", "description", "runbook")


class Pair:
    """One object of a policy in both versions: as values, and as documents (empty where there is none).

    Attributes:
        pointer: where it stands in the new policy, or would.
    """

    def __init__(self, pointer: str, old: Any, new: Any, old_document: Document, new_document: Document) -> None:
        self.pointer = pointer
        self.old = old
        self.new = new
        self.old_document = old_document
        self.new_document = new_document

    def differs(self, key: str) -> bool:
        """Whether the documents say different things at *key*."""
        return self.old_document.get(key) != self.new_document.get(key)

    def means_the_same(self, key: str) -> bool:
        """Whether the values are equal all the same."""
        return bool(getattr(self.old, key) == getattr(self.new, key))

    def edit(
        self,
        rule: str,
        key: str,
        carried_out: Callable[[Policy], Policy] | None = None,
        *,
        when: When = When.CHANGE,
        why_neutral: str = "",
    ) -> Iterator[Edit]:
        """The edit of one field, if it differs."""
        if not self.differs(key):
            return
        is_same = self.means_the_same(key)
        yield Edit(
            rule,
            f"{self.pointer}/{key}",
            self.old_document.get(key),
            self.new_document.get(key),
            self.shown(key, new=False),
            self.shown(key, new=True),
            when,
            None if is_same else carried_out,
            SAID_BEFORE if is_same else why_neutral,
        )

    def shown(self, key: str, *, new: bool) -> str:
        """The value of a field as people read it; an absent one with what it stands for."""
        document, values = (self.new_document, self.new) if new else (self.old_document, self.old)
        if key in document:
            return shown(document[key])
        meant = getattr(values, key)
        if meant is None or meant == ():
            return "every stage" if key == "stages" else "none"
        return f"{shown(list(meant) if isinstance(meant, tuple) else meant)} (default)"


def shown(value: Any) -> str:
    """A JSON value as people read it: numbers and words bare, an entry of a list without its name."""
    if isinstance(value, str):
        return str(value)
    if is_number(value):
        return number_text(value)
    if isinstance(value, list):
        text = ", ".join(shown(one) for one in value)
        return f"[{text}]" if value and is_number(value[0]) else text
    if isinstance(value, dict):
        return _entry(value)
    return canonical_bytes(value).decode()


def _entry(document: Document) -> str:
    """`<= 400, budget_delta 20` for a guardrail, `must_be_zero` for a constraint."""
    parts = [f"{document['op']} {shown(document['threshold'])}"] if "threshold" in document else []
    parts += [shown(document["op"])] if "op" in document and not parts else []
    parts += [shown(document["kind"])] if "kind" in document else []
    named = [key for key in document if key not in {*_UNSHOWN, "op", "threshold", "kind"}]
    return ", ".join([*parts, *(f"{key} {_within(document[key])}" for key in named)]) or "{}"


def _within(value: Any) -> str:
    return f"[{shown(value)}]" if isinstance(value, list) else shown(value)
