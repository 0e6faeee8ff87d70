"""When a source is asked for evidence, when it is not, and what happens while it takes its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gatekeeper.errors import CollectionError, RunRefusedError, StateUnreadableError, TokenError
from gatekeeper.model.canonical import digest
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator.question import Question
from tests.doubles import ScriptedSource
from tests.orchestrator.collecting import FILE, OTHER_FILE, collecting, healthy, meanwhile, recorded, stating
from tests.orchestrator.desk import STAGES, Desk, at, policy


def test_a_stopped_run_does_not_ask_the_source(desk: Desk) -> None:
    """(1): what stopped it answers, in no time and without load on the monitoring."""
    desk.walk("DRY_RUN")
    desk.check(metrics={"leaks": 1})
    source = healthy(desk)
    answer = desk.ask(collecting(desk, source))
    assert (answer.verdict, answer.is_recorded, source.calls) == ("REJECT", True, 0)


@pytest.mark.parametrize("stage", ["DRY_RUN", "ROLLOUT_100"])
def test_a_known_key_does_not_ask_the_source(desk: Desk, stage: str) -> None:
    """(2): the retried job gets its ACCEPT although other evidence would be collected; ACTIVE and COMPLETED."""
    for before in STAGES[: STAGES.index(stage)]:
        desk.walk(before)
    source = stating(desk, {}, {"leaks": 1})
    first = desk.ask(collecting(desk, source, idempotency_key="job-1"))
    again = desk.ask(collecting(desk, source, idempotency_key="job-1"))
    assert (first.verdict, first.event["stage"]) == ("ACCEPT", stage)
    assert (again.is_recorded, again.event, source.calls) == (True, first.event, 1)


def test_the_key_of_a_degrade_collects_again_at_its_stage(desk: Desk) -> None:
    """A hold is no answer to repeat: the retry is its next attempt on other evidence."""
    desk.walk("DRY_RUN")
    source = stating(desk, {"errors": ...}, {})
    desk.ask(collecting(desk, source, idempotency_key="job-1"))
    answer = desk.ask(collecting(desk, source, idempotency_key="job-1"))
    assert (answer.verdict, answer.event["event_id"], source.calls) == ("ACCEPT", "r:SHADOW#2", 2)


def test_a_key_of_another_collection_file_is_refused_before_it_is_asked(desk: Desk) -> None:
    """The question of a key is the collection file's digest, not what it happened to state."""
    desk.ask(collecting(desk, healthy(desk), idempotency_key="job-1"))
    other = stating(desk, {}, digest=OTHER_FILE)
    error = desk.refuses(collecting(desk, other, idempotency_key="job-1"))
    assert isinstance(error, RunRefusedError)
    assert (error.reason, other.calls) == ("key_reused", 0)


def test_the_question_of_a_key_is_the_file_and_not_its_evidence(desk: Desk) -> None:
    """By hand: `collector_digest` in place of `snapshot_digest`; with a snapshot the digest is as it always was."""
    asked: dict[str, Any] = {
        "command": "check",
        "run": "r",
        "stage": "DRY_RUN",
        "policy_digest": desk.policy.digest,
        "revision": None,
        "evidence": {},
        "token": None,
    }
    collected = desk.ask(collecting(desk, healthy(desk), "DRY_RUN")).event
    assert collected["question_digest"] == digest({**asked, "collector_digest": FILE})
    snapshot = desk.evidence()
    given = desk.check("DRY_RUN", snapshot=snapshot).event
    assert given["question_digest"] == digest({**asked, "snapshot_digest": snapshot.digest})


@pytest.mark.parametrize(
    "fields",
    [
        {"stage": "CANARY_50"},
        {"revision": "rev-b"},
        {"change_class": "stateful_or_irreversible"},
        {"as_of": "2026-02-18T01:00:00Z"},
        {"start_stage": "CANARY_10", "reason": "late"},
        {"supersede": "nobody"},
        {"run_id": "r2"},
        {"run_id": "r2", "variant_id": "C", "stage": "SHADOW"},
        {"run_id": "r2", "variant_id": "C", "start_stage": "CANARY_99", "reason": "x"},
        {"run_id": "r2", "variant_id": "C", "supersede": "r"},
        {"run_id": "r2", "variant_id": "C", "adopt_reason": "x"},
        {"adopt_reason": "urgent", "policy": policy(policy_version="2", stages=["SHADOW", "ROLLOUT_100"])},
    ],
)
def test_what_is_refused_anyway_does_not_ask_the_source(desk: Desk, fields: dict[str, Any]) -> None:
    """(0) and (4): nobody waits twenty seconds to hear that the stage cannot be asked."""
    desk.walk("DRY_RUN")
    source = healthy(desk)
    desk.refuses(collecting(desk, source, **{"policy": desk.policy, **fields}))
    assert source.calls == 0


def test_a_spent_token_and_a_succeeded_run_do_not_ask_the_source(desk: Desk) -> None:
    """What comes before (1), and what comes right after it."""
    source = healthy(desk)
    token = desk.hold()
    desk.walk(*STAGES)
    spent = desk.by_token(token, snapshot=None, evidence_source=source)
    assert isinstance(desk.refuses(spent), TokenError)
    desk.check(run_id="r2")
    assert "succeeded by run r2" in desk.refuses(collecting(desk, source)).message
    assert source.calls == 0


def test_a_first_check_collects_once(desk: Desk) -> None:
    """The run begins with the evidence collected; its hold says where that came from."""
    source = stating(desk, {"errors": ...})
    answer = desk.ask(collecting(desk, source))
    assert (answer.verdict, answer.event["event_id"], source.calls) == ("DEGRADE", "r:DRY_RUN", 1)
    assert answer.event["resume"]["source"] == recorded(source)


def test_a_mistake_in_the_collection_file_leaves_no_trace(desk: Desk) -> None:
    """65 with the source's words, and nothing is appended: input that does not load is no refusal of the run."""
    desk.walk("DRY_RUN")
    before = desk.path.read_bytes()

    def collect() -> Snapshot:
        raise CollectionError("prom: 400 unclosed left parenthesis", remedy="mend the query")

    with pytest.raises(CollectionError) as caught:
        desk.ask(collecting(desk, ScriptedSource([collect])))
    assert (caught.value.exit_code, caught.value.code) == (65, "collection.invalid")
    assert desk.path.read_bytes() == before


def test_a_dry_run_collects_and_records_nothing(desk: Desk) -> None:
    """`--dry-run --collect` judges what is there now."""
    desk.walk("DRY_RUN")
    before, source = desk.path.read_bytes(), stating(desk, {"leaks": 1})
    answer = desk.ask(collecting(desk, source, dry_run=True))
    assert (answer.verdict, answer.is_dry_run, source.calls) == ("REJECT", True, 1)
    assert desk.path.read_bytes() == before


def test_without_state_safety_is_asked_on_collected_evidence(desk: Desk) -> None:
    """A folder in the log's place: the evidence is collected all the same, harm is exit 1 and all else 74."""
    desk.path.mkdir(parents=True)
    source = healthy(desk)
    with pytest.raises(StateUnreadableError, match="ACCEPT was reached"):
        desk.ask(collecting(desk, source))
    harm = meanwhile(desk, lambda: desk.clock.advance(7), errors=0.19)
    answer = desk.ask(collecting(desk, harm))
    assert (answer.verdict, answer.is_unrecorded) == ("REJECT", True)
    assert answer.event["context"]["evaluated_at"] == at(7)
    assert (source.calls, harm.calls) == (1, 1)


def test_a_state_that_becomes_unreadable_meanwhile_does_not_ask_the_source_again(desk: Desk) -> None:
    """The evidence in hand is what safety is asked on."""
    desk.walk("DRY_RUN")

    def break_it() -> None:
        desk.path.unlink()
        desk.path.mkdir()

    source = meanwhile(desk, break_it, leaks=1)
    answer = desk.ask(collecting(desk, source))
    assert (answer.verdict, answer.is_unrecorded, source.calls) == ("REJECT", True, 1)


def test_without_state_nothing_is_collected_that_could_not_be_judged(desk: Desk) -> None:
    """A token's policy is in the log, and a dry run leaves no marker: 74 at once."""
    desk.path.mkdir(parents=True)
    source = healthy(desk)
    questions: list[Question] = [
        desk.by_token("hold-000000000000000000000000", snapshot=None, evidence_source=source),
        replace(collecting(desk, source), dry_run=True),
    ]
    for question in questions:
        with pytest.raises(StateUnreadableError):
            desk.ask(question)
    assert source.calls == 0
