"""What the state remembers of an event whose line no file has any more.

A run that was rejected stays rejected when somebody rotates its file away: the index knows the verdict, its
reasons and its place in the log, and the run knows the rest that an answer needs. What it lacks (findings,
evidence) is empty, and a note says why.
"""

from __future__ import annotations

from gatekeeper.model.event import FORMAT_VERSION, content_question
from gatekeeper.model.indexed import Facet
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gatekeeper.model.run import Run

_STOPPED = "change_refused:stopped"
NOTE = "the recorded line is in no file any more: this is what the state remembers of it"


def remembered_event(
    run: Run, event_id: str, facts: Sequence[Any] | None, *, seq: int | None, ts: int | None
) -> dict[str, Any] | None:
    """An event as far as it is known without its line; None where *run* does not stand on it.

    Args:
        facts: what the index holds of it, if it lists it.
        ts: microseconds since 1970.
    """
    facet = None if facts is None else Facet.of_facts(facts)
    stopped = event_id == run.stopped_by
    if facet is None and stopped:
        facet = Facet(
            "decision", "REJECT", run.stage, run.policy_id, run.policy_version, None, run.simulated, (_STOPPED,)
        )
    if facet is None or not (stopped or (run.last_accept is not None and event_id == run.last_accept.event_id)):
        return None
    event = {name: value for name, value in facet.as_event().items() if name not in {"as_of", "refusal"}}
    moment = run.updated_at if ts is None else format_time(ts)
    return {
        **event,
        "v": FORMAT_VERSION,
        "seq": seq,
        "ts": moment,
        "run_id": run.run_id,
        "event_id": event_id,
        "experiment_id": run.experiment_id,
        "variant_id": run.variant_id,
        "revision": run.revision,
        "change_class": run.change_class,
        "evidence_refs": dict(run.evidence),
        "resume": None,
        "decision": {
            **event["decision"],
            "missing": [],
            "findings": [],
            "notes": [NOTE],
            "requested_actions": [],
            "next_actions": [],
        },
        **({"as_of": moment} if facet.simulated else {}),
    }


def is_last_accept(run: Run, question: str) -> bool:
    """Whether the content question of the run's last ACCEPT is this one."""
    accept = run.last_accept
    return accept is not None and question == content_question(
        run_id=run.run_id,
        stage=accept.stage,
        policy_digest=accept.policy_digest,
        revision=run.revision,
        snapshot_digest=accept.snapshot_digest,
        evidence=accept.evidence,
    )
