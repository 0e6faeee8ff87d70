"""What another policy needs of a snapshot and the snapshot never held, because nobody had asked for it.

A metric that the recorded policy asked for and did not get is evidence: the other policy is judged by it, too. A
metric that only the other policy names was never collected: what it would have been, nobody can say.
"""

from __future__ import annotations

from gatekeeper.evaluator.safety import NO_BASELINE
from gatekeeper.evaluator.verdict import first_phase
from gatekeeper.model.decision import Outcome
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import STATISTICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.findings import Trouble
    from gatekeeper.evaluator.verdict import Judgement

_OF_VALUES = frozenset({"required", "constraint", "guardrail", "budget", "budget_ratio"})
"""Kinds of rules that may find harm in what they are given."""

_BUDGETS = frozenset({"budget", "budget_ratio"})
_TIMES = ("freshness_seconds", "watermark_event_time", "collected_at")
_NOT_ASKED = frozenset({Outcome.NOT_EVALUATED, Outcome.OBSERVED})


def lacking(check: Check, judgement: Judgement, recorded: Mapping[str, Any]) -> tuple[str, ...]:
    """What keeps the other policy from answering, named as in `missing` of a decision; empty: its answer stands.

    It stands, whatever would have been collected, where evidence that is there leads to the same verdict.

    Args:
        check, judgement: of the other policy.
        recorded: the `decision` of the event, complete.
    """
    absent = [(trouble, _absent(check, trouble)) for trouble in check.troubles if _is_absence(trouble)]
    if not any(entries for _, entries in absent):
        return ()
    asked = frozenset(_asked(recorded))
    lacks = {trouble: needs for trouble, entries in absent if (needs := [one for one in entries if one not in asked])}
    if not lacks or _stands(check, judgement, lacks):
        return ()
    return tuple(sorted({one for needs in lacks.values() for one in needs}))


def _stands(check: Check, judgement: Judgement, lacks: Mapping[Trouble, Any]) -> bool:
    verdict, reason_codes, _ = judgement
    deciding = first_phase(check.troubles) if check.plan.evidence_first else check.troubles
    if not any(trouble not in lacks and trouble.code in reason_codes for trouble in deciding):
        return False
    if verdict is Verdict.REJECT or check.plan.evidence_first:
        return True
    return not any(_kind(trouble.finding.rule) in _OF_VALUES for trouble in lacks)  # it might have shown harm


def _is_absence(trouble: Trouble) -> bool:
    """Whether something is not there; a statistic that is not there is not ready."""
    outcome = trouble.finding.outcome
    return bool(trouble.missing) and outcome in {Outcome.MISSING, Outcome.NOT_READY}


def _absent(check: Check, trouble: Trouble) -> list[str]:
    """Entries of `missing` that the snapshot does not name at all; a null or a problem says that somebody looked."""
    metric, document = trouble.finding.metric, check.document
    baseline = document.get("baseline")
    found = []
    for entry in trouble.missing:
        part = document if entry == metric else baseline if entry == f"baseline.{metric}" else None
        if metric is None or not isinstance(part, dict) or not _names(part, metric):
            found.append(entry)
    return found


def _names(part: Mapping[str, Any], metric: str) -> bool:
    metrics, observations = part.get("metrics"), part.get("observations")
    return (isinstance(metrics, dict) and metric in metrics) or (
        isinstance(observations, dict) and metric in observations
    )


def _asked(recorded: Mapping[str, Any]) -> Iterator[str]:
    """Entries that `missing` of the recorded decision would hold if they had not been there."""
    findings, notes = recorded.get("findings"), recorded.get("notes")
    has_no_baseline = isinstance(notes, list) and NO_BASELINE in notes
    for finding in findings if isinstance(findings, list) else ():
        rule = finding.get("rule") if isinstance(finding, dict) else None
        if not isinstance(rule, str):
            continue
        kind, _, rest = rule.partition(":")
        if kind in _BUDGETS and (has_no_baseline or finding.get("outcome") != Outcome.NOT_EVALUATED):
            yield f"baseline.{rest}"
        if kind in _OF_VALUES:
            if finding.get("outcome") != Outcome.NOT_EVALUATED:
                yield rest
        elif finding.get("outcome") not in _NOT_ASKED:
            yield from _others(kind, rest)


def _others(kind: str, rest: str) -> Iterator[str]:
    if kind == "evidence":
        yield rest
    elif kind in {"freshness", "skew"}:
        yield from _TIMES
    elif kind == "window":
        yield from ("window", *_TIMES)
    elif kind == "promotion":
        metric = rest.rpartition(":")[0]
        yield from (f"promotion.{metric}.{field}" for field in STATISTICS)


def _kind(rule: str) -> str:
    return rule.partition(":")[0]
