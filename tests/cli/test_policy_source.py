"""A policy as it was in a revision: read by git from the repository, and a plain word where that fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gatekeeper.cli.app import run
from gatekeeper.cli.policy_source import load_policy_from
from gatekeeper.errors import PolicyError, UsageError

POLICY = '{"policy_id": "p", "policy_version": "1", "constraints": [{"kind": "must_be_zero", "metric": "leaks"}]}'


def git(directory: Path, *arguments: str) -> str:
    """What a git command prints."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose first commit has version 1, whose working tree has version 2."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    directory = tmp_path / "checkout"
    (directory / "policies").mkdir(parents=True)
    git(directory, "init", "-q", "-b", "main")
    (directory / "policies" / "p.json").write_text(POLICY)
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "first")
    (directory / "policies" / "p.json").write_text(POLICY.replace('"1"', '"2"'))
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.parametrize("revision", ["HEAD", "main", "main^0", "@"])
def test_a_revision_is_read_and_the_working_tree_is_not(repository: Path, revision: str) -> None:
    """By any name that git knows; nothing is checked out."""
    loaded, data = load_policy_from(f"git:{revision}:policies/p.json")
    assert (loaded.policy.policy_version, data) == ("1", POLICY.encode())
    assert loaded.source == f"git:{revision}:policies/p.json"
    assert git(repository, "status", "--porcelain") == "M policies/p.json"


def test_a_path_is_given_from_the_top_or_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As git itself reads it."""
    monkeypatch.chdir(repository / "policies")
    for path in ("policies/p.json", "./p.json"):
        assert load_policy_from(f"git:HEAD:{path}")[0].policy.policy_version == "1"


@pytest.mark.usefixtures("repository")
def test_a_branch_is_compared_with_the_working_tree() -> None:
    """The call that a pull request makes."""
    assert run(["policy", "diff", "git:main:policies/p.json", "policies/p.json", "--fail-on", "any"]) == 0


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ("git:HEAD:policies/q.json", PolicyError, "revision 'HEAD' has no file 'policies/q.json'"),
        ("git:HEAD:policies", PolicyError, "has no file 'policies'"),
        ("git:nowhere:policies/p.json", PolicyError, "the repository knows no revision 'nowhere'"),
        ("git:HEAD", UsageError, "names no revision and path"),
        ("git::policies/p.json", UsageError, "names no revision and path"),
        ("git:HEAD:", UsageError, "names no revision and path"),
        ("git:--output=x:p", UsageError, "names no revision and path"),
    ],
)
def test_what_cannot_be_read_from_git_is_named(
    repository: Path, source: str, error: type[Exception], said: str
) -> None:
    """65 for what is not there, 64 for what says nothing."""
    with pytest.raises(error, match=said):
        load_policy_from(source)
    code = 64 if error is UsageError else 65
    assert run(["policy", "diff", source, "policies/p.json"]) == code
    assert sorted(path.name for path in repository.iterdir()) == [".git", "policies"]


@pytest.mark.usefixtures("repository")
def test_outside_of_a_repository_git_is_asked_in_vain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """65, with what git says; a file would have done."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(PolicyError, match="git finds no repository here: fatal: not a git repository"):
        load_policy_from("git:HEAD:policies/p.json")


def test_without_git_the_call_cannot_be_carried_out(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64: something that the call needs is not installed."""
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(UsageError, match="the git command cannot be run"):
        load_policy_from("git:HEAD:policies/p.json")


def test_a_policy_of_a_revision_that_does_not_load_names_the_revision(repository: Path) -> None:
    """And the place in it."""
    git(repository, "rm", "-q", "--cached", "policies/p.json")
    (repository / "policies" / "p.json").write_text('{"policy_id": "p"}')
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    with pytest.raises(PolicyError, match=r"git:HEAD:policies/p\.json:1:1: /policy_version: the key is missing"):
        load_policy_from("git:HEAD:policies/p.json")
