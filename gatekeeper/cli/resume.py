"""`gatekeeper resume TOKEN`: the held stage again, with new evidence."""

from __future__ import annotations

from gatekeeper.cli.check import evidence_fields
from gatekeeper.cli.compose import SystemClock, open_ledger, read_references, who_asks
from gatekeeper.cli.present import decided
from gatekeeper.model.values import replace
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def resume(values: Values) -> Outcome:
    """Ask the stage of a hold again; the run's own policy judges."""
    question = Question(
        command="resume",
        snapshot=None,
        actor=who_asks(values.optional_text("actor")),
        token=values.text("token"),
        evidence=read_references(values.texts("evidence")),
        revision=values.optional_text("revision"),
        idempotency_key=values.optional_text("idempotency_key"),
        dry_run=values.flag("dry_run"),
    )
    question = replace(question, **evidence_fields(values))
    ledger = open_ledger(values.text("log"), rotate_bytes=values.integer("rotate_bytes"))
    return decided(ask(question, ledger=ledger, clock=SystemClock()), values)
