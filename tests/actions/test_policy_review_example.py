"""docs/examples/workflows/policy-review.yml: the log of the rollouts, and one comment that is written anew."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from gatekeeper.ledger.address import DEFAULT_BRANCH
from tests.actions.pull_request import STAND_IN, Review, opened
from tests.actions.site import git, script, without_gatekeeper
from tests.docs.console import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.actions.runner import Job

pytestmark = pytest.mark.slow

GH = """
echo "$@" >> "$CALLS"
if [[ "$*" == *--paginate* ]]; then cat "$CODES/comments"; exit; fi
for word in "$@"; do case $word in body=@*) cp "${word#body=@}" "$CODES/posted" ;; esac; done
"""


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """A pull request before any change."""
    return opened(tmp_path)


@pytest.mark.parametrize(
    ("existing", "verb"),
    [("", "POST repos/acme/shop/issues/7/comments"), ("42\n43\n", "PATCH repos/acme/shop/issues/comments/42")],
)
@pytest.mark.parametrize("code", [0, 10])
def test_the_example_posts_one_comment_whatever_the_review_says(
    review: Review, existing: str, verb: str, code: int
) -> None:
    """A new one at first, then the same one written anew."""
    job, calls = example(review, existing=existing, code=code, fork="acme/shop")
    assert job.failed == (code != 0)
    assert verb in calls[-1]
    assert (review.site.base / "codes/posted").read_text() == review.comment(job)


def test_the_example_posts_nothing_for_a_fork(review: Review) -> None:
    """The token may not write there; the summary says it all."""
    job, calls = example(review, existing="", code=0, fork="somebody/shop")
    assert not job.failed
    assert not [call for call in calls if call.startswith("api")]
    assert "# Policy review: passed" in job.summary


def test_the_example_backtests_on_the_log_of_the_rollouts(review: Review) -> None:
    """As canary.yml keeps it, on a branch; a backtest without a log is no review."""
    _, calls = example(review, existing="", code=0, fork="acme/shop")
    (backtest,) = [call for call in calls if call.startswith("policy backtest")]
    checkout = review.site.base / "checkout"
    assert f"--log=git+file://{checkout}#{DEFAULT_BRANCH}" in backtest
    assert "--fail-on=reject-to-accept --since=90d" in backtest
    assert git(checkout, "show", f"{DEFAULT_BRANCH}:events.ndjson") == '{"a": "log"}\n'


def test_the_example_reviews_before_anything_is_recorded(review: Review) -> None:
    """The branch is there and has no log yet: the first pull request is no failure."""
    job, calls = example(review, existing="", code=0, fork="acme/shop", recorded="")
    assert not job.failed
    assert [call for call in calls if call.startswith("policy backtest")] != []


def test_the_example_fails_without_the_branch(review: Review) -> None:
    """A backtest on nothing must not look like one on all that was decided."""
    git(review.site.origin, "branch", "-m", DEFAULT_BRANCH, "lost")
    job, calls = example(review, existing="", code=0, fork="acme/shop", branch="lost")
    assert job.failed
    assert calls == []


def example(
    review: Review,
    *,
    existing: str,
    code: int,
    fork: str,
    recorded: str = '{"a": "log"}\n',
    branch: str = DEFAULT_BRANCH,
) -> tuple[Job, list[str]]:
    """The job of docs/examples/workflows/policy-review.yml, and what its programs were called with."""
    log = review.site.base / "log"
    subprocess.run(["git", "clone", "--quiet", "-b", branch, str(review.site.origin), str(log)], check=True)
    if recorded:
        (log / "events.ndjson").write_text(recorded)
    git(log, "add", "--all")
    git(log, "commit", "--quiet", "--allow-empty", "-m", "Events")
    git(log, "push", "--quiet")
    review.change("policies/rollout.json", "changed\n")
    git(review.work, "commit", "--quiet", "-a", "-m", "Change")
    git(review.work, "push", "--quiet", "origin", "HEAD:pull")
    temporary, codes, checkout = (review.site.base / name for name in ("runner", "codes", "checkout"))
    path = without_gatekeeper(temporary / "bin")
    script(temporary / "bin/gatekeeper", STAND_IN)
    script(temporary / "bin/gh", GH)
    codes.mkdir()
    (codes / "diff").write_text(str(code))
    (codes / "comments").write_text(existing)
    subprocess.run(["git", "clone", "--quiet", "-b", "pull", str(review.site.origin), str(checkout)], check=True)
    head = {"repo": {"full_name": fork}}
    job = review.site.workflow(read("docs/examples/workflows/policy-review.yml")).run(
        checkout,
        temporary,
        path=path,
        environment={"CALLS": str(review.site.base / "calls"), "CODES": str(codes), "FILL": ""},
        github={
            "repository": "acme/shop",
            "token": "t",
            "ref": "refs/pull/7/merge",
            "event": {"pull_request": {"number": 7.0, "base": {"sha": review.base}, "head": head}},
        },
    )
    noted = review.site.base / "calls"
    return job, noted.read_text().splitlines() if noted.exists() else []
