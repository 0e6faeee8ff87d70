"""Suppressions: remarks that the policy itself answers, each with a reason. They are shown and do not count."""

from __future__ import annotations

from gatekeeper.model.values import replace
from gatekeeper.review.catalogue import CATALOGUE, remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import Policy, Suppression

UNUSED = "policy.unused_suppression"


def unused(policy: Policy, problems: Iterable[Problem]) -> Iterator[Problem]:
    """A remark for each suppression that no problem meets: what it answered is gone, or it never was there."""
    problems = list(problems)
    for index, one in enumerate(policy.suppressions):
        if not any(_meets(one, problem) for problem in problems):
            about = one.code + (f" of {one.rule}" if one.rule is not None else "")
            known = "" if one.code in CATALOGUE else "; there is no such code"
            yield remark(UNUSED, f"/suppressions/{index}", f"nothing is remarked with {about}{known}")


def suppressed(policy: Policy, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The remarks, those that a suppression meets with its reason; the first one that meets counts."""
    return [
        replace(one, suppressed=reason) if (reason := _reason(policy, one)) is not None else one for one in diagnostics
    ]


def _reason(policy: Policy, diagnostic: Diagnostic) -> str | None:
    if diagnostic.code == UNUSED:
        return None
    return next((one.reason for one in policy.suppressions if _meets(one, diagnostic)), None)


def _meets(suppression: Suppression, remark: Problem | Diagnostic) -> bool:
    return suppression.code == remark.code and suppression.rule in {None, remark.rule}
