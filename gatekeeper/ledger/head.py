"""Where the log ends, as the projection has seen it: what the next line continues, and how to find it again."""

from __future__ import annotations

from gatekeeper.model.canonical import GENESIS_DIGEST


class Head:
    """The last event seen, and the last line of the file that was read.

    The two differ only where the file ends before the last event (rotated, cut).

    Attributes:
        seq: of the last event; 0 when there is none.
        digest: of the last line's bytes, the `prev` of the next.
        ts: newest `ts` of a chained event, empty when there is none.
        lines: lines of the present file up to `end`, blank ones included.
        end: offset behind the last terminated line of the present file.
        anchor_offset, anchor_length, anchor_digest: the present file's last line that is not blank,
            by which the file is known again; length -1 when it has none.
        segment: counts the files that were seen in this place; offsets hold for one of them.
        listed: `seq` of the last event of the present file that the index lists; 0 when there is none.
        is_complete: False where a part of the history is missing and nobody accepted that.
    """

    __slots__ = (
        "anchor_digest",
        "anchor_length",
        "anchor_offset",
        "digest",
        "end",
        "is_complete",
        "lines",
        "listed",
        "segment",
        "seq",
        "ts",
    )

    def __init__(
        self,
        seq: int = 0,
        digest: str = GENESIS_DIGEST,
        ts: str = "",
        lines: int = 0,
        end: int = 0,
        anchor_offset: int = 0,
        anchor_length: int = -1,
        anchor_digest: str = "",
        segment: int = 1,
        listed: int = 0,
        is_complete: bool = True,  # noqa: FBT001, FBT002 - a row of the table, in its order
    ) -> None:
        self.seq = seq
        self.digest = digest
        self.ts = ts
        self.lines = lines
        self.end = end
        self.anchor_offset = anchor_offset
        self.anchor_length = anchor_length
        self.anchor_digest = anchor_digest
        self.segment = segment
        self.listed = listed
        self.is_complete = is_complete

    def row(self) -> tuple[int | str, ...]:
        """All attributes, in the order in which the head is made and kept."""
        return (
            self.seq, self.digest, self.ts, self.lines, self.end, self.anchor_offset, self.anchor_length,
            self.anchor_digest, self.segment, self.listed, int(self.is_complete),
        )  # fmt: skip

    def leave_file(self) -> None:
        """The present file is another one: nothing of it has been read yet."""
        self.segment += 1
        self.lines = self.end = self.anchor_offset = self.listed = 0
        self.anchor_length, self.anchor_digest = -1, ""

    def pass_line(self, offset: int, length: int, digest: str) -> None:
        """Note a line of the present file (*length* without its newline) as read."""
        self.lines += 1
        self.end = offset + length + 1
        self.anchor_offset, self.anchor_length, self.anchor_digest = offset, length, digest

    def pass_blank(self, offset: int, length: int) -> None:
        """Note a blank line as read."""
        self.lines += 1
        self.end = offset + length + 1
