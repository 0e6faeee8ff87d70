"""Proof that one line stands in a log (c2sp.org/tlog-proof@v1), checked with nothing but a key and the line.

The file holds the leaf's index, the siblings on the way to the root, an empty line and the signed checkpoint. An
`extra` line may come first; nobody signed it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gatekeeper.errors import ProofError
from gatekeeper.proof.checkpoint import open_checkpoint
from gatekeeper.proof.merkle import HASH_BYTES, leaf_hash, line_leaf, verify_inclusion
from gatekeeper.proof.note import decode_base64, encode_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.proof.note import VerifierKey

_FIRST_LINE = "c2sp.org/tlog-proof@v1"
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,17})")
_UNREADABLE = "take the proof as it was made, byte for byte"


@dataclass(frozen=True, slots=True)
class TlogProof:
    """A proof as its file has it, not checked.

    Attributes:
        index: of the leaf, from 0.
        hashes: siblings of 32 bytes, the leaf's first.
        checkpoint: the signed note.
        extra: anything; not authenticated.
    """

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes = b""

    def encode(self) -> bytes:
        """The file."""
        lines = [_FIRST_LINE]
        if self.extra:
            lines.append(f"extra {encode_base64(self.extra)}")
        lines += [f"index {self.index}", *map(encode_base64, self.hashes)]
        return "".join(f"{line}\n" for line in lines).encode() + b"\n" + self.checkpoint


@dataclass(frozen=True, slots=True)
class ProofOutcome:
    """What a proof proves.

    Attributes:
        code: `proven`, or the step that failed.
        message: one sentence that says so.
        checkpoint: what was signed, once its signature stands.
    """

    code: Literal["proven", "proof_malformed", "checkpoint_refused", "leaf_not_covered", "line_not_proven"]
    message: str
    remedy: str | None = None
    index: int | None = None
    checkpoint: Checkpoint | None = None

    @property
    def is_proven(self) -> bool:
        """The line stands in the log, at `index`, under a root that a known key signed."""
        return self.code == "proven"


def parse_proof(data: bytes) -> TlogProof:
    """Read a proof strictly; nothing is checked.

    Raises:
        ProofError: it is not of the form.
    """
    head, separator, checkpoint = data.partition(b"\n\n")
    if not separator or not head.isascii():
        raise ProofError("no proof: there is no empty line with a checkpoint after it", remedy=_UNREADABLE)
    first, *lines = head.decode().split("\n")
    if first != _FIRST_LINE:
        raise ProofError(f"no proof: it begins with {first[:80]!r}, not with {_FIRST_LINE}", remedy=_UNREADABLE)
    extra = b""
    if lines and lines[0].startswith("extra "):
        extra = decode_base64(lines.pop(0).removeprefix("extra ")) or b""
        if not extra:
            raise ProofError("the proof's line `extra` is not base64 of anything", remedy=_UNREADABLE)
    index = _INDEX.fullmatch(lines.pop(0)) if lines else None
    if index is None:
        raise ProofError("the proof has no line `index` with a number where it belongs", remedy=_UNREADABLE)
    hashes = [decode_base64(line) for line in lines]
    if any(sibling is None or len(sibling) != HASH_BYTES for sibling in hashes):
        raise ProofError("a line of the proof is not base64 of a hash", remedy=_UNREADABLE)
    return TlogProof(int(index[1]), tuple(filter(None, hashes)), checkpoint, extra)


def check_proof(data: bytes, line: bytes, keys: Iterable[VerifierKey], origin: str | None = None) -> ProofOutcome:
    r"""Check that *line* stands in a log that one of *keys* signed.

    The checkpoint's signature comes first, always: a way to a root that nobody signed proves nothing.

    Args:
        data: the proof's file.
        line: the line's bytes; one `\n` at its end does not count.
        keys, origin: as for `open_checkpoint`.

    Raises:
        UsageError: the extra is missing. All else is an outcome.
    """
    try:
        proof = parse_proof(data)
    except ProofError as error:
        return ProofOutcome("proof_malformed", error.message, error.remedy)
    try:
        checkpoint = open_checkpoint(proof.checkpoint, keys, origin)
    except ProofError as error:
        return ProofOutcome("checkpoint_refused", error.message, error.remedy, proof.index)
    if proof.index >= checkpoint.size:
        return ProofOutcome(
            "leaf_not_covered",
            f"the checkpoint covers {checkpoint.size} lines, so there is no line with index {proof.index}",
            "make the proof for a checkpoint that covers the line",
            proof.index,
            checkpoint,
        )
    leaf = leaf_hash(line_leaf(line.removesuffix(b"\n")))
    if not verify_inclusion(leaf, proof.index, checkpoint.size, proof.hashes, checkpoint.root):
        return ProofOutcome(
            "line_not_proven",
            f"this is not line {proof.index + 1} of the {checkpoint.size} that {checkpoint.origin} signed",
            "compare with the line in the log: this one was changed, or the proof is of another line",
            proof.index,
            checkpoint,
        )
    return ProofOutcome(
        "proven",
        f"this is line {proof.index + 1} of the {checkpoint.size} that {checkpoint.origin} signed",
        None,
        proof.index,
        checkpoint,
    )
