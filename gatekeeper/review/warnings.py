"""Warnings: what a policy that loads leaves open, each with the place in the file that it is about."""

from __future__ import annotations

from gatekeeper.documents.diagnostics import Severity, placed
from gatekeeper.review.advice import advice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.model.policy import LoadedPolicy


def warnings_for(loaded: LoadedPolicy, data: bytes | None = None) -> list[Diagnostic]:
    """What a policy that loads leaves open (SPEC 3), for `policy check`.

    Args:
        loaded: the policy.
        data: the bytes that it was loaded from, for line and column.
    """
    return placed(advice(loaded.policy), Severity.WARNING, data)
