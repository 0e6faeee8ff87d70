"""A bare git repository as a team would have it, and ledgers on a branch of it, as runners without a common disk do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.git.ledger import GitLedger
from gatekeeper.ports import Clock
from tests.doubles import StepClock

BRANCH = "gatekeeper-log"


def git(*arguments: str, directory: Path | None = None, data: bytes | None = None) -> str:
    """What git prints, without the last newline; a failure fails the test."""
    done = subprocess.run(["git", *arguments], cwd=directory, input=data, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr.decode())
    return done.stdout.decode().removesuffix("\n")


def alone(patch: pytest.MonkeyPatch, directory: Path) -> None:
    """Let nothing of this user's git and caches reach the test, and nothing of the test this user."""
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("XDG_CACHE_HOME", str(directory / "cache"))
    patch.setenv("XDG_STATE_HOME", str(directory / "state"))
    for name in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{name}_NAME", "somebody")
        patch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")


class Bare:
    """One bare repository below *directory*."""

    def __init__(self, directory: Path, name: str = "team.git") -> None:
        self.path = directory / name
        git("init", "--quiet", "--bare", str(self.path))

    @property
    def log(self) -> str:
        """As `--log` takes it."""
        return f"git+file://{self.path}"

    def ledger(self, *, clock: Clock | None = None, cache: Path | None = None) -> GitLedger:
        """A ledger on its branch; each *cache* is a machine of its own."""
        place = str(cache) if cache is not None else None
        return GitLedger(address_of(self.log), clock=clock or StepClock(), cache_directory=place)

    def git(self, *arguments: str, data: bytes | None = None) -> str:
        """What git prints when it is asked in this repository."""
        return git("--git-dir", str(self.path), *arguments, data=data)

    def tip(self) -> str:
        """The commit at which the log's branch stands."""
        return self.git("rev-parse", f"refs/heads/{BRANCH}")

    def commits(self) -> list[str]:
        """The commits of the log's branch, the first one first."""
        return self.git("rev-list", "--first-parent", "--reverse", BRANCH).split()

    def log_bytes(self) -> bytes:
        """All lines, read by nothing but git: the one file of each commit in turn."""
        return b"".join(self.added_by(commit) for commit in self.commits())

    def added_by(self, commit: str) -> bytes:
        """The file that a commit holds."""
        command = ["git", "--git-dir", str(self.path), "cat-file", "blob", f"{commit}:events.ndjson"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def events(self) -> list[dict[str, Any]]:
        """All events, read by nothing but git and a JSON parser."""
        return [json.loads(line) for line in self.log_bytes().splitlines()]

    def move(self, commit: str) -> None:
        """Put the branch elsewhere, as a forced push does."""
        self.git("update-ref", f"refs/heads/{BRANCH}", commit)

    def hook(self, name: str, script: str) -> None:
        """Let the receiving side run *script* (of sh)."""
        place = self.path / "hooks" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        place.chmod(0o755)
