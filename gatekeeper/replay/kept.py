"""Does the log still hold what its checkpoints covered, and if not, where was it changed?"""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.errors import ProofError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.replay.leaves import Leaves

    Code = Literal["kept", "cut", "removed", "rewritten", "fork", "pruned"]


@dataclass(frozen=True)
class Standing:
    """What has become of the lines that one checkpoint covers.

    Attributes:
        code: `kept`; `cut`: the log ends before the last of them; `removed`: it goes on behind them, but has fewer
            lines; `rewritten`: as many lines, not the same; `fork`: not the same either, though the log is kept as
            a larger checkpoint has it, so that two logs were signed; `pruned`: they were removed on purpose, and
            what is left of them does not tell.
        message: one sentence that says so.
        from_seq, to_seq: what differs lies between these, both included; None where all is kept or nobody can tell.
    """

    checkpoint: Checkpoint
    code: Code
    message: str
    from_seq: int | None = None
    to_seq: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON form, the root in hexadecimal."""
        return {
            "origin": self.checkpoint.origin,
            "size": self.checkpoint.size,
            "root": self.checkpoint.root.hex(),
            "code": self.code,
            "message": self.message,
            "from_seq": self.from_seq,
            "to_seq": self.to_seq,
        }


def standings(checkpoints: Iterable[Checkpoint], leaves: Leaves, last_seq: int | None) -> list[Standing]:
    """Compare each checkpoint with the log, in the order given; those that are kept tell where others differ.

    Args:
        checkpoints: whose signatures stand.
        leaves: of the log, cut at their sizes.
        last_seq: the largest `seq` that a line of the log states.
    """
    coded = [(one, _code(one, leaves, last_seq or 0)) for one in checkpoints]
    kept = max((one.size for one, code in coded if code == "kept"), default=0)
    wrong = min((one.size for one, code in coded if code == "rewritten" and one.size > kept), default=0)
    return [_told(one, code, leaves, last_seq=last_seq or 0, kept=kept, wrong=wrong) for one, code in coded]


def _code(checkpoint: Checkpoint, leaves: Leaves, last_seq: int) -> Code:
    if leaves.size < checkpoint.size:
        return "cut" if last_seq < checkpoint.size else "removed"
    try:
        return "kept" if leaves.root_at(checkpoint.size) == checkpoint.root else "rewritten"
    except ProofError:
        return "pruned"


def _told(checkpoint: Checkpoint, code: Code, leaves: Leaves, *, last_seq: int, kept: int, wrong: int) -> Standing:
    """In words.

    Args:
        kept: so many lines are as a checkpoint has them.
        wrong: among so many a line is not as a checkpoint has it.
    """
    size, origin = checkpoint.size, checkpoint.origin
    lines = "line" if size == 1 else f"{size} lines"
    if code == "kept":
        return Standing(checkpoint, code, f"the log still holds the first {lines}, as {origin} signed")
    if code == "pruned":
        message = f"the first {lines} were pruned, and what is left of them tells of no checkpoint of this size"
        return Standing(checkpoint, code, message)
    if code == "cut":
        missing = _span(leaves.size + 1, size)
        message = f"the log was cut: it ends at seq {leaves.size} and lacks {missing}, which {origin} signed"
        return Standing(checkpoint, code, message, leaves.size + 1, size)
    if code == "removed":
        message = f"lines were removed: {leaves.size} are left up to seq {last_seq}, and {origin} signed {size}"
        return Standing(checkpoint, code, message, kept + 1, size)
    differs = f"the first {lines} are not those that {origin} signed" if size > 1 else f"not the line {origin} signed"
    if size <= kept:
        message = f"{differs}, and as a larger checkpoint has them: two logs were signed, this is one of them"
        return Standing(checkpoint, "fork", message, 1, size)
    where = f"; what differs begins in {_span(kept + 1, wrong)}" if kept or wrong < size else ""
    return Standing(checkpoint, code, f"the log was rewritten: {differs}{where}", kept + 1, wrong)


def _span(first: int, last: int) -> str:
    return f"seq {first}" if first == last else f"seq {first} to {last}"
