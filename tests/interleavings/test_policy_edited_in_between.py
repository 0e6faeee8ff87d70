from __future__ import annotations

import pytest

from tests.interleavings.actors import Meanwhile
from tests.orchestrator.desk import Desk, policy

STRICT = policy(policy_version="2", guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.001}])


def test_a_policy_adopted_between_read_and_write_judges(desk: Desk) -> None:
    """Decided ACCEPT by the old policy, overtaken by an adoption: re-decided, and the old file holds the run."""
    desk.walk("DRY_RUN")
    adopt = desk.question(policy=STRICT, adopt_reason="tighter", metrics={"errors": 0.0})
    answer = Meanwhile(desk, lambda: desk.ask(adopt)).ask(desk.question("SHADOW", metrics={"errors": 0.0005}))
    assert (answer.verdict, answer.event["policy_digest"]) == ("DEGRADE", STRICT.digest)
    assert answer.event["decision"]["reason_codes"] == ["precondition_unknown:policy_changed"]
    assert answer.event["context"]["policy"] == {"run": STRICT.digest, "given": desk.policy.digest}


def test_evidence_that_only_the_old_policy_accepts_is_harm_after_the_adoption(desk: Desk) -> None:
    """0.004 was healthy when it was read; by the time it is written the run's policy says otherwise: REJECT."""
    desk.walk("DRY_RUN")
    adopt = desk.question(policy=STRICT, adopt_reason="tighter", metrics={"errors": 0.0})
    answer = Meanwhile(desk, lambda: desk.ask(adopt)).ask(desk.question("SHADOW"))
    assert answer.verdict == "REJECT"
    assert desk.run().state == "STOPPED"


def test_two_adoptions_at_once_are_one_after_the_other(desk: Desk) -> None:
    """The second is re-decided against the first: its action names the policy that it really replaces."""
    desk.walk("DRY_RUN")
    second = policy(policy_version="3")
    first = desk.question("DRY_RUN", policy=policy(policy_version="2"), adopt_reason="a")
    overtaken = desk.question("DRY_RUN", policy=second, adopt_reason="b")
    Meanwhile(desk, lambda: desk.ask(first)).ask(overtaken)
    replaced = [
        (event["action"]["params"]["from_policy_version"], event["action"]["params"]["to_policy_version"])
        for event in desk.events("action")
    ]
    assert replaced == [("1", "2"), ("2", "3")]
    assert desk.run().policy_digest == second.digest


@pytest.mark.parametrize("metrics", [{}, {"errors": ...}])
def test_an_adoption_overtaken_by_a_check_still_takes_effect(desk: Desk, metrics: dict[str, object]) -> None:
    """The check moved or held the run meanwhile; the adoption is re-decided and recorded behind it."""
    desk.walk("DRY_RUN")
    given = policy(policy_version="2")
    overtaken = desk.question("SHADOW", policy=given, adopt_reason="b")
    answer = Meanwhile(desk, lambda: desk.check("SHADOW", metrics=metrics)).ask(overtaken)
    assert (answer.verdict, answer.event["event_id"]) == ("ACCEPT", "r:SHADOW#2")
    assert desk.run().policy_digest == given.digest
    assert desk.run().hold is None


def test_an_adoption_overtaken_by_a_stop_adopts_nothing(desk: Desk) -> None:
    """The run was rejected meanwhile: the answer is that REJECT."""
    desk.walk("DRY_RUN")
    overtaken = desk.question(policy=policy(policy_version="2"), adopt_reason="b")
    answer = Meanwhile(desk, lambda: desk.check(metrics={"leaks": 1})).ask(overtaken)
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)
    assert desk.events("action") == []


def test_an_adoption_whose_stage_was_passed_adopts_nothing(desk: Desk) -> None:
    """The run went on twice: the call is re-decided where it is now, under the run's policy, and is 65."""
    desk.walk("DRY_RUN")
    overtaken = desk.question("SHADOW", policy=policy(policy_version="2"), adopt_reason="b")
    Meanwhile(desk, lambda: desk.walk("SHADOW", "CANARY_10")).refused(overtaken)
    assert desk.events("action") == []
    assert desk.run().policy_digest == desk.policy.digest
