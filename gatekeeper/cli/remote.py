"""Ledgers that are no files, as commands open and read them. Loaded only where `--log` is an address.

One call of the program has one connection to each; it is given up when the call ends.
"""

from __future__ import annotations

import time

from gatekeeper.cli.output import say_once
from gatekeeper.errors import InputRefusedError, LedgerUnreachableError
from gatekeeper.ledger.address import POSTGRESQL, address_of, shown_log
from gatekeeper.model.line import stated_seq

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.address import Address
    from gatekeeper.model.exchange import Expectation, LogLine, Receipt
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import Clock, EventIndex, LedgerView, SharedLedger
    from gatekeeper.replay.blocks import Source

_SAME_OUTAGE_SECONDS = 1.0
"""So long a ledger that was not reached is not tried again: a check looks twice, and each look may wait for a limit."""

_BLOCK_BYTES = 1 << 20

FOLLOW_SECONDS = {POSTGRESQL: 1.0}
"""How often a growing ledger is asked, by its kind."""
_FOLLOW_SECONDS = 5.0  # a git remote: each look is a connection of its own

_open: dict[str, TellingLedger] = {}


class TellingLedger:
    """A shared ledger that tells what it noticed as soon as it was read, and an outage once."""

    def __init__(self, ledger: SharedLedger) -> None:
        self._ledger = ledger
        self._failed: tuple[LedgerUnreachableError, float] | None = None

    def view(self) -> LedgerView:
        """As `ports.Ledger.view`."""
        if self._failed is not None and time.monotonic() - self._failed[1] < _SAME_OUTAGE_SECONDS:
            raise self._failed[0]
        try:
            view = self._ledger.view()
        except LedgerUnreachableError as error:
            self._failed = error, time.monotonic()
            raise
        self._failed = None
        for warning in view.warnings:
            say_once(f"gatekeeper: {warning}")
        return view

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """As `ports.Ledger.append`."""
        return self._ledger.append(drafts, expect=expect, policies=policies, actor=actor)

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """As `ports.Ledger.leave_marker`."""
        return self._ledger.leave_marker(drafts)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """As `ports.Ledger.read`."""
        return self._ledger.read(start=start)

    def head(self) -> Mapping[str, Any]:
        """As `ports.SharedLedger.head`."""
        return self._ledger.head()

    def lines(self, *, after: int = 0) -> Iterator[bytes]:
        """As `ports.SharedLedger.lines`."""
        return self._ledger.lines(after=after)

    def line_digest_at(self, seq: int) -> str | None:
        """As `ports.SharedLedger.line_digest_at`."""
        return self._ledger.line_digest_at(seq)

    def index(self) -> EventIndex | None:
        """As `ports.SharedLedger.index`."""
        return self._ledger.index()

    def take_in(self, lines: Iterator[bytes]) -> int:
        """As `ports.SharedLedger.take_in`."""
        return self._ledger.take_in(lines)

    def rebuild(self) -> LedgerView:
        """As `ports.SharedLedger.rebuild`."""
        return self._ledger.rebuild()

    def close(self) -> None:
        """As `ports.SharedLedger.close`."""
        self._ledger.close()


def connect(address: Address, clock: Clock) -> SharedLedger:
    """The ledger at *address*; nothing is reached yet. Raises UsageError where what it needs is not installed."""
    if address.kind == POSTGRESQL:
        from gatekeeper.ledger.postgres.ledger import PostgresLedger

        return PostgresLedger(address, clock=clock)
    from gatekeeper.ledger.git.ledger import GitLedger

    return GitLedger(address, clock=clock)


def open_shared(log: str) -> TellingLedger:
    """The ledger that an address names: the one of this call, whoever asks."""
    from gatekeeper.cli.compose import SystemClock

    ledger = _open.get(log)
    if ledger is None:
        ledger = _open[log] = TellingLedger(connect(address_of(log), SystemClock()))
    return ledger


def close_shared() -> None:
    """Give up what this call has opened; trouble with that changes nothing any more."""
    while _open:
        _, ledger = _open.popitem()
        try:
            ledger.close()
        except (OSError, LedgerUnreachableError):  # it is gone already
            continue


def shared_lines(log: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines of a ledger behind a seq, each with its number, which is its seq."""
    number = 0
    for data in open_shared(log).lines(after=after):
        number = number + 1 if number else stated_seq(data) or after + 1
        yield number, data


def log_lines_of(log: str, may_match: Callable[[bytes], bool] | None = None, *, after: int = 0) -> Iterator[LogLine]:
    """The same parsed, less those in whose bytes *may_match* finds nothing to look for."""
    from gatekeeper.replay.lines import parse_line

    shown = shown_log(log)
    for number, data in shared_lines(log, after=after):
        if may_match is None or may_match(data):
            yield parse_line(shown, number, data)


def source_of(log: str, *, after: int) -> Source:
    """The ledger's lines for the readers that go through files in blocks; each pass reads the ledger itself."""
    from gatekeeper.replay.blocks import Source

    first = next(shared_lines(log, after=after), None)

    def content(start: int) -> Iterator[bytes]:
        passed = 0
        for block in _blocks(open_shared(log).lines(after=after)):
            if passed + len(block) > start:
                yield block[max(0, start - passed) :]
            passed += len(block)

    return Source(shown_log(log), lines_before=0 if first is None else first[0] - 1, content=content)


def last_line_of(log: str) -> LogLine:
    """The last event. Raises InputRefusedError where there is none (65)."""
    seq = int(open_shared(log).head()["seq"])
    for line in log_lines_of(log, after=seq - 1) if seq else ():
        return line
    raise InputRefusedError(no_event_words(log), remedy="make a first check, or name the log with --log")


def no_event_words(log: str) -> str:
    """What a person is told whose ledger is empty, or is named wrongly."""
    return f"the log at {shown_log(log)} has no event yet"


def follow_seconds(log: str) -> float:
    """How often to look for new lines."""
    return FOLLOW_SECONDS.get(address_of(log).kind, _FOLLOW_SECONDS)


def _blocks(lines: Iterator[bytes]) -> Iterator[bytes]:
    gathered, size = list[bytes](), 0
    for line in lines:
        gathered.append(line)
        size += len(line) + 1
        if size >= _BLOCK_BYTES:
            yield b"\n".join(gathered) + b"\n"
            gathered, size = [], 0
    if gathered:
        yield b"\n".join(gathered) + b"\n"
