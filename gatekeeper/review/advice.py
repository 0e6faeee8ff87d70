"""What a policy may do and a reviewer should know: the rules behind `warnings_for`.

Limits, pairs of rules, stages and holds have a module each; here is the rest. Every code stands in the catalogue.
"""

from __future__ import annotations

import re

from gatekeeper.model.canonical import number_text
from gatekeeper.model.policy import Precedence
from gatekeeper.model.stages import RUN_ID_PATTERN
from gatekeeper.review.advice_holds import hold_advice
from gatekeeper.review.advice_limits import limit_advice
from gatekeeper.review.advice_pairs import pair_advice
from gatekeeper.review.advice_stages import stage_advice
from gatekeeper.review.catalogue import remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Final

    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import LoadedPolicy, Policy

_MISSING = "/missing_data_policy"


class Beside:
    """What is known of a policy from the files around it.

    Attributes:
        window_seconds: length of the window of the evidence that feeds it; None where unknown.
        case_metrics: name of a golden case of the policy -> the metrics that its snapshot states.
    """

    __slots__ = ("case_metrics", "window_seconds")

    def __init__(
        self, *, window_seconds: float | None = None, case_metrics: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.window_seconds: Final = window_seconds
        self.case_metrics: Final = case_metrics or {}


def advice(loaded: LoadedPolicy, beside: Beside) -> list[Problem]:
    """Every remark about a policy that loads, in a fixed order."""
    policy = loaded.policy
    return [
        *_version(policy),
        *_baseline(policy),
        *limit_advice(policy),
        *pair_advice(policy),
        *_missing_data(policy, beside),
        *_required(policy),
        *_references(policy),
        *stage_advice(policy),
        *hold_advice(policy, loaded.document.get("holds", {})),
        *_cases(policy, beside),
    ]


def _version(policy: Policy) -> Iterator[Problem]:
    if not re.fullmatch(RUN_ID_PATTERN, policy.policy_version):
        message = "the version cannot be part of a run's name, and a run is named after it by default"
        yield remark("policy.version_not_a_name", "/policy_version", message)


def _baseline(policy: Policy) -> Iterator[Problem]:
    budgets = [one.metric for one in policy.guardrails if one.budget_delta is not None or one.budget_ratio is not None]
    if budgets and policy.missing_data_policy.on_missing_baseline is None:
        message = f"without a baseline nothing checks the budget of {', '.join(dict.fromkeys(budgets))}"
        yield remark("policy.budget_without_baseline_rule", _MISSING, message)


def _missing_data(policy: Policy, beside: Beside) -> Iterator[Problem]:
    part = policy.missing_data_policy
    oldest, lag = part.max_freshness_seconds, part.max_watermark_skew_seconds
    if oldest is None:
        message = "no limit on the age of evidence: yesterday's snapshot is accepted today"
        yield remark("policy.no_freshness_limit", _MISSING, message, rule="freshness")
    if oldest is not None and beside.window_seconds is not None and oldest > beside.window_seconds:
        message = (
            f"evidence may be {number_text(oldest)} s old, and its window is {number_text(beside.window_seconds)} s "
            "long: all of it may have happened before the window that a fresh reading would have"
        )
        pointer = f"{_MISSING}/max_freshness_seconds"
        yield remark("policy.freshness_exceeds_window", pointer, message, rule="freshness")
    if oldest is not None and lag is not None and lag >= oldest:
        late, old = number_text(lag), number_text(oldest)
        message = f"a source that lags {late} s is older than {old} s already: the skew limit never decides"
        pointer = f"{_MISSING}/max_watermark_skew_seconds"
        yield remark("policy.skew_limit_never_fires", pointer, message, rule="skew")
    if part.precedence is Precedence.EVIDENCE_FIRST:
        message = "evidence_first: while a metric is missing, a violated constraint holds the run and does not stop it"
        yield remark("policy.evidence_first", f"{_MISSING}/precedence", message)


def _required(policy: Policy) -> Iterator[Problem]:
    metrics = policy.missing_data_policy.required_metrics
    judged = judged_metrics(policy)
    for index, metric in enumerate(metrics):
        pointer = f"{_MISSING}/required_metrics/{index}"
        if metric in metrics[:index]:
            message = f"{metric} is required twice"
            yield remark("policy.duplicate_required_metric", pointer, message, rule=f"required:{metric}")
        elif metric not in judged:
            message = f"no rule judges {metric}: it can hold a run and never stop one"
            yield remark("policy.required_but_unjudged", pointer, message, rule=f"required:{metric}")


def _references(policy: Policy) -> Iterator[Problem]:
    names = policy.evidence.required
    for index, name in enumerate(names):
        if name in names[:index]:
            pointer = f"/evidence/required/{index}"
            yield remark("policy.duplicate_entry", pointer, f"{name} stands twice", rule=f"evidence:{name}")


def _cases(policy: Policy, beside: Beside) -> Iterator[Problem]:
    known = judged_metrics(policy) | set(policy.missing_data_policy.required_metrics)
    stray: dict[str, list[str]] = {}
    for case, metrics in beside.case_metrics.items():
        for metric in metrics:
            if metric not in known:
                stray.setdefault(metric, []).append(case)
    for metric, cases in stray.items():
        message = f"no rule names {metric}, which is stated in {', '.join(cases)}"
        yield remark("policy.metric_in_case_only", "", message, rule=f"metric:{metric}")


def judged_metrics(policy: Policy) -> set[str]:
    """The metrics that a rule of the policy judges or watches."""
    rules = (policy.guardrails, policy.constraints, policy.primary)
    return {rule.metric for part in rules for rule in part}
