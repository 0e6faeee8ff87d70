"""What a caller is told beside the decision, through the real handlers: the next stage, unreadable lines, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run

Capture = pytest.CaptureFixture[str]

POLICY = {
    "policy_id": "p",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01, "runbook": "https://runbooks.test/errors"}],
    "stages": ["DRY_RUN", "CANARY_10", "ROLLOUT_100"],
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a policy and evidence; no setting of the developer's reaches the calls."""
    monkeypatch.chdir(tmp_path)
    for name in ("GATEKEEPER_LOG", "GATEKEEPER_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    write("policy.json", POLICY)
    write("ok.json", {"errors": 0.001})
    write("again.json", {"errors": 0.002})
    write("blind.json", {})


def write(name: str, document: object) -> None:
    """A file in the working directory."""
    Path(name).write_text(json.dumps(document))


def check(snapshot: str, *argv: str, policy: str = "policy.json") -> list[str]:
    """The command line of a check that answers in json."""
    given = ["--policy", policy, "--experiment", "e", "--variant", "B", "--run-id", "r", "--snapshot", snapshot]
    return ["check", *given, "-o", "json", *argv]


def called(argv: list[str], capsys: Capture) -> tuple[int, Any, str]:
    """Exit code, the document on standard output, and standard error."""
    code = run(argv)
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_after_resume_and_reevaluate_the_next_stage_is_named(capsys: Capture) -> None:
    """A pipeline that goes by `run.next_stage` would take the rollout for finished."""
    _, held, _ = called(check("blind.json"), capsys)
    token = held["resume"]["resume_token"]
    code, passed, _ = called(["resume", token, "--snapshot", "ok.json", "-o", "json"], capsys)
    assert (code, passed["run"]["stage"], passed["run"]["next_stage"]) == (0, "DRY_RUN", "CANARY_10")
    called(check("blind.json"), capsys)
    write("blind.json", {"errors": 0.003})
    _, asked, _ = called(["reevaluate", "-o", "json"], capsys)
    (outcome,) = asked["holds"]
    assert outcome["check"]["run"]["next_stage"] == "ROLLOUT_100"


def test_the_next_stage_is_one_of_the_runs_own_policy(capsys: Capture) -> None:
    """Another policy was given, which does not judge this run: its stages are not the run's."""
    called(check("ok.json"), capsys)
    write("other.json", {**POLICY, "stages": ["DRY_RUN", "CANARY_25", "ROLLOUT_100"]})
    code, held, _ = called(check("again.json", "--stage", "DRY_RUN", policy="other.json"), capsys)
    assert code == 2
    assert held["decision"]["reason_codes"] == ["precondition_unknown:policy_changed"]
    assert held["run"] == {"state": "HELD", "stage": "DRY_RUN", "next_stage": "CANARY_10", "percent": 0}
    code, passed, _ = called(check("again.json"), capsys)
    assert (code, passed["run"]["next_stage"]) == (0, "CANARY_10")


def test_a_runbook_stands_with_the_findings_of_resume_too(capsys: Capture) -> None:
    """Whoever is on call resumes without the policy at hand."""
    _, held, _ = called(check("blind.json"), capsys)
    write("bad.json", {"errors": 0.5})
    assert run(["resume", held["resume"]["resume_token"], "--snapshot", "bad.json"]) == 1
    assert "https://runbooks.test/errors" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["replay"], ["status"], ["status", "r"], ["queue"], ["verify"]], ids=" ".join)
def test_every_reader_names_a_damaged_line(argv: list[str], capsys: Capture) -> None:
    """In json for programs and by its number on standard error, however often it is asked."""
    for snapshot in ("ok.json", "again.json", "blind.json"):
        called(check(snapshot), capsys)
    log = Path("logs/decision.ndjson")
    lines = log.read_bytes().split(b"\n")
    log.write_bytes(b"\n".join([*lines[:2], lines[2][:100], *lines[3:]]))
    for source in (["--log", str(log)], ["--log", "logs/*.ndjson"]):
        for _ in range(2):
            code, document, told = called([*argv, *source, "-o", "json"], capsys)
            assert code == (65 if argv == ["verify"] else 0)
            assert [(one["line"], one["problem"]) for one in document["damaged"]] == [(3, "damaged")]
            assert f"{log}:3: damaged line" in told


@pytest.mark.parametrize("argv", [["status"], ["queue"]], ids=" ".join)
def test_a_damaged_log_that_was_taken_away_ends_no_report(argv: list[str], capsys: Capture) -> None:
    """The state stays when a log is rotated, and there is no line left to name."""
    called(check("blind.json"), capsys)
    log = Path("logs/decision.ndjson")
    log.write_bytes(log.read_bytes() + b"rubbish\n")
    called([*argv, "-o", "json"], capsys)
    log.rename("logs/old")
    code, document, _ = called([*argv, "-o", "json"], capsys)
    assert (code, document["damaged"]) == (0, [])
    assert len(document[{"status": "runs", "queue": "holds"}[argv[0]]]) == 1


def test_people_see_the_place_of_a_mistake_where_a_program_reads_json(capsys: Capture) -> None:
    """The handout: file and place on standard error; a CI job that keeps the document in a file shows nothing else."""
    Path("torn.json").write_text('{"errors": ')
    code, document, told = called(check("torn.json"), capsys)
    assert (code, document["error"]["exit_code"]) == (65, 65)
    assert told == f"gatekeeper: {document['error']['message']}\n  remedy: {document['error']['remedy']}\n"
    assert "torn.json:1:" in told


@pytest.mark.parametrize(("snapshot", "verdict"), [("ok.json", "ACCEPT"), ("blind.json", "DEGRADE")])
def test_a_verdict_that_is_not_given_is_named(snapshot: str, verdict: str, capsys: Capture) -> None:
    """HO-13 with a folder in the log's place: people must see that it was the log, and what was found so far."""
    Path("logs/decision.ndjson").mkdir(parents=True)
    code, document, told = called(check(snapshot), capsys)
    assert (code, document["error"]["code"]) == (74, "state.unreadable")
    assert f"{verdict} was reached" in told
    assert "Is a directory" in told


@pytest.mark.parametrize("command", ["queue", "status", "reevaluate"])
def test_a_mistyped_log_is_no_silent_success(command: str, capsys: Capture) -> None:
    """Nothing is held in a log that is not there, and whoever named it reads so; a cron job would never know."""
    code, _, told = called([command, "--log", "logs/decison.ndjson", "-o", "json"], capsys)
    assert code == 0
    assert f"there is no log at {Path('logs/decison.ndjson').absolute()} yet" in told
    assert run(check("ok.json")) == 0
    capsys.readouterr()
    assert called([command, "-o", "json"], capsys)[2] == ""
