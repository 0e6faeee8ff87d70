"""`gatekeeper resume TOKEN`: the held stage again, with new evidence."""

from __future__ import annotations

from gatekeeper.cli.check import as_of_text
from gatekeeper.cli.compose import SystemClock, open_ledger, read_evidence, read_references, source_of, who_asks
from gatekeeper.cli.present import decided
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def resume(values: Values) -> Outcome:
    """Ask the stage of a hold again; the run's own policy judges."""
    snapshot_path, baseline_path = values.text("snapshot"), values.optional_text("baseline")
    snapshot = read_evidence(snapshot_path, baseline_path)
    question = Question(
        command="resume",
        snapshot=snapshot,
        actor=who_asks(values.optional_text("actor")),
        token=values.text("token"),
        evidence=read_references(values.texts("evidence")),
        revision=values.optional_text("revision"),
        idempotency_key=values.optional_text("idempotency_key"),
        as_of=as_of_text(values, snapshot),
        dry_run=values.flag("dry_run"),
        source=source_of(snapshot_path, baseline_path),
    )
    return decided(ask(question, ledger=open_ledger(values.text("log")), clock=SystemClock()), values)
