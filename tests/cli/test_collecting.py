"""A check that collects: what the policy asks and nobody collects, and why an outage holds, are told to people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run
from tests.lab.sockets import refused_port

Capture = pytest.CaptureFixture[str]
CHECK = ["check", "--policy", "policy.json", "--experiment", "e", "--variant", "v", "--collect", "collection.json"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a part that states healthy values of whatever the tests call their metrics."""
    monkeypatch.chdir(tmp_path)
    for name in ("GATEKEEPER_LOG", "GATEKEEPER_OUTPUT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    names = ("error_ratio", "eror_ratio", "queue", "leaks")
    Path("part.json").write_text(json.dumps({"metrics": dict.fromkeys(names, 0)}))


def write(*collected: str, asked: tuple[str, ...] = ("error_ratio", "leaks"), watched: tuple[str, ...] = ()) -> None:
    """A collection of these metrics, and a policy that asks and watches those."""
    source = {"part": {"type": "file", "path": "part.json"}}
    metrics = {name: {"source": "part"} for name in collected}
    Path("collection.json").write_text(json.dumps({"sources": source, "metrics": metrics}))
    guardrails: list[dict[str, Any]] = [{"metric": name, "op": "<=", "threshold": 1} for name in asked]
    guardrails += [{"metric": name, "op": "<=", "threshold": 1, "enforcement": "observe"} for name in watched]
    policy = {"policy_id": "p", "policy_version": "1", "guardrails": guardrails}
    Path("policy.json").write_text(json.dumps(policy))


def told(capsys: Capture) -> list[str]:
    """Lines of standard error about what nobody collects."""
    return [line for line in capsys.readouterr().err.splitlines() if "collected by nobody" in line]


def test_a_misspelt_metric_is_told_with_the_name_that_was_meant(capsys: Capture) -> None:
    """The hold alone says that it was not observed, which is also what an outage of its source looks like."""
    write("eror_ratio", "leaks")
    assert run(CHECK) == 2
    assert told(capsys) == [
        "gatekeeper: error_ratio is asked by the policy and collected by nobody; did you mean 'eror_ratio'?"
    ]


def test_a_metric_with_a_rule_of_its_own_is_not_what_was_meant(capsys: Capture) -> None:
    """The nearest name is asked, or watched, itself: no hint. What is only watched need not be collected."""
    write("eror_ratio", "eror_ratios", asked=("error_ratio", "eror_ratio"), watched=("eror_ratios", "queue"))
    assert run(CHECK) == 2
    assert told(capsys) == ["gatekeeper: error_ratio is asked by the policy and collected by nobody"]


def test_a_collection_that_brings_all_is_not_remarked_on(capsys: Capture) -> None:
    """More than is asked is no trouble either; that the verdict is the policy's is seen by its code."""
    write("error_ratio", "leaks", "queue")
    assert run(CHECK) == 0
    assert told(capsys) == []


def test_a_waiting_job_is_told_once(capsys: Capture) -> None:
    """Each attempt collects anew; the file and the policy stay the same."""
    write("leaks")
    assert run([*CHECK, "--wait", "50ms", "--interval", "10ms"]) == 2
    assert len(told(capsys)) == 1


def test_a_name_that_could_move_the_cursor_is_told_as_text(capsys: Capture) -> None:
    """Names of metrics go to a terminal."""
    write("leaks", asked=("err\x1b[2Jor",))
    assert run(CHECK) == 2
    (line,) = told(capsys)
    assert line.isprintable()


def test_an_outage_is_explained_by_each_command_that_shows_its_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Hours later there is the log and no standard error: `explain`, and the list of `reevaluate`."""
    address = f"127.0.0.1:{refused_port()}"
    monkeypatch.setenv("PROM", f"http://{address}")
    write(asked=("error_ratio",))
    source = {"prom": {"type": "prometheus", "url": "${PROM}"}}
    metrics = {"error_ratio": {"source": "prom", "query": "errors_ratio"}}
    Path("collection.json").write_text(json.dumps({"sources": source, "metrics": metrics}))
    why = f"(source prom, unreachable): connection refused by {address}"
    monkeypatch.setenv("COLUMNS", "400")
    assert run(CHECK) == 2
    assert why in capsys.readouterr().out
    assert run(["explain", "e:v:1:DRY_RUN"]) == 0
    assert why in capsys.readouterr().out
    assert run(["reevaluate"]) == 2
    said = f"source_unavailable; error_ratio (unreachable): connection refused by {address}"
    assert said in capsys.readouterr().out
