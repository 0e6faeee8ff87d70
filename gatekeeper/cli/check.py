"""`gatekeeper check`: parse, one question, render, exit."""

from __future__ import annotations

from gatekeeper.cli.compose import (
    STANDARD_INPUT,
    SystemClock,
    open_ledger,
    read_evidence,
    read_policy,
    read_references,
    source_of,
    who_asks,
)
from gatekeeper.cli.present import decided
from gatekeeper.errors import SnapshotError, UsageError
from gatekeeper.model.times import format_time, parse_time
from gatekeeper.model.values import replace
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.model.policy import LoadedPolicy, Policy
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.orchestrator.question import Answer
    from gatekeeper.ports import Ledger

DEFAULT_INTERVAL_SECONDS = 60.0


def check(values: Values) -> Outcome:
    """May this run enter the stage, or remain in it?"""
    is_waiting = values.given("wait")
    if is_waiting and STANDARD_INPUT in {values.optional_text("snapshot"), values.optional_text("baseline")}:
        raise UsageError(
            "--wait reads the evidence again each time: standard input can be read once only",
            remedy="give --snapshot a file",
        )
    ledger = open_ledger(values.text("log"), rotate_bytes=values.integer("rotate_bytes"))
    loaded = read_policy(values.text("policy"), ledger)
    question = replace(
        gate_question(values, loaded, command="check"),
        stage=values.optional_text("stage"),
        start_stage=values.optional_text("start_stage"),
        reason=values.optional_text("reason"),
        idempotency_key=values.optional_text("idempotency_key"),
        adopt_reason=values.optional_text("adopt_policy"),
        dry_run=values.flag("dry_run"),
        **evidence_fields(values, policy=loaded.policy, is_repeated=is_waiting),
    )
    answer = _wait(values, question, ledger) if is_waiting else ask(question, ledger=ledger, clock=SystemClock())
    return decided(answer, values, loaded=loaded)


def evidence_fields(values: Values, *, policy: Policy | None = None, is_repeated: bool = False) -> dict[str, Any]:
    """The fields of a question that say where its evidence is: read from files now, or collected when it is needed.

    What *policy* asks and a collection file does not name is told here, once; the verdict is the policy's all the same.

    Raises:
        InputRefusedError: a file that does not load. UsageError: standard input where it *is_repeated*.
    """
    if values.given("collect"):
        from gatekeeper.cli.collecting import open_collector, tell_uncollected

        collector = open_collector(values.text("collect"), verbose=values.flag("verbose"), is_repeated=is_repeated)
        if policy is not None:
            tell_uncollected(policy, collector.loaded.collection)
        return {"evidence_source": collector, "source": collector.source}
    snapshot_path, baseline_path = values.text("snapshot"), values.optional_text("baseline")
    snapshot = read_evidence(snapshot_path, baseline_path)
    return {
        "snapshot": snapshot,
        "as_of": as_of_text(values, snapshot),
        "source": source_of(snapshot_path, baseline_path),
    }


def gate_question(values: Values, loaded: LoadedPolicy, *, command: str) -> Question:
    """What `check` and `run` have in common: all but the evidence."""
    experiment, variant = values.text("experiment"), values.text("variant")
    run_id = values.optional_text("run_id") or f"{experiment}:{variant}:{loaded.policy.policy_version}"
    return Question(
        command=command,
        snapshot=None,
        actor=who_asks(values.optional_text("actor")),
        run_id=run_id,
        experiment_id=experiment,
        variant_id=variant,
        policy=loaded,
        evidence=read_references(values.texts("evidence")),
        revision=values.optional_text("revision"),
        change_class=values.optional_text("change_class"),
        supersede=values.optional_text("supersede"),
    )


def as_of_text(values: Values, snapshot: Snapshot) -> str | None:
    """The evaluation time of a simulated run; None for a real one."""
    moment = values.moment("as_of")
    if moment is None:
        return None
    if moment == "snapshot":
        collected_at = parse_time(snapshot.collected_at)
        if collected_at is None:
            raise SnapshotError(
                f"--as-of snapshot: collected_at is {snapshot.collected_at!r}, no RFC 3339 time with a zone",
                remedy="state _meta.collected_at, or give --as-of a time",
            )
        moment = collected_at
    return format_time(moment)


def _wait(values: Values, question: Question, ledger: Ledger) -> Answer:
    import time

    from gatekeeper.cli.progress import waiting
    from gatekeeper.orchestrator.repeat import ask_until_decided

    first = [question.snapshot]  # read and checked already; every later ask reads the file again

    def read_question() -> Question:
        if question.evidence_source is not None:
            return question  # which collects anew each time
        path, baseline = values.text("snapshot"), values.optional_text("baseline")
        return replace(question, snapshot=first.pop() if first else read_evidence(path, baseline))

    interval = values.milliseconds("interval")
    return ask_until_decided(
        read_question,
        ledger=ledger,
        clock=SystemClock(),
        wait_seconds=(values.milliseconds("wait") or 0) / 1000,
        interval_seconds=DEFAULT_INTERVAL_SECONDS if interval is None else interval / 1000,
        pause=time.sleep,
        on_hold=waiting,
    )
