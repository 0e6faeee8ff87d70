"""Words on standard error while something takes its time."""

from __future__ import annotations

from gatekeeper.cli.output import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.orchestrator.question import Answer


def waiting(answer: Answer, left_seconds: float, refused: str | None) -> None:
    """One line for each hold of `check --wait`, and for each time that the evidence could not be read."""
    reasons = refused or ", ".join(answer.event["decision"]["reason_codes"])
    say(f"gatekeeper: held at {answer.event['stage']}: {reasons}; asking again for {round(left_seconds)} s more")
