"""The workflows holds.yml and holds-postgresql.yml: cron asks a held stage again, from an empty runner, and acts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.actions.site import CRASHES, HEALTHY, METRICS, Site
from tests.docs.console import read

if TYPE_CHECKING:
    from tests.actions.runner import Job

pytestmark = pytest.mark.slow

EXAMPLES = "docs/examples/workflows"


@pytest.fixture(params=["", pytest.param("-postgresql", marks=pytest.mark.server)], ids=["git", "postgresql"])
def form(request: pytest.FixtureRequest) -> str:
    """Which ledger: what the names of its two workflows end with."""
    if request.param:
        request.getfixturevalue("with_database")()
    return str(request.param)


def canary(site: Site, form: str, metrics: dict[str, Any], stage: str) -> Job:
    """A stage of the rollout whose holds cron asks."""
    return site.run(site.workflow(read(f"{EXAMPLES}/canary{form}.yml")), metrics, stage=stage)


def holds(site: Site, form: str, metrics: dict[str, Any], **how: Any) -> Job:
    """The cron workflow, once."""
    return site.run(site.workflow(read(f"{EXAMPLES}/holds{form}.yml")), metrics, **how)


def held_at_canary_10(site: Site, form: str) -> None:
    """A rollout that waits for a metric."""
    canary(site, form, HEALTHY, "DRY_RUN")
    canary(site, form, METRICS["DEGRADE"], "CANARY_10")
    assert site.moved == ["0"]


@pytest.mark.parametrize(
    ("verdict", "moved", "fails"),
    [("ACCEPT", ["0", "10"], False), ("REJECT", ["0", "0"], True), ("DEGRADE", ["0"], False)],
)
def test_cron_asks_the_hold_and_moves_the_traffic_by_its_answer(
    site: Site, form: str, verdict: str, moved: list[str], fails: bool
) -> None:
    """To the stage that was held, back, or not at all; a hold that stays one is no failure of the cron job."""
    held_at_canary_10(site, form)
    job = holds(site, form, METRICS[verdict])
    assert job.outputs("hold")["stage"] == "CANARY_10"
    assert job.outputs("gate")["verdict"] == verdict
    assert job.outputs("gate")["event_id"].endswith(":CANARY_10#2")
    assert (job.failed, site.moved) == (fails, moved)
    assert site.verdicts == ["ACCEPT", "DEGRADE", verdict]


@pytest.mark.parametrize("how", CRASHES)
def test_cron_moves_nothing_without_a_verdict(site: Site, form: str, how: str) -> None:
    """Its own question to the queue fails first; where that works and the gate does not, see the action's tests."""
    held_at_canary_10(site, form)
    job = holds(site, form, HEALTHY, gate=CRASHES[how])
    assert job.failed
    assert site.moved == ["0"]
    assert site.verdicts == ["ACCEPT", "DEGRADE"]


def test_cron_leaves_a_run_alone_that_is_not_held(site: Site, form: str) -> None:
    """An accepted stage is not asked again, and no traffic is moved twice."""
    canary(site, form, HEALTHY, "DRY_RUN")
    job = holds(site, form, HEALTHY)
    assert not job.failed
    assert "Ask the gate" not in job.carried_out
    assert site.moved == ["0"]


def test_cron_does_not_ask_before_the_hold_is_due(site: Site, form: str) -> None:
    """The policy waits 300 seconds for a metric that is missing; asking every source sooner helps nobody."""
    path = site.base / "work/policies/rollout.json"
    policy = json.loads(path.read_text())
    policy["holds"]["observation_missing"]["retry_after_seconds"] = 300
    path.write_text(json.dumps(policy))
    site.commit("Wait")
    held_at_canary_10(site, form)
    job = holds(site, form, HEALTHY)
    assert not job.failed
    assert "Ask the gate" not in job.carried_out
    assert site.verdicts == ["ACCEPT", "DEGRADE"]


def test_the_rollout_goes_on_behind_a_hold_that_cron_has_ended(site: Site, form: str) -> None:
    """Both workflows read one log: the stage that cron let in is known, the next one may be asked."""
    held_at_canary_10(site, form)
    holds(site, form, HEALTHY)
    assert not canary(site, form, HEALTHY, "CANARY_50").failed
    assert site.moved == ["0", "10", "50"]
