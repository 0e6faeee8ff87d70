"""A ledger elsewhere, played by a file: `ports.SharedLedger` with a real chain, index and markers, and outages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gatekeeper.errors import LedgerUnreachableError
from gatekeeper.ledger.address import Address
from gatekeeper.ledger.indexing import open_index
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.model.exchange import Expectation, Receipt
from gatekeeper.model.line import stated_seq
from gatekeeper.model.policy import LoadedPolicy
from gatekeeper.ports import Clock, EventIndex, LedgerView


class SharedFile:
    """The ledger at an address whose lines stand in *path*.

    While a file named `down` stands beside it, nobody reaches it; with `readonly`, nobody may append; with `unindexed`
    it has no index.
    """

    def __init__(self, address: Address, path: Path, *, clock: Clock) -> None:
        self.address = address
        self.path = path
        self.is_closed = False
        self.views = 0
        self._ledger = NdjsonLedger(str(path), clock=clock)

    def view(self) -> LedgerView:
        """As `ports.Ledger.view`."""
        self.views += 1
        self._reach()
        return self._ledger.view()

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """As `ports.Ledger.append`."""
        self._reach("down", "readonly")
        return self._ledger.append(drafts, expect=expect, policies=policies, actor=actor)

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """As `ports.Ledger.leave_marker`."""
        return self._ledger.leave_marker(drafts)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """As `ports.Ledger.read`."""
        self._reach()
        return self._ledger.read(start=start)

    def head(self) -> Mapping[str, Any]:
        """As `ports.SharedLedger.head`."""
        self._reach()
        return self._ledger.head()

    def lines(self, *, after: int = 0) -> Iterator[bytes]:
        """As `ports.SharedLedger.lines`."""
        self._reach()
        is_behind = after == 0
        for _, _, line, _ in raw_lines([str(self.path)]) if self.path.exists() else ():
            is_behind = is_behind or (stated_seq(line) or 0) > after
            if is_behind:
                yield line

    def index(self) -> EventIndex | None:
        """As `ports.SharedLedger.index`."""
        self._reach()
        return None if (self.path.parent / "unindexed").exists() else open_index(str(self.path))[0]

    def take_in(self, lines: Iterator[bytes]) -> int:
        """As `ports.SharedLedger.take_in`."""
        self._reach("down", "readonly")
        return self._ledger.take_in(lines)

    def rebuild(self) -> LedgerView:
        """As `ports.SharedLedger.rebuild`."""
        self._reach()
        return self._ledger.rebuild()

    def close(self) -> None:
        """As `ports.SharedLedger.close`."""
        self.is_closed = True
        self._ledger.close()

    def _reach(self, *signs: str) -> None:
        for sign in signs or ("down",):
            if (self.path.parent / sign).exists():
                raise LedgerUnreachableError(
                    f"{self.address.shown}: connection refused", remedy="start it, or mend the address"
                )
