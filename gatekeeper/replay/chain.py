"""Does each line follow from the one before: `seq`, `prev`, `ts` (SPEC 7)."""

from __future__ import annotations

from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.line import is_chained
from gatekeeper.model.times import parse_time
from gatekeeper.replay.lines import text_of
from gatekeeper.replay.links import Broken, ChainState, Entry, Link, is_written_ts
from gatekeeper.replay.report import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


class ChainCheck:
    """Follows a log line by line.

    A `prev` that does not fit tells that one of two lines was changed. Which one, the line after them
    tells: where it still fits, the second is as it was written and the first is blamed (code `bytes`);
    where it does not, the second (code `prev`). So the first line named is the one that differs.

    A part of the log can be followed before the part in front of it: `assume` takes the state for granted
    that the first line itself tells of, `meets` tells whether that was so, and `adopt` goes on behind it.

    Args:
        add: takes each problem.
        from_seq: where to begin; what stands before only gives the first `prev` its digest.
    """

    def __init__(self, add: Callable[[Problem], None], *, from_seq: int = 1) -> None:
        self._add = add
        self._from_seq = from_seq = max(1, from_seq)
        self.state = ChainState(from_seq - 1, has_begun=from_seq == 1)

    @property
    def last_seq(self) -> int | None:
        """The largest `seq` that was checked; None when there was none."""
        return self.state.seq if self.state.first_seq is not None else None

    @property
    def head(self) -> str | None:
        """Digest of the last line."""
        return self.state.before.digest if self.state.before is not None else None

    def assume(self, entry: Entry) -> None:
        """Begin in the middle: as if all before *entry* were whole."""
        if entry.seq >= self._from_seq:
            before = Link("", 0, None, 0, entry.prev)
            self.state = ChainState(entry.seq - 1, before=before)

    def begin_behind(self, seq: int, digest: str) -> None:
        """Begin behind lines that were removed on purpose, the last of which had this seq and digest."""
        if self._from_seq <= seq + 1:
            self.state = ChainState(seq, before=Link("", 0, seq, 0, digest, may_be_blamed=False))

    def meets(self, entry: Entry) -> bool:
        """Whether a part that has assumed *entry* goes on here as it would have without assuming."""
        state = self.state
        if entry.seq < self._from_seq:
            return not state.has_begun
        return (
            state.has_begun
            and state.before is not None
            and state.before.digest == entry.prev
            and state.seq == entry.seq - 1
            and state.broken is None
            and (state.ts is None or (state.is_written and state.ts <= entry.ts))
        )

    def adopt(self, state: ChainState) -> None:
        """Go on behind a part that was followed elsewhere."""
        if self.state.first_seq is not None:
            state.first_seq = self.state.first_seq
        if self.state.begun_at is not None:
            state.begun_at = self.state.begun_at
        self.state = state

    def step(self, link: Link, event: Mapping[str, Any] | None) -> bool:
        """Go on by one line that is neither blank nor torn; whether it belongs to what is verified."""
        state, seq = self.state, link.seq
        if not state.has_begun and not self._begins(link, seq):
            return False
        if state.begun_at is None:
            state.begun_at = link.order
        if event is not None and is_chained(event):
            if not self._follows(link, event):
                self._check(event, link, seq)
        else:
            self.end()
            if event is None:
                state.damaged += 1
        if seq is not None and seq > state.seq:
            state.seq = seq
        state.digest_before = None if state.before is None else state.before.digest
        state.before = link
        return True

    def _follows(self, link: Link, event: Mapping[str, Any]) -> bool:
        """The usual case, quickly: nothing is wrong with the line, and nothing waits for it."""
        state, before = self.state, self.state.before
        ts = event.get("ts")
        if (
            before is None
            or link.seq != state.seq + 1
            or event.get("prev") != before.digest
            or state.broken is not None
            or state.ts is None
            or not state.is_written
            or not isinstance(ts, str)
            or not is_written_ts(ts)
            or ts < state.ts
        ):
            return False
        state.ts = ts
        state.damaged = 0
        if state.first_seq is None:
            state.first_seq = link.seq
        return True

    def end(self) -> None:
        """Settle a `prev` that waits for the line after it; there is none that could speak for the second line."""
        broken, self.state.broken = self.state.broken, None
        if broken is not None and not broken.is_out_of_place:
            self._blame_first(broken)

    def _begins(self, link: Link, seq: int | None) -> bool:
        state = self.state
        if seq is not None and seq >= self._from_seq:
            state.has_begun = True
            return True
        if seq == self._from_seq - 1:
            state.has_begun = True  # with the next line, which holds this one's digest
            state.before = Link(link.source, link.number, seq, link.order, link.digest, may_be_blamed=False)
        return False

    def _check(self, event: Mapping[str, Any], link: Link, seq: int | None) -> None:
        state = self.state
        is_out_of_place = seq is None or seq <= state.seq
        has_gap = self._check_seq(event, link, seq)
        self._check_prev(event, link, is_explained=has_gap, is_out_of_place=is_out_of_place)
        self._check_ts(event, link)
        if seq is not None:
            state.damaged = 0
            state.first_seq = seq if state.first_seq is None else state.first_seq

    def _check_seq(self, event: Mapping[str, Any], link: Link, seq: int | None) -> bool:
        """Whether lines are missing before this one, so that its `prev` cannot be known."""
        state = self.state
        expected = state.seq + 1
        if seq is None or seq < expected:
            self._problem(link, "seq", "its seq does not follow", expected, event.get("seq"))
            return False
        if seq <= expected + state.damaged:
            return False
        lost = f"seq {expected} is" if seq == expected + 1 else f"seq {expected} to {seq - 1} are"
        is_first = state.first_seq is None and state.before is None
        self._problem(link, "gap", f"{lost} missing{' at the beginning' if is_first else ''}", expected, seq)
        return True

    def _check_prev(self, event: Mapping[str, Any], link: Link, *, is_explained: bool, is_out_of_place: bool) -> None:
        found = event.get("prev")
        waiting, self.state.broken = self.state.broken, None
        before = self.state.before
        if before is None:
            if self._from_seq == 1 and not is_explained and found != GENESIS_DIGEST:
                self._problem(link, "prev", "its prev is not that of a first line", GENESIS_DIGEST, found)
            return
        is_broken = found != before.digest
        if waiting is not None and is_broken and not is_explained:
            self._blame_second(waiting)
        elif waiting is not None:
            self._blame_first(waiting)
        elif is_broken and not is_explained and link.digest != before.digest:
            is_skipping = found == (self.state.digest_before or GENESIS_DIGEST)
            broken = Broken(before, link, found, is_out_of_place, is_skipping)
            if before.may_be_blamed:
                self.state.broken = broken
            else:
                self._blame_second(broken)

    def _check_ts(self, event: Mapping[str, Any], link: Link) -> None:
        text = text_of(event, "ts")
        moment, before = parse_time(text), self.state.ts
        if moment is None:
            self._problem(link, "ts", "its ts is no time", None, event.get("ts"))
        elif before is not None and moment < (parse_time(before) or 0):
            self._problem(link, "ts", "its ts runs back", f"not before {before}", text)
        else:
            self.state.ts, self.state.is_written = text, is_written_ts(text)

    def _blame_first(self, broken: Broken) -> None:
        what = f"its bytes are not those that {broken.line.place} was chained to"
        before = broken.before
        self._add(
            Problem(
                before.place,
                before.order,
                "bytes",
                what,
                broken.found,
                before.digest,
                is_insertion=broken.is_skipping,
            )
        )

    def _blame_second(self, broken: Broken) -> None:
        what = f"its prev is not the digest of the line before, {broken.before.place}"
        self._problem(broken.line, "prev", what, broken.before.digest, broken.found)

    def _problem(self, link: Link, code: str, what: str, expected: Any, found: Any) -> None:
        self._add(Problem(link.place, link.order, code, what, expected, found))
