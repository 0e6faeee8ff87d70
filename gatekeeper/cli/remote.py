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
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from gatekeeper.ledger.address import Address
    from gatekeeper.ledger.postgres.view import PostgresView
    from gatekeeper.ledger.projection_view import ProjectionView
    from gatekeeper.model.exchange import LogLine
    from gatekeeper.ports import Clock, LedgerView, SharedLedger
    from gatekeeper.replay.blocks import Source

    View = TypeVar("View", bound=LedgerView)

_SAME_OUTAGE_SECONDS = 1.0
"""So long a ledger that was not reached is not tried again: a check looks twice, and each look may wait for a limit."""

_BLOCK_BYTES = 1 << 20

FOLLOW_SECONDS = {POSTGRESQL: 1.0}
"""How often a growing ledger is asked, by its kind."""
_FOLLOW_SECONDS = 5.0  # a git remote: each look is a connection of its own

_open: dict[str, SharedLedger] = {}


class Teller:
    """Tells what a view noticed as soon as it was read, and spares the caller a second wait for the same outage."""

    def __init__(self) -> None:
        self._failed: tuple[LedgerUnreachableError, float] | None = None

    def view(self, look: Callable[[], View]) -> View:
        """What *look* gives. Raises what it raises."""
        if self._failed is not None and time.monotonic() - self._failed[1] < _SAME_OUTAGE_SECONDS:
            raise self._failed[0]
        try:
            view = look()
        except LedgerUnreachableError as error:
            self._failed = error, time.monotonic()
            raise
        for warning in view.warnings:
            say_once(f"gatekeeper: {warning}")
        return view


def connect(address: Address, clock: Clock) -> SharedLedger:
    """The ledger at *address*; nothing is waited for yet. Raises UsageError where what it needs is not installed."""
    teller = Teller()
    if address.kind == POSTGRESQL:
        from gatekeeper.ledger.postgres.ledger import PostgresLedger

        class TellingPostgresLedger(PostgresLedger):
            def view(self) -> PostgresView:
                return teller.view(super().view)

        return TellingPostgresLedger(address, clock=clock)
    from gatekeeper.ledger.git.ledger import GitLedger

    class TellingGitLedger(GitLedger):
        def view(self) -> ProjectionView:
            return teller.view(super().view)

    ledger = TellingGitLedger(address, clock=clock)
    ledger.look_ahead()  # git starts and asks while the policy is read
    return ledger


def open_shared(log: str) -> SharedLedger:
    """The ledger that an address names: the one of this call, whoever asks."""
    from gatekeeper.cli.compose import SystemClock

    ledger = _open.get(log)
    if ledger is None:
        ledger = _open[log] = connect(address_of(log), SystemClock())
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
