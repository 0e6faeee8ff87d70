"""The action asks a real gate, and gates that crash, lie or are missing: traffic moves for a recorded ACCEPT only."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.actions.site import HEALTHY, METRICS, Site
from tests.docs.console import read

if TYPE_CHECKING:
    from tests.actions.runner import Job

pytestmark = pytest.mark.slow

WORKFLOW = """
on: workflow_dispatch
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - name: Ask
        id: gate
        continue-on-error: CONTINUE_ON_ERROR
        uses: ./.github/actions/gate
        with:
          policy: policies/rollout.json
          experiment: exp-42
          variant: B
          stage: DRY_RUN
          snapshot: collected.json
          evidence: change_id=CHG-123
          log: ../decision.ndjson
          continue-on-hold: CONTINUE_ON_HOLD
      - name: Traffic
        if: steps.gate.outputs.proceed == 'true'
        run: ci/set-traffic "$PERCENT"
        env:
          PERCENT: ${{ steps.gate.outputs.percent }}
      - name: Traffic of somebody who forgot the status
        if: always() && steps.gate.outputs.proceed == 'true'
        run: ci/set-traffic again
      - name: Roll back
        if: always() && steps.gate.outputs.verdict == 'REJECT'
        run: ci/set-traffic back
"""
CRASHES = {
    "internal error": ("exit 70", "70"),
    "unwritable log": ("exit 74", "74"),
    "missing": ("", "127"),
    "killed": ("kill -9 $$", "137"),
    "terminated": ("kill -15 $$", "143"),
    "usage": ("exit 64", "64"),
    "refused input": ("exit 65", "65"),
    "dry run": ("exit 3", "70"),
    "another program of that name": ("exit 0", "70"),
    "an interpreter that fails": ("echo Traceback >&2; exit 1", "70"),
    "an interpreter that finds no script": ("exit 2", "70"),
    "accepts without a record": (
        'printf "verdict=ACCEPT\\nproceed=false\\nstage=DRY_RUN\\n" >> "$GITHUB_OUTPUT"; exit 0',
        "70",
    ),
    "accepts another stage": (
        'printf "verdict=ACCEPT\\nproceed=true\\nstage=ROLLOUT_100\\n" >> "$GITHUB_OUTPUT"; exit 0',
        "70",
    ),
    "accepts, then crashes": (
        'printf "verdict=ACCEPT\\nproceed=true\\nstage=DRY_RUN\\n" >> "$GITHUB_OUTPUT"; exit 70',
        "70",
    ),
    "says ACCEPT with the code of a reject": (
        'printf "verdict=ACCEPT\\nproceed=true\\nstage=DRY_RUN\\n" >> "$GITHUB_OUTPUT"; exit 1',
        "70",
    ),
}


def run(site: Site, metrics: dict[str, Any], *, hold: str = "false", error: str = "false", **how: Any) -> Job:
    """The small workflow above, once."""
    text = WORKFLOW.replace("CONTINUE_ON_HOLD", f'"{hold}"').replace("CONTINUE_ON_ERROR", error)
    return site.run(site.workflow(text), metrics, **how)


@pytest.mark.parametrize(
    ("verdict", "code", "moved"), [("ACCEPT", "0", ["0", "again"]), ("REJECT", "1", ["back"]), ("DEGRADE", "2", [])]
)
def test_only_an_accept_proceeds_and_only_a_reject_rolls_back(
    site: Site, verdict: str, code: str, moved: list[str]
) -> None:
    """The three verdicts of a real gate, their outputs, and the end of the step; DRY_RUN is 0 percent."""
    job = run(site, METRICS[verdict])
    outputs = job.outputs("gate")
    assert (outputs["verdict"], outputs["exit_code"]) == (verdict, code)
    assert outputs["proceed"] == ("true" if verdict == "ACCEPT" else "false")
    assert (job.failed, site.moved) == (verdict != "ACCEPT", moved)
    assert outputs["event_id"] == "exp-42:B:1:DRY_RUN"
    assert bool(outputs["resume_token"]) == (verdict == "DEGRADE")
    assert isinstance(json.loads(outputs["reason_codes"]), list)
    assert f"DRY_RUN  {verdict}" in job.log.replace("\t", " ")
    assert verdict in job.summary


def test_reason_codes_and_missing_are_arrays_for_a_program(site: Site) -> None:
    """A later step reads them with fromJSON."""
    outputs = run(site, METRICS["DEGRADE"]).outputs("gate")
    assert json.loads(outputs["reason_codes"]) == ["observation_missing:required_metric"]
    assert json.loads(outputs["missing"]) == ["latency_p95_ms"]


def test_a_hold_that_may_continue_ends_green_and_does_not_proceed(site: Site) -> None:
    """continue-on-hold: true."""
    job = run(site, METRICS["DEGRADE"], hold="true")
    assert not job.failed
    assert job.outputs("gate")["proceed"] == "false"
    assert job.outputs("gate")["verdict"] == "DEGRADE"
    assert site.moved == []


def test_continue_on_hold_lets_no_reject_pass(site: Site) -> None:
    """It is about DEGRADE alone."""
    job = run(site, METRICS["REJECT"], hold="true")
    assert job.failed
    assert site.moved == ["back"]


@pytest.mark.parametrize("how", CRASHES, ids=lambda how: how.replace(" ", "-"))
@pytest.mark.parametrize("hold", ["false", "true"])
def test_without_a_verdict_nothing_moves_and_the_step_fails(site: Site, how: str, hold: str) -> None:
    """Neither forward nor back, and the log of the job names the exit code."""
    gate, code = CRASHES[how]
    job = run(site, HEALTHY, hold=hold, gate=gate)
    assert job.failed
    assert site.moved == []
    outputs = job.outputs("gate")
    assert (outputs["proceed"], outputs["verdict"], outputs["exit_code"]) == ("false", "", code)
    assert "::error title=gatekeeper::no verdict" in job.log


@pytest.mark.parametrize("how", ["internal error", "killed", "missing"])
def test_a_crash_that_the_workflow_tolerates_does_not_proceed_either(site: Site, how: str) -> None:
    """continue-on-error makes the conclusion green, not the answer."""
    job = run(site, HEALTHY, error="true", gate=CRASHES[how][0])
    assert not job.failed
    assert (job.steps["gate"].outcome, job.steps["gate"].conclusion) == ("failure", "success")
    assert site.moved == []


def test_an_action_that_is_killed_itself_has_said_no(site: Site) -> None:
    """The gate takes the shell around it down: what counts is what was written before."""
    job = run(site, HEALTHY, gate="kill -9 $PPID")
    assert job.failed
    assert job.outputs("gate")["proceed"] == "false"
    assert site.moved == []


@pytest.mark.parametrize("value", ["", "yes", "True"])
def test_a_word_for_continue_on_hold_that_is_neither_is_refused(site: Site, value: str) -> None:
    """A typing mistake must not decide what a hold does; nothing is asked."""
    job = run(site, HEALTHY, hold=value)
    assert job.failed
    assert job.outputs("gate")["exit_code"] == "64"
    assert not (site.base / "decision.ndjson").exists()


def test_a_stage_must_be_named(site: Site) -> None:
    """GitHub does not hold anybody to `required`: the action does, or a lost log would begin at the first stage."""
    job = site.run(
        site.workflow(
            WORKFLOW.replace("stage: DRY_RUN", 'stage: ""')
            .replace("CONTINUE_ON_HOLD", '"true"')
            .replace("CONTINUE_ON_ERROR", "false")
        ),
        HEALTHY,
    )
    assert job.failed
    assert job.outputs("gate")["exit_code"] == "64"
    assert not (site.base / "decision.ndjson").exists()


@pytest.mark.parametrize("text", ['"; touch pwned; echo "', "$(touch pwned)", "`touch pwned`", "' ; touch pwned #"])
def test_an_input_is_never_shell(site: Site, text: str) -> None:
    """Whatever stands in an input reaches gatekeeper as one value."""
    (job,) = [run_with(site, "experiment: exp-42", f"experiment: {json.dumps(text)}")]
    assert job.failed
    assert not list(site.base.rglob("pwned"))


def test_several_references_are_handed_over_one_a_line(site: Site) -> None:
    """As a block of lines, blank ones among them; with a value that looks like an option."""
    lines = "evidence: |\n            change_id=CHG-123\n\n            dashboard_id=--help\n"
    job = run_with(site, "evidence: change_id=CHG-123\n", lines)
    assert job.outputs("gate")["verdict"] == "ACCEPT"
    events = [json.loads(line) for line in (site.base / "decision.ndjson").read_text().splitlines()]
    assert events[-1]["evidence_refs"] == {"change_id": "CHG-123", "dashboard_id": "--help"}


def test_a_value_that_looks_like_an_option_is_a_value(site: Site) -> None:
    """An experiment may be called like one."""
    job = run_with(site, "experiment: exp-42", "experiment: --help")
    assert job.outputs("gate")["event_id"] == "--help:B:1:DRY_RUN"


def run_with(site: Site, old: str, new: str) -> Job:
    """The workflow with a line changed."""
    assert old in WORKFLOW
    text = WORKFLOW.replace(old, new).replace("CONTINUE_ON_HOLD", '"false"').replace("CONTINUE_ON_ERROR", "false")
    return site.run(site.workflow(text), HEALTHY)


@pytest.mark.parametrize("action", ["gate", "policy-review"])
def test_every_input_reaches_the_shell_by_its_environment_and_is_used(action: str) -> None:
    """No `${{ }}` within a `run`, no input without a variable, and no variable that the script forgets."""
    document = yaml.safe_load(read(f".github/actions/{action}/action.yml"))
    scripts = [step["run"] for step in document["runs"]["steps"] if "run" in step]
    assert not [text for text in scripts if "${{" in text]
    handed_over = [
        value
        for step in document["runs"]["steps"]
        for value in [
            *step.get("env", {}).values(),
            *step.get("with", {}).values(),
            step.get("working-directory", ""),
            step.get("if", ""),
        ]
    ]
    for name in document["inputs"]:
        assert any(f"inputs.{name}" in value for value in handed_over), name
    names = [name for step in document["runs"]["steps"] for name in step.get("env", {})]
    text = "".join(scripts) + read(f".github/actions/{action}/{'gate' if action == 'gate' else 'review'}.sh")
    assert [name for name in names if not re.search(rf"\$\{{?{name}\b", text)] == []
