"""A log that is no file, as the commands treat it; that all of them read it alike: `test_ledgers_read_alike`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run
from tests.cli.elsewhere import ADDRESS, SECRET, SHOWN, Elsewhere
from tests.ledger.drafts import decision
from tests.replay.builder import RUN, LogBuilder, rollout, write


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log(place: Path) -> str:
    """The example log in a file."""
    write(place / "file.ndjson", rollout())
    assert run(["status", "--log", "file.ndjson"]) == 0  # which tells once that its state was made
    return "file.ndjson"


@pytest.fixture
def address(log: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]) -> str:
    """The same log elsewhere."""
    assert not elsewhere.path.exists()
    assert run(["log", "import", log, "--log", ADDRESS]) == 0
    assert run(["status", "--log", ADDRESS]) == 0
    capfd.readouterr()
    return ADDRESS


def printed(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = run(list(words))
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def test_a_changed_line_elsewhere_is_found_by_verify(
    address: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """It reads the ledger itself: nothing that was kept of it vouches for its lines."""
    elsewhere.path.write_bytes(elsewhere.path.read_bytes().replace(b'"actor":"', b'"actor":"x', 1))
    code, out, _ = printed(capfd, "verify", "--log", address)
    assert (code, f"{SHOWN}:1\n" in out) == (65, True)


def test_a_damaged_line_elsewhere_is_named_where_it_matters(
    address: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """As in a file: by its number, on standard error and in json."""
    lines = elsewhere.path.read_bytes().splitlines()
    elsewhere.path.write_bytes(b"".join(line + b"\n" for line in [*lines[:3], b"no JSON", *lines[4:]]))
    for name in ("log.db", "log.db-wal", "log.db-shm"):
        (elsewhere.place / name).unlink(missing_ok=True)
    elsewhere.go("unindexed")
    for words in (["status"], ["queue"], ["status", RUN], ["replay"]):
        code, out, err = printed(capfd, *words, "-o", "json", "--log", address)
        assert (code, json.loads(out)["damaged"]) == (0, [{"source": SHOWN, "line": 4, "problem": "damaged"}]), words
        assert f"{SHOWN}:4: damaged line, passed over" in err


def test_a_pruned_log_takes_its_proof_along_where_there_is_a_place_for_it(
    place: Path, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """Into a file: it verifies as before. Elsewhere: what to keep, and how to verify, is said."""
    log = str(write(place / "old.ndjson", rollout()))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"], check=True)
    prune = ["log", "prune", "--before", "2030-01-01T00:00:00Z", "--checkpoint", "note", "--public-key", "key.pub"]
    for words in (["log", "rotate"], ["log", "checkpoint", "--key", "key", "--out", "note"], prune):
        assert run([*words, "--log", log]) == 0
    seq = len(rollout()) + 1
    assert printed(capfd, "log", "import", log, "--log", "copy.ndjson")[0] == 0
    assert Path("copy.ndjson.pruned").read_bytes() == Path("old.ndjson.pruned").read_bytes()
    assert run(["verify", "--checkpoint", "note", "--public-key", "key.pub", "--log", "copy.ndjson"]) == 0
    code, _, err = printed(capfd, "log", "import", log, "--log", ADDRESS)
    assert (code, f"keep {log}.pruned, and verify {SHOWN} with gatekeeper verify --from {seq}" in err) == (0, True)
    assert run(["verify", "--from", str(seq), "--log", ADDRESS]) == 0
    assert elsewhere.path.read_bytes() == Path(log).read_bytes()
    capfd.readouterr()
    code, out, _ = printed(capfd, "log", "head", "-o", "json", "--log", ADDRESS)
    last = json.loads(out)["seq"]
    assert (code, json.loads(out)["line"]) == (0, last)


@pytest.mark.usefixtures("elsewhere")
def test_an_empty_ledger_says_so_by_its_masked_name(capfd: pytest.CaptureFixture[str]) -> None:
    """A person who has named the wrong database or branch must see it."""
    for words in (["status"], ["queue"], ["reevaluate"]):
        code, _, err = printed(capfd, *words, "--log", ADDRESS)
        assert (code, f"the log at {SHOWN} has no event yet" in err, SECRET in err) == (0, True, False), words
    assert printed(capfd, "log", "head", "--log", ADDRESS)[0] == 65


def test_rebuild_folds_the_lines_anew(address: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]) -> None:
    """With --accept-gap it appends its event there, as in a file."""
    code, out, _ = printed(capfd, "log", "rebuild", "--accept-gap", "tried", "--log", address, "-o", "json")
    document = json.loads(out)
    assert (code, document["log"], document["complete"]) == (0, SHOWN, True)
    assert document["accepted_by"].startswith("action")
    assert len(elsewhere.path.read_bytes().splitlines()) == len(rollout()) + 1


@pytest.mark.parametrize(
    "words",
    [
        ["log", "rotate"],
        ["log", "archive"],
        ["log", "prune", "--before", "3", "--checkpoint", "note", "--public-key", "key.pub"],
        ["stop", "r", "--reason", "x", "--rotate-bytes", "1MiB"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_only_a_file_knows_is_wrong_usage_elsewhere(
    words: list[str], elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """64 with what to do instead, before anything is reached."""
    code, _, err = printed(capfd, *words, "--log", ADDRESS)
    assert (code, SHOWN in err, SECRET in err) == (64, True, False)
    assert elsewhere.opened == []


@pytest.mark.parametrize(
    "command", [["status"], ["replay"], ["verify"], ["log", "stat"], ["log", "head"], ["explain", "1"]]
)
def test_several_logs_with_one_elsewhere_are_wrong_usage(
    command: list[str], log: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """They would be read one by one and their chains taken for one."""
    code, _, err = printed(capfd, *command, "--log", log, "--log", ADDRESS)
    assert (code, "log import" in err, SECRET in err) == (64, True, False)


def test_a_growing_ledger_is_followed(
    address: str, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each new line once, in order, as soon as it is looked for."""
    import time

    lines = len(rollout())

    def append_meanwhile(_seconds: float) -> None:
        if len(elsewhere.path.read_bytes().splitlines()) == lines + 2:
            raise KeyboardInterrupt
        elsewhere.opened[-1].append([decision(f"new{time.monotonic_ns()}")], expect=None, actor="t")

    monkeypatch.setattr(time, "sleep", append_meanwhile)
    code, out, _ = printed(capfd, "replay", "--follow", "-o", "ndjson", "--kind", "decision", "--log", address)
    decisions = [line for line in elsewhere.path.read_bytes().splitlines() if b'"kind":"decision"' in line]
    assert code == 130
    assert out.encode().splitlines() == decisions


def test_every_connection_is_given_up_when_the_command_ends(address: str, elsewhere: Elsewhere) -> None:
    """One for each call, however many readers it has; also where the call fails."""
    elsewhere.opened.clear()
    assert run(["status", RUN, "--log", address]) == 0
    assert [one.is_closed for one in elsewhere.opened] == [True]
    assert run(["explain", "nothing", "--log", address]) == 65
    assert [one.is_closed for one in elsewhere.opened] == [True, True]


@pytest.mark.usefixtures("address")
def test_the_configuration_names_the_ledger_once(
    log: str, place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """gatekeeper.toml and GATEKEEPER_LOG take an address as --log does."""
    expected = printed(capfd, "replay", "--log", log)
    (place / "gatekeeper.toml").write_text(f'log = "{ADDRESS}"\n')
    assert printed(capfd, "replay") == expected
    (place / "gatekeeper.toml").unlink()
    monkeypatch.setenv("GATEKEEPER_LOG", ADDRESS)
    assert printed(capfd, "replay") == expected
    monkeypatch.setenv("GATEKEEPER_LOG", ADDRESS.replace("postgresql:", "mysql:"))
    code, _, err = printed(capfd, "replay")
    assert (code, SECRET in err) == (64, False)


def test_an_import_goes_both_ways_and_never_forks(
    log: str, address: str, place: Path, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """File, elsewhere, file: the same bytes; a log that went on elsewhere is refused, its first seq named."""
    code, out, _ = printed(capfd, "log", "import", address, "--log", "back.ndjson", "-o", "json")
    head: dict[str, Any] = json.loads(printed(capfd, "log", "head", "-o", "json", "--log", log)[1])
    assert (code, json.loads(out)) == (
        0,
        {
            "source": SHOWN,
            "log": "back.ndjson",
            "events": len(rollout()),
            "known": 0,
            "first_seq": 1,
            "last_seq": len(rollout()),
            "head": {"seq": head["seq"], "digest": head["digest"]},
        },
    )
    assert (place / "back.ndjson").read_bytes() == (place / log).read_bytes()
    other = LogBuilder()
    other.add(decision("other"))
    write(place / "other.ndjson", other.lines)
    before = elsewhere.path.read_bytes()
    code, _, err = printed(capfd, "log", "import", "other.ndjson", "--log", address)
    assert (code, "differ from seq 1 on" in err, SHOWN in err) == (65, True, True)
    assert elsewhere.path.read_bytes() == before
    assert printed(capfd, "log", "import", address, "--log", address)[0] == 64
    assert printed(capfd, "log", "import", log, "--log", f"./{log}")[0] == 64
