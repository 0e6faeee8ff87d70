"""What the guide for reviewers shows of a pull request is what the action writes: the comment, and the annotations."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from gatekeeper.model.times import format_time
from tests.actions.pull_request import MARK, Review, opened
from tests.actions.runner import PROGRAMS
from tests.actions.site import git
from tests.docs.console import ROOT, blocks, commands, fits, read

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGE = "docs/guides/policy-review.md"
POLICY = "policies/exp-eval-policy.json"
EVENT = "exp-42:B:2026-02-18:CANARY_25"


def _gatekeeper(directory: Path, *words: str, code: int = 0) -> None:
    environment = {**os.environ, "PATH": PROGRAMS}
    ended = subprocess.run(
        ["gatekeeper", *words], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr


def _fresh(path: str) -> str:
    """A snapshot of the repository, taken now."""
    snapshot = json.loads(read(path))
    now = format_time(time.time_ns() // 1000)
    for meta in (snapshot["_meta"], snapshot["baseline"]["_meta"], *snapshot["_meta"]["sources"]):
        meta.update(dict.fromkeys({"collected_at", "watermark_event_time"} & meta.keys(), now))
    return json.dumps(snapshot)


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """The example policy with the golden case of the guide, before the pull request; the log rejected CANARY_25."""
    review = opened(tmp_path)
    for name in ("rollout.json", "search.json", "mail.yaml", "golden/one.json"):
        (review.work / "policies" / name).unlink()
    review.change(POLICY, read(POLICY))
    example = os.path.join(ROOT, "logs/example.ndjson")
    _gatekeeper(review.work, "policy", "test", "policies/golden", "--from-log", EVENT, "--log", example)
    review.site.commit("The policy and its golden case")
    review.base = git(review.work, "rev-parse", "HEAD").strip()
    (tmp_path / "evidence.json").write_text(_fresh("snapshots/CANARY_25.json"))
    words = f"check --policy {POLICY} --experiment exp-42 --variant B --start-stage CANARY_25 --reason moved --log"
    evidence = ["--evidence", "change_id=CHG-123", "--evidence", "dashboard_id=dash-foo"]
    snapshot = ["--snapshot", str(tmp_path / "evidence.json")]
    _gatekeeper(review.work, *words.split(), str(tmp_path / "log.ndjson"), *evidence, *snapshot, code=1)
    return review


def _proposed(review: Review) -> None:
    """The change of the guide's session: its own sed, on the policy of the pull request."""
    edit = next(command.line for command in commands(PAGE) if command.line.startswith("sed -i"))
    subprocess.run(["bash", "-c", edit], cwd=review.work, check=True)


def test_the_comment_and_the_annotations_are_those_of_the_guide(review: Review) -> None:
    """A picture of what no program writes would teach reviewers to look for what is not there."""
    _proposed(review)
    limits = {"fail-on-diff": "loosened", "fail-on-backtest": "reject-to-accept"}
    job = review.run(gate=None, log=str(review.site.base / "log.ndjson"), **limits)
    assert job.outputs("review")["result"] == "failed"
    (comment,) = blocks(PAGE, "markdown")
    body = review.comment(job).removeprefix(f"{MARK}\n")
    assert fits(tuple(comment.splitlines()), body.splitlines()), body
    (annotations,) = blocks(PAGE, "text")
    written = [line for line in job.log.splitlines() if line.startswith("::")]
    assert fits(tuple(annotations.splitlines()), written), "\n".join(written)
