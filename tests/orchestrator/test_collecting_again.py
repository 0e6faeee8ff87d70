"""Asking again with a source: `--wait`, and the holds of `reevaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gatekeeper.errors import CollectionError, GatekeeperError, SnapshotError, UsageError
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator.repeat import HoldOutcome, reevaluate
from tests.doubles import ScriptedSource
from tests.orchestrator.collecting import FILE, OTHER_FILE, collecting, recorded, stating
from tests.orchestrator.desk import Desk, policy
from tests.orchestrator.test_asking_again import wait

DOWN = "observation_missing:source_unavailable"


def mistaken() -> Snapshot:
    """A source that says that the file is wrong."""
    raise CollectionError("prom: 400 unclosed left parenthesis", remedy="mend the query")


def test_waiting_collects_anew_each_time(desk: Desk) -> None:
    """One source object, three attempts on three snapshots; the stage stays that of the first ask."""
    desk.walk("DRY_RUN")
    source = stating(desk, {"errors": ...}, {"errors": ...}, {})
    answer = wait(desk, lambda: collecting(desk, source))
    assert (answer.verdict, answer.event["event_id"], source.calls) == ("ACCEPT", "r:SHADOW#3", 3)
    assert len({event["snapshot_digest"] for event in desk.events("decision")}) == 4


def test_a_mistake_in_the_collection_file_ends_the_waiting_at_once(desk: Desk) -> None:
    """No waiting mends it, unlike a snapshot file that is still being written; the hold stands."""
    source = ScriptedSource([lambda: desk.evidence(errors=...), mistaken, desk.evidence])
    with pytest.raises(CollectionError, match="400"):
        wait(desk, lambda: collecting(desk, source))
    assert (source.calls, desk.run().state, desk.clock.moment) == (2, "HELD", Desk(desk.path).clock.moment + 60_000_000)


def test_a_collection_file_that_no_longer_loads_ends_the_waiting_at_once(desk: Desk) -> None:
    """Where it is read again for each attempt: it is reviewed and no half-written evidence."""
    reads: list[Callable[[], Any]] = [lambda: collecting(desk, stating(desk, {"errors": ...})), mistaken]
    with pytest.raises(CollectionError):
        wait(desk, lambda: reads.pop(0)())  # noqa: PLW0108 - another reader each time
    assert reads == []


def test_a_waiting_jobs_key_stands_for_its_last_answer_too(desk: Desk) -> None:
    """The question of the key is the collection file: the job that is triggered again gets the ACCEPT, unasked."""
    source = stating(desk, {"errors": ...}, {})
    answer = wait(desk, lambda: collecting(desk, source, idempotency_key="job-1"))
    assert [event.get("idempotency_key") for event in desk.events("decision")] == ["job-1", "job-1"]
    again = wait(desk, lambda: collecting(desk, source, idempotency_key="job-1"))
    assert (again.is_recorded, again.event, source.calls) == (True, answer.event, 2)


def test_a_file_that_changes_while_a_job_waits_is_used_without_its_key(desk: Desk) -> None:
    """Another file is another question: it is asked, and not refused for the key of the first."""
    sources = [stating(desk, {"errors": ...}), stating(desk, {}, digest=OTHER_FILE)]
    answer = wait(desk, lambda: collecting(desk, sources.pop(0), idempotency_key="job-1"))
    assert (answer.verdict, "idempotency_key" in answer.event) == ("ACCEPT", False)
    assert answer.event["collector_change"] == {"from": FILE, "to": OTHER_FILE}


Read = Callable[[], Snapshot | tuple[ScriptedSource, dict[str, Any]]]


def holds(desk: Desk, *variants: str) -> None:
    """One run of each variant, held with a file of that name, a second apart."""
    for variant in variants:
        desk.hold(run_id=f"r{variant}", variant_id=variant, source={"kind": "collection", "collection": variant})
        desk.clock.advance(1)


def reevaluated(desk: Desk, **reads: Read) -> dict[str, HoldOutcome]:
    """What became of each hold, by variant."""

    def read_source(source: Mapping[str, Any]) -> Snapshot | tuple[ScriptedSource, dict[str, Any]]:
        return reads[source["collection"]]()

    outcomes = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=read_source, only_due=False, actor="cron")
    return {str(one.run.variant_id): one for one in outcomes}


def verdicts(outcomes: Mapping[str, HoldOutcome]) -> dict[str, str | None]:
    """Verdict of each answer."""
    return {name: one.answer.verdict.value if one.answer else None for name, one in outcomes.items()}


def test_a_reevaluated_hold_is_recorded_with_the_file_as_it_is_now(desk: Desk) -> None:
    """`source` of the next attempt carries the new digest, and the event both."""
    first = stating(desk, {"errors": ...})
    desk.ask(collecting(desk, first, run_id="rB"))
    mended = stating(desk, {"errors": ...}, digest=OTHER_FILE)

    def read_source(source: Mapping[str, Any]) -> tuple[ScriptedSource, dict[str, Any]]:
        assert source == recorded(first)
        return mended, recorded(mended)

    (one,) = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=read_source, only_due=True, actor="cron")
    assert one.answer is not None
    assert (one.answer.verdict, one.answer.event["attempt"], mended.calls) == ("DEGRADE", 2, 1)
    assert one.answer.event["resume"]["source"] == recorded(mended)
    assert one.answer.event["collector_change"] == {"from": FILE, "to": OTHER_FILE}


def test_a_source_that_is_down_is_the_next_attempt_of_its_hold(desk: Desk) -> None:
    """The outage is evidence: an answer with its code and no failure, whatever the policy says about old evidence."""
    desk.policy = policy(
        missing_data_policy={"max_freshness_seconds": 120, "on_stale": "REJECT", "on_missing": "REJECT"}
    )
    names = ("errors", "leaks")
    down = Snapshot(
        {
            "metrics": dict.fromkeys(names),
            "observations": {name: {"problem": {"code": DOWN, "detail": "connection refused"}} for name in names},
            "_meta": {"collected_at": "2026-02-18T01:00:00.000000Z"},
        }
    )
    source = ScriptedSource([lambda: down])
    desk.ask(collecting(desk, source))
    (one,) = reevaluate(
        ledger=desk.ledger, clock=desk.clock, read_source=lambda _: (source, recorded(source)), only_due=True, actor="x"
    )
    assert one.answer is not None
    assert (one.answer.verdict, one.answer.event["attempt"], one.failure) == ("DEGRADE", 2, None)
    assert one.answer.event["decision"]["reason_codes"] == [DOWN]


def unset() -> tuple[ScriptedSource, dict[str, Any]]:
    """A collection file that takes a variable from cron's environment, which does not have it."""
    raise UsageError("PROMETHEUS_URL is not set", remedy="set it")


def broken() -> Snapshot:
    """A collection file that does not load."""
    raise CollectionError("b.json: unknown key", remedy="mend it")


def test_a_mistake_in_one_holds_file_does_not_keep_the_others_from_being_asked(desk: Desk) -> None:
    """Not loading, reported by the source, a variable that is not set: each is that hold's failure, and 65 or 64."""
    holds(desk, "B", "C", "D", "E")
    answers: dict[str, Read] = {
        "B": broken,
        "C": lambda: (ScriptedSource([mistaken]), {}),
        "D": unset,
        "E": lambda: (ScriptedSource([desk.evidence]), {}),
    }
    outcomes = reevaluated(desk, **answers)
    assert verdicts(outcomes) == {"B": None, "C": None, "D": None, "E": "ACCEPT"}
    failures = {name: one.failure for name, one in outcomes.items()}
    assert [getattr(failures[name], "exit_code", None) for name in "BCDE"] == [65, 65, 64, None]
    assert [outcomes[name].problem for name in "BCD"] == [
        "b.json: unknown key",
        "prom: 400 unclosed left parenthesis",
        "PROMETHEUS_URL is not set",
    ]
    assert [desk.run(f"r{name}").state.value for name in "BCDE"] == ["HELD", "HELD", "HELD", "ACTIVE"]


@pytest.mark.parametrize("read", [broken, unset, lambda: (ScriptedSource([mistaken]), {})])
def test_a_mistake_in_the_file_does_not_keep_a_deadline_from_being_applied(desk: Desk, read: Read) -> None:
    """A hold without a readable source is decided on its last snapshot once its deadline has passed; both are told."""
    desk.policy = policy(
        holds={"observation_missing": {"deadline_seconds": 60, "on_deadline": "REJECT", "owners": ["sre"]}}
    )
    holds(desk, "B")
    early = reevaluated(desk, B=read)["B"]
    assert (early.answer, isinstance(early.failure, GatekeeperError)) == (None, True)
    desk.clock.advance(60)
    late = reevaluated(desk, B=read)["B"]
    assert late.answer is not None
    assert late.answer.event["decision"]["reason_codes"] == ["change_refused:deadline_passed"]
    assert type(late.failure) is type(early.failure)


def test_a_hold_with_nothing_to_read_is_no_failure(desk: Desk) -> None:
    """`needs evidence` counts in no exit code."""
    holds(desk, "B")

    def gone() -> Snapshot:
        raise SnapshotError("B: no such file", remedy="-")

    outcome = reevaluated(desk, B=gone)["B"]
    assert (outcome.answer, outcome.problem, outcome.failure) == (None, "needs evidence: B: no such file", None)
