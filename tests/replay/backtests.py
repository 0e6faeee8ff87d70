"""Logs for backtests: decisions with any evidence and context, judged by the evaluator as the gate does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.event import decision_draft
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.replay.backtest import Asked, backtest
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.parallel import cores
from tests.replay.builder import LogBuilder, at_minute, write

POLICY: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01}],
    "constraints": [{"kind": "must_be_zero", "metric": "leaks"}],
}


class BacktestLog(LogBuilder):
    """A log of one policy unless another is given: its `policy` event stands first."""

    def __init__(self, document: Mapping[str, Any] = POLICY, *, is_recorded: bool = True) -> None:
        super().__init__()
        self.own = self.policy(document) if is_recorded else loaded_policy(document)

    def judged(
        self,
        snapshot: Mapping[str, Any],
        stage: str = "CANARY_10",
        *,
        run: str = "r",
        own: LoadedPolicy | None = None,
        as_of: str | None = None,
        **known: Any,
    ) -> str:
        """A decision on *snapshot*, `leaks` being 0 unless stated; the id of the event."""
        own, number = own or self.own, len(self.lines) + 1
        wrapped = snapshot if "metrics" in snapshot else {"metrics": snapshot}
        document = {**wrapped, "metrics": {"leaks": 0, **wrapped["metrics"]}}
        evidence = snapshot_from_document(document)
        digests = known.pop("policy", {"run": own.digest, "given": own.digest})
        context = Context(stage=stage, evaluated_at=at_minute(number), policy=digests, **known)
        event_id = f"{run}:{stage}#{number}"
        self.add(
            decision_draft(
                identity={"run_id": run, "experiment_id": "e", "variant_id": "B", "revision": "r1"},
                loaded=own,
                context=context,
                snapshot_document=evidence.document,
                snapshot_digest=evidence.digest,
                decision=evaluate(own.policy, evidence, context),
                event_id=event_id,
                resume=None,
                extra={"actor": "ci", **({"as_of": as_of} if as_of is not None else {})},
            )
        )
        return event_id


def changed_policy(*, of: Mapping[str, Any] = POLICY, threshold: float | None = None, **changes: Any) -> LoadedPolicy:
    """A changed policy; *threshold* is that of the first guardrail."""
    document = {**of, "policy_version": "2", **changes}
    if threshold is not None:
        first, *rest = document["guardrails"]
        document["guardrails"] = [{**first, "threshold": threshold}, *rest]
    return loaded_policy(document)


def told(directory: Path, log: LogBuilder | list[bytes], given: LoadedPolicy, **asked: Any) -> dict[str, Any]:
    """The report on a log, as json has it; read in many ranges by several processes unless set."""
    lines = log if isinstance(log, list) else log.lines
    path = write(directory / "decision.ndjson", lines, rest=asked.pop("rest", b""))
    asked = {"policy_ids": ("p",), "jobs": max(2, cores()), "range_bytes": 4000, **asked}
    return backtest([Source(str(path))], Asked(given, **asked)).to_dict()


def flips(report: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Flip -> rule -> first events."""
    return {
        f"{flip['from']} -> {flip['to']}": {rule["rule"]: rule["events"] for rule in flip["rules"]}
        for flip in report["flips"]
    }


def needs(report: Mapping[str, Any]) -> dict[str, int]:
    """What is lacking -> how many decisions lack it."""
    return {one["needs"]: one["count"] for one in report["cannot_answer"]["needs"]}
