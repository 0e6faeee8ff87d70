"""Every command once, in this process, from the first check to the stopped run: what each answers and ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.desk import FIXED, Desk, Done
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, PROMOTED, Document, policy, snapshot
from tests.e2e.forked import call_here


class Caller(Desk):
    """A desk whose command is called in this process."""

    def gate(self, *argv: str, **env: str | None) -> Done:
        """Call the command; the environment is the test's."""
        assert not env
        return call_here(self, *argv)


@pytest.fixture
def desk(tmp_path: Path) -> Caller:
    """An empty working directory with P0 in it."""
    return Caller(tmp_path)


def test_a_rollout_goes_through_all_commands(desk: Caller) -> None:
    """Passed, held, queued, reevaluated, resumed, stopped, explained, replayed, verified."""
    for stage in ("DRY_RUN", "SHADOW", "CANARY_10"):
        done = desk.check(HEALTHY)
        assert (done.code, done.document["stage"]) == (0, stage)
    held = desk.check(desk.write("now.json", snapshot(BLIND)))
    assert held.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"])
    token = held.document["resume"]["resume_token"]
    queue = desk.gate("queue", "-o", "json").document["holds"]
    assert [hold["resume_token"] if "resume_token" in hold else hold["token"] for hold in queue] == [token]
    assert desk.gate("reevaluate", "--due").code == 2
    assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 0
    assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 65
    assert desk.check(HARMFUL).code == 1
    assert desk.gate("stop", "r-41", "--reason", "x").code == 0
    assert desk.status() == ("STOPPED", "CANARY_25")
    assert desk.gate("explain", "r-41:CANARY_50", "-o", "json").document["decision"]["verdict"] == "REJECT"
    counts = desk.gate("replay", "--group-by", "verdict", "-o", "json").document["groups"]
    assert {row["verdict"]: row["count"] for row in counts} == {"ACCEPT": 4, "DEGRADE": 2, "REJECT": 1}
    assert desk.gate("verify").code == 0
    # policy, 4 ACCEPT, 2 DEGRADE, the refused token, REJECT
    assert desk.gate("log", "head", "-o", "json").document["seq"] == 9
    assert desk.gate("log", "rebuild").code == 0
    assert desk.status() == ("STOPPED", "CANARY_25")


@pytest.mark.parametrize(
    ("case", "document", "codes", "missing"),
    [
        ("1", {"sample_size": 99999, "ci_low": 0.03}, ["precondition_unknown:sample_size_not_reached"], []),
        ("2", {"sample_size": 100000, "ci_low": 0.0}, ["precondition_unknown:significance_not_ready"], []),
        (
            "3",
            {"sample_size": 250000},
            ["precondition_unknown:significance_not_ready"],
            ["promotion.conversion_lift.ci_low", "promotion.conversion_lift.effect_estimate"],
        ),
        ("4", {"sample_size": 250000, "ci_low": 0.004}, [], []),
    ],
)
def test_ho_18_promotion_is_asked_on_entering_the_last_stage(
    case: str, document: Document, codes: list[str], missing: list[str], desk: Caller
) -> None:
    """What looks ready and is not: held at ROLLOUT_100, whatever the safety gate says."""
    desk.begin_at("CANARY_50")
    path = desk.write("now.json", snapshot(HEALTHY, name=case, promotion={"conversion_lift": document}))
    done = desk.check(path)
    assert done.verdict == (2 if codes else 0, codes, missing)
    assert desk.status() == (("COMPLETED", "ROLLOUT_100") if not codes else ("HELD", "CANARY_50"))


def test_a_finished_rollout_is_watched_until_its_successor_begins(desk: Caller) -> None:
    """COMPLETED and harmed is STOPPED; COMPLETED and succeeded is refused, naming the successor."""
    desk.begin_at("CANARY_50")
    assert desk.check(desk.evidence(HEALTHY, promotion=PROMOTED)).code == 0
    assert desk.check(HEALTHY).code == 0  # may it remain
    assert desk.check(BLIND).code == 2
    assert desk.status() == ("HELD", "ROLLOUT_100")
    assert desk.check(HEALTHY).code == 0
    assert desk.check(HEALTHY, run="r-42").code == 0
    refused = desk.check(HEALTHY)
    assert refused.code == 65
    assert "r-42" in refused.document["error"]["message"]
    assert desk.events()[-1]["kind"] == "refusal"


def test_evidence_references_last_for_the_run(desk: Caller) -> None:
    """Given once, the latest counts, an empty one is missing."""
    desk.write("policy.json", policy(evidence={"required": ["change_id"], "on_missing": "DEGRADE"}))
    desk.begin_at("CANARY_10", "--evidence", "change_id=CHG-1")
    assert desk.check(HEALTHY).code == 0
    assert desk.check(HEALTHY, "--evidence", "change_id=").verdict == (2, ["evidence_missing:change_id"], ["change_id"])
    done = desk.check(HEALTHY, "--evidence", "change_id=CHG-2")
    assert (done.code, done.document["evidence_refs"]) == (0, {"change_id": "CHG-2"})
    assert desk.gate(*desk.asking(HEALTHY, "--evidence", "approval=me")).code == 64


def test_an_irreversible_change_holds_at_the_first_canary(desk: Caller) -> None:
    """It needs an approval that no option can give; harm there calls for a person, not for a rollback."""
    change = ("--change-class", "stateful_or_irreversible")
    for stage in ("DRY_RUN", "SHADOW"):
        assert desk.check(HEALTHY, *change).document["stage"] == stage
    held = desk.check(HEALTHY)
    assert held.verdict == (2, ["evidence_missing:approval"], ["approval"])
    assert held.document["rml"] == {"world": "RML3", "action": "escalate-history"}
    assert desk.check(HEALTHY, "--change-class", "reversible").code == 65
    harmed = desk.check(HARMFUL)
    assert (harmed.code, harmed.document["decision"]["next_actions"][0]["name"]) == (1, "escalate")
    assert desk.check(HEALTHY, "--change-class", "unsafe_for_experiment", run="r-9").verdict == (
        1,
        ["change_refused:unsafe_for_experiment"],
        [],
    )


def test_the_default_run_is_experiment_variant_and_version(desk: Caller) -> None:
    """`run_id` defaults to `experiment:variant:policy_version`."""
    argv = ["check", "--policy", "policy.json", *FIXED, "--snapshot", desk.evidence(), "-o", "json"]
    assert desk.gate(*argv).document["run_id"] == "checkout:B:7"


def test_notes_of_a_policy_without_baseline_rule_reach_standard_error(desk: Caller) -> None:
    """The founding form has no `on_missing_baseline`: budgets cannot be checked, and everybody is told."""
    document = policy()
    del document["missing_data_policy"]["on_missing_baseline"]
    desk.write("policy.json", document)
    evidence = snapshot(HEALTHY)
    del evidence["baseline"]
    desk.write("now.json", evidence)
    done = desk.check("now.json")
    assert done.code == 0
    assert any("baseline" in note for note in done.document["decision"]["notes"])
    assert "baseline" in done.err
