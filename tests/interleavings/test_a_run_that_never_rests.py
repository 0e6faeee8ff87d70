from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.model.exchange import ConflictError, Receipt
from gatekeeper.orchestrator import gate
from tests.interleavings.actors import OnAnother
from tests.orchestrator.desk import Desk


class OvertakenLedger(OnAnother):
    """Somebody else is always first."""

    attempts = 0

    def append(self, drafts: Sequence[Any], **_: Any) -> Receipt:
        """Count and refuse."""
        self.attempts += 1
        raise ConflictError(f"{len(drafts)} drafts come too late")


def always_overtaken(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> OvertakenLedger:
    """From now on nothing that this desk appends comes first; it gives up after five times."""
    monkeypatch.setattr(gate, "MAX_CONFLICTS", 5)
    ledger = OvertakenLedger(desk.open())
    desk.ledger = ledger
    return ledger


def test_a_call_that_is_always_overtaken_ends(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads again so many times and then gives up with 74; an ACCEPT that could not be recorded is not given."""
    desk.walk("DRY_RUN")
    before = desk.events()
    ledger = always_overtaken(desk, monkeypatch)
    with pytest.raises(LogError, match="moved 5 times") as caught:
        desk.check()
    assert (caught.value.exit_code, ledger.attempts) == (74, 5)
    with pytest.raises(LogError, match="moved 5 times"):
        gate.stop("r", reason="x", actor="sre", ledger=ledger)
    assert desk.events() == before


def test_harm_that_is_always_overtaken_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """REJECT is given unrecorded, with its marker, as when the disk is full."""
    desk.walk("DRY_RUN")
    always_overtaken(desk, monkeypatch)
    answer = desk.check(metrics={"leaks": 1})
    assert (answer.verdict, answer.is_unrecorded) == ("REJECT", True)
    desk.ledger = desk.open()
    assert desk.run().state == "STOPPED"
