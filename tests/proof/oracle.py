"""Trees, notes and proofs once more, written from the formats' descriptions: nothing of ours is used.

The tree is recursive, as RFC 6962 2.1 defines it, with whole lists of leaves; signatures are checked with the
library's primitives.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def split(size: int) -> int:
    """The largest power of two below *size*."""
    power = 1
    while power * 2 < size:
        power *= 2
    return power


class Tree:
    """The tree over these leaves (their data), by definition."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.leaves = list(leaves)
        self.mth = cache(self._mth)

    def _mth(self, begin: int, end: int) -> bytes:
        if begin == end:
            return hashlib.sha256().digest()
        if end - begin == 1:
            return hashlib.sha256(b"\x00" + self.leaves[begin]).digest()
        middle = begin + split(end - begin)
        return hashlib.sha256(b"\x01" + self.mth(begin, middle) + self.mth(middle, end)).digest()

    def root(self, size: int | None = None) -> bytes:
        """The root over all leaves, or over the first *size*."""
        return self.mth(0, len(self.leaves) if size is None else size)

    def path(self, index: int, begin: int, end: int) -> list[bytes]:
        """RFC 6962 2.1.1, for the leaf at *index* of the stretch."""
        if end - begin == 1:
            return []
        middle = begin + split(end - begin)
        if begin + index < middle:
            return [*self.path(index, begin, middle), self.mth(middle, end)]
        return [*self.path(begin + index - middle, middle, end), self.mth(begin, middle)]

    def consistency(self, old: int, size: int) -> list[bytes]:
        """RFC 6962 2.1.2."""
        return self._subproof(old, 0, size, known=True) if 0 < old < size else []

    def _subproof(self, old: int, begin: int, end: int, *, known: bool) -> list[bytes]:
        if old == end - begin:
            return [] if known else [self.mth(begin, end)]
        middle = begin + split(end - begin)
        if begin + old <= middle:
            return [*self._subproof(old, begin, middle, known=known), self.mth(middle, end)]
        return [*self._subproof(begin + old - middle, middle, end, known=False), self.mth(begin, middle)]


def root_by_path(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes | None:
    """The root that a leaf's hash and its path make; None if the path is too short or too long."""
    if size == 1:
        return None if path else leaf
    if not path:
        return None
    middle, sibling = split(size), path[-1]
    if index < middle:
        below = root_by_path(leaf, index, middle, path[:-1])
        return None if below is None else hashlib.sha256(b"\x01" + below + sibling).digest()
    below = root_by_path(leaf, index - middle, size - middle, path[:-1])
    return None if below is None else hashlib.sha256(b"\x01" + sibling + below).digest()


def vkey_of(name: str, public: bytes) -> str:
    """The text of a verifier key."""
    identity = hashlib.sha256(name.encode() + b"\n\x01" + public).hexdigest()[:8]
    return f"{name}+{identity}+{base64.b64encode(bytes([1]) + public).decode()}"


def signed(name: str, seed: bytes, text: str) -> bytes:
    """The note of one signer."""
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes_raw()
    identity = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    return text.encode() + b"\n" + signature_line(name, identity, private.sign(text.encode()))


def signature_line(name: str, identity: bytes, signature: bytes) -> bytes:
    """One line under a note."""
    return b"\xe2\x80\x94 " + name.encode() + b" " + base64.b64encode(identity + signature) + b"\n"


def note_text(note: bytes, vkey: str) -> bytes | None:
    """The text, if the owner of *vkey* signed it and no signature of theirs is wrong."""
    name, identity, encoded = vkey.split("+", 2)
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:])
    cut = note.rfind(b"\n\n")
    if cut < 0 or not note.endswith(b"\n"):
        return None
    text, found = note[: cut + 1], False
    for line in note[cut + 2 : -1].split(b"\n"):
        dash, _, rest = line.partition(b" ")
        signer, _, value = rest.partition(b" ")
        try:
            raw = base64.b64decode(value, validate=True)
        except ValueError:
            return None
        if dash != "—".encode() or base64.b64encode(raw) != value:
            return None
        if signer != name.encode() or raw[:4].hex() != identity:
            continue
        try:
            public.verify(raw[4:], text)
        except InvalidSignature:
            return None
        found = True
    return text if found else None


def is_proven(proof: bytes, line: bytes, vkey: str) -> bool:
    """Whether a file c2sp.org/tlog-proof@v1 without `extra` shows the digest of *line* as a leaf."""
    head, _, note = proof.partition(b"\n\n")
    text = note_text(note, vkey)
    if text is None:
        return False
    origin, size, root = text.decode().split("\n")[:3]
    magic, _, rest = head.decode("latin-1").partition("\n")
    place, *path = rest.split("\n")
    if magic != "c2sp.org/tlog-proof@v1" or place[:6] != "index " or origin != vkey.split("+", maxsplit=1)[0]:
        return False
    try:
        siblings = [base64.b64decode(sibling, validate=True) for sibling in path]
        index = int(place[6:])
    except ValueError:
        return False
    if [base64.b64encode(sibling).decode() for sibling in siblings] != path or str(index) != place[6:]:
        return False
    leaf = hashlib.sha256(b"\x00" + hashlib.sha256(line).digest()).digest()
    return 0 <= index < int(size) and root_by_path(leaf, index, int(size), siblings) == base64.b64decode(root)
