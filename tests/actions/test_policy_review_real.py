"""Pull requests that change a limit, reviewed by the real commands: golden cases, and a log of real decisions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gatekeeper.cli.init import starter
from tests.actions.pull_request import Review, opened
from tests.actions.site import METRICS, git, snapshot
from tests.docs.console import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.actions.runner import Job

pytestmark = pytest.mark.slow

POLICY = "policies/rollout.json"
LIMITS = {"fail-on-diff": "loosened", "fail-on-backtest": "reject-to-accept"}


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """A policy with a golden case that its threshold rejects; its log: let in, held, then rejected with 2 % errors."""
    review = opened(tmp_path)
    for name in ("search.json", "mail.yaml", "golden/one.json"):
        (review.work / "policies" / name).unlink()
    policy = json.loads(starter("policy.json"))
    del policy["stage_policy"]
    del policy["guardrails"][0]["budget_delta"]  # the threshold alone decides
    review.change(POLICY, json.dumps(policy, indent=2))
    review.site.commit("The policy")
    canary = review.site.workflow(read("docs/examples/workflows/canary.yml"))
    for stage, verdict in (("DRY_RUN", "ACCEPT"), ("CANARY_10", "DEGRADE"), ("CANARY_10", "REJECT")):
        review.site.run(canary, METRICS[verdict], stage=stage)
    assert review.site.verdicts == ["ACCEPT", "DEGRADE", "REJECT"]
    review.base = git(review.work, "rev-parse", "HEAD").strip()
    return review


def changed(review: Review, *, threshold: float, version: str = "2", **inputs: str) -> Job:
    """The review of a pull request that sets the threshold of errors, 0.01 before."""
    policy: dict[str, Any] = json.loads((review.work / POLICY).read_text())
    policy["guardrails"][0]["threshold"] = threshold
    policy["policy_version"] = version
    review.change(POLICY, json.dumps(policy, indent=2))
    recorded = review.site.base / "log.ndjson"
    recorded.write_text("".join(f"{line}\n" for line in review.site.lines))
    return review.run(gate=None, **(LIMITS | {"log": str(recorded)} | inputs))


def test_a_looser_threshold_fails_the_review_and_shows_what_it_would_have_let_in(review: Review) -> None:
    """1 % becomes 3 %: the diff says loosened, the backtest names the reject that would have passed."""
    job = changed(review, threshold=0.03)
    assert job.failed
    assert job.outputs("review")["result"] == "failed"
    assert "* **diff of policies/rollout.json**\n* **backtest of policies/rollout.json**\n" in job.summary
    assert "| loosened | `guardrail:error_ratio` | `<= 0.01` | `<= 0.03` |" in job.summary
    assert "exp-42:B:1:CANARY_10#2" in job.summary
    assert "file=policies/rollout.json,line=" in job.log
    assert review.comment(job).endswith(job.summary)


def test_the_same_change_passes_where_nobody_forbids_it(review: Review) -> None:
    """All limits at `never`: the report is the same."""
    job = changed(review, threshold=0.03, **dict.fromkeys(LIMITS, "never"))
    assert not job.failed
    assert job.outputs("review")["result"] == "passed"
    assert "| loosened | `guardrail:error_ratio` |" in job.summary


def test_a_tighter_threshold_passes_and_is_shown(review: Review) -> None:
    """0.7 %: lets nothing more through, and the healthy decision (0.6 %) stays one."""
    job = changed(review, threshold=0.007)
    assert not job.failed, job.log
    assert "| tightened | `guardrail:error_ratio` |" in job.summary


def test_a_version_that_stays_while_the_content_changes_is_refused(review: Review) -> None:
    """One name for two contents; whatever the limits say."""
    job = changed(review, threshold=0.007, version="1", **dict.fromkeys(LIMITS, "never"))
    assert job.failed
    assert job.outputs("review")["result"] == "error"
    assert "diff of policies/rollout.json: refused, exit code 65" in job.summary


def test_a_golden_case_that_drifts_fails_the_review(review: Review) -> None:
    """What was frozen as REJECT would be let in; no other input forbids that."""
    evidence = snapshot(METRICS["REJECT"])
    case = {
        "name": "2 % errors",
        "policy": "../rollout.json",
        "snapshot": evidence,
        "context": {
            "stage": "DRY_RUN",
            "evaluated_at": evidence["_meta"]["collected_at"],
            "evidence": {"change_id": "CHG-1"},
        },
        "expect": {"verdict": "REJECT"},
    }
    review.change("policies/golden/errors.json", json.dumps(case))
    job = changed(review, threshold=0.03, **dict.fromkeys(LIMITS, "never"))
    assert job.outputs("review")["result"] == "failed", job.log
    assert "* **golden cases**\n" in job.summary


def test_a_policy_that_does_not_load_is_named_with_its_place(review: Review) -> None:
    """The annotation stands on the line; the other policy is reviewed all the same."""
    review.change("policies/other.json", '{\n "policy_id": 7\n}\n')
    job = changed(review, threshold=0.007)
    assert job.failed
    assert job.outputs("review")["result"] == "error"
    assert "::error file=policies/other.json,line=2" in job.log
    assert "| tightened | `guardrail:error_ratio` |" in job.summary


def test_a_log_that_is_not_there_fails_the_review(review: Review) -> None:
    """A backtest on nothing must not look like one that found nothing."""
    job = changed(review, threshold=0.007, log="nowhere.ndjson")
    assert job.failed
    assert job.outputs("review")["result"] == "error"
    assert "backtest of policies/rollout.json: not reviewed, exit code 74" in job.summary


def test_a_policy_in_yaml_is_reviewed_at_its_own_lines(review: Review) -> None:
    """The change of language is none of the content; the change of a limit is annotated in the YAML file."""
    policy: dict[str, Any] = json.loads((review.work / POLICY).read_text())
    review.change(POLICY, None)
    review.change("policies/rollout.yaml", yaml.safe_dump(policy, sort_keys=False))
    review.site.commit("In YAML")
    review.base = git(review.work, "rev-parse", "HEAD").strip()
    policy["guardrails"][0]["threshold"] = 0.03
    text = yaml.safe_dump({**policy, "policy_version": "2"}, sort_keys=False)
    review.change("policies/rollout.yaml", text)
    job = review.run(gate=None, **{"fail-on-diff": "loosened"})
    assert job.outputs("review")["result"] == "failed", job.log
    assert "| loosened | `guardrail:error_ratio` | `<= 0.01` | `<= 0.03` |" in job.summary
    line = text.splitlines().index("  threshold: 0.03") + 1
    assert f"file=policies/rollout.yaml,line={line}," in job.log
