"""`gatekeeper stop RUN`: end a run for good."""

from __future__ import annotations

from gatekeeper.cli.compose import open_ledger, who_asks
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import decided
from gatekeeper.orchestrator.gate import stop as stop_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values


def stop(values: Values) -> Outcome:
    """Append the stop event; 0 when the run is stopped, now or before."""
    answer = stop_run(
        values.text("run"),
        reason=values.text("reason"),
        actor=who_asks(values.optional_text("actor")),
        ledger=open_ledger(values.text("log"), rotate_bytes=values.integer("rotate_bytes")),
    )
    shown = decided(answer, values)
    return Outcome(shown.stdout, 0, shown.stderr)
