"""Something wrong or doubtful in a document, before it is known where in the file it stands."""

from __future__ import annotations

from gatekeeper.model.values import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing to say about a document.

    Attributes:
        code: stable, dotted, for machines (`policy.unknown_key`).
        pointer: JSON Pointer (RFC 6901) of the value meant; of a missing key, where it would stand.
        message: what was found and what is allowed, one line.
        remedy: what to do about it, one line; empty where the message says it.
        at_key: whether the member's name is meant, not its value.
        rule: the rule of the document that it is about, by the name that findings have (`guardrail:error_rate`);
            empty where none is.
    """

    code: str
    pointer: str
    message: str
    remedy: str = ""
    at_key: bool = False
    rule: str = ""
