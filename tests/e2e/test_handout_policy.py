"""HO-10 and HO-11 with the installed command: what the author wrote is what judges, and content is identity."""

from __future__ import annotations

import json

import pytest

from tests.e2e.desk import RUN, Desk
from tests.e2e.documents import HARMFUL, HEALTHY, policy

pytestmark = pytest.mark.slow

RULE = {"metric": "error_rate", "op": "<=", "threshold": 0.02}

TWICE = """{"policy_id": "checkout-api", "policy_version": "7",
 "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": 0.02}],
 "constraints": [],
 "guardrails": []}"""

HO_10: dict[str, tuple[str, list[str]]] = {
    "a": (
        json.dumps(policy(guardrails=[{"metric": "error_rate", "op": "<=", "threshhold": 0.02}])),
        ["threshhold", "/guardrails/0", "threshold"],
    ),
    "b": (TWICE, ["guardrails", ":4:"]),
    "c": (json.dumps(policy(guardrails=[{**RULE, "threshold": None}])), ["/guardrails/0/threshold", "null"]),
    "d": (
        json.dumps(policy(missing_data_policy={"required_metrics": ["error_rate"], "on_missing": "DEGRAED"})),
        ["/missing_data_policy/on_missing", "DEGRAED", "DEGRADE"],
    ),
    "e": (json.dumps({**policy(), "guardrail": [{**RULE, "op": "=<"}]}), ["guardrail", "guardrails"]),
}
"""Case -> the policy file, what the message must name."""


@pytest.mark.parametrize("case", HO_10)
def test_ho_10_a_rule_that_would_be_dropped_is_refused(case: str, desk: Desk) -> None:
    """No verdict, no log, no state; the message names key and place; the reviewer's check fails too."""
    content, words = HO_10[case]
    desk.write("odd.json", content)
    done = desk.check(HARMFUL, policy="odd.json")
    assert done.code == 65
    error = done.document["error"]
    assert error["code"] == "policy.invalid"
    for word in ["odd.json", *words]:
        assert word in error["message"]
    assert not desk.log.parent.exists()
    review = desk.gate("policy", "check", "odd.json")
    assert review.code == 65
    assert b"odd.json does not load" in review.out


@pytest.mark.parametrize("case", HO_10)
def test_ho_10_a_run_under_way_keeps_its_state(case: str, desk: Desk) -> None:
    """A broken edit in mid run neither rolls it back nor lets it on, and leaves no trace in the log."""
    desk.begin_at("CANARY_10")
    before = desk.log.read_bytes()
    desk.write("policy.json", HO_10[case][0])
    assert desk.check(HARMFUL).code == 65
    assert desk.log.read_bytes() == before
    assert desk.status() == ("ACTIVE", "CANARY_10")


def test_ho_10_a_duplicate_key_in_a_snapshot_is_refused(desk: Desk) -> None:
    """The last one would win: here it hides the harm."""
    desk.write("twice.json", '{"metrics": {"error_rate": 0.19,\n "error_rate": 0.004, "latency_p99_ms": 310}}')
    done = desk.check("twice.json")
    assert done.code == 65
    assert "error_rate" in done.document["error"]["message"]
    assert "twice.json:2:" in done.document["error"]["message"]
    assert not desk.log.exists()


def loosened(**changes: object) -> dict[str, object]:
    """P0 with threshold and budget of `error_rate` at 0.2."""
    document = policy(**changes)
    document["guardrails"][0] |= {"threshold": 0.2, "budget_delta": 0.2}
    return document


def test_ho_11_a_a_loosened_rule_under_the_same_version_does_not_judge(desk: Desk) -> None:
    """0.15 is harm under the run's own policy; 0.004 is a hold that names the policy; neither advances."""
    desk.begin_at("CANARY_10")
    desk.write("policy.json", loosened())
    held = desk.check(HEALTHY)
    assert held.verdict == (2, ["precondition_unknown:policy_changed"], [])
    digests = held.document["context"]["policy"]
    assert digests["run"] != digests["given"]
    assert held.document["decision"]["requested_actions"][0] == {
        "name": "adopt_policy",
        "params": {"digest": digests["given"]},
    }
    assert desk.status() == ("HELD", "CANARY_10")
    harmed = desk.check({**HEALTHY, "error_rate": 0.15})
    assert harmed.verdict == (1, ["guardrail_violation:error_rate", "budget_violation:error_rate"], [])
    findings = {finding["rule"]: finding for finding in harmed.document["decision"]["findings"]}
    assert findings["policy"]["code"] == "precondition_unknown:policy_changed"
    assert findings["guardrail:error_rate"]["limit"] == 0.02
    assert desk.status() == ("STOPPED", "CANARY_10")
    desk.assert_verifies()


def test_ho_11_b_another_version_in_mid_run_takes_a_visible_act(desk: Desk) -> None:
    """Without `--adopt-policy` it holds; with it the log shows both versions, and the new one judges."""
    desk.begin_at("CANARY_10")
    desk.write("policy.json", loosened(policy_version="8"))
    evidence = {**HEALTHY, "error_rate": 0.006}
    assert desk.check(evidence).verdict == (2, ["precondition_unknown:policy_changed"], [])
    done = desk.check(evidence, "--adopt-policy", "agreed in CHG-9")
    assert done.code == 0
    adoption = next(
        event for event in desk.events() if event["kind"] == "action" and event["action"]["name"] == "adopt-policy"
    )
    assert (adoption["action"]["params"]["from_policy_version"], adoption["action"]["params"]["to_policy_version"]) == (
        "7",
        "8",
    )
    assert adoption["action"]["reason"] == "agreed in CHG-9"
    assert done.document["policy_version"] == "8"
    assert desk.status() == ("ACTIVE", "CANARY_25")
    desk.assert_verifies()


def test_ho_11_c_a_token_does_not_let_another_revision_in(desk: Desk) -> None:
    """Evidence gathered for rev-a must not carry rev-b to 25 percent: refused, logged, the hold stands."""
    desk.begin_at("CANARY_10", "--revision", "rev-a")
    token = desk.check({"latency_p99_ms": 310}).document["resume"]["resume_token"]
    healthy = desk.evidence()
    done = desk.gate("resume", token, "--snapshot", healthy, "--revision", "rev-b", "-o", "json")
    assert done.code == 65
    message = done.document["error"]["message"]
    assert "rev-a" in message
    assert "rev-b" in message
    refusals = [event for event in desk.events() if event["kind"] == "refusal"]
    assert [event["refusal"]["revision"] for event in refusals] == ["rev-b"]
    assert desk.status() == ("HELD", "CANARY_10")
    assert desk.gate("resume", token, "--snapshot", healthy, "--revision", "rev-b").code == 65
    assert [event["kind"] for event in desk.events()].count("refusal") == 1  # once per run and question
    begun = desk.check(HEALTHY, "--revision", "rev-b", "--supersede", RUN, run="r-42")
    assert begun.code == 0  # rev-b has a run of its own, from the first stage on
    assert begun.document["stage"] == "DRY_RUN"
    assert desk.status() == ("STOPPED", "CANARY_10")
    assert desk.gate("resume", token, "--snapshot", healthy, "--revision", "rev-a").code == 65
    desk.assert_verifies()


def test_ho_11_e_spacing_and_order_of_keys_are_no_content(desk: Desk) -> None:
    """The same verdict and the same identity."""
    desk.begin_at("CANARY_10")
    desk.write("policy.json", json.dumps(dict(reversed(policy().items())), indent=7))
    done = desk.check(HEALTHY)
    assert done.code == 0
    context = done.document["context"]["policy"]
    assert context["run"] == context["given"] == desk.events()[0]["policy_digest"]
    assert [event["kind"] for event in desk.events()].count("policy") == 1
