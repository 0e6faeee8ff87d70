"""Warnings: what a policy that loads leaves open, each with the place in the file that it is about."""

from __future__ import annotations

from gatekeeper.documents.diagnostics import placed
from gatekeeper.review.advice import Beside, advice
from gatekeeper.review.catalogue import severity_of
from gatekeeper.review.suppress import suppressed, unused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.model.policy import LoadedPolicy


def warnings_for(loaded: LoadedPolicy, data: bytes | None = None, *, beside: Beside | None = None) -> list[Diagnostic]:
    """What a policy that loads leaves open (SPEC 3), for `policy check`, what it answers itself included.

    Args:
        loaded: the policy.
        data: the bytes that it was loaded from, for line and column.
        beside: what is known of the files around it.
    """
    problems = advice(loaded, beside or Beside())
    found = placed([*problems, *unused(loaded.policy, problems)], severity_of, data, loaded.source)
    return suppressed(loaded.policy, found) if loaded.policy.suppressions else found
