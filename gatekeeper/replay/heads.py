"""Does the head of each segment say what the segment before it made of the runs?

A segment is folded from its own head on, so that each is looked at for itself, and all of them at the same time.
What cannot be compared (a segment before it that is not there, lines without `kind`) is passed over: gaps and
damage are for others to name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes, digest_bytes
from gatekeeper.model.event import line_digest
from gatekeeper.model.fold import apply
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.model.segment import ended_runs, head_of, is_head, stated
from gatekeeper.model.values import replace
from gatekeeper.replay.blocks import blocks_of, ranges_of
from gatekeeper.replay.lines import part_of, seq_of, text_of
from gatekeeper.replay.parallel import Workers, cores, may_fork
from gatekeeper.replay.report import Place, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.model.run import Run
    from gatekeeper.replay.blocks import Source

    States = dict[str, tuple[str, str]]

_WHOLE_FILE = 1 << 60
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, CanonicalError)
_NOT_COMPARED = ("history", "stands_on")
_MOST_NAMED = 3


@dataclass
class _Segment:
    """One file.

    Attributes:
        filled: its lines that are not blank.
        head: what its head says of runs; None where it has none.
        place, order: of the head's first line; `order` among the file's own lines.
        states: the runs at its end; None where that cannot be told.
    """

    filled: int = 0
    head: States | None = None
    place: Place | None = None
    order: int = 0
    before: tuple[Any, Any] = (None, None)
    is_malformed: bool = False
    states: States | None = None
    last: tuple[int | None, str] = field(default=(None, ""))


def head_problems(sources: Sequence[Source], *, from_seq: int = 1, jobs: int | None = None) -> Iterator[Problem]:
    """Every head that does not agree with the segment before it, where both are there.

    Args:
        sources: in chain order.
        from_seq: heads before this seq are not looked at.
        jobs: how many processes at most; None: one for each core.
    """
    before: _Segment | None = None
    order = 0
    for segment in _segments(sources, jobs):
        place = segment.place
        if place is not None and (place.seq or 0) >= from_seq:
            yield from _compared(before, segment, place, order + segment.order)
        before, order = segment, order + segment.filled


def _segments(sources: Sequence[Source], jobs: int | None) -> Iterator[_Segment]:
    count = min(cores() if jobs is None else jobs, len(sources))
    if count < 2 or not may_fork():
        yield from map(_read, sources)
        return
    with Workers(count, sources, lambda source: [_read(source)]) as workers:
        for answers in workers.answers():
            yield from answers


def _compared(before: _Segment | None, segment: _Segment, place: Place, order: int) -> Iterator[Problem]:
    if segment.is_malformed or segment.head is None:
        yield Problem(place, order, "segment", "the head of the segment cannot be read")
        return
    if before is None or before.last[0] != (place.seq or 0) - 1:
        return
    if segment.before != before.last:
        what = "the head does not name the last line of the segment before"
        yield Problem(place, order, "segment", what, list(before.last), list(segment.before))
        return
    if before.states is None:
        return
    differing = [
        run_id
        for run_id in sorted(before.states.keys() | segment.head.keys())
        if before.states.get(run_id) != segment.head.get(run_id)
    ]
    for run_id in differing[:_MOST_NAMED]:
        what = f"the head says otherwise of run {run_id} than the segment before it"
        ours, theirs = before.states.get(run_id), segment.head.get(run_id)
        yield Problem(place, order, "segment", what, ours and ours[1], theirs and theirs[1])


def _read(source: Source) -> _Segment:
    fold = _Fold()
    for part in ranges_of([source], _WHOLE_FILE):
        number, decode = source.lines_before, bulk_decoder()
        for block in blocks_of(part):
            for line in block.lines():
                number += 1
                if not is_blank(line):
                    fold.take(decode(line) if block.is_terminated else None, line, source.path, number)
    return fold.end()


class _Fold:
    def __init__(self) -> None:
        self._segment = _Segment()
        self._runs: dict[str, Run] = {}
        self._digests: dict[str, str] = {}
        self._parts_left = 0
        self._is_known = True  # the states are those of the log, as far as was read
        self._last: tuple[bytes, str | None] = (b"", None)  # line, and the run that it moved

    def take(self, event: Mapping[str, Any] | None, line: bytes, path: str, number: int) -> None:
        segment = self._segment
        segment.filled += 1
        seq = seq_of(event) if event is not None and is_chained(event) else None
        if event is None or seq is None:
            self._is_known = False
            return
        if segment.filled == 1:
            self._begin(event, seq, path, number)
        elif self._parts_left:
            self._parts_left -= 1
            self._take_head(event)
        self._settle(text_of(event, "prev"))
        run_id = text_of(event, "run_id")
        self._last = (line, run_id)
        segment.last = (seq, "")
        if run_id is None or not self._is_known:
            return
        try:
            self._runs[run_id] = apply(self._runs.get(run_id), event)
        except _MALFORMED:
            self._is_known = False

    def _begin(self, event: Mapping[str, Any], seq: int, path: str, number: int) -> None:
        segment = self._segment
        if not is_head(event):
            self._is_known = seq == 1
            return
        segment.place, segment.order, segment.head = Place(path, number, seq), 1, {}
        stands = part_of(event, "segment")
        segment.before = (stands.get("last_seq"), stands.get("digest"))
        self._take_head(event)

    def _take_head(self, event: Mapping[str, Any]) -> None:
        segment = self._segment
        try:
            head = head_of(event)
            for run, document in zip(head.runs, event["runs"], strict=True):
                self._runs[run.run_id] = run
                if segment.head is not None:
                    segment.head[run.run_id] = _state(document)
        except _MALFORMED:
            segment.is_malformed, self._is_known = True, False
            return
        if head.part == 1:
            self._parts_left = head.parts - 1

    def _settle(self, digest: str | None) -> None:
        """The line before has this digest, as the next line says."""
        run_id = self._last[1]
        if run_id is not None and digest is not None:
            self._digests[run_id] = digest

    def end(self) -> _Segment:
        segment, (line, _) = self._segment, self._last
        digest = line_digest(line)
        self._settle(digest)
        segment.last = (segment.last[0], digest)
        if self._is_known:
            ended = ended_runs(self._runs.values())
            segment.states = {
                run_id: _state(
                    stated(
                        replace(run, last_digest=self._digests.get(run_id, run.last_digest)), is_ended=run_id in ended
                    )
                )
                for run_id, run in self._runs.items()
            }
        return segment


def _state(document: Mapping[str, Any]) -> tuple[str, str]:
    """What is compared of a run, and words for it."""
    compared = {name: value for name, value in document.items() if name not in _NOT_COMPARED}
    words = f"{document['state']}, stage {document.get('stage')}, last event at seq {document.get('version')}"
    return digest_bytes(canonical_bytes(compared)), words
