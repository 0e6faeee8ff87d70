from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gatekeeper.errors import LedgerUnreachableError
from gatekeeper.model.exchange import Expectation, Receipt
from gatekeeper.model.policy import LoadedPolicy
from gatekeeper.orchestrator import gate
from tests.doubles import MemoryLedger, MemoryView
from tests.orchestrator.desk import Desk, policy


class Unplugged(MemoryLedger):
    """A ledger elsewhere: nothing is reached while `reads` or `writes` says so."""

    reads = True
    writes = True

    def view(self) -> MemoryView:
        """As ever, or unreachable."""
        self._reach(is_up=self.reads)
        return super().view()

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """As ever, or unreachable."""
        self._reach(is_up=self.writes)
        return super().append(drafts, expect=expect, policies=policies, actor=actor)

    @staticmethod
    def _reach(*, is_up: bool) -> None:
        if not is_up:
            raise LedgerUnreachableError("postgresql://db/gate: connection refused", remedy="ask again when it is up")


@pytest.fixture
def ledger(desk: Desk) -> Unplugged:
    """The desk's ledger, elsewhere."""
    made = Unplugged(clock=desk.clock)
    desk.ledger = made
    return made


@pytest.mark.parametrize("when", ["reads", "writes"])
@pytest.mark.parametrize(("verdict", "metrics"), [("ACCEPT", {}), ("DEGRADE", {"errors": ...})])
def test_an_unreachable_ledger_is_69_and_lets_nothing_through(
    desk: Desk, ledger: Unplugged, when: str, verdict: str, metrics: dict[str, Any]
) -> None:
    """A pipeline tells an outage (try again) from a disk that needs mending by the code; told once, not nested."""
    desk.walk("DRY_RUN", "SHADOW")
    lines = list(ledger.lines)
    setattr(ledger, when, False)
    with pytest.raises(LedgerUnreachableError) as caught:
        desk.check(metrics=metrics)
    assert (caught.value.exit_code, caught.value.code) == (69, "ledger.unreachable")
    assert caught.value.message.count("is not given") == 1
    assert caught.value.message.startswith(f"{verdict} was reached")
    assert caught.value.remedy == "ask again when it is up"
    assert ledger.lines == lines


@pytest.mark.parametrize("when", ["reads", "writes"])
def test_harm_still_stops_while_the_ledger_is_not_reached(desk: Desk, ledger: Unplugged, when: str) -> None:
    """Exit 1, loudly unrecorded; the note becomes the run's REJECT as soon as the ledger is back."""
    desk.walk("DRY_RUN", "SHADOW")
    setattr(ledger, when, False)
    answer = desk.check("CANARY_10", metrics={"leaks": 1})
    assert (answer.verdict, answer.is_unrecorded) == ("REJECT", True)
    assert "REJECT IS NOT RECORDED: postgresql://db/gate: connection refused" in answer.warnings
    setattr(ledger, when, True)
    after = desk.check("CANARY_10")
    assert (after.verdict, after.is_recorded, after.event["from_marker"]) == ("REJECT", True, True)


def test_an_accept_that_could_not_be_written_is_never_judged_a_second_time(desk: Desk, ledger: Unplugged) -> None:
    """Judged again without state, the evidence could be found harmful at a stage that was not asked."""
    late = {"metric": "errors", "op": "<=", "threshold": 0.001, "stages": ["ROLLOUT_100"]}
    desk.policy = policy(guardrails=[late])
    ledger.writes = False
    with pytest.raises(LedgerUnreachableError, match="ACCEPT was reached and is not given"):
        desk.check()
    assert ledger.markers == []


def test_a_stop_that_does_not_reach_the_ledger_says_so(desk: Desk, ledger: Unplugged) -> None:
    """69 and not a silent success."""
    desk.walk("DRY_RUN")
    ledger.writes = False
    with pytest.raises(LedgerUnreachableError):
        gate.stop("r", reason="bad", actor="me", ledger=ledger)
    ledger.writes = True
    assert desk.run().state == "ACTIVE"
