"""`gatekeeper status [RUN]`: where runs are."""

from __future__ import annotations

from gatekeeper.cli.compose import log_lines, logged_runs
from gatekeeper.cli.damaged import as_documents, as_words, damaged_lines, is_damaged
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.errors import InputRefusedError
from gatekeeper.render.runs import run_page, status_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.model.exchange import LogLine
    from gatekeeper.model.run import Run


def status(values: Values) -> Outcome:
    """All runs, or one with its history."""
    runs, warnings = logged_runs(values.texts("log"))
    stderr = told(tuple(warnings))
    run_id = values.optional_text("run")
    if run_id is None:
        damaged = as_documents(damaged_lines(values.texts("log")))
        page = status_page(runs, damaged=damaged)
        return page_outcome(page, values, stderr=(*stderr, *as_words(damaged)))
    run = next((run for run in runs if run.run_id == run_id), None)
    if run is None:
        raise _unknown(run_id, runs)
    events: list[Mapping[str, Any]] = []
    stages: list[str] = []
    unread: list[LogLine] = []
    for line in log_lines(values.texts("log")):
        if line.event is None:
            if is_damaged(line):
                unread.append(line)
            continue
        if line.event.get("run_id") == run_id:
            events.append(line.event)
        elif line.event.get("policy_digest") == run.policy_digest and line.event.get("kind") == "policy":
            stages = _stages(line.event)
    damaged = as_documents(unread)
    page = run_page(run, events, stages=stages, damaged=damaged)
    return page_outcome(page, values, stderr=(*stderr, *as_words(damaged)))


def _stages(event: Mapping[str, Any]) -> list[str]:
    from gatekeeper.model.stages import DEFAULT_STAGES

    policy = event.get("policy")
    stages = policy.get("stages") if isinstance(policy, dict) else None
    return [str(stage) for stage in stages] if isinstance(stages, list) else list(DEFAULT_STAGES)


def _unknown(run_id: str, runs: Sequence[Run]) -> InputRefusedError:
    from difflib import get_close_matches

    near = get_close_matches(run_id, [run.run_id for run in runs], n=3)
    remedy = f"did you mean {' or '.join(near)}?" if near else "list runs with: gatekeeper status"
    return InputRefusedError(f"run {run_id} is not in this log", remedy=remedy)
