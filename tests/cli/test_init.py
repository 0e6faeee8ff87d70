"""What `init` lays out must work as it lies there, and must cost nobody a file."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from gatekeeper.cli import init
from gatekeeper.cli.app import run

if TYPE_CHECKING:
    from tests.lab.fixtures import Labs
    from tests.lab.servers import Lab


@pytest.fixture
def laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory after `gatekeeper init`."""
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    return tmp_path


def _init_json(capfd: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    capfd.readouterr()
    assert run(["init", *argv, "-o", "json"]) == 0
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    return document


@pytest.mark.usefixtures("laid_out")
def test_the_starter_collection_begins_without_remarks(capfd: pytest.CaptureFixture[str]) -> None:
    """It feeds the policy beside it, as the command that `init` names says."""
    capfd.readouterr()
    assert run([*init.LINT[1:], "-o", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["diagnostics"] == []


def test_the_command_for_the_collection_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file that nobody points at is not found; a program gets the command, too."""
    assert run(["init", str(tmp_path)]) == 0
    assert "gatekeeper collect --lint collections/rollout.json" in capfd.readouterr().out
    assert _init_json(capfd, str(tmp_path))["next"]["lint"] == init.LINT


def test_the_workflow_and_the_readme_name_the_collection_that_is_laid_out() -> None:
    """The alternative to a script of one's own, with a file that is there."""
    for name in ("rollout-gate.yml", "collections.md"):
        assert "gatekeeper collect collections/rollout.json" in init.starter(name).decode()
    assert init.FILES["collections/rollout.json"] == "collection.json"


@pytest.mark.server
@pytest.mark.usefixtures("laid_out")
def test_the_starter_collection_feeds_the_first_stages_from_a_real_server(
    lab: Labs[Lab], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its queries as they are; only the names of the label and of the counter are those of the server at hand."""
    server = lab(end=time.time())
    monkeypatch.setenv("PROMETHEUS_URL", server.url)
    document = json.loads(init.starter("collection.json"))
    document["labels"] = {"variant": {"variant": "canary", "baseline": "baseline"}}
    document["metrics"]["data_loss_incidents"]["query"] = "sum(ledger_mismatches_total)"
    Path("collections/rollout.json").write_text(json.dumps(document))
    policy = json.loads(init.starter("policy.json"))
    for guardrail in policy["guardrails"]:
        guardrail["threshold"] = 1 if guardrail["metric"] == "error_ratio" else 60000  # its numbers are not ours
    Path("policies/rollout.json").write_text(json.dumps(policy))
    argv = ["check", "--policy", "policies/rollout.json", "--experiment", "exp-42", "--variant", "B"]
    capfd.readouterr()
    code = run([*argv, "--evidence", "change_id=CHG-1", "--collect", "collections/rollout.json", "-o", "json"])
    decision = json.loads(capfd.readouterr().out)["decision"]
    assert (code, decision["reason_codes"]) == (0, [])


@pytest.mark.usefixtures("laid_out")
def test_the_starter_policy_begins_without_warnings(capfd: pytest.CaptureFixture[str]) -> None:
    """A newcomer's first review must not be about our own file."""
    capfd.readouterr()
    assert run(["policy", "check", "policies/rollout.json", "-o", "json"]) == 0
    (report,) = json.loads(capfd.readouterr().out)["policies"]
    assert report["diagnostics"] == []


@pytest.mark.usefixtures("laid_out")
def test_the_starter_cases_pass_as_they_are_laid_out(capfd: pytest.CaptureFixture[str]) -> None:
    """One for each verdict; the first rests on the snapshot that is laid out beside."""
    capfd.readouterr()
    assert run(["policy", "test", "-o", "json"]) == 0
    cases = json.loads(capfd.readouterr().out)["cases"]
    assert [case["found"]["verdict"] for case in cases] == ["ACCEPT", "DEGRADE", "REJECT"]


def test_the_first_check_is_accepted_when_typed_as_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command that `init` names next, in the directory that it names."""
    document = _init_json(capfd, str(tmp_path / "gate"))
    monkeypatch.chdir(document["next"]["directory"])
    program, *argv = document["next"]["command"]
    assert program == "gatekeeper"
    assert run(argv) == 0
    assert capfd.readouterr().out.startswith("[OK] exp-42:B:1  start -> DRY_RUN  ACCEPT")


def test_the_first_check_stays_out_of_the_log_to_keep(laid_out: Path) -> None:
    """A simulated run must not sit in the team's log from its first day on."""
    assert run(init.FIRST_CHECK[1:]) == 0
    assert not (laid_out / "logs/decision.ndjson").exists()


def test_a_file_that_exists_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A second `init`, or one in a grown repository, must not undo anybody's work."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/rollout.json").write_text("mine")
    first = _init_json(capfd)
    assert first["kept"] == ["policies/rollout.json"]
    assert sorted([*first["written"], *first["kept"]]) == sorted(init.FILES)
    assert (tmp_path / "policies/rollout.json").read_text() == "mine"
    second = _init_json(capfd)
    assert (second["written"], sorted(second["kept"])) == ([], sorted(init.FILES))
    assert run(["init"]) == 0
    assert "policies/rollout.json (was there)" in capfd.readouterr().out


def test_a_file_where_a_directory_is_needed_is_wrong_usage(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """64, naming the path; not a crash, and nothing is replaced."""
    (tmp_path / "policies").write_text("a file")
    assert run(["init", str(tmp_path)]) == 64
    assert str(tmp_path / "policies") in capfd.readouterr().err
    (tmp_path / "file").write_text("")
    assert run(["init", str(tmp_path / "file")]) == 64


def test_half_a_file_is_not_left_for_the_next_call_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The disk fills up while a file is written: 74, and the next call writes it whole."""

    def on_a_full_device(path: str, mode: str) -> IO[bytes]:
        open(path, mode).close()
        return open("/dev/full", "wb")

    with monkeypatch.context() as patch:
        patch.setattr(init, "starter", lambda name: name.encode())
        patch.setattr(init, "open", on_a_full_device, raising=False)
        assert run(["init", str(tmp_path)]) == 74
    assert "remedy: " in capfd.readouterr().err
    assert not list(tmp_path.rglob("*.json"))
    assert _init_json(capfd, str(tmp_path))["kept"] == []


def test_every_file_of_the_starter_content_is_laid_out() -> None:
    """Package data that nobody writes, or a name that the package lacks."""
    there = os.listdir(os.path.join(os.path.dirname(init.__file__), "starter"))
    assert sorted(there) == sorted(init.FILES.values())


def test_git_keeps_the_log_and_leaves_out_what_is_derived_from_it(laid_out: Path) -> None:
    """A committed projection or lock would travel to machines where it is wrong."""
    subprocess.run(["git", "init", "-q"], cwd=laid_out, check=True)
    names = [
        f"logs/decision.ndjson{end}" for end in ("", ".lock", ".db", ".db-wal", ".db-shm", ".torn-1", ".unrecorded")
    ]
    ignored = subprocess.run(["git", "check-ignore", *names], cwd=laid_out, check=False, capture_output=True, text=True)
    assert ignored.stdout.split() == names[1:5]
