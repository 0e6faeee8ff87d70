"""gatekeeper's evaluator behind the protocol of bench/evaluations.py."""

from __future__ import annotations

from typing import Any

from evaluating import Answer, serve

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.snapshot import snapshot_from_document


def main() -> None:
    def prepare(document: Any, inputs: list[tuple[Any, Any]]) -> list[Any]:
        policy = loaded_policy(document).policy
        return [(policy, snapshot_from_document(snapshot), Context.from_dict(context)) for snapshot, context in inputs]

    def answer(decision: Any) -> Answer:
        return {
            "verdict": decision.verdict.value,
            "codes": list(decision.reason_codes),
            "missing": list(decision.missing),
            "findings": [[one.rule, one.outcome.value, one.code] for one in decision.findings],
        }

    serve(prepare, lambda made: evaluate(*made), answer)


main()
