"""Which parts of a log a query did not see: seqs that no line given has (SPEC 7, a gap is reported)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEY = b'"seq":'
_DIGITS = re.compile(rb"\s*(\d{1,16})\s*[,}]")


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

    In a canonical event the last key `seq` is the event's own: no object behind it holds that key, and
    text holds no bare quote. A line that shows none (damaged, founding-style) may have had one of the
    seqs that are missing around it, so it excuses one.

    Attributes:
        gaps: in the order of the log, as far as was read; the beginning counts.
    """

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self._seq = 0
        self._excused = 0

    def see(self, data: bytes) -> None:
        """Take the next line, given without its newline."""
        match = _DIGITS.match(data, data.rfind(_KEY) + len(_KEY)) if _KEY in data else None
        if match is None:
            self._excused += 1
            return
        seq = int(match[1])
        if seq > self._seq + 1 + self._excused:
            self.gaps.append(Gap(self._seq + 1, seq - 1))
        self._seq = max(self._seq, seq)
        self._excused = 0
