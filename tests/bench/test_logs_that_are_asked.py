"""The long logs of the benchmark must be logs: a shortcut in their making would make queries or proof too easy."""

from __future__ import annotations

import importlib
import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
RECORDED, EVENTS = 600, 2_000
CHECK = "import sys; from gatekeeper.cli.app import main; sys.exit(main())"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log in which each recorded run is repeated some three times."""
    directory = tmp_path_factory.mktemp("log")
    path = directory / "decision.ndjson"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        make_log = importlib.import_module("make_log")
        make_log.write(str(path), EVENTS, *make_log.recorded(str(directory), RECORDED))
    return path


def events(log: Path) -> list[dict[str, Any]]:
    """Of a log."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def gatekeeper(*arguments: str) -> Any:
    """What a command answers as JSON; it must succeed."""
    command = [sys.executable, "-c", CHECK, *arguments, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_every_copy_verifies_as_if_it_had_been_judged_itself(log: Path) -> None:
    """Chain, canonical form, digests, unique ids, and every decision evaluated again."""
    report = gatekeeper("verify", "--log", str(log))
    assert report["events"] == EVENTS
    assert report["reevaluated"] == report["decisions"] == sum(one["kind"] == "decision" for one in events(log))
    assert report["not_comparable"] == {}


def test_copied_runs_are_whole_and_side_by_side(log: Path) -> None:
    """Each begins with its first check and goes on at other times than the rest."""
    found = events(log)
    runs: dict[str, list[dict[str, Any]]] = {}
    for event in found:
        if "run_id" in event:
            runs.setdefault(event["run_id"], []).append(event)
    assert all(run[0]["state_transition"]["from"] is None for run in runs.values())
    assert [one["ts"] for one in found] == sorted(one["ts"] for one in found)
    changes = sum(a.get("run_id") != b.get("run_id") for a, b in itertools.pairwise(found))
    assert changes > 1.5 * len(runs)
    assert gatekeeper("log", "rebuild", "--log", str(log))["runs"] == len(runs)


def test_a_hold_is_named_by_the_run_that_is_held(log: Path) -> None:
    """The name of a copied hold would otherwise be that of all its copies."""
    began: dict[str, set[str]] = {}
    for event in events(log):
        if event.get("resume"):
            began.setdefault(event["resume"]["resume_token"], set()).add(event["run_id"])
    assert len(began) > EVENTS * 0.04
    assert all(len(runs) == 1 for runs in began.values())


def test_the_log_has_every_kind_of_answer_in_about_the_stated_shares(log: Path) -> None:
    """A log of ACCEPTs alone would be quicker to ask."""
    found = events(log)
    verdicts = Counter(event["decision"]["verdict"] for event in found if event["kind"] == "decision")
    assert 0.02 < verdicts["REJECT"] / EVENTS < 0.09
    assert 0.04 < verdicts["DEGRADE"] / EVENTS < 0.13
    assert len({event.get("policy_digest") for event in found if event["kind"] == "policy"}) >= 10


def test_no_two_snapshots_of_a_recorded_run_are_alike(log: Path) -> None:
    """Equal ones would compress as no log of a real service does."""
    values = Counter(
        json.dumps(event["metrics_snapshot"]["metrics"]) for event in events(log) if event["kind"] == "decision"
    )
    assert len(values) > RECORDED * 0.8


def test_the_loop_that_verify_is_measured_against_finds_every_verdict(log: Path) -> None:
    """A loop that judged wrongly would have left out work."""
    done = subprocess.run(
        [sys.executable, str(BENCH / "peers" / "replay_loop.py"), str(log)], capture_output=True, text=True, check=False
    )
    decisions = sum(event["kind"] == "decision" for event in events(log))
    assert (done.returncode, done.stdout.split()) == (0, [str(decisions)] * 2), done.stderr
