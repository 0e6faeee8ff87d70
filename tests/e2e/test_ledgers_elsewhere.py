"""Real processes on real ledgers: an outage and its end, and a log that travels through all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from gatekeeper.ledger.address import shown_log
from tests.e2e.desk import RUN, Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY
from tests.lab.git import Bare, git
from tests.ledger.postgres_logs import Databases

SECRET = "s3cret-Pa55"


@dataclass
class Outage:
    """A ledger that is not reached until `end`."""

    log: str
    end: Callable[[], object]


@pytest.fixture(params=["git", pytest.param("postgres", marks=pytest.mark.server)])
def outage(request: pytest.FixtureRequest, desk: Desk) -> Outage:
    """The address is right from the beginning; what it leads to is missing."""
    desk.environment |= {
        "XDG_STATE_HOME": str(desk.place / "state"),
        "XDG_CACHE_HOME": str(desk.place / "cache"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    if request.param == "git":
        path = desk.place / "team.git"
        return Outage(f"git+file://ci:{SECRET}@{path}#log", lambda: git("init", "--quiet", "--bare", str(path)))
    databases: Databases = request.getfixturevalue("databases")
    url = databases.fresh(desk.place / "state").url
    sockets = desk.place / "sockets"
    name = url.partition("?")[0].rpartition("/")[2]
    log = f"postgresql://postgres:{SECRET}@/{name}?host={sockets}"
    return Outage(log, lambda: sockets.symlink_to(databases.server.home))


@pytest.mark.slow
def test_an_outage_lets_nothing_through_and_forgets_no_reject(desk: Desk, outage: Outage) -> None:
    """69, 69 and 1 while it lasts; the first call after it records the REJECT, and the run stays stopped."""
    log = ["--log", outage.log]
    for metrics, verdict in ((HEALTHY, "ACCEPT"), (BLIND, "DEGRADE")):
        done = desk.check(metrics, *log)
        error = done.document["error"]
        assert (done.code, error["code"], error["exit_code"]) == (69, "ledger.unreachable", 69)
        assert error["message"].startswith(f"{verdict} was reached without the run's state and is not given: ")
        assert shown_log(outage.log).partition("?")[0] in error["message"]
        assert error["remedy"]
        assert SECRET not in done.err + done.out.decode()
    done = desk.check(HARMFUL, *log)
    assert (done.code, done.document["decision"]["verdict"]) == (1, "REJECT")
    assert "REJECT IS NOT RECORDED" in done.err
    assert SECRET not in done.err + done.out.decode()
    (note,) = (desk.place / "state" / "gatekeeper").glob("*.unrecorded")
    assert SECRET.encode() not in note.read_bytes()
    outage.end()
    done = desk.check(HEALTHY, *log)
    assert (done.code, done.document["recorded"], done.document["from_marker"]) == (1, True, True)
    assert not note.exists()
    status = desk.gate("status", RUN, "-o", "json", *log).document
    assert status["state"] == "STOPPED"
    desk.assert_verifies(*log)


@pytest.mark.slow
def test_a_rollout_goes_through_empty_checkouts(desk: Desk, outage: Outage) -> None:
    """Each stage is a job of its own on an empty runner; all it has is the address."""
    outage.end()
    for number, stage in enumerate(["DRY_RUN", "SHADOW", "CANARY_10"]):
        runner = {f"XDG_{name}_HOME": str(desk.place / f"runner-{number}" / name) for name in ("STATE", "CACHE")}
        done = desk.gate(*desk.asking(HEALTHY, "-o", "json"), GATEKEEPER_LOG=outage.log, **runner)
        assert (done.code, done.document["stage"]) == (0, stage), done.err
    held = desk.gate(*desk.asking(BLIND, "-o", "json"), GATEKEEPER_LOG=outage.log)
    token = held.document["resume"]["resume_token"]
    (held_again,) = desk.gate("queue", "-o", "json", GATEKEEPER_LOG=outage.log).document["holds"]
    assert held_again["resume_token"] == token
    done = desk.gate("resume", token, "--snapshot", desk.evidence(), GATEKEEPER_LOG=outage.log)
    assert done.code == 0, done.err
    desk.assert_verifies("--log", outage.log)


@pytest.mark.slow
@pytest.mark.server
def test_a_log_travels_through_all_ledgers_with_its_bytes(desk: Desk, databases: Databases, tmp_path: Path) -> None:
    """File, PostgreSQL, git, file, and every other way round; where it has gone on, the rest follows."""
    desk.environment |= {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for metrics in (HEALTHY, HEALTHY, BLIND):
        desk.check(metrics)
    stops = ["logs/decision.ndjson", databases.fresh(tmp_path).url, Bare(tmp_path).log, "logs/back.ndjson"]
    stops += [Bare(tmp_path, "two.git").log, databases.fresh(tmp_path).url, "logs/end.ndjson"]
    for metrics in (HEALTHY, HARMFUL):  # it goes on where it began
        assert desk.check(metrics).code in {0, 1}
        for source, target in pairwise(stops):
            done = desk.gate("log", "import", source, "--log", target, "-o", "json")
            assert done.code == 0, done.err
        for name in ("back", "end"):
            assert (desk.log.parent / f"{name}.ndjson").read_bytes() == desk.log.read_bytes()
    assert desk.check(HEALTHY, run="mine").code == 0
    for log in stops[1:3]:
        desk.assert_verifies("--log", log)
        head = desk.gate("log", "head", "-o", "json", "--log", log).document
        assert desk.check(HEALTHY, "--log", log, run="other").code == 0
        done = desk.gate("log", "import", stops[0], "--log", log)
        assert (done.code, f"differ from seq {head['seq'] + 1} on" in done.err) == (65, True), done.err
