"""What the workers of bench/evaluations.py have in common: one JSON request a line in, one answer a line out.

{"compare": true}          -> the answer of every compared input
{"seconds": 0.2}           -> evaluations per second over the timed inputs
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from cases import compared, timed
from evidence import POLICY, read_json

Answer = dict[str, Any]


def serve(
    prepare: Callable[[Any, list[tuple[Any, Any]]], list[Any]],
    evaluate: Callable[[Any], Any],
    answer: Callable[[Any], Answer],
) -> None:
    """Answer requests until the input ends.

    Args:
        prepare: policy document and inputs -> what *evaluate* takes, made before any time is measured.
        evaluate: one input -> the engine's decision.
        answer: that decision in the common form.
    """
    inputs = [(snapshot, context) for _, _, snapshot, context in compared()]
    prepared = prepare(read_json(POLICY), [*inputs, *timed()])
    to_compare, to_time = prepared[: len(inputs)], prepared[len(inputs) :]
    for line in sys.stdin:
        request = json.loads(line)
        reply: Any
        if "seconds" in request:
            reply = _rate(evaluate, to_time, request["seconds"])
        else:
            reply = [answer(evaluate(document)) for document in to_compare]
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _rate(evaluate: Callable[[Any], Any], inputs: list[Any], seconds: float) -> float:
    done, begun = 0, time.perf_counter()
    while True:
        for document in inputs:
            evaluate(document)
        done += len(inputs)
        spent = time.perf_counter() - begun
        if spent >= seconds:
            return done / spent
