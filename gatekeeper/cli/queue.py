"""`gatekeeper queue`: open holds, longest held first."""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock, logged_runs
from gatekeeper.cli.damaged import as_documents, as_words, damaged_lines
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.render.runs import queue_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def queue(values: Values) -> Outcome:
    """What waits for whom, since when, and how to go on."""
    runs, warnings = logged_runs(values.texts("log"))
    held = [run for run in runs if run.hold is not None and (values.flag("simulated") or not run.simulated)]
    held.sort(key=lambda run: run.hold.first_held_at if run.hold is not None else "")
    damaged = as_documents(damaged_lines(values.texts("log")))
    page = queue_page(held, now=SystemClock().now(), damaged=damaged)
    return page_outcome(page, values, stderr=(*told(tuple(warnings)), *as_words(damaged)))
