"""Drafts become lines: checked against what the caller has seen, numbered, chained, timed."""

from __future__ import annotations

import sqlite3

from gatekeeper.ledger.projection_fold import StaleFoldError
from gatekeeper.model.canonical import encoder
from gatekeeper.model.event import line_digest, policy_draft, seal
from gatekeeper.model.exchange import ConflictError
from gatekeeper.model.policy import SCHEMA_VERSION
from gatekeeper.model.times import MICROSECONDS, format_time, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy

AHEAD_SECONDS = 60
"""A last line further ahead of the clock than this is reported."""

_LIVE_RUN = (
    "SELECT run_id FROM runs WHERE experiment_id = ? AND variant_id = ? AND simulated = ? AND live = 1 "
    "ORDER BY first_seq DESC LIMIT 1"
)


class Sealed:
    """Events with their lines (without the newline) and digests, in order, and what people should be told."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.lines: list[bytes] = []
        self.digests: list[str] = []
        self.warnings: list[str] = []

    @property
    def data(self) -> bytes:
        """The bytes of the one write."""
        return b"".join(line + b"\n" for line in self.lines)


def check_expectation(expect: Expectation, fold: Fold) -> None:
    """Compare what the caller has seen with what is. The lock is held, so the answer stays true.

    Slot and key are looked up in the tables: nothing may be pending where they are asked.

    Raises:
        ConflictError: somebody else was first.
    """
    live_run_id, key_seq = None, 0
    if expect.slot is not None:
        experiment_id, variant_id, simulated = expect.slot
        row = fold.connection.execute(_LIVE_RUN, (experiment_id, variant_id, int(simulated))).fetchone()
        live_run_id = row[0] if row is not None else None
    if expect.key is not None:
        row = fold.connection.execute("SELECT seq FROM keys WHERE key = ?", (expect.key,)).fetchone()
        key_seq = row[0] if row is not None else 0
    run = fold.run(expect.run_id)
    compare(expect, version=run.version if run is not None else 0, live_run_id=live_run_id, key_seq=key_seq)


def compare(expect: Expectation, *, version: int, live_run_id: str | None, key_seq: int) -> None:
    """Raise ConflictError where what is differs from what the caller has seen."""
    if version != expect.version:
        raise ConflictError(f"run {expect.run_id} is at seq {version}, was seen at {expect.version}")
    if expect.slot is not None and live_run_id != expect.live_run_id:
        raise ConflictError(f"live run of {':'.join(expect.slot[:2])} is {live_run_id}")
    if expect.key is not None and key_seq != expect.key_seq:
        raise ConflictError(f"idempotency key {expect.key} is at seq {key_seq}, was seen at {expect.key_seq}")


def seal_all(
    drafts: Sequence[Mapping[str, Any]],
    *,
    policies: Sequence[LoadedPolicy],
    actor: str,
    fold: Fold,
    now: int,
    recovered: Mapping[str, Any] | None,
    is_bulk: bool = False,
) -> Sealed:
    """Number and chain the drafts behind the head, `policy` events for unknown policies first.

    Args:
        now: microseconds since 1970, the clock's reading.
        recovered: torn bytes that the first event must tell of.
        is_bulk: this process writes so many events that a faster encoder repays its import.

    Raises:
        ConflictError: an `event_id` is in the log already.
    """
    encode = encoder(is_bulk=is_bulk)
    head, sealed = fold.head, Sealed()
    unknown = {loaded.digest: loaded for loaded in policies if not fold.has_policy(loaded.digest, SCHEMA_VERSION)}
    ts, clock = time_of(head.ts, now, sealed.warnings)
    prev, seen = head.digest, set[str]()
    all_drafts = [*(policy_draft(loaded, actor=actor) for loaded in unknown.values()), *drafts]
    for seq, draft in enumerate(all_drafts, head.seq + 1):
        told = draft if recovered is None or sealed.events else {**draft, "recovered": dict(recovered)}
        event = seal(told, seq=seq, prev=prev, ts=ts, clock=clock)
        event_id = event["event_id"]
        if event_id in seen or fold.has_event_id(event):
            raise ConflictError(f"event {event_id} is in the log already")
        seen.add(event_id)
        line = encode(event)
        prev = line_digest(line)
        sealed.events.append(event)
        sealed.lines.append(line)
        sealed.digests.append(prev)
    return sealed


def take_all(sealed: Sealed, fold: Fold, *, offset: int) -> Iterator[Exception]:
    """Fold the sealed lines, which begin at *offset*, in memory; what hindered it, if anything did."""
    try:
        for event, line, digest in zip(sealed.events, sealed.lines, sealed.digests, strict=True):
            fold.take(event, line, offset, digest=digest, is_sealed=True)
            offset += len(line) + 1
    except (StaleFoldError, sqlite3.Error) as error:
        yield error


def time_of(last_ts: str, now: int, warnings: list[str]) -> tuple[str, str | None]:
    """`ts` of the events, and `clock` where the clock is behind the last line, told of in *warnings* if it is far.

    Args:
        last_ts: of the last line, empty when there is none.
        now: microseconds since 1970, the clock's reading.
    """
    reading = format_time(now)
    if reading >= last_ts:
        return reading, None
    ahead = (parse_time(last_ts) or now) - now
    if ahead > AHEAD_SECONDS * MICROSECONDS:
        warnings.append(f"the log's last line is {ahead // MICROSECONDS} s ahead of this clock ({last_ts}, {reading})")
    return last_ts, reading
