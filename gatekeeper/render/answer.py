"""The answer to one check, with all that an output may say of it besides the event itself."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.model.masking import mask_text
from gatekeeper.model.run import RunState
from gatekeeper.model.stages import is_exposed, stage_percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.model.run import Run

LONGEST_KIND = 40
LONGEST_DETAIL = 200
"""Characters of what a source said: a page of HTML must not stand in front of the verdict."""


class Standing(StrEnum):
    """How an event came to be the answer."""

    APPENDED = "appended"
    """Decided now, and on disk."""
    ANSWERED_BEFORE = "answered_before"
    """Recorded earlier; nothing was appended. This is what json calls `recorded`."""
    DRY_RUN = "dry_run"
    """Evaluated for `--dry-run`; not in the log."""
    NOT_RECORDED = "not_recorded"
    """A REJECT that could not be written: it still counts."""


class Answer:
    """One decision to show (a plain class for the same reason as `page`'s).

    Attributes:
        event: the event as logged; for a dry run and an unrecorded REJECT the draft of it.
        standing: how it came to be the answer.
        run: `run_view` of the run afterwards; None where its state could not be read.
        log: path of the log, as people should see it.
        runbooks: metric -> address from the policy's `runbook` fields.
        why_not_recorded: for `Standing.NOT_RECORDED`, what hindered it.
    """

    __slots__ = ("event", "log", "run", "runbooks", "standing", "why_not_recorded")

    def __init__(
        self,
        event: Mapping[str, Any],
        *,
        standing: Standing = Standing.APPENDED,
        run: Mapping[str, Any] | None = None,
        log: str | None = None,
        runbooks: Mapping[str, str] | None = None,
        why_not_recorded: str | None = None,
    ) -> None:
        self.event = event
        self.standing = standing
        self.run = run
        self.log = log
        self.runbooks = runbooks or {}
        self.why_not_recorded = why_not_recorded

    @property
    def recorded(self) -> bool:
        """Whether the answer was recorded earlier (SPEC 6: "marked `recorded`")."""
        return self.standing is Standing.ANSWERED_BEFORE


def run_view(run: Run, stages: Sequence[str]) -> dict[str, Any]:
    """`run` of `check -o json`: `state`, `stage`, `next_stage`, `percent`.

    `next_stage` is the one that the run may enter next: null at the last and for a STOPPED run.
    `percent` is the share of traffic that the run may have now: 0 before its first ACCEPT and for a STOPPED
    run; null where an irreversible change was stopped after users had met it, because a person decides that.
    """
    following: str | None = None
    percent: float | None = 0 if run.stage is None else stage_percent(run.stage)
    if run.state is RunState.STOPPED:
        touched = run.stage is not None and is_exposed(run.stage)
        percent = None if touched and run.change_class == "stateful_or_irreversible" else 0
    elif run.hold is not None and run.hold.stage != run.stage:
        following = run.hold.stage  # a run that was adopted at a later stage does not begin at the first
    elif run.stage is None:
        following = stages[0] if stages else None
    elif run.stage in stages:
        place = list(stages).index(run.stage) + 1
        following = stages[place] if place < len(stages) else None
    return {"state": run.state.value, "stage": run.stage, "next_stage": following, "percent": percent}


def decision_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """`decision` of an event; empty where there is none. A line without `kind` may hold its parts itself."""
    decision = event.get("decision")
    if isinstance(decision, dict):
        return decision
    if "kind" in event:
        return {}
    return {**event, "verdict": decision} if isinstance(decision, str) else event


def why_of(event: Mapping[str, Any], finding: Mapping[str, Any]) -> tuple[str, str]:
    """`kind` and `detail` of the problem that a finding repeats: masked, on one line, cut; empty where no text is."""
    problem = problem_of(event, finding)
    return _short(problem.get("kind"), LONGEST_KIND), _short(problem.get("detail"), LONGEST_DETAIL)


def problem_of(event: Mapping[str, Any], finding: Mapping[str, Any]) -> Mapping[str, Any]:
    """The problem of the observation that decided a finding (SPEC 4); empty where something else did.

    A budget rests on two observations; where the variant's is sound it is the baseline's problem that decides.
    """
    code = finding.get("would_be" if finding.get("outcome") == "OBSERVED" else "code")
    metric, rule = finding.get("metric"), str(finding.get("rule"))
    if not code or not isinstance(metric, str):
        return {}
    snapshot = mapping_of(event.get("metrics_snapshot"))
    has_baseline = rule.startswith(("budget:", "budget_ratio:"))
    for part in (snapshot, mapping_of(snapshot.get("baseline"))) if has_baseline else (snapshot,):
        problem = mapping_of(mapping_of(mapping_of(part.get("observations")).get(metric)).get("problem"))
        if problem.get("code") == code:
            return problem
    return {}


def list_of(value: object) -> list[Any]:
    """A JSON array as a list; anything else is empty. Old logs hold what their writers liked."""
    return list(value) if isinstance(value, (list, tuple)) else []


def mapping_of(value: object) -> Mapping[str, Any]:
    """A JSON object; anything else is empty."""
    return value if isinstance(value, dict) else {}


def _short(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        return ""
    text = " ".join(mask_text(value).split())  # masked before it is cut: half an address would keep its password
    return text if len(text) <= longest else text[:longest] + "..."
