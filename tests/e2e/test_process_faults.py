"""HO-12 and HO-13 with whole processes: the n-th disk call of a `check` fails or is its last, for every n."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import HARMFUL, HEALTHY, Document
from tests.e2e.forked import call_forked, call_here
from tests.faults.faulty_ops import (
    FaultyOps,
    fails_with,
    killed_after,
    killed_before,
    killed_within,
    takes_only,
)

pytestmark = pytest.mark.slow  # many processes

Fault = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


class Counting(FaultyOps):
    """Leaves the names of the calls in a file: the process that made them does not return."""

    place: Path

    def close(self, descriptor: int) -> None:
        """Each call counts; the last one is a close."""
        super().close(descriptor)
        self.place.write_text(json.dumps(self.log))


def steady(_: Desk) -> None:
    """A run at CANARY_10, log and state level."""


def torn(desk: Desk) -> None:
    """Somebody was killed within a write."""
    with desk.log.open("ab") as log:
        log.write(b'{"actor":"J\xc3')


def stateless(desk: Desk) -> None:
    """The state has gone."""
    for path in desk.log.parent.glob("decision.ndjson.db*"):
        path.unlink()


def new(desk: Desk) -> None:
    """There is no log yet."""
    shutil.rmtree(desk.log.parent)


Prepare = Callable[[Desk], None]


class Bench:
    """One prepared directory that is copied for each n."""

    def __init__(self, place: Path, prepare: Prepare, metrics: Document) -> None:
        self.place = place
        self.prepare = prepare
        self.metrics = metrics
        (place / "origin").mkdir()
        self.origin = Desk(place / "origin")
        self.origin.begin_at("CANARY_10")
        prepare(self.origin)

    def desk(self, name: str) -> Desk:
        """A desk of its own in the prepared situation."""
        shutil.copytree(self.origin.place, self.place / name)
        return Desk(self.place / name)

    def argv(self, desk: Desk) -> list[str]:
        """The check under test."""
        more = ["--start-stage", "CANARY_10", "--reason", "x"] if self.prepare is new else []
        return desk.asking(self.metrics, "-o", "json", *more)

    def calls(self) -> list[str]:
        """The disk calls of the check without a fault."""
        desk = self.desk("counted")
        counting = Counting()
        counting.arm()
        counting.place = desk.place / "calls.json"
        done = call_forked(desk, self.argv(desk), lambda: counting)
        assert done.code in {0, 1}, done
        calls: list[str] = json.loads((desk.place / "calls.json").read_text())
        assert calls.count("write") >= 1
        return calls

    def ask(self, desk: Desk, at: int, fault: Fault) -> Done:
        """The check whose n-th disk call meets the fault."""
        return call_forked(desk, self.argv(desk), lambda: FaultyOps(at, fault).arm())


def decisions(desk: Desk) -> list[Document]:
    """Decisions on lines that are terminated."""
    if not desk.log.exists():
        return []
    events = [json.loads(line) for line in desk.log.read_bytes().split(b"\n")[:-1]]
    return [event for event in events if event["kind"] == "decision"]


def assert_goes_on(desk: Desk, *, code: int, why: str) -> None:
    """`verify` passes, the next check gets *code* without repair by hand, and the log verifies then."""
    first = not decisions(desk)
    more = ["--start-stage", "CANARY_10", "--reason", "x"] if first else []
    after = call_here(desk, *desk.asking(HEALTHY, *more))
    assert after.code == code, (why, after)
    assert desk.log.read_bytes().endswith(b"\n"), why
    assert call_here(desk, "verify").code == 0, why
    ids = [event["event_id"] for event in decisions(desk)]
    assert len(ids) == len(set(ids)), why


@pytest.mark.parametrize("prepare", [steady, torn, new])
def test_an_accept_at_a_failing_disk_is_recorded_or_not_given(prepare: Prepare, tmp_path: Path) -> None:
    """0 and in the log, or 74 with the reason and no part of it in the log; never 1 or 2, never a bug."""
    bench = Bench(tmp_path, prepare, HEALTHY)
    calls = bench.calls()
    for at, name in enumerate(calls, start=1):
        desk, why = bench.desk(str(at)), f"call {at} of {len(calls)}: {name}"
        before = len(decisions(desk))
        done = bench.ask(desk, at, takes_only(0.5))
        assert done.code in {0, 74}, (why, done)
        assert len(decisions(desk)) - before == (1 if done.code == 0 else 0), (why, done)
        if done.code == 74:
            assert "remedy" in done.document["error"], why
        assert_goes_on(desk, code=0, why=why)


@pytest.mark.parametrize("prepare", [steady, new])
def test_a_reject_at_a_failing_disk_is_given_and_recorded_by_the_next_call(prepare: Prepare, tmp_path: Path) -> None:
    """Going back is always possible: 1 whichever call fails, loud where it is not recorded, then recorded once."""
    bench = Bench(tmp_path, prepare, HARMFUL)
    calls = bench.calls()
    for at, name in enumerate(calls, start=1):
        desk, why = bench.desk(str(at)), f"call {at} of {len(calls)}: {name}"
        before = len(decisions(desk))
        done = bench.ask(desk, at, fails_with(errno.EIO))
        assert done.code == 1, (why, done)
        recorded = len(decisions(desk)) - before
        assert ("REJECT IS NOT RECORDED" in done.err) is (recorded == 0), (why, done)
        assert_goes_on(desk, code=1, why=why)
        rejects = [event for event in decisions(desk) if event["decision"]["verdict"] == "REJECT"]
        assert len(rejects) == 1, why
        assert call_here(desk, "status", "r-41", "-o", "json").document["state"] == "STOPPED", why


@pytest.mark.parametrize(
    ("prepare", "kill"),
    [
        (steady, killed_within),
        (torn, killed_within),
        (new, killed_within),
        (stateless, killed_before),
        (steady, killed_after),
    ],
)
def test_a_check_killed_at_any_disk_call_needs_no_repair(prepare: Prepare, kill: Fault, tmp_path: Path) -> None:
    """Nothing was told, so either is right; what counts is that the log is whole and the next check passes."""
    bench = Bench(tmp_path, prepare, HEALTHY)
    calls = bench.calls()
    for at, name in enumerate(calls, start=1):
        desk, why = bench.desk(str(at)), f"killed at call {at} of {len(calls)}: {name}"
        before = decisions(desk)
        done = bench.ask(desk, at, kill)
        assert done.code == -9, (why, done)
        assert done.out == b"", why
        assert decisions(desk)[: len(before)] == before, why
        if desk.log.exists():
            assert call_here(desk, "verify").code == 0, why
        assert_goes_on(desk, code=0, why=why)
        stages = [event["stage"] for event in decisions(desk)]
        assert stages == ["CANARY_10", "CANARY_25", "CANARY_50"][: len(stages)], why
        for kept in desk.log.parent.glob("decision.ndjson.torn-*"):
            assert kept.name != "decision.ndjson.torn-untold", why
            assert kept.read_bytes(), why
