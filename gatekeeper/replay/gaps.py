"""Which parts of a log a query did not see: seqs that no line given has (SPEC 7, a gap is reported)."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.line import stated_seq


@dataclass(frozen=True)
class Gap:
    """Seqs that are missing, both ends included."""

    from_seq: int
    to_seq: int

    def to_dict(self) -> dict[str, int]:
        """`{"from_seq", "to_seq"}`."""
        return {"from_seq": self.from_seq, "to_seq": self.to_seq}


class GapWatch:
    """Reads the `seq` of each line off its bytes, so that lines which nobody parses are seen too.

    A line that shows none (damaged, founding-style) may have had one of the seqs that are missing around
    it, so it excuses one.

    Attributes:
        gaps: in the order of the log, as far as was read; the beginning counts.
    """

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self._seq = 0
        self._excused = 0

    def see(self, data: bytes) -> None:
        """Take the next line, given without its newline."""
        seq = stated_seq(data)
        if seq is None:
            self.see_none()
        else:
            self.see_seqs(seq, seq)

    def see_seqs(self, first: int, last: int) -> None:
        """Take the next lines, which hold the seqs from *first* to *last* without a gap."""
        if first > self._seq + 1 + self._excused:
            self.gaps.append(Gap(self._seq + 1, first - 1))
        self._seq = max(self._seq, last)
        self._excused = 0

    def see_none(self) -> None:
        """Take the next line, which shows no seq."""
        self._excused += 1

    def skip_to(self, seq: int) -> None:
        """The next line has *seq*; those before it were not read, and are not this query's business."""
        self._seq = max(self._seq, seq - 1)
        self._excused = 0
