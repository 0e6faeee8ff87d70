"""The OPA engine (Go, as a shared library) behind the protocol of bench/evaluations.py."""

from __future__ import annotations

import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from evaluating import Answer, serve  # noqa: E402
from opa_bindings import OpaEngine  # noqa: E402


def main() -> None:
    engine = OpaEngine()
    with open(os.path.join(HERE, "policy.rego"), encoding="utf-8") as file:
        engine.add_policy("gate.rego", file.read())

    def prepare(policy: Any, inputs: list[tuple[Any, Any]]) -> list[Any]:
        engine.add_data({"policy": policy})  # once, which favours the peer
        return [{"snapshot": snapshot, "context": context} for snapshot, context in inputs]

    def evaluate(document: Any) -> Any:
        return engine.eval_document("gate.decision", document)

    def answer(decision: Any) -> Answer:
        findings = [[one["rule"], one["outcome"], one["code"]] for one in decision["findings"]]
        return {
            "verdict": decision["verdict"],
            "codes": list(dict.fromkeys(decision["codes"])),
            "missing": sorted(decision["missing"]),
            "findings": findings,
        }

    serve(prepare, evaluate, answer)


main()
