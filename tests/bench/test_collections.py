"""The collections that are timed must be whole: a metric that fails, or shares its query, would make them quicker."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.times import format_time
from gatekeeper.review.load import load_policy
from tests.evidence.prometheus.collecting import COLLECTED_AT, codes, collected
from tests.lab.faults import FaultProxy
from tests.lab.fixtures import Labs
from tests.lab.servers import Lab

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.server


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Any:
    """bench/questions.py."""
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("questions")


def test_the_timed_collection_is_of_twenty_sound_metrics_on_both_sides(questions: Any, lab: Labs[Lab]) -> None:
    """Each with a watermark, and its query asked in a text of its own."""
    with FaultProxy(lab().url) as proxy:
        snapshot = collected(questions.collection(proxy.url, count=questions.MANY))
    parts = [snapshot.document, snapshot.document["baseline"]]
    seen = [one for part in parts for one in part["observations"].values()]
    assert codes(snapshot) == {}
    assert len(seen) == len({one["query"] for one in seen}) == 2 * 20
    assert all(one["watermark_event_time"] for one in seen)
    texts = [request["params"]["query"] for request in proxy.requests]
    assert len(texts) == len(set(texts)) > len(seen)


def test_the_timed_check_is_an_accept_that_looks_at_all_five_metrics(questions: Any, lab: Labs[Lab]) -> None:
    """A policy that asks less would be judged quicker."""
    policy = load_policy(json.dumps(questions.policy()).encode())
    snapshot = collected(questions.collection(lab().url, count=questions.FEW))
    context = Context(stage="CANARY_10", evaluated_at=format_time(COLLECTED_AT))
    decision = evaluate(policy, snapshot, context)
    assert decision.verdict.value == "ACCEPT"
    judged = {one.rule.partition(":")[2] for one in decision.findings if one.rule.startswith("guardrail:")}
    assert judged == set(snapshot.document["metrics"]) == set(snapshot.document["baseline"]["metrics"])
    assert len(judged) == 5
