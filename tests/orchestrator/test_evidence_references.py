from __future__ import annotations

from tests.orchestrator.desk import Desk, policy


def test_references_last_for_the_run(desk: Desk) -> None:
    """Given once, in force for every later check, and logged with each decision."""
    desk.policy = policy(evidence={"required": ["change_id"]})
    desk.check(evidence={"change_id": "CHG-1", "note": "x"})
    answer = desk.check()
    assert answer.verdict == "ACCEPT"
    assert answer.event["evidence_refs"] == {"change_id": "CHG-1", "note": "x"}
    assert answer.event["context"]["evidence"] == {"change_id": "CHG-1", "note": "x"}


def test_the_latest_value_counts(desk: Desk) -> None:
    """A later value replaces the earlier one and leaves the others."""
    desk.check(evidence={"change_id": "CHG-1", "note": "x"})
    desk.check(evidence={"change_id": "CHG-2"})
    assert desk.check().event["evidence_refs"] == {"change_id": "CHG-2", "note": "x"}


def test_an_empty_reference_is_missing(desk: Desk) -> None:
    """Emptying it takes it away from then on; giving it again mends it."""
    desk.policy = policy(evidence={"required": ["change_id"]})
    desk.check(evidence={"change_id": "CHG-1"})
    held = desk.check(evidence={"change_id": ""})
    assert (held.verdict, held.event["decision"]["missing"]) == ("DEGRADE", ["change_id"])
    assert desk.check().verdict == "DEGRADE"
    assert desk.check(evidence={"change_id": "CHG-1"}).verdict == "ACCEPT"


def test_references_given_with_a_hold_or_aside_stay(desk: Desk) -> None:
    """Whatever the verdict, what was attached is attached."""
    desk.check()
    desk.check(metrics={"errors": ...}, evidence={"change_id": "CHG-1"})
    desk.check("DRY_RUN", evidence={"ticket_link": "T-1"})
    assert desk.run().evidence == {"change_id": "CHG-1", "ticket_link": "T-1"}


def test_references_are_of_one_run_only(desk: Desk) -> None:
    """The successor brings its own."""
    desk.check(evidence={"change_id": "CHG-1"})
    assert desk.check(run_id="r2", supersede="r").event["evidence_refs"] == {}


def test_a_refused_call_attaches_nothing(desk: Desk) -> None:
    """65 changes nothing: a reference given with it is not in force afterwards."""
    desk.check()
    desk.refused("ROLLOUT_100", evidence={"change_id": "CHG-1"})
    assert desk.run().evidence == {}
