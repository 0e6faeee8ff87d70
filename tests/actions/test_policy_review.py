"""The action finds what has changed, asks about each, and adds up what came of it; a stand-in answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.actions.pull_request import MARK, Review, opened
from tests.actions.site import git

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """A pull request before any change."""
    return opened(tmp_path)


def test_every_changed_policy_is_reviewed_and_no_other(review: Review) -> None:
    """Changed, new, renamed; golden cases are no policies, and all of them are run once."""
    text = (review.work / "policies/mail.yaml").read_text()
    review.change("policies/rollout.json", "changed\n")
    review.change("policies/new one.json", "{}\n")
    review.change("policies/mail.yaml", None)
    review.change("policies/post.yaml", text)
    review.change("policies/golden/two.json", "{}\n")
    review.change("README.md", "words\n")
    job = review.run()
    assert not job.failed
    assert review.calls == [
        "policy check policies/new one.json",
        "policy check policies/post.yaml",
        "policy diff git:BASE:policies/mail.yaml policies/post.yaml",
        "policy check policies/rollout.json",
        "policy diff git:BASE:policies/rollout.json policies/rollout.json",
        "policy test policies/golden",
    ]
    assert job.outputs("review")["policies"] == "3"
    assert job.outputs("review")["result"] == "passed"


def test_golden_cases_run_although_no_policy_has_changed(review: Review) -> None:
    """A case that is edited is a change of what is frozen."""
    review.change("policies/golden/one.json", "changed\n")
    job = review.run()
    assert review.calls == ["policy test policies/golden"]
    assert "No policy has changed." in job.summary


def test_the_comparison_is_with_the_commit_that_the_branch_left(review: Review) -> None:
    """The base branch has moved on: its changes are not those of the pull request."""
    git(review.work, "switch", "--quiet", "-c", "later")
    review.change("policies/search.json", "changed on main\n")
    git(review.work, "commit", "--quiet", "-a", "-m", "On main")
    later = git(review.work, "rev-parse", "HEAD").strip()
    git(review.work, "push", "--quiet", "origin", "later")
    git(review.work, "switch", "--quiet", "main")
    review.change("policies/rollout.json", "changed\n")
    review.run(base=later, tests="")
    assert review.calls == [
        "policy check policies/rollout.json",
        "policy diff git:BASE:policies/rollout.json policies/rollout.json",
    ]


def test_what_the_inputs_say_is_handed_on(review: Review) -> None:
    """To each command its own."""
    review.change("policies/rollout.json", "changed\n")
    limits = {"fail-on-check": "warning", "fail-on-diff": "loosened", "fail-on-backtest": "reject-to-accept"}
    review.run(**limits, log="logs/decision.ndjson", since="90d", tests="")
    assert review.calls == [
        "policy check policies/rollout.json --fail-on=warning",
        "policy diff git:BASE:policies/rollout.json policies/rollout.json --fail-on=loosened",
        "policy backtest policies/rollout.json --log=logs/decision.ndjson --fail-on=reject-to-accept --since=90d",
    ]


def test_a_log_from_an_artifact_is_read_from_where_it_was_put(review: Review) -> None:
    """Fetched into the runner's own directory, not into the checkout."""
    review.change("policies/rollout.json", "changed\n")
    artifact = review.site.base / "artifacts/decision-log"
    artifact.mkdir(parents=True)
    (artifact / "decision.ndjson").write_text("{}\n")
    review.run(**{"log-artifact": "decision-log", "tests": ""})
    path = review.site.base / "runner/gatekeeper-log/decision.ndjson"
    assert review.calls[-1] == f"policy backtest policies/rollout.json --log={path}"
    assert path.exists()


def test_an_artifact_that_is_not_there_fails_the_review(review: Review) -> None:
    """It has expired, say: a review without its backtest must not look like one with it."""
    review.change("policies/rollout.json", "changed\n")
    job = review.run(**{"log-artifact": "decision-log"})
    assert job.failed
    assert review.calls == []


@pytest.mark.parametrize("command", ["check", "diff", "backtest", "test"])
def test_a_finding_fails_and_hides_no_other(review: Review, command: str) -> None:
    """Exit code 10 of one command on one file: all else is still asked, and what failed is named first."""
    review.codes = {f"{command}-rollout.json": 10, f"{command}-golden": 10}
    for name in ("rollout.json", "search.json"):
        review.change(f"policies/{name}", "changed\n")
    job = review.run(log="log.ndjson")
    assert job.failed
    assert job.outputs("review")["result"] == "failed"
    assert len(review.calls) == 7
    about = "golden cases" if command == "test" else f"{command} of policies/rollout.json"
    assert f"* **{about}**\n" in job.summary
    assert job.summary.index("* **") < job.summary.index("## ")
    assert job.summary.count("* **") == 1


@pytest.mark.parametrize("command", ["check", "diff", "backtest", "test"])
@pytest.mark.parametrize("code", [1, 2, 65, 70, 74, 137])
def test_what_could_not_be_reviewed_fails_whatever_the_inputs_say(review: Review, command: str, code: int) -> None:
    """A crash in any command is no review that passed, and is not outweighed by a finding."""
    review.codes = {command: code, **({"test": 10} if command != "test" else {})}
    review.change("policies/rollout.json", "changed\n")
    job = review.run(log="log.ndjson", **{"fail-on-check": "never"})
    assert job.failed
    assert job.outputs("review")["result"] == "error"
    said = f"{'refused' if code == 65 else 'not reviewed'}, exit code {code}"
    assert said in job.summary
    assert f"{said}; why stands in the log" in job.log


def test_a_policy_that_does_not_load_is_not_asked_about_again(review: Review) -> None:
    """Diff and backtest would only repeat it; the other policy is reviewed in full."""
    review.codes = {"check-rollout.json": 65}
    for name in ("rollout.json", "search.json"):
        review.change(f"policies/{name}", "changed\n")
    assert review.run(log="log.ndjson").failed
    assert [call.split()[1] for call in review.calls] == ["check", "check", "diff", "backtest", "test"]


def test_a_missing_gatekeeper_fails_the_review(review: Review) -> None:
    """127 for each question; nothing says passed."""
    review.change("policies/rollout.json", "changed\n")
    job = review.run(gate="")
    assert job.failed
    assert job.outputs("review")["result"] == "error"


@pytest.mark.parametrize(
    ("limit", "result"), [("never", "passed"), ("tightened", "passed"), ("loosened", "failed"), ("any", "failed")]
)
def test_a_policy_that_is_gone_is_said_and_counts_as_loosened(review: Review, limit: str, result: str) -> None:
    """Whoever deletes the file asks nothing any more."""
    review.change("policies/search.json", None)
    job = review.run(**{"fail-on-diff": limit})
    assert job.outputs("review")["result"] == result
    assert job.failed == (result == "failed")
    assert "## `policies/search.json` is gone" in job.summary


def test_summary_and_comment_say_the_same_and_the_comment_bears_its_mark(review: Review) -> None:
    """One page each, in the order in which it was asked; the mark stands first, so that the comment is found again."""
    review.change("policies/rollout.json", "changed\n")
    job = review.run(log="log.ndjson")
    comment = review.comment(job)
    assert comment == f"{MARK}\n{job.summary}"
    pages = [
        "page: check of rollout.json",
        "page: diff of rollout.json",
        "page: backtest of rollout.json",
        "page: test of golden",
    ]
    places = [comment.index(page) for page in pages]
    assert places == sorted(places)
    assert "# Policy review: passed\n\n1 policy has changed" in comment
    assert "::notice title=stand-in::check of rollout.json" in job.log


def test_a_comment_that_would_be_too_long_leaves_whole_parts_out(review: Review) -> None:
    """GitHub refuses a body of more than 65536 characters: then there would be no comment at all."""
    review.fill = "x" * 25_000
    review.change("policies/rollout.json", "changed\n")
    job = review.run(log="log.ndjson")
    comment = review.comment(job)
    assert len(comment) < 65_536
    assert comment.count("page: ") == 2
    assert "2 parts are too long for this place" in comment
    assert job.summary.count("page: ") == 4


@pytest.mark.parametrize(
    ("inputs", "word"),
    [
        ({"fail-on-check": "errors"}, "fail-on-check"),
        ({"fail-on-diff": ""}, "fail-on-diff"),
        ({"fail-on-backtest": "flips"}, "fail-on-backtest"),
        ({"base": "0" * 40}, "fetch-depth: 0"),
        ({"base": "--octopus"}, "history"),  # git would compare the commit with itself,
        ({"base": ""}, "the input base"),
        ({"policies": ""}, "policies"),
    ],
)
def test_wrong_usage_is_no_review(review: Review, inputs: dict[str, str], word: str) -> None:
    """Nothing is asked, and the annotation names the input."""
    review.change("policies/rollout.json", "changed\n")
    job = review.run(**inputs)
    assert job.failed
    assert job.outputs("review") == {"result": "error", "policies": "", "comment": ""}
    assert word in job.log
    assert review.calls == []


@pytest.mark.parametrize(
    "name", ["$(touch pwned).json", "`touch pwned`.json", "a\n::error::b.json", "; touch pwned.json", "ü|`x`.json"]
)
def test_a_file_name_is_never_a_command(review: Review, name: str) -> None:
    """Names come from whoever opens the pull request."""
    review.change(f"policies/{name}", "{}\n")
    job = review.run(tests="")
    assert not job.failed
    assert not list(review.site.base.rglob("pwned*"))
    assert "\n::error::" not in job.summary
    (heading,) = [line for line in job.summary.splitlines() if line.startswith("## ")]
    assert heading.count("`") == 2
