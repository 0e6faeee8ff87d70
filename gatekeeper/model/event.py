"""Events as the log holds them (SPEC 7): drafts without a place, and the line they become.

A draft is a plain JSON object without `v`, `seq`, `prev` and `ts`; the ledger seals it, under its lock.
"""

from __future__ import annotations

from gatekeeper.model.canonical import canonical_bytes, digest, digest_bytes
from gatekeeper.model.decision import EVALUATOR
from gatekeeper.model.policy import SCHEMA_VERSION
from gatekeeper.model.stages import is_exposed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.context import Context
    from gatekeeper.model.decision import Decision
    from gatekeeper.model.policy import LoadedPolicy

FORMAT_VERSION = 1
"""`v` of every event."""

KINDS = ("decision", "policy", "approval", "action", "checkpoint", "refusal")


def seal(draft: Mapping[str, Any], *, seq: int, prev: str, ts: str, clock: str | None = None) -> dict[str, Any]:
    """Give a draft its place in the log. `clock` is the reading where it is behind the last line."""
    event = {"v": FORMAT_VERSION, "seq": seq, "prev": prev, "ts": ts, **draft}
    if "event_id" not in event:
        event["event_id"] = f"{event['kind']}#{seq}"
    if clock is not None:
        event["clock"] = clock
    return event


def encode_line(event: Mapping[str, Any]) -> bytes:
    r"""The line's bytes without its `\n`; their digest is the next line's `prev`."""
    return canonical_bytes(event)


def line_digest(line: bytes) -> str:
    """What the next line holds as `prev`."""
    return digest_bytes(line)


def policy_draft(loaded: LoadedPolicy, *, actor: str) -> dict[str, Any]:
    """The `policy` event: the whole document, so that a log explains itself."""
    return {
        "kind": "policy",
        "policy_id": loaded.policy.policy_id,
        "policy_version": loaded.policy.policy_version,
        "policy_digest": loaded.digest,
        "policy": dict(loaded.document),
        "schema_version": SCHEMA_VERSION,
        "actor": actor,
    }


def input_digest(policy_digest: str, snapshot_digest: str, context: Mapping[str, Any]) -> str:
    """Digest of all that a decision was made from."""
    return digest({"policy_digest": policy_digest, "snapshot_digest": snapshot_digest, "context": context})


def rml(stage: str, change_class: str, verdict: str) -> dict[str, str]:
    """The world in which a mistake at this point would live, and the hint for acting (SPEC 6)."""
    world = "RML1"
    if is_exposed(stage):
        world = "RML3" if change_class == "stateful_or_irreversible" else "RML2"
    if verdict == "ACCEPT":
        action = "proceed"
    elif world == "RML3":
        action = "escalate-history"
    elif verdict == "DEGRADE":
        action = "retry-with-backoff"
    else:
        action = "abort" if world == "RML1" else "start-compensation"
    return {"world": world, "action": action}


def decision_draft(
    *,
    identity: Mapping[str, Any],
    loaded: LoadedPolicy,
    context: Context,
    snapshot_document: Mapping[str, Any],
    snapshot_digest: str,
    decision: Decision,
    event_id: str,
    resume: Mapping[str, Any] | None,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """A `decision` event.

    Args:
        identity: `run_id`, `experiment_id`, `variant_id`, `revision`.
        extra: fields that stand only where they apply (`idempotency_key`, `previous_run`, `as_of`, …).
    """
    context_document = context.to_dict()
    return {
        "kind": "decision",
        **identity,
        "event_id": event_id,
        "policy_id": loaded.policy.policy_id,
        "policy_version": loaded.policy.policy_version,
        "policy_digest": loaded.digest,
        "stage": context.stage,
        "state_transition": {"from": context.from_stage, "to": context.stage},
        "input_digest": input_digest(loaded.digest, snapshot_digest, context_document),
        "snapshot_digest": snapshot_digest,
        "metrics_snapshot": dict(snapshot_document),
        "context": context_document,
        "decision": decision.to_dict(),
        "evidence_refs": dict(context.evidence),
        "resume": None if resume is None else dict(resume),
        "rml": rml(context.stage, context.change_class, decision.verdict.value),
        "change_class": context.change_class,
        "attempt": context.attempt,
        "evaluator": EVALUATOR,
        **extra,
    }


def action_draft(
    name: str,
    *,
    identity: Mapping[str, Any],
    event_id: str,
    actor: str,
    reason: str | None,
    params: Mapping[str, Any],
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """An `action` event: stop, supersede, adopt-policy, start-stage, accept-gap."""
    return {
        "kind": "action",
        **identity,
        "event_id": event_id,
        "action": {"name": name, "reason": reason, "params": dict(params)},
        "actor": actor,
        **extra,
    }


def ending_decision(code: str) -> dict[str, Any]:
    """`decision` of a stop or supersede event: the run's answer from then on; not re-evaluated."""
    return {
        "verdict": "REJECT",
        "reason_codes": [code],
        "missing": [],
        "findings": [],
        "notes": [],
        "requested_actions": [],
        "next_actions": [],
    }


def content_question(
    *,
    run_id: str,
    stage: str,
    policy_digest: str,
    revision: str | None,
    snapshot_digest: str,
    evidence: Mapping[str, str],
) -> str:
    """Digest of what makes two checks the same question (SPEC 6): evidence as effective for the run."""
    return digest([run_id, stage, policy_digest, revision, snapshot_digest, dict(evidence)])


def content_question_of(event: Mapping[str, Any]) -> str:
    """`content_question` of a recorded decision."""
    return content_question(
        run_id=event["run_id"],
        stage=event["stage"],
        policy_digest=event["policy_digest"],
        revision=event.get("revision"),
        snapshot_digest=event["snapshot_digest"],
        evidence=event.get("evidence_refs") or {},
    )
