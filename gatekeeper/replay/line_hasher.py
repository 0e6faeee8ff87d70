"""Lines of a log to leaves, one after the other, and whether each follows from the one before."""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.proof.merkle import TreeHasher
from gatekeeper.replay.lines import seq_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.replay.leaves import Asked


class LineHasher:
    """Takes lines in order.

    Args:
        begin: index of the first leaf.
        prev: what the first line's `prev` must be; None: anything.
    """

    def __init__(self, begin: int, prev: str | None, asked: Asked) -> None:
        self.stretches = [TreeHasher(begin)]
        self.first_prev: str | None = None
        self.prev = prev
        self._is_strict = asked.is_strict
        self._known = asked.known
        self._cuts = sorted({cut for cut in asked.cuts if cut > begin}, reverse=True)
        self._decode = bulk_decoder()

    @property
    def end(self) -> int:
        """Index of the next leaf."""
        return self.stretches[-1].end

    def take(self, lines: Iterable[bytes]) -> tuple[int, str] | None:
        """Terminated lines. What is wrong with the chain: the line's number among these, from 0, and words."""
        digests: list[bytes] = []
        end, problem = self.end, None
        for number, line in enumerate(lines):
            if not line or is_blank(line):
                continue
            if self._is_strict and end + len(digests) >= self._known:
                why = self._why_not(line, end + len(digests) + 1)
                if why is not None:
                    problem = number, why
                    break
            digest = sha256(line)
            digests.append(digest.digest())
            self.prev = "sha256:" + digest.hexdigest()
        self._add(digests)
        return problem

    def _why_not(self, line: bytes, expected: int) -> str | None:
        event = self._decode(line)
        if event is None:
            return "the line is damaged: it holds no JSON object"
        if not is_chained(event):
            return "the line has no kind: it is not in the chain"
        seq, prev = seq_of(event), text_of(event, "prev")
        if seq != expected:
            return f"its seq does not follow: expected {expected}, found {event.get('seq')}"
        if self.prev is None:
            self.first_prev = prev
        elif prev != self.prev:
            return "its prev is not the digest of the line before"
        return None

    def _add(self, digests: list[bytes]) -> None:
        begin = 0
        while self._cuts and self.end + len(digests) - begin >= self._cuts[-1]:
            cut = self._cuts.pop()
            stop = begin + cut - self.end
            self.stretches[-1].extend(digests[begin:stop])
            self.stretches.append(TreeHasher(cut))
            begin = stop
        self.stretches[-1].extend(digests[begin:] if begin else digests)
