"""The README's workflow and those in docs/examples, carried out: fresh runners, one log, every kind of answer."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gatekeeper.cli.init import starter
from tests.actions.site import CRASHES, HEALTHY, METRICS, Site
from tests.docs.console import ROOT, blocks, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.actions.runner import Job, Workflow

pytestmark = pytest.mark.slow

EXAMPLES = "docs/examples/workflows"
TRAFFIC = "ACCEPT, shift the traffic"
SECRETS = ["${{ github.token }}", "${{ secrets.GATE_DB_PASSWORD }}"]


def readme(site: Site) -> Workflow:
    """The one YAML block of the README: the log is an artifact."""
    (text,) = blocks("README.md", "yaml")
    return site.workflow(text)


def canary(site: Site) -> Workflow:
    """The example with the action: the log is a branch of the repository."""
    return site.workflow(read(f"{EXAMPLES}/canary.yml"))


def canary_postgresql(site: Site) -> Workflow:
    """The same: the log is a database."""
    return site.workflow(read(f"{EXAMPLES}/canary-postgresql.yml"))


LEDGERS = [canary, pytest.param(canary_postgresql, marks=pytest.mark.server)]


@pytest.fixture(params=[readme, *LEDGERS])
def rollout(request: pytest.FixtureRequest, site: Site) -> Callable[..., Job]:
    """Runs a stage of a rollout as one of them: `rollout(stage, metrics, …)`."""
    if request.param is canary_postgresql:
        request.getfixturevalue("with_database")()
    workflow = request.param(site)
    return lambda stage, metrics, **how: site.run(workflow, metrics, stage=stage, **how)


def test_accepted_stages_move_the_traffic_across_fresh_runners(site: Site, rollout: Callable[..., Job]) -> None:
    """Each job starts without a log; only what is carried can tell the second one of the first."""
    assert not rollout("DRY_RUN", HEALTHY).failed
    assert not rollout("CANARY_10", HEALTHY).failed
    assert site.moved == ["0", "10"]


def test_a_reject_rolls_back_and_never_moves_on(site: Site, rollout: Callable[..., Job]) -> None:
    """10 percent stay until the roll back; and asked again, the run stays rejected."""
    rollout("DRY_RUN", HEALTHY)
    rollout("CANARY_10", HEALTHY)
    job = rollout("CANARY_50", METRICS["REJECT"])
    assert job.outputs("gate")["verdict"] == "REJECT"
    assert job.failed
    assert TRAFFIC not in job.carried_out
    assert rollout("CANARY_50", HEALTHY).failed, "the reject was carried"
    assert site.moved == ["0", "10", "0", "0"]


def test_a_hold_leaves_the_traffic_as_it_is_until_it_is_resumed(site: Site, rollout: Callable[..., Job]) -> None:
    """A metric is missing: no step moves the traffic. "Re-run failed jobs" is the hold's next attempt."""
    rollout("DRY_RUN", HEALTHY)
    job = rollout("CANARY_10", METRICS["DEGRADE"])
    assert job.outputs("gate")["verdict"] == "DEGRADE"
    assert job.failed
    assert site.moved == ["0"]
    again = rollout("CANARY_10", HEALTHY)
    assert again.outputs("gate")["event_id"].endswith(":CANARY_10#2"), "the hold was carried"
    assert site.moved == ["0", "10"]


@pytest.mark.parametrize("how", CRASHES)
def test_a_gate_without_a_verdict_moves_nothing(site: Site, rollout: Callable[..., Job], how: str) -> None:
    """Neither forward nor back, and no next stage."""
    rollout("DRY_RUN", HEALTHY)
    job = rollout("CANARY_10", HEALTHY, gate=CRASHES[how])
    assert job.failed
    assert job.outputs("gate").get("proceed") != "true"
    assert site.moved == ["0"]


def test_a_lost_log_lets_nothing_through(site: Site, rollout: Callable[..., Job]) -> None:
    """A later stage of a run that the log does not know is refused, not begun anew."""
    job = rollout("CANARY_50", HEALTHY)
    assert "remedy: ask DRY_RUN, or adopt a rollout" in job.log
    assert job.failed
    assert site.moved == []


def test_a_collector_that_fails_lets_nothing_through(site: Site) -> None:
    """No evidence, no question: neither forward nor back, and the log stays as it was."""
    workflow = readme(site)
    site.run(workflow, HEALTHY, stage="DRY_RUN")
    job = site.run(workflow, HEALTHY, stage="CANARY_10", collector="echo '{}'; exit 7")
    assert "Ask the gate" not in job.carried_out
    assert job.failed
    assert site.moved == ["0"]
    assert not site.run(workflow, HEALTHY, stage="CANARY_10").failed


# --- what keeps them safe, whatever the metrics


def every_workflow() -> dict[str, dict[str, Any]]:
    """The documented workflows by name."""
    names = sorted(os.listdir(os.path.join(ROOT, EXAMPLES)))
    texts = {name: read(f"{EXAMPLES}/{name}") for name in names} | {"starter": starter("rollout-gate.yml").decode()}
    return {name: yaml.safe_load(text) for name, text in texts.items()}


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    """All steps of all jobs."""
    return [step for job in document["jobs"].values() for step in job["steps"]]


def test_the_workflow_that_init_writes_is_the_one_in_the_readme() -> None:
    """One example, tested once."""
    assert [starter("rollout-gate.yml").decode()] == blocks("README.md", "yaml")


@pytest.mark.parametrize("name", every_workflow())
def test_every_step_that_moves_traffic_forward_is_guarded_by_proceed(name: str) -> None:
    """The one condition, to the letter; a roll back asks for REJECT."""
    moving = [step for step in steps(every_workflow()[name]) if "set-traffic" in step.get("run", "")]
    guards = {step["run"]: step.get("if") for step in moving}
    if name == "policy-review.yml":
        assert moving == []
        return
    assert guards == {
        'ci/set-traffic "$PERCENT"': "steps.gate.outputs.proceed == 'true'",
        "ci/set-traffic 0": "always() && steps.gate.outputs.verdict == 'REJECT'",
    }
    if name != "starter":
        assert "GATEKEEPER_LOG" in every_workflow()[name]["env"], "the gate itself keeps the log"
        return
    names = [step.get("name") for step in steps(every_workflow()[name])]
    keep = names.index("Keep the log, whatever the answer")
    assert steps(every_workflow()[name])[keep]["if"] == "always()"
    assert names.index("Ask the gate") < keep < names.index(TRAFFIC), "the log is safe before the traffic moves"


@pytest.mark.parametrize("name", ["starter", "canary.yml", "canary-postgresql.yml"])
def test_a_rollout_names_what_keeps_it_safe(name: str) -> None:
    """A named shell (pipefail), one group per run that is not cancelled, and the starter policy's stages."""
    document = every_workflow()[name]
    assert document["defaults"]["run"]["shell"] == "bash"
    assert document["concurrency"] == {"group": "rollout-exp-42-B", "cancel-in-progress": False}
    (job,) = document["jobs"].values()
    assert job["strategy"]["matrix"]["stage"] == json.loads(starter("policy.json"))["stages"]
    assert job["strategy"]["max-parallel"] == 1
    assert job["strategy"]["fail-fast"] is True


@pytest.mark.parametrize("form", ["", "-postgresql"])
def test_cron_asks_the_run_of_the_rollout_and_never_beside_it(form: str) -> None:
    """One group, so that two answers never move the traffic at once; one ledger; the run that the rollout is."""
    rollout, holds = every_workflow()[f"canary{form}.yml"], every_workflow()[f"holds{form}.yml"]
    assert holds["concurrency"] == rollout["concurrency"]
    assert holds["env"]["GATEKEEPER_LOG"] == rollout["env"]["GATEKEEPER_LOG"]
    policy = json.loads(starter("policy.json"))
    assert holds["env"]["RUN"] == f"exp-42:B:{policy['policy_version']}"


@pytest.mark.parametrize("name", [name for name in every_workflow() if name.startswith(("canary", "holds"))])
def test_only_steps_that_ask_the_ledger_hold_what_opens_it(name: str) -> None:
    """Scripts of the team, and whatever they call, get neither the token nor the password."""
    document = every_workflow()[name]
    secrets = [text for text in SECRETS if text in str(document)]
    assert len(secrets) == 1
    assert secrets[0] not in str({**document, "jobs": {}})
    for job in document["jobs"].values():
        assert secrets[0] not in str({**job, "steps": []})
        holders = [step["name"] for step in job["steps"] if secrets[0] in str(step)]
        assert set(holders) <= {"Is it held, and due?", "Ask the gate"}


def test_actions_of_others_are_pinned_by_one_commit_each() -> None:
    """In workflows, actions and pages: a tag can be moved, and two commits of one action would age apart."""
    pages = ["README.md", *(f"docs/guides/{name}" for name in os.listdir(os.path.join(ROOT, "docs/guides")))]
    files = [".github/workflows/ci.yml", *(f".github/actions/{name}/action.yml" for name in ("gate", "policy-review"))]
    files += [f"{EXAMPLES}/{name}" for name in os.listdir(os.path.join(ROOT, EXAMPLES))]
    used = {match for path in [*pages, *files] for match in re.findall(r"uses: (actions/\S+@.*)", read(path))}
    assert [use for use in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []
    assert len(used) == len({use.partition("@")[0] for use in used}) == 4


# --- the snippet of the guide


@pytest.mark.parametrize("verdict", ["ACCEPT", "REJECT", "DEGRADE"])
def test_the_guides_snippet_moves_by_the_verdict(site: Site, verdict: str) -> None:
    """As three steps of a job; the stage before has passed."""
    (snippet, *_) = blocks("docs/guides/ci.md", "yaml")
    snippet = snippet.replace("snapshot: evidence.json", "snapshot: collected.json")
    lines = "".join(f"      {line}\n" for line in snippet.splitlines())
    text = f"env: {{GATEKEEPER_LOG: {site.base}/decision.ndjson}}\njobs:\n  gate:\n    steps:\n{lines}"
    site.run(site.workflow(text.replace("CANARY_10", "DRY_RUN")), HEALTHY)
    job = site.run(site.workflow(text), METRICS[verdict])
    assert job.outputs("gate")["verdict"] == verdict
    assert site.moved == {"ACCEPT": ["0", "10"], "REJECT": ["0", "0"], "DEGRADE": ["0"]}[verdict]
