"""The README's CI example, carried out: fresh checkouts, artifacts between them, a reject, a hold, a lost log."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.cli.init import starter
from gatekeeper.model.times import format_time
from tests.docs.console import blocks
from tests.docs.workflow_runner import Workflow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docs.workflow_runner import Job

pytestmark = pytest.mark.slow

TRAFFIC = "0 is ACCEPT, shift the traffic"
HEALTHY = {"error_ratio": 0.006, "latency_p95_ms": 352, "data_loss_incidents": 0}


@dataclass
class Pipeline:
    """The example with its artifacts, and the scripts that it calls."""

    workflow: Workflow
    base: Path

    @property
    def moved(self) -> list[str]:
        """What the traffic script was called with, in order."""
        path = self.base / "traffic"
        return path.read_text().split() if path.exists() else []

    def run(self, stage: str, metrics: dict[str, Any], *, collector: str = "cat collected.json") -> Job:
        """Run the job of *stage* in a checkout that holds the repository's files and nothing else."""
        checkout = self.base / f"checkout-{len(list(self.base.glob('checkout-*')))}"
        for directory in ("policies", "ci"):
            (checkout / directory).mkdir(parents=True)
        policy = json.loads(starter("policy.json"))
        del policy["stage_policy"]  # the test does not wait 15 minutes
        (checkout / "policies/rollout.json").write_text(json.dumps(policy))
        (checkout / "collected.json").write_text(json.dumps(_snapshot(metrics)))
        _script(checkout / "ci/collect-evidence", collector)
        _script(checkout / "ci/set-traffic", f'echo "$1" >> {self.base}/traffic')
        return self.workflow.run(stage, str(checkout), BAKE_SECONDS="0")


def _snapshot(metrics: dict[str, Any]) -> dict[str, Any]:
    now = format_time(time.time_ns() // 1000)
    meta = {"collected_at": now, "watermark_event_time": now, "window": "5m"}
    baseline = {"error_ratio": 0.0055, "latency_p95_ms": 347}
    return {"metrics": metrics, "baseline": {"metrics": baseline, "_meta": meta}, "_meta": meta}


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{line}\n")
    path.chmod(0o755)


@pytest.fixture
def text() -> str:
    """The one YAML block of the README."""
    (block,) = blocks("README.md", "yaml")
    return block


@pytest.fixture
def pipeline(text: str, tmp_path: Path) -> Pipeline:
    """The README's workflow on this machine."""
    workflow = Workflow(text, inputs={"change_id": "CHG-123"}, artifacts=str(tmp_path / "artifacts"))
    return Pipeline(workflow, tmp_path)


def test_accepted_stages_move_the_traffic_across_fresh_runners(pipeline: Pipeline) -> None:
    """Each job starts without a log; only what the artifact carries can tell the second one of the first."""
    assert not pipeline.run("DRY_RUN", HEALTHY).failed
    assert not pipeline.run("CANARY_10", HEALTHY).failed
    assert pipeline.moved == ["0", "10"]


def test_a_reject_behind_tee_rolls_back_and_never_moves_on(pipeline: Pipeline) -> None:
    """The exit code is gatekeeper's 1 and not the 0 of tee; 10 percent stay until the roll back."""
    pipeline.run("DRY_RUN", HEALTHY)
    pipeline.run("CANARY_10", HEALTHY)
    job = pipeline.run("CANARY_50", {**HEALTHY, "error_ratio": 0.02})
    assert job.outputs["gate"]["code"] == "1"
    assert job.failed
    assert TRAFFIC not in job.carried_out
    assert pipeline.moved == ["0", "10", "0"]


def test_a_hold_behind_tee_leaves_the_traffic_as_it_is_until_it_is_resumed(pipeline: Pipeline) -> None:
    """A metric is missing: no step moves the traffic. "Re-run failed jobs" is the hold's next attempt."""
    pipeline.run("DRY_RUN", HEALTHY)
    job = pipeline.run("CANARY_10", {**HEALTHY, "latency_p95_ms": None})
    assert job.outputs["gate"]["code"] == "2"
    assert job.failed
    assert pipeline.moved == ["0"]
    again = pipeline.run("CANARY_10", HEALTHY)
    assert again.outputs["gate"]["event_id"].endswith(":CANARY_10#2"), "the hold was carried by the artifact"
    assert pipeline.moved == ["0", "10"]


def test_a_lost_log_lets_nothing_through(pipeline: Pipeline) -> None:
    """Without the artifact a later stage is refused, not begun anew."""
    job = pipeline.run("CANARY_50", HEALTHY)
    assert job.outputs["gate"]["code"] == "65"
    assert job.failed
    assert pipeline.moved == []


def test_a_collector_that_fails_lets_nothing_through(pipeline: Pipeline) -> None:
    """No evidence, no question: neither forward nor back, and the log stays as it was."""
    pipeline.run("DRY_RUN", HEALTHY)
    job = pipeline.run("CANARY_10", HEALTHY, collector="echo '{}'; exit 7")
    assert "gate" not in job.outputs
    assert job.failed
    assert pipeline.moved == ["0"]
    assert not pipeline.run("CANARY_10", HEALTHY).failed


def test_the_workflow_that_init_writes_is_the_one_in_the_readme(text: str) -> None:
    """One example, tested once."""
    assert starter("rollout-gate.yml").decode() == text


def test_the_example_names_what_keeps_it_safe(pipeline: Pipeline) -> None:
    """A named shell (pipefail), one group per run that is not cancelled, and the stages of the starter policy."""
    document = pipeline.workflow.document
    assert document["defaults"]["run"]["shell"] == "bash"
    assert document["concurrency"]["cancel-in-progress"] is False
    assert "matrix" not in document["concurrency"]["group"], "one group for all jobs of the run"
    assert pipeline.workflow.legs == json.loads(starter("policy.json"))["stages"]
    (job,) = document["jobs"].values()
    assert job["strategy"]["max-parallel"] == 1
    assert job["strategy"]["fail-fast"] is True
    names = [step.get("name") for step in job["steps"]]
    keep = names.index("Keep the log, whatever the answer")
    assert job["steps"][keep]["if"] == "always()"
    assert names.index("Ask the gate") < keep < names.index(TRAFFIC), "the log is safe before the traffic moves"
