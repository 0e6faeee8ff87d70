from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from gatekeeper.model.canonical import GENESIS_DIGEST, canonical_bytes
from gatekeeper.model.context import Context, PolicyDigests
from gatekeeper.model.decision import Decision
from gatekeeper.model.event import (
    action_draft,
    content_question,
    content_question_of,
    decision_draft,
    encode_line,
    ending_decision,
    input_digest,
    line_digest,
    policy_draft,
    rml,
    seal,
)
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import snapshot_from_document

POLICY = {"policy_id": "p", "policy_version": "1", "constraints": [{"kind": "must_be_zero", "metric": "leaks"}]}
SNAPSHOT = snapshot_from_document({"metrics": {"leaks": 0}})


def draft(**extra: Any) -> dict[str, Any]:
    """A decision draft."""
    context = Context(
        stage="SHADOW",
        from_stage="DRY_RUN",
        evaluated_at="2026-02-18T01:00:00Z",
        evidence={"change_id": "CHG-1"},
        policy=PolicyDigests(run="sha256:1", given="sha256:1"),
    )
    return decision_draft(
        identity={"run_id": "r", "experiment_id": "e", "variant_id": "B", "revision": None},
        loaded=loaded_policy(POLICY),
        context=context,
        snapshot_document=SNAPSHOT.document,
        snapshot_digest=SNAPSHOT.digest,
        decision=Decision(Verdict.ACCEPT, (), (), (), (), (), ()),
        event_id="r:SHADOW",
        resume=None,
        extra=extra,
    )


def test_a_decision_event_has_the_fields_of_the_spec() -> None:
    """Every field of SPEC 7's example, and the optional ones only where they apply."""
    event = seal(draft(actor="ci"), seq=17, prev=GENESIS_DIGEST, ts="2026-02-18T01:00:10.123456Z")
    assert set(event) == {
        "v",
        "seq",
        "prev",
        "ts",
        "kind",
        "run_id",
        "event_id",
        "experiment_id",
        "variant_id",
        "revision",
        "policy_id",
        "policy_version",
        "policy_digest",
        "stage",
        "state_transition",
        "input_digest",
        "snapshot_digest",
        "metrics_snapshot",
        "context",
        "decision",
        "evidence_refs",
        "resume",
        "rml",
        "actor",
        "evaluator",
        "change_class",
        "attempt",
    }
    assert (event["v"], event["seq"], event["evaluator"]) == (1, 17, "gatekeeper/1")
    assert event["state_transition"] == {"from": "DRY_RUN", "to": "SHADOW"}
    assert "idempotency_key" in draft(idempotency_key="k")


def test_the_digests_can_be_recomputed_from_the_event() -> None:
    """SHA-256 over RFC 8785 of the snapshot as logged, and of policy, snapshot and context together."""
    event = draft()
    snapshot = "sha256:" + sha256(canonical_bytes(event["metrics_snapshot"])).hexdigest()
    assert event["snapshot_digest"] == snapshot
    whole = {"policy_digest": event["policy_digest"], "snapshot_digest": snapshot, "context": event["context"]}
    assert event["input_digest"] == "sha256:" + sha256(canonical_bytes(whole)).hexdigest()
    assert event["input_digest"] != input_digest("sha256:2", snapshot, event["context"])


def test_a_line_is_canonical_and_its_digest_is_that_of_its_bytes() -> None:
    """Without the newline; any SHA-256 tool gives the next line's `prev`."""
    event = seal(draft(), seq=1, prev=GENESIS_DIGEST, ts="2026-02-18T01:00:10.123456Z")
    line = encode_line(event)
    assert b"\n" not in line
    assert canonical_bytes(json.loads(line)) == line
    assert line_digest(line) == "sha256:" + sha256(line).hexdigest()


def test_an_event_without_a_run_is_named_by_its_place() -> None:
    """`kind#seq` when no run is meant; a clock that is behind keeps its reading."""
    recorded = policy_draft(loaded_policy(POLICY), actor="ci")
    event = seal(recorded, seq=4, prev=GENESIS_DIGEST, ts="2026-02-18T01:00:10Z", clock="2026-02-18T01:00:09Z")
    assert (event["event_id"], event["clock"]) == ("policy#4", "2026-02-18T01:00:09Z")
    assert event["policy"] == POLICY
    assert event["policy_digest"] == "sha256:" + sha256(canonical_bytes(POLICY)).hexdigest()


@pytest.mark.parametrize(
    ("stage", "change_class", "verdict", "world", "action"),
    [
        ("DRY_RUN", "reversible", "ACCEPT", "RML1", "proceed"),
        ("SHADOW", "reversible", "DEGRADE", "RML1", "retry-with-backoff"),
        ("SHADOW", "stateful_or_irreversible", "REJECT", "RML1", "abort"),
        ("CANARY_10", "reversible", "ACCEPT", "RML2", "proceed"),
        ("CANARY_0.5", "reversible", "DEGRADE", "RML2", "retry-with-backoff"),
        ("ROLLOUT_100", "reversible", "REJECT", "RML2", "start-compensation"),
        ("CANARY_10", "stateful_or_irreversible", "ACCEPT", "RML3", "proceed"),
        ("CANARY_10", "stateful_or_irreversible", "DEGRADE", "RML3", "escalate-history"),
        ("ROLLOUT_100", "stateful_or_irreversible", "REJECT", "RML3", "escalate-history"),
    ],
)
def test_the_world_and_the_hint(stage: str, change_class: str, verdict: str, world: str, action: str) -> None:
    """SPEC 6's table, cell by cell."""
    assert rml(stage, change_class, verdict) == {"world": world, "action": action}


def test_an_ending_is_a_reject_with_nothing_but_its_code() -> None:
    """Stop and supersede: the rest is empty, since nothing was evaluated."""
    assert ending_decision("change_refused:stopped") == {
        "verdict": "REJECT",
        "reason_codes": ["change_refused:stopped"],
        "missing": [],
        "findings": [],
        "notes": [],
        "requested_actions": [],
        "next_actions": [],
    }


def test_an_action_says_what_why_and_who() -> None:
    """Name, reason and parameters stand together."""
    event = action_draft(
        "stop",
        identity={"run_id": "r"},
        event_id="r:action#1",
        actor="sre",
        reason="incident",
        params={"a": 1},
        extra={},
    )
    assert event == {
        "kind": "action",
        "run_id": "r",
        "event_id": "r:action#1",
        "actor": "sre",
        "action": {"name": "stop", "reason": "incident", "params": {"a": 1}},
    }


def test_the_same_question_has_the_same_digest_before_and_behind_the_log() -> None:
    """What a check asks and what a recorded decision answered meet in one digest; each part makes another."""
    plain: dict[str, Any] = {
        "run_id": "r",
        "stage": "SHADOW",
        "policy_digest": loaded_policy(POLICY).digest,
        "revision": None,
        "snapshot_digest": SNAPSHOT.digest,
        "evidence": {"change_id": "CHG-1"},
    }
    assert content_question(**plain) == content_question_of(draft())
    others = {
        "run_id": "q",
        "stage": "DRY_RUN",
        "policy_digest": "sha256:2",
        "revision": "rev-a",
        "snapshot_digest": "sha256:2",
        "evidence": {},
    }
    digests = {content_question(**{**plain, name: other}) for name, other in others.items()}
    assert len(digests | {content_question(**plain)}) == 7
