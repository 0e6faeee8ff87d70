"""Rollouts on empty runners that only a ledger connects: pipelines that race, outages, and who may change what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from gatekeeper.ledger.address import DEFAULT_BRANCH
from tests.actions.site import HEALTHY, METRICS, Site, git
from tests.docs.console import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.actions.runner import Job
    from tests.lab.git_http import GitHttp
    from tests.lab.postgres import Postgres

pytestmark = pytest.mark.slow

EXAMPLES = "docs/examples/workflows"
GIT, POSTGRESQL = "", pytest.param("-postgresql", marks=pytest.mark.server)


@pytest.fixture(params=[GIT, POSTGRESQL], ids=["git", "postgresql"])
def form(request: pytest.FixtureRequest) -> str:
    """Which ledger: what the names of its two workflows end with."""
    if request.param:
        request.getfixturevalue("with_database")()
    return str(request.param)


def rollout(site: Site, form: str, stage: str, metrics: dict[str, Any]) -> Job:
    """A job of the rollout on an empty runner."""
    return site.run(site.workflow(read(f"{EXAMPLES}/canary{form}.yml")), metrics, stage=stage)


def cron(site: Site, form: str, metrics: dict[str, Any]) -> Job:
    """The cron workflow on an empty runner."""
    return site.run(site.workflow(read(f"{EXAMPLES}/holds{form}.yml")), metrics)


def at_once(*jobs: Callable[[], Job]) -> list[Job]:
    """All of them at the same time, as pipelines that know nothing of each other's concurrency group."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def test_a_job_finds_nothing_on_its_runner_but_its_own_clone(site: Site, form: str) -> None:
    """What connects two jobs is the ledger: the second one's home is empty before it asks."""
    first = rollout(site, form, "DRY_RUN", HEALTHY)
    second = rollout(site, form, "CANARY_10", HEALTHY)
    assert not first.failed
    assert not second.failed
    assert first.checkout != second.checkout
    assert first.temporary != second.temporary
    assert not (second.checkout / "logs").exists()
    if not form:
        for job in (first, second):
            (copy,) = (job.temporary / "home/.cache/gatekeeper").glob("*/log.ndjson")
            assert len(copy.read_text().splitlines()) == (2 if job is first else 3), "fetched anew, by a job of its own"
    assert [event["event_id"] for event in site.events if event["kind"] == "decision"] == [
        "exp-42:B:1:DRY_RUN",
        "exp-42:B:1:CANARY_10",
    ]


def moves(site: Site) -> list[tuple[str | None, str]]:
    """From where to where the run has gone, by the ledger; staying in a stage is no move."""
    events = [event for event in site.events if event["kind"] == "decision"]
    asked = [event["state_transition"] for event in events if event["decision"]["verdict"] == "ACCEPT"]
    return [(step["from"], step["to"]) for step in asked if step["from"] != step["to"]]


def test_pipelines_that_race_move_the_run_one_step(site: Site, form: str) -> None:
    """Four ask to enter a stage with evidence of their own: one enters, no later answer leads any further."""
    rollout(site, form, "DRY_RUN", HEALTHY)
    jobs = at_once(*[lambda: rollout(site, form, "CANARY_10", HEALTHY)] * 4)
    let_in = [job for job in jobs if job.outputs("gate").get("proceed") == "true"]
    assert let_in
    assert moves(site) == [(None, "DRY_RUN"), ("DRY_RUN", "CANARY_10")]
    assert site.moved == ["0", *["10"] * len(let_in)]
    assert [event["seq"] for event in site.events] == list(range(1, len(site.events) + 1))


def test_a_reject_wins_against_pipelines_that_race_with_it(site: Site, form: str) -> None:
    """Whoever is first: in the end the run is stopped, and every job behind it rolls back, cron's too."""
    rollout(site, form, "DRY_RUN", HEALTHY)
    jobs = at_once(
        lambda: rollout(site, form, "CANARY_10", HEALTHY),
        lambda: rollout(site, form, "CANARY_10", METRICS["REJECT"]),
        lambda: rollout(site, form, "CANARY_10", HEALTHY),
    )
    assert jobs[1].outputs("gate")["verdict"] == "REJECT"
    assert site.verdicts.count("REJECT") == 1
    assert site.verdicts[-1] == "REJECT"
    for stage in ("CANARY_10", "CANARY_50"):
        later = rollout(site, form, stage, HEALTHY)
        assert later.outputs("gate")["verdict"] == "REJECT"
        assert later.failed
        assert site.moved[-1] == "0"
    assert "Ask the gate" not in cron(site, form, HEALTHY).carried_out


def test_cron_and_a_job_that_is_started_again_end_a_hold_once(site: Site, form: str) -> None:
    """The metric is back, and both ask the held stage: the run moves once."""
    rollout(site, form, "DRY_RUN", HEALTHY)
    rollout(site, form, "CANARY_10", METRICS["DEGRADE"])
    at_once(lambda: cron(site, form, HEALTHY), lambda: rollout(site, form, "CANARY_10", HEALTHY))
    assert moves(site) == [(None, "DRY_RUN"), ("DRY_RUN", "CANARY_10")]
    assert set(site.moved) == {"0", "10"}
    assert not rollout(site, form, "CANARY_50", HEALTHY).failed


# --- outages


@pytest.fixture
def outage(host: GitHttp, form: str, request: pytest.FixtureRequest) -> Iterator[Callable[[bool], None]]:
    """`outage(True)`: the ledger is gone; `outage(False)`: it is back."""
    server: Postgres | None = request.getfixturevalue("guarded_postgres") if form else None

    def begin_or_end(begins: bool) -> None:
        host.is_down = begins
        if server is not None and begins:
            server.stop()
        elif server is not None:
            server.start()

    yield begin_or_end
    if server is not None and server.process is None:
        server.start()


def test_in_an_outage_nothing_moves_forward_and_the_job_is_started_again(
    site: Site, form: str, outage: Callable[[bool], None]
) -> None:
    """An ACCEPT that is in no ledger is none."""
    rollout(site, form, "DRY_RUN", HEALTHY)
    outage(True)
    job = rollout(site, form, "CANARY_10", HEALTHY)
    outage(False)
    assert job.failed
    assert job.outputs("gate")["proceed"] == "false"
    assert job.outputs("gate")["exit_code"] == "69"
    assert site.moved == ["0"]
    assert not rollout(site, form, "CANARY_10", HEALTHY).failed
    assert site.moved == ["0", "10"]


def test_in_an_outage_harm_still_rolls_back(site: Site, form: str, outage: Callable[[bool], None]) -> None:
    """Going back is always possible; the runner is gone with its note, so a person records it."""
    rollout(site, form, "DRY_RUN", HEALTHY)
    outage(True)
    job = rollout(site, form, "CANARY_10", METRICS["REJECT"])
    outage(False)
    assert job.failed
    assert job.outputs("gate")["verdict"] == "REJECT"
    assert "NOT RECORDED" in job.log
    assert site.moved == ["0", "0"]
    assert site.verdicts == ["ACCEPT"]


# --- who may do what


def test_a_job_without_its_token_moves_nothing(site: Site) -> None:
    """A branch that cannot be read might as well hold a REJECT."""
    site.token = "another"
    job = rollout(site, "", "DRY_RUN", HEALTHY)
    assert job.failed
    assert job.outputs("gate")["exit_code"] == "69"
    assert site.moved == []


def test_the_token_stands_in_no_file_of_the_runner_and_in_no_log(site: Site) -> None:
    """Steps behind the gate, and what a runner keeps, get nothing."""
    job = rollout(site, "", "DRY_RUN", HEALTHY)
    assert not job.failed
    assert site.token not in job.log + job.summary
    for place in (job.checkout, job.temporary):
        assert not [path for path in place.rglob("*") if path.is_file() and site.token.encode() in path.read_bytes()]


def refuse_pushes(site: Site) -> None:
    """As a rule of the branch does."""
    hook: Path = site.origin / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho protected branch; exit 1\n")
    hook.chmod(0o755)


def test_a_branch_that_takes_no_push_lets_nothing_through(site: Site) -> None:
    """The decision that nobody will find has not been made; harm rolls back all the same."""
    rollout(site, "", "DRY_RUN", HEALTHY)
    refuse_pushes(site)
    job = rollout(site, "", "CANARY_10", HEALTHY)
    assert job.failed
    assert job.outputs("gate")["proceed"] == "false"
    assert "protected branch" in job.log
    assert rollout(site, "", "CANARY_10", METRICS["REJECT"]).outputs("gate")["verdict"] == "REJECT"
    assert site.moved == ["0", "0"]
    assert site.verdicts == ["ACCEPT"]


def test_a_branch_that_is_gone_lets_nothing_through_where_nobody_may_make_it(site: Site) -> None:
    """With the rule that the guide asks for, a lost log begins no second history."""
    rollout(site, "", "DRY_RUN", HEALTHY)
    git(site.origin, "branch", "-D", DEFAULT_BRANCH)
    refuse_pushes(site)
    job = rollout(site, "", "DRY_RUN", HEALTHY)
    assert job.failed
    assert job.outputs("gate")["proceed"] == "false"
    assert site.moved == ["0"]


@pytest.mark.server
def test_a_job_with_a_wrong_password_moves_nothing(site: Site, with_database: Callable[[], None]) -> None:
    """Nor does one whose secret is not there: fork's pull requests have none."""
    with_database()
    for password in ("wrong", ""):
        site.secrets["GATE_DB_PASSWORD"] = password
        job = rollout(site, "-postgresql", "DRY_RUN", HEALTHY)
        assert job.outputs("gate")["exit_code"] == "69"
    assert site.moved == []


@pytest.mark.server
def test_the_jobs_user_can_change_no_line(site: Site, with_database: Callable[[], None]) -> None:
    """Not by the password either that every job has."""
    with_database()
    rollout(site, "-postgresql", "DRY_RUN", HEALTHY)
    before = site.lines
    changes = [
        "UPDATE gatekeeper.events SET line = '{}'",
        "DELETE FROM gatekeeper.events",
        "TRUNCATE gatekeeper.events",
        "DROP TABLE gatekeeper.events",
        "ALTER TABLE gatekeeper.events DISABLE TRIGGER append_only",
        "DROP SCHEMA gatekeeper CASCADE",
    ]
    hostaddr, port = site.machine["PGHOSTADDR"], site.machine["PGPORT"]
    place = psycopg.conninfo.make_conninfo(site.variables["GATEKEEPER_LOG"], hostaddr=hostaddr, port=port)
    for change in changes:
        with (
            psycopg.connect(place, password=site.secrets["GATE_DB_PASSWORD"]) as session,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            session.execute(change.encode())
    assert site.lines == before
