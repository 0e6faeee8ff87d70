from __future__ import annotations

import subprocess
import sys

import pytest

from gatekeeper.errors import UsageError
from gatekeeper.ledger.address import address_of, cache_path, is_remote, state_path
from gatekeeper.model.masking import mask_text

HOME = {"HOME": "/home/ci"}


@pytest.mark.parametrize(
    ("log", "kind", "target", "branch"),
    [
        ("logs/decision.ndjson", "file", "logs/decision.ndjson", ""),
        ("postgresql:odd", "file", "postgresql:odd", ""),
        ("logs/2026-*.ndjson", "file", "logs/2026-*.ndjson", ""),
        ("postgresql://db/gate", "postgresql", "postgresql://db/gate", ""),
        ("postgres://db/gate", "postgresql", "postgresql://db/gate", ""),
        ("postgresql://", "postgresql", "postgresql://", ""),
        ("postgresql:///gate?host=/run/pg", "postgresql", "postgresql:///gate?host=/run/pg", ""),
        ("git+file:///srv/gate.git", "git", "file:///srv/gate.git", "gatekeeper-log"),
        ("git+file:///srv/gate.git#", "git", "file:///srv/gate.git", "gatekeeper-log"),
        ("git+ssh://git@host/a/b.git#team/log", "git", "ssh://git@host/a/b.git", "team/log"),
        ("GIT+HTTPS://host/a.git#log", "git", "https://host/a.git", "log"),
    ],
)
def test_an_address_of_one_kind_is_never_taken_for_another(log: str, kind: str, target: str, branch: str) -> None:
    """A log that is written to another place than the one named splits a team's history."""
    address = address_of(log)
    assert (address.kind, address.target, address.branch) == (kind, target, branch)
    assert address.text == log
    assert is_remote(log) is (kind != "file")


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("postgresql://ci:s3cret@db:5432/gate", "postgresql://***@db:5432/gate"),
        ("postgres://db/gate?password=s3cret", "postgresql://db/gate?***"),
        ("git+https://x-token:s3cret@host/a.git#log", "git+https://***@host/a.git#log"),
        ("git+https://host/a.git?key=s3cret", "git+https://host/a.git?***#gatekeeper-log"),
        ("postgresql://ci:s3/cr@et@db/gate", "postgresql://***@db/gate"),
        ("git+ssh://git@host/a.git#log", "git+ssh://***@host/a.git#log"),
    ],
)
def test_what_is_shown_of_an_address_holds_no_secret(log: str, shown: str) -> None:
    """An error message in a CI job's log is read by many; masked once more where it is printed, it stays as it is."""
    assert address_of(log).shown == shown
    assert mask_text(f"see {shown}") == f"see {shown}"


@pytest.mark.parametrize(
    "log",
    ["mysql://ci:s3cret@db/gate", "file:///logs/decision.ndjson", "git://host/a.git", "git+ext://s3cret", "://x"],
)
def test_an_unknown_scheme_is_wrong_usage_and_creates_nothing(log: str) -> None:
    """64 with the known ones; taken for a path, it would begin a new log in a folder of that name."""
    with pytest.raises(UsageError) as caught:
        address_of(log)
    assert caught.value.exit_code == 64
    assert "postgresql://" in caught.value.remedy
    assert "git+file:///" in caught.value.remedy
    assert "s3cret@" not in caught.value.message


@pytest.mark.parametrize("branch", ["-D", "a..b", "a b", "a~1", "x.lock", "a/.b", "a//b", "@{1}x@{", ".a", "a.", "a/"])
def test_a_branch_that_git_could_take_for_an_option_or_a_revision_is_refused(branch: str) -> None:
    """It stands on git's command line."""
    with pytest.raises(UsageError, match="branch"):
        address_of(f"git+file:///srv/gate.git#{branch}")


def test_branches_are_the_ones_that_git_takes() -> None:
    """Held against `git check-ref-format --branch` itself."""
    names = ["log", "a/b", "a-b", "a.b", "x.lockx", "ä", "a@b", "a@{b", "a..b", "-a", "a.lock/b", "a\x7f", "a[", "a{"]
    for name in names:
        done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
        try:
            address_of(f"git+file:///srv/gate.git#{name}")
        except UsageError:
            assert done.returncode != 0, name
        else:
            assert done.returncode == 0, name


@pytest.mark.parametrize(
    "log",
    [
        "git+file://",
        "git+file:///",
        "git+ssh://#log",
        "git+https://?a=b#log",
        "git+ssh://host",
        "git+https://u:s3#cret@host/a",
    ],
)
def test_an_address_without_a_repository_is_refused(log: str) -> None:
    """Git would say so only after it was started, in its own words."""
    with pytest.raises(UsageError, match="names no repository") as caught:
        address_of(log)
    assert "cret@" not in caught.value.message


def test_a_marker_is_found_again_after_the_password_or_token_has_changed() -> None:
    """A job's access token is another one in the next job; its unrecorded REJECT must be recorded all the same."""
    for one, other in [
        ("postgresql://ci:old@db/gate", "postgres://ci:new@db/gate"),
        (
            "postgresql://ci@db/gate?password=old&sslmode=require",
            "postgresql://ci@db/gate?sslmode=require&password=new",
        ),
        ("git+https://token-1@host/a.git#log", "git+https://user:token-2@host/a.git#log"),
        ("git+https://host/a.git", "git+https://host/a.git#gatekeeper-log"),
    ]:
        assert state_path(address_of(one), HOME) == state_path(address_of(other), HOME)


def test_two_logs_never_share_a_marker_or_a_cache() -> None:
    """The REJECT of one database's run would stop a run of another one."""
    logs = [
        "postgresql://ci@db/gate",
        "postgresql://ci@db/other",
        "postgresql://ci@db2/gate",
        "postgresql://ci@db/gate?port=5433",
        "git+https://host/a.git#log",
        "git+https://host/a.git#log2",
        "git+ssh://host/a.git#log",
        "git+https://host/a.git?b#log",
    ]
    assert len({cache_path(address_of(log), HOME) for log in logs}) == len(logs)
    bare = address_of("postgresql://")
    assert state_path(bare, {**HOME, "PGHOST": "staging"}) != state_path(bare, {**HOME, "PGHOST": "production"})


def test_state_and_cache_stand_where_the_machine_keeps_such_things() -> None:
    """XDG base directories; a relative one is ignored, as their specification says, and would follow the job around."""
    address = address_of("postgresql://db/gate")
    name = state_path(address, HOME).rpartition("/")[2]
    assert len(name) == 16
    assert state_path(address, HOME) == f"/home/ci/.local/state/gatekeeper/{name}"
    assert cache_path(address, HOME) == f"/home/ci/.cache/gatekeeper/{name}"
    assert state_path(address, {**HOME, "XDG_STATE_HOME": "/var/st"}) == f"/var/st/gatekeeper/{name}"
    assert cache_path(address, {**HOME, "XDG_CACHE_HOME": "rel"}) == f"/home/ci/.cache/gatekeeper/{name}"


def test_reading_an_address_costs_a_file_ledger_nothing() -> None:
    """Every command imports it."""
    script = (
        "import sys\nimport gatekeeper.ledger.address as a\nassert not a.is_remote('logs/x')\na.address_of('logs/x')\n"
        "print(*({'re', 'hashlib', 'urllib', 'urllib.parse', 'subprocess', 'psycopg', 'typing'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"re"}  # masking has it
