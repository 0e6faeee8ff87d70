"""Checkpoints (c2sp.org/tlog-checkpoint): a signed note that states a log's size and root.

Its text is the log's name (origin), the number of leaves and base64 of the root of their Merkle tree, one a line.
Lines that others add after these are kept; a log of ours adds none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gatekeeper.errors import ProofError
from gatekeeper.proof.merkle import HASH_BYTES
from gatekeeper.proof.note import decode_base64, encode_base64, open_note, sign_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.proof.keys import SigningKey
    from gatekeeper.proof.note import VerifierKey

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,17}")
_UNREADABLE = "take the checkpoint as the log signed it, byte for byte"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log's tree at one moment.

    Attributes:
        origin: name of the log.
        size: number of leaves: the `seq` of the last line that is covered.
        root: 32 bytes.
        extensions: further lines, of no meaning here.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def text(self) -> str:
        """What is signed."""
        lines = (self.origin, str(self.size), encode_base64(self.root), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


def sign_checkpoint(checkpoint: Checkpoint, key: SigningKey) -> bytes:
    """The signed note. A log must never sign two that contradict each other: whoever calls checks the older one.

    Raises:
        ProofError: the key has another name than the log, or the checkpoint cannot be written.
    """
    if key.verifier.name != checkpoint.origin:
        raise ProofError(
            f"a key named {key.verifier.name} does not sign for the log {checkpoint.origin}",
            remedy="sign with the log's own key, or name the log as the key is named",
        )
    text = checkpoint.text()
    if parse_checkpoint(text) != checkpoint:
        raise ProofError("this checkpoint has no text that says it", remedy="one line for each extension")
    return sign_note(text, key)


def open_checkpoint(data: bytes, keys: Iterable[VerifierKey], origin: str | None = None) -> Checkpoint:
    """The checkpoint in a note that a key of the log signed.

    Args:
        data: the note.
        keys: those that are trusted.
        origin: the log it must be of. Without it, a key with the log's own name must have signed, so that the key
            of one log does not vouch for another.

    Raises:
        ProofError: malformed, not signed by these keys, or of another log.
        UsageError: the extra is missing.
    """
    opened = open_note(data, keys)
    checkpoint = parse_checkpoint(opened.text)
    if origin is not None and checkpoint.origin != origin:
        raise ProofError(
            f"the checkpoint is of the log {checkpoint.origin}, not of {origin}",
            remedy="take the checkpoint of this log",
        )
    if origin is None and all(key.name != checkpoint.origin for key in opened.signers):
        raise ProofError(
            f"the checkpoint is of the log {checkpoint.origin}, but signed by {opened.signers[0].name} only",
            remedy="give the log's own key, or name the log if this key is meant to sign for it",
        )
    return checkpoint


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint's text, signed or not.

    Raises:
        ProofError: it is not of the form.
    """
    lines = text.split("\n")
    if len(lines) < 4 or lines.pop() or not all(lines):
        raise ProofError("a checkpoint is three lines or more, none of them empty", remedy=_UNREADABLE)
    origin, size, encoded, *extensions = lines
    if not _DECIMAL.fullmatch(size):
        raise ProofError(f"not the size of a log: {size[:40]!r}", remedy=_UNREADABLE)
    root = decode_base64(encoded)
    if root is None or len(root) != HASH_BYTES:
        raise ProofError(f"not the root of a tree: {encoded[:80]!r}", remedy=_UNREADABLE)
    return Checkpoint(origin, int(size), root, tuple(extensions))
