"""Builds real logs: drafts sealed and encoded as the ledger does it, lines chained by their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gatekeeper.evaluator import evaluate
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.context import Context, PolicyDigests
from gatekeeper.model.event import (
    action_draft,
    decision_draft,
    encode_line,
    ending_decision,
    line_digest,
    policy_draft,
    seal,
)
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.model.times import MICROSECONDS, format_time, require_time
from gatekeeper.replay.lines import parse_line

Event = dict[str, Any]

START = require_time("2026-02-18T01:00:00Z")
POLICY = {
    "policy_id": "exp-eval-policy",
    "policy_version": "2026-02-18",
    "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": 0.01}],
    "constraints": [{"kind": "must_be_zero", "metric": "pii_leaks"}],
}
OTHER_POLICY = {**POLICY, "policy_id": "other-policy", "policy_version": "v7"}
HEALTHY = {"error_rate": 0.004, "pii_leaks": 0}
HARMFUL = {"error_rate": 0.013, "pii_leaks": 0}
BLIND = {"pii_leaks": 0}
RUN = "exp-42:B:2026-02-18"
OTHER_RUN = "exp-7:A:v7"


def at_minute(minute: int) -> str:
    """The `ts` of the event with this seq in a built log."""
    return format_time(START + minute * 60 * MICROSECONDS)


class LogBuilder:
    """A log in memory: line n has seq n and lies n minutes after START."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def add(self, draft: Mapping[str, Any]) -> Event:
        """Seal and chain a draft."""
        seq = len(self.lines) + 1
        prev = line_digest(self.lines[-1]) if self.lines else GENESIS_DIGEST
        event = seal(draft, seq=seq, prev=prev, ts=at_minute(seq))
        self.lines.append(encode_line(event))
        return event

    def policy(self, document: Mapping[str, Any] = POLICY) -> LoadedPolicy:
        """A `policy` event."""
        loaded = loaded_policy(document)
        self.add(policy_draft(loaded, actor="ci"))
        return loaded

    def decision(
        self,
        loaded: LoadedPolicy,
        stage: str,
        metrics: Mapping[str, Any],
        *,
        run_id: str = RUN,
        number: int = 1,
        from_stage: str | None = None,
        actor: str = "ci",
        as_of: str | None = None,
    ) -> Event:
        """A `decision` event, judged by the evaluator."""
        experiment, variant, _ = run_id.split(":")
        snapshot = snapshot_from_document({"metrics": dict(metrics)})
        context = Context(
            stage=stage,
            evaluated_at=as_of or at_minute(len(self.lines) + 1),
            from_stage=from_stage,
            policy=PolicyDigests(loaded.digest, loaded.digest),
        )
        draft = decision_draft(
            identity={"run_id": run_id, "experiment_id": experiment, "variant_id": variant, "revision": "r1"},
            loaded=loaded,
            context=context,
            snapshot_document=snapshot.document,
            snapshot_digest=snapshot.digest,
            decision=evaluate(loaded.policy, snapshot, context),
            event_id=f"{run_id}:{stage}" if number == 1 else f"{run_id}:{stage}#{number}",
            resume=None,
            extra={"actor": actor, **({"as_of": as_of} if as_of is not None else {})},
        )
        return self.add(draft)

    def stop(self, loaded: LoadedPolicy, run_id: str, stage: str) -> Event:
        """The `action` event of `gatekeeper stop`."""
        experiment, variant, _ = run_id.split(":")
        return self.add(
            action_draft(
                "stop",
                identity={"run_id": run_id, "experiment_id": experiment, "variant_id": variant, "revision": "r1"},
                event_id=f"{run_id}:action#1",
                actor="sre",
                reason="incident",
                params={},
                extra={
                    "stage": stage,
                    "policy_id": loaded.policy.policy_id,
                    "policy_version": loaded.policy.policy_version,
                    "policy_digest": loaded.digest,
                    "decision": ending_decision("change_refused:stopped"),
                },
            )
        )

    def refusal(self, stage: str) -> Event:
        """A `refusal` event of RUN."""
        return self.add(
            {
                "kind": "refusal",
                "run_id": RUN,
                "experiment_id": "exp-42",
                "variant_id": "B",
                "event_id": f"{RUN}:refusal#1",
                "question_digest": "sha256:" + "1" * 64,
                "refusal": {"reason": "stage_not_askable", "message": "no", "command": "check", "stage": stage},
                "actor": "ci",
            }
        )


def _rollout() -> tuple[bytes, ...]:
    log = LogBuilder()
    loaded = log.policy()
    log.decision(loaded, "DRY_RUN", HEALTHY)
    log.decision(loaded, "SHADOW", HEALTHY, from_stage="DRY_RUN")
    log.decision(loaded, "CANARY_10", BLIND, from_stage="SHADOW")
    log.decision(loaded, "CANARY_10", HEALTHY, from_stage="SHADOW", number=2, actor="bob")
    log.refusal("ROLLOUT_100")
    log.decision(loaded, "CANARY_25", HARMFUL, from_stage="CANARY_10")
    other = log.policy(OTHER_POLICY)
    log.decision(other, "DRY_RUN", HEALTHY, run_id=OTHER_RUN, as_of="2026-01-05T00:00:00Z")
    log.stop(other, OTHER_RUN, "DRY_RUN")
    return tuple(log.lines)


_ROLLOUT = _rollout()


def rollout() -> list[bytes]:
    """The example that most tests read, built once.

    seq 1 policy · 2 DRY_RUN ACCEPT · 3 SHADOW ACCEPT · 4 CANARY_10 DEGRADE · 5 CANARY_10 ACCEPT (by bob) ·
    6 refusal (ROLLOUT_100) · 7 CANARY_25 REJECT, all of RUN · 8 other policy · 9 simulated DRY_RUN ACCEPT and
    10 stop, both of OTHER_RUN.
    """
    return list(_ROLLOUT)


def parsed(lines: Iterable[bytes], source: str = "decision.ndjson") -> list[LogLine]:
    """Lines as a reader gives them."""
    return [parse_line(source, number, data) for number, data in enumerate(lines, 1)]


def write(path: Path, lines: Iterable[bytes], *, rest: bytes = b"") -> Path:
    """A log file; *rest* stands behind the last newline."""
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)
    return path


def read(*paths: Path) -> list[LogLine]:
    """Files, one after the other, as a reader gives them."""
    found: list[LogLine] = []
    for path in paths:
        *whole, rest = path.read_bytes().split(b"\n")
        found += parsed(whole, path.name)
        if rest:
            found.append(parse_line(path.name, len(whole) + 1, rest, is_terminated=False))
    return found


def changed(line: bytes, change: Callable[[Event], object]) -> bytes:
    """The line with its event changed in place by *change*, canonical again."""
    event = parsed([line])[0].event
    assert event is not None
    event = dict(event)
    change(event)
    return encode_line(event)


def rechained(lines: Iterable[bytes]) -> list[bytes]:
    """What somebody who rewrites a whole log gets: every `prev` fits again."""
    prev, result = GENESIS_DIGEST, list[bytes]()
    for line in lines:
        result.append(changed(line, lambda event, prev=prev: event.update(prev=prev)))  # type: ignore[misc]
        prev = line_digest(result[-1])
    return result


def seqs(lines: Iterable[LogLine]) -> list[int]:
    """The `seq` of each line."""
    return [line.event["seq"] for line in lines if line.event is not None]


def edited(number: int, change: Callable[[dict[str, object]], object]) -> Callable[[list[bytes]], list[bytes]]:
    """Line *number* with another content, all else as it was."""
    return lambda log: [*log[: number - 1], changed(log[number - 1], change), *log[number:]]
