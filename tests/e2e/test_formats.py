"""SPEC 8: every command in every format it has; json is one document, the same wherever it is printed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gatekeeper.cli import tables
from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, snapshot
from tests.e2e.terminal import in_terminal
from tests.proof.samples import PLAIN, PLAIN_LINE

pytestmark = pytest.mark.slow  # many processes

Prepare = Callable[[Desk], list[str]]


def _check(metrics: dict[str, object]) -> Prepare:
    def prepare(desk: Desk) -> list[str]:
        desk.begin_at("CANARY_10")
        return desk.asking(dict(metrics))

    return prepare


def _after_hold(*argv: str) -> Prepare:
    def prepare(desk: Desk) -> list[str]:
        token = desk.hold_at_canary_25()
        return [token if word == "TOKEN" else word for word in argv]

    return prepare


def _run(desk: Desk) -> list[str]:
    for stage in ("DRY_RUN", "SHADOW"):
        desk.write(f"{stage}.json", snapshot(HEALTHY, name=stage))
    desk.write("CANARY_10.json", snapshot(HARMFUL))
    return ["run", "--policy", "policy.json", "--experiment", "checkout", "--variant", "B", "--snapshots", "."]


def _resume(desk: Desk) -> list[str]:
    token = desk.hold_at_canary_25()
    return ["resume", token, "--snapshot", desk.evidence(HEALTHY)]


def _policy(desk: Desk) -> list[str]:
    desk.write("broken.json", '{"policy_id": "x", "policy_version": "1", "guardrails": [{"metric": "m"}]}')
    return ["policy", "check", "policy.json", "broken.json"]


def _changed_policy(desk: Desk) -> list[str]:
    document = json.loads((desk.place / "policy.json").read_bytes())
    desk.write("changed.json", json.dumps({**document, "policy_version": "8", "suppressions": []}))
    return ["policy", "diff", "policy.json", "changed.json"]


def _tried(desk: Desk) -> list[str]:
    desk.hold_at_canary_25()
    return ["policy", "backtest", "policy.json"]


def _golden(desk: Desk) -> list[str]:
    desk.write("s.json", snapshot(HEALTHY))
    context = {"stage": "DRY_RUN", "evaluated_at": "2026-02-18T01:00:10Z"}
    case = {"name": "n", "policy": "policy.json", "snapshot": "s.json", "context": context}
    desk.write("case.json", {**case, "expect": {"verdict": "REJECT"}})
    return ["policy", "test", "case.json"]


def _collection(desk: Desk) -> str:
    metrics = {"lag": {"source": "svc", "pointer": "/lag"}}
    source = {"type": "http", "url": "https://svc.example.com"}
    return desk.write("collection.json", {"sources": {"svc": source}, "metrics": metrics})


def _lint(desk: Desk) -> list[str]:
    return ["collect", "--lint", _collection(desk), "--policy", "policy.json"]


def _policy_and_collection(desk: Desk) -> list[str]:
    return ["policy", "check", "policy.json", "--collection", _collection(desk)]


def _head(desk: Desk) -> list[str]:
    desk.begin_at("CANARY_10")
    return ["log", "head"]


def _signed(desk: Desk) -> list[str]:
    desk.begin_at("CANARY_10")
    desk.write("key", PLAIN)
    desk.write("key.pub", PLAIN_LINE)
    return ["log", "checkpoint", "--key", "key"]


def _proven(desk: Desk) -> list[str]:
    assert desk.gate(*_signed(desk)).code == 0
    return ["log", "prove", "3", "--with-line"]


def _sealed(desk: Desk) -> list[str]:
    desk.begin_at("CANARY_10")
    assert desk.gate("log", "rotate").code == 0
    return ["log", "archive", "--compression", "gzip"]


def _prunable(desk: Desk) -> list[str]:
    _sealed(desk)
    desk.write("key", PLAIN)
    desk.write("key.pub", PLAIN_LINE)
    assert desk.gate("log", "checkpoint", "--key", "key", "--out", "note").code == 0
    return ["log", "prune", "--before", "4", "--checkpoint", "note", "--public-key", "key.pub"]


def _proof(desk: Desk) -> list[str]:
    assert desk.gate(*_proven(desk), "--out", "proof").code == 0
    return ["log", "check-proof", "proof", "--public-key", "key.pub"]


def _exported(desk: Desk) -> list[str]:
    desk.begin_at("CANARY_10")
    assert desk.gate("log", "export", "--to", "copy.ndjson").code == 0
    return ["log", "export", "--to", "copy.ndjson"]


def _imported(desk: Desk) -> list[str]:
    return ["log", "import", _exported(desk)[-1]]


SCENES: dict[str, tuple[tuple[str, ...], Prepare, int, bytes]] = {
    "accept": (("check",), _check(HEALTHY), 0, b"[OK] r-41"),
    "reject": (("check",), _check(HARMFUL), 1, b"[STOP] r-41"),
    "degrade": (("check",), _check(BLIND), 2, b"[HOLD] r-41"),
    "run": (("run",), _run, 1, b"[OK] checkout:B:7"),
    "resume": (("resume",), _resume, 0, b"[OK] r-41"),
    "reevaluate": (("reevaluate",), _after_hold("reevaluate"), 2, b"1 of 1 holds asked"),
    "stop": (("stop",), _after_hold("stop", "r-41", "--reason", "tickets"), 0, b"[STOP] r-41"),
    "queue": (("queue",), _after_hold("queue"), 0, b"1 open hold"),
    "status": (("status",), _after_hold("status"), 0, b"1 run"),
    "status-of-one": (("status",), _after_hold("status", "r-41"), 0, b"r-41  HELD"),
    "explain": (("explain",), _after_hold("explain", "r-41:CANARY_25"), 0, b"[HOLD] r-41"),
    "replay": (("replay",), _after_hold("replay"), 0, b"2 events"),
    "replay-groups": (("replay",), _after_hold("replay", "--group-by", "verdict"), 0, b"2 groups, by verdict"),
    "verify": (("verify",), _after_hold("verify"), 0, b"the log verifies"),
    "policy-check": (("policy", "check"), _policy, 65, b"policy.json loads"),
    "policy-check-collection": (("policy", "check"), _policy_and_collection, 10, b"policy.json loads"),
    "policy-backtest": (("policy", "backtest"), _tried, 0, b"policy.json changes no verdict of 2 recorded decisions"),
    "policy-diff": (("policy", "diff"), _changed_policy, 0, b"changed.json: 1 change is neutral"),
    "policy-explain": (("policy", "explain"), lambda _: ["policy", "explain", "policy.json"], 0, b"checkout-api, vers"),
    "policy-test": (("policy", "test"), _golden, 10, b"1 golden case: 1 failed"),
    "policy-suggest-cases": (
        ("policy", "suggest-cases"),
        _after_hold("policy", "suggest-cases", "--at-least", "1"),
        0,
        b"2 recurring entries have no golden case, 0 have one",
    ),
    "collect-lint": (("collect",), _lint, 10, b"collection.json loads"),
    "log-head": (("log", "head"), _head, 0, b"head of the log: seq 3"),
    "log-stat": (("log", "stat"), _after_hold("log", "stat"), 0, b"4 events in 1 file"),
    "log-rotate": (("log", "rotate"), _after_hold("log", "rotate"), 0, b"sealed"),
    "log-archive": (("log", "archive"), _sealed, 0, b"1 segment archived"),
    "log-prune": (("log", "prune"), _prunable, 0, b"1 segment removed"),
    "log-rebuild": (("log", "rebuild"), _after_hold("log", "rebuild"), 0, b"state rebuilt from the log"),
    "log-export": (("log", "export"), _exported, 0, b"nothing new to export"),
    "log-import": (("log", "import"), _imported, 0, b"nothing new"),
    "log-checkpoint": (("log", "checkpoint"), _signed, 0, b"gatekeeper/decision.ndjson\n3\n"),
    "log-prove": (("log", "prove"), _proven, 0, b"c2sp.org/tlog-proof@v1\n"),
    "log-check-proof": (("log", "check-proof"), _proof, 0, b"proven: this is line 3 of the 3"),
    "init": (("init",), lambda _: ["init", "gates"], 0, b""),
}
"""Name -> command, what makes it, exit code, how its text begins."""


def _formats(path: tuple[str, ...]) -> tuple[str, ...]:
    command = tables.find(list(path))
    assert command is not None
    return next(option.choices for option in command.options if option.name == "output")


def test_every_command_that_answers_in_formats_has_a_scene() -> None:
    """A new command is not left out here; tests/cli/test_migrate.py has the one that needs a database."""
    declared = {command.path for command in tables.every() if any(o.name == "output" for o in command.options)}
    assert {path for path, _, _, _ in SCENES.values()} == declared - {("log", "migrate")}


@pytest.mark.parametrize("name", SCENES)
def test_a_command_answers_in_every_format_it_declares(name: str, tmp_path: Path) -> None:
    """The exit code is the same in all, json is one document, text begins with its mark."""
    path, prepare, code, beginning = SCENES[name]
    argv: list[str] = []
    for output in _formats(path):
        if name == "resume" or not argv:  # a token is spent by its first use; all else is answered the same again
            place = tmp_path / output
            place.mkdir()
            desk = Desk(place)
            argv = prepare(desk)
        done = desk.gate(*argv, "-o", output)
        assert done.code == code, (output, done)
        assert "internal" not in done.err
        assert b"\x1b" not in done.out
        if output == "json":
            assert "error" not in done.document
        elif output == "ndjson":
            lines = done.out.split(b"\n")
            assert lines.pop() == b""
            assert lines
            assert all(isinstance(json.loads(line), dict) for line in lines)
        elif output == "sarif":
            assert json.loads(done.out)["version"] == "2.1.0"
        elif output == "junit":
            assert ET.fromstring(done.out).tag == "testsuites"
        elif output == "markdown":
            assert done.out.startswith(b"### ")
        elif output == "text":
            assert done.out.startswith(beginning)
        else:
            assert done.out.startswith((b"[OK] ", b"[STOP] ", b"[HOLD] ", b"### "))


NEUTRAL = {
    "LANG": "C",
    "LC_ALL": "C",
    "COLUMNS": "40",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


@pytest.mark.parametrize("name", ["status-of-one", "queue", "explain", "replay", "verify", "log-head", "policy-check"])
def test_json_is_the_same_document_in_every_terminal(name: str, desk: Desk) -> None:
    """Width, locale, colours and a terminal change text, never what a program reads."""
    _, prepare, code, _ = SCENES[name]
    argv = [*prepare(desk), "-o", "json"]
    plain = desk.gate(*argv)
    assert plain.code == code
    assert desk.gate(*argv, **NEUTRAL).out == plain.out
    assert desk.gate(*argv, LANG="C.UTF-8", COLUMNS="200", TERM="xterm-256color", FORCE_COLOR="1").out == plain.out
    terminal = in_terminal(desk, *argv)
    assert (terminal.code, terminal.out.replace(b"\r\n", b"\n")) == (code, plain.out)


def test_a_recorded_answer_is_the_same_in_every_terminal(desk: Desk) -> None:
    """The json of a check, too: the run is stopped, so each call gets the recorded REJECT."""
    desk.begin_at("CANARY_10")
    first = desk.check(HARMFUL)
    argv = desk.asking(HEALTHY, "-o", "json")
    again = desk.gate(*argv)
    assert again.code == 1
    assert {**first.document, "recorded": True} == again.document
    assert desk.gate(*argv, **NEUTRAL).out == again.out
    assert in_terminal(desk, *argv).out.replace(b"\r\n", b"\n") == again.out


def test_json_of_a_check_is_the_event_as_logged_and_the_run(desk: Desk) -> None:
    """What a program reads is what the log holds, plus a sentence per finding, `recorded` and `run`."""
    desk.begin_at("CANARY_10")
    document = desk.check(BLIND).document
    assert document.pop("recorded") is False
    assert document.pop("run") == {"state": "HELD", "stage": "CANARY_10", "next_stage": "CANARY_25", "percent": 10}
    assert all(finding.pop("message") for finding in document["decision"]["findings"])
    assert document == desk.events()[-1]


def test_replay_ndjson_prints_the_recorded_bytes(desk: Desk) -> None:
    """Another program can check the chain with what it gets."""
    desk.hold_at_canary_25()
    kinds = [word for kind in ("decision", "policy", "action", "refusal") for word in ("--kind", kind)]
    assert desk.gate("replay", *kinds, "-o", "ndjson").out == desk.log.read_bytes()


CHECK = ["check", "--policy", "policy.json", "--experiment", "e", "--variant", "B", "--snapshot", "ok.json"]
ERRORS: dict[str, tuple[list[str], int, str]] = {
    "no such option": (["check", "--polcy", "x"], 64, "usage"),
    "no such command": (["chek"], 64, "usage"),
    "no policy file": ([*CHECK[:2], "none.json", *CHECK[3:]], 65, "policy.invalid"),
    "no snapshot file": ([*CHECK[:-1], "none.json"], 65, "snapshot.invalid"),
    "no log": (["verify"], 74, "log.unwritable"),
    "no such run": (["status", "nobody"], 65, "input.refused"),
    "no such run to stop": (["stop", "nobody", "--reason", "x"], 65, "run.refused"),
    "no such event": (["explain", "nothing:here"], 74, "log.unwritable"),
    "no such token": (["resume", "hold-0", "--snapshot", "ok.json"], 65, "token.refused"),
    "a stage that a new run cannot ask": ([*CHECK, "--stage", "CANARY_50"], 65, "input.refused"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_one_document_with_its_remedy(name: str, desk: Desk) -> None:
    """A program reads `error` from standard output; people read the same on standard error; nothing is created."""
    argv, code, kind = ERRORS[name]
    desk.write("ok.json", snapshot(HEALTHY))
    done = desk.gate(*argv, "-o", "json")
    assert done.code == code
    error = done.document["error"]
    assert set(error) == {"code", "message", "remedy", "exit_code"}
    assert (error["code"], error["exit_code"]) == (kind, code)
    assert error["message"]
    assert error["remedy"]
    told = desk.gate(*argv)
    assert (told.code, told.out) == (code, b"")
    assert told.err == f"gatekeeper: {error['message']}\n  remedy: {error['remedy']}\n"
    assert not desk.log.parent.exists()


def github(desk: Desk) -> dict[str, str | None]:
    """The variables that a runner sets."""
    return {"GITHUB_OUTPUT": str(desk.place / "out"), "GITHUB_STEP_SUMMARY": str(desk.place / "summary")}


def outputs(desk: Desk) -> dict[str, str]:
    """Step outputs as the runner reads them."""
    return dict(line.split("=", 1) for line in (desk.place / "out").read_text().splitlines())


def test_github_gets_outputs_summary_and_annotations(desk: Desk) -> None:
    """The step's outputs branch, the summary tells, the annotation stands at the job."""
    desk.begin_at("CANARY_10")
    done = desk.gate(*desk.asking(BLIND, "-o", "github"), **github(desk))
    assert done.code == 2
    assert done.out.startswith(b"[HOLD] r-41")
    assert b"::warning title=gatekeeper DEGRADE::" in done.out
    found = outputs(desk)
    assert (found["verdict"], found["proceed"], found["stage"]) == ("DEGRADE", "false", "CANARY_25")
    assert json.loads(found["missing"]) == ["error_rate"]
    token = found["resume_token"]
    assert token.startswith("hold-")
    assert (desk.place / "summary").read_text().startswith("### \\[HOLD\\] r-41")
    (desk.place / "out").unlink()
    assert desk.gate("resume", token, "--snapshot", desk.evidence(), "-o", "github", **github(desk)).code == 0
    assert (outputs(desk)["proceed"], outputs(desk)["percent"]) == ("true", "25")


def test_github_outputs_of_reevaluate_are_those_of_the_worst_verdict(desk: Desk) -> None:
    """A later hold that passes must not tell the step to proceed when an earlier one is rejected."""
    for run, variant in (("bad", "A"), ("good", "B")):
        desk.write(f"{run}.json", snapshot(BLIND, name=run))
        argv = ["check", "--policy", "policy.json", "--experiment", "checkout", "--variant", variant, "--run-id", run]
        assert desk.gate(*argv, "--snapshot", f"{run}.json").code == 2
    desk.write("bad.json", snapshot(HARMFUL))
    desk.write("good.json", snapshot(HEALTHY))
    assert desk.gate("reevaluate", "-o", "github", **github(desk)).code == 1
    assert (outputs(desk)["verdict"], outputs(desk)["proceed"]) == ("REJECT", "false")


def test_github_reports_go_to_the_summary_and_annotate_policies(desk: Desk) -> None:
    """A reviewer sees the problem at its line of the policy file."""
    argv = _policy(desk)
    done = desk.gate(*argv, "-o", "github", **github(desk))
    assert done.code == 65
    assert b"::error file=broken.json,line=1,col=" in done.out
    assert "broken.json does not load" in (desk.place / "summary").read_text()
    desk.hold_at_canary_25()
    assert desk.gate("verify", "-o", "github", **github(desk)).code == 0
    assert "### the log verifies" in (desk.place / "summary").read_text()


def test_github_files_that_cannot_be_written_change_no_verdict(desk: Desk) -> None:
    """The verdict is recorded by then; the trouble is told."""
    desk.begin_at("CANARY_10")
    done = desk.gate(*desk.asking(HARMFUL, "-o", "github"), GITHUB_OUTPUT=os.path.join("nowhere", "x"))
    assert done.code == 1
    assert "GITHUB_OUTPUT" in done.err
