"""Does each line follow from the one before: `seq`, `prev`, `ts` (SPEC 7)."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import is_chained
from gatekeeper.model.times import parse_time
from gatekeeper.replay.lines import seq_of, text_of
from gatekeeper.replay.report import Place, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gatekeeper.model.exchange import LogLine


@dataclass(frozen=True)
class Link:
    """A line as the next one meets it. `may_be_blamed`: it belongs to what is verified."""

    place: Place
    order: int
    digest: str
    may_be_blamed: bool = True


@dataclass(frozen=True)
class _Broken:
    """`prev` of *line* is not the digest of *before*: one of the two was changed.

    `is_out_of_place`: the `seq` of *line* does not follow either, which has been said.
    """

    before: Link
    line: Link
    found: Any
    is_out_of_place: bool


class ChainCheck:
    """Follows a log line by line.

    A `prev` that does not fit tells that one of two lines was changed. Which one, the line after them
    tells: where it still fits, the second is as it was written and the first is blamed (code `bytes`);
    where it does not, the second (code `prev`). So the first line named is the one that differs.

    Args:
        add: takes each problem.
        from_seq: where to begin; what stands before only gives the first `prev` its digest.
    """

    def __init__(self, add: Callable[[Problem], None], *, from_seq: int = 1) -> None:
        self.first_seq: int | None = None
        self._add = add
        self._from_seq = from_seq = max(1, from_seq)
        self._has_begun = from_seq == 1
        self._before: Link | None = None
        self._seq = from_seq - 1  # the largest so far
        self._damaged = 0  # lines since then whose seq nobody can read
        self._ts: tuple[int, str] | None = None
        self._broken: _Broken | None = None

    @property
    def last_seq(self) -> int | None:
        """The largest `seq` that was checked; None when there was none."""
        return self._seq if self.first_seq is not None else None

    @property
    def head(self) -> str | None:
        """Digest of the last line."""
        return self._before.digest if self._before is not None else None

    def step(self, line: LogLine, order: int) -> Place | None:
        """Go on by one line that is neither blank nor torn; its place if it belongs to what is verified."""
        seq = seq_of(line.event) if line.event is not None else None
        place = Place(line.source, line.number, seq)
        link = Link(place, order, line_digest(line.data))
        if not self._has_begun and not self._begins(link, seq):
            return None
        if line.event is not None and is_chained(line.event):
            self._check(line.event, link, seq)
        else:
            self.end()
            if line.event is None:
                self._damaged += 1
        if seq is not None:
            self._seq = max(self._seq, seq)
        self._before = link
        return place

    def end(self) -> None:
        """Settle a `prev` that waits for the line after it; there is none that could speak for the second line."""
        if self._broken is not None and not self._broken.is_out_of_place:
            self._blame_first(self._broken)
        self._broken = None

    def _begins(self, link: Link, seq: int | None) -> bool:
        if seq is not None and seq >= self._from_seq:
            self._has_begun = True
            return True
        if seq == self._from_seq - 1:
            self._has_begun = True  # with the next line, which holds this one's digest
            self._before = Link(link.place, link.order, link.digest, may_be_blamed=False)
        return False

    def _check(self, event: Mapping[str, Any], link: Link, seq: int | None) -> None:
        is_out_of_place = seq is None or seq <= self._seq
        has_gap = self._check_seq(event, link, seq)
        self._check_prev(event, link, is_explained=has_gap, is_out_of_place=is_out_of_place)
        self._check_ts(event, link)
        if seq is not None:
            self._damaged = 0
            self.first_seq = seq if self.first_seq is None else self.first_seq

    def _check_seq(self, event: Mapping[str, Any], link: Link, seq: int | None) -> bool:
        """Whether lines are missing before this one, so that its `prev` cannot be known."""
        expected = self._seq + 1
        if seq is None or seq < expected:
            self._problem(link, "seq", "its seq does not follow", expected, event.get("seq"))
            return False
        if seq <= expected + self._damaged:
            return False
        lost = f"seq {expected} is" if seq == expected + 1 else f"seq {expected} to {seq - 1} are"
        is_first = self.first_seq is None and self._before is None
        self._problem(link, "gap", f"{lost} missing{' at the beginning' if is_first else ''}", expected, seq)
        return True

    def _check_prev(self, event: Mapping[str, Any], link: Link, *, is_explained: bool, is_out_of_place: bool) -> None:
        found = event.get("prev")
        waiting, self._broken = self._broken, None
        before = self._before
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
            broken = _Broken(before, link, found, is_out_of_place)
            if before.may_be_blamed:
                self._broken = broken
            else:
                self._blame_second(broken)

    def _check_ts(self, event: Mapping[str, Any], link: Link) -> None:
        text = text_of(event, "ts")
        moment = parse_time(text)
        if moment is None:
            self._problem(link, "ts", "its ts is no time", None, event.get("ts"))
        elif self._ts is not None and moment < self._ts[0]:
            self._problem(link, "ts", "its ts runs back", f"not before {self._ts[1]}", text)
        else:
            self._ts = (moment, str(text))

    def _blame_first(self, broken: _Broken) -> None:
        what = f"its bytes are not those that {broken.line.place} was chained to"
        self._problem(broken.before, "bytes", what, broken.found, broken.before.digest)

    def _blame_second(self, broken: _Broken) -> None:
        what = f"its prev is not the digest of the line before, {broken.before.place}"
        self._problem(broken.line, "prev", what, broken.before.digest, broken.found)

    def _problem(self, link: Link, code: str, what: str, expected: Any, found: Any) -> None:
        self._add(Problem(link.place, link.order, code, what, expected, found))
