"""The guide to ledgers, carried out with a real PostgreSQL that asks for passwords, and real repositories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import psycopg
import pytest

from gatekeeper.errors import UsageError
from gatekeeper.ledger.address import FILE, GIT, POSTGRESQL, address_of
from tests.docs.console import ROOT, blocks, carry_out, commands, differences, read
from tests.lab.postgres import Postgres, wheel

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/guides/ledgers.md"
OWNER_PASSWORD = "harbour"


@pytest.mark.server
@pytest.mark.slow
def test_the_session_of_the_guide_prints_what_it_shows(tmp_path: Path) -> None:
    """A checkout, an empty home, a database with its owner, a repository; the server goes down as the page says."""
    work, home, repositories = (tmp_path / name for name in ("work", "home", "git"))
    for folder in ("policies", "snapshots", "logs"):
        shutil.copytree(os.path.join(ROOT, folder), work / folder, ignore=shutil.ignore_patterns("*.db*", "*.lock"))
    home.mkdir()
    lay_out(repositories / "team/shop.git")
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[user]\n name = Ann\n email = ann@example.com\n[init]\n defaultBranch = main\n"
        f'[url "file://{repositories}/"]\n insteadOf = ssh://git@git.example.com/\n'
    )
    with Postgres(guarded=True) as server:
        given(server, home)
        installed = wheel()
        assert installed is not None
        programs = (os.path.dirname(sys.executable), str(installed / "pginstall18/bin"), os.environ["PATH"])
        environment = {
            "HOME": str(home),
            "XDG_CACHE_HOME": "",
            "XDG_STATE_HOME": "",
            "GIT_CONFIG_SYSTEM": str(settings),
            "PATH": ":".join(programs),
            **server.as_any_host(),
        }
        transcript = commands(PAGE)
        meanwhile = {"the database is down": server.stop, "the database is up again": server.start}
        printed = carry_out(transcript, str(work), meanwhile=meanwhile, environment=environment)
    wrong = differences(transcript, printed)
    assert not wrong, "\n\n".join(wrong)
    passwords = {"kettle", "lantern", OWNER_PASSWORD}
    assert not [line for output in printed for line in output if passwords & set(re.findall(r"\w+", line))]


def lay_out(repository: Path) -> None:
    """A repository with a commit, on a server that keeps what is pushed, as the guide tells its owner."""
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(repository)], check=True)
    protect = [
        line for line in "\n".join(blocks(PAGE, "sh")).splitlines() if line.startswith("git -C /srv/git/team/shop.git")
    ]
    assert len(protect) == 2
    script = "\n".join(protect).replace("/srv/git/team/shop.git", str(repository))
    script += "\ngit push . $(git commit-tree -m First $(git mktree < /dev/null)):refs/heads/main"
    subprocess.run(
        ["bash", "-ec", script],
        cwd=repository,
        env=os.environ | {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        capture_output=True,
        check=True,
    )


def given(server: Postgres, home: Path) -> None:
    """What the page says is there: an empty database with its owner, whose password this home knows."""
    with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as session:
        session.execute(f"CREATE ROLE gate_owner LOGIN CREATEROLE CREATEDB PASSWORD '{OWNER_PASSWORD}'".encode())
        session.execute("CREATE DATABASE gate OWNER gate_owner")
    (home / ".pgpass").write_text(f"db.example.com:*:*:gate_owner:{OWNER_PASSWORD}\n")
    (home / ".pgpass").chmod(0o600)


def test_a_protected_branch_is_neither_rewritten_nor_removed(tmp_path: Path) -> None:
    """By the two settings of the guide; what goes on behind the tip is taken."""
    repository = tmp_path / "shop.git"
    lay_out(repository)

    def push(refspec: str) -> int:
        return subprocess.run(
            ["git", "push", "--force", f"file://{repository}", refspec],
            cwd=repository,
            capture_output=True,
            check=False,
        ).returncode

    tree = subprocess.run(["git", "mktree"], cwd=repository, input=b"", capture_output=True, check=True).stdout.decode()
    someone = os.environ | {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def commit(*parents: str) -> str:
        made = ["git", "commit-tree", "-m", "One", *parents, tree.strip()]
        return subprocess.run(
            made, cwd=repository, env=someone, capture_output=True, check=True, text=True
        ).stdout.strip()

    assert push(f"{commit('-p', 'main')}:refs/heads/main") == 0
    assert push(f"{commit()}:refs/heads/main") != 0
    assert push(":refs/heads/main") != 0


def test_every_address_of_the_guide_is_one() -> None:
    """In its table, its files and its consoles."""
    named = set(re.findall(r"(?:git\+\w+|postgresql)://[^\s`',)\"#]+(?:#[\w-]+)?", read(PAGE)))
    kinds = {
        address_of(address).kind
        for address in named
        if "HOST" not in address and "$" not in address and "…" not in address
    }
    assert kinds == {POSTGRESQL, GIT}
    assert address_of("logs/decision.ndjson").kind == FILE
    with pytest.raises(UsageError):
        address_of("mysql://db.example.com/gate")


def test_the_settings_of_the_guide_name_a_log_and_no_secret() -> None:
    """It is copied as it is, and committed."""
    (text,) = blocks(PAGE, "toml")
    assert list(tomllib.loads(text)) == ["log"]
    assert re.search(r"://[^/]*:[^/]*@", text) is None
