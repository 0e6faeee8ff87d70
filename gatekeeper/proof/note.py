"""Signed notes (c2sp.org/signed-note): a text, an empty line, and lines that sign the text.

A signature line names its key and holds base64 of a key id (4 bytes) and the signature::

    — gatekeeper.example/prod tvKAitjgEc/0Cbmw2m0N…

Whoever checks a note knows its keys beforehand, as `vkey`: name, key id and public key, joined by `+`.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, b2a_base64
from dataclasses import dataclass
from hashlib import sha256

from gatekeeper.errors import ProofError
from gatekeeper.proof import ed25519

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.proof.keys import SigningKey

MAX_SIGNATURES = 100
"""The format asks readers to take 16 at least, and to have a limit."""

MAX_NOTE_BYTES = 1 << 20
"""A hundred signatures of the largest kind that the format foresees, and a text."""

_ED25519 = b"\x01"
"""The format's number of this type of signature: the one that is made and checked here."""

_KEY_ID_BYTES = 4
_MARK = "— "
_UNREADABLE = "take the note as its signer published it, byte for byte"


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key under a name.

    Attributes:
        name: of the log or witness, by custom an address without `https://`.
        public: Ed25519 public key, 32 bytes (RFC 8032).
    """

    name: str
    public: bytes

    def __post_init__(self) -> None:
        check_name(self.name)
        if len(self.public) != ed25519.PUBLIC_BYTES:
            raise ProofError(f"an Ed25519 public key has 32 bytes, not {len(self.public)}", remedy="take all of it")

    @property
    def key_id(self) -> bytes:
        """Four bytes that tell the keys of one name apart; no proof of anything."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_KEY_ID_BYTES]

    @property
    def vkey(self) -> str:
        """The key as text."""
        return f"{self.name}+{self.key_id.hex()}+{encode_base64(_ED25519 + self.public)}"


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line, not checked."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Note:
    r"""A note that is well formed, and no more than that.

    Attributes:
        text: what is signed, with the `\n` at its end.
    """

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True)
class OpenedNote:
    """A text and the known keys that signed it, at least one."""

    text: str
    signers: tuple[VerifierKey, ...]


def check_name(name: str) -> None:
    """Raise ProofError unless *name* can name a key: not empty, without spaces, `+` and control characters."""
    if not name or any(letter.isspace() or letter == "+" or letter < " " for letter in name) or not _is_text(name):
        raise ProofError(
            f"not a name for a key: {name[:80]!r}",
            remedy="use an address of yours without https://, such as example.com/log: no spaces, no +",
        )


def parse_vkey(text: str) -> VerifierKey:
    """Read `name+key id+key`.

    Raises:
        ProofError: another form, another type of key, or the key id is not that of the key.
    """
    shown = text[:200]
    name, _, rest = text.partition("+")
    stated_id, _, encoded = rest.partition("+")
    key = decode_base64(encoded)
    if not key or not re.fullmatch(r"[0-9a-fA-F]{8}", stated_id):
        raise ProofError(f"not a verifier key: {shown!r}", remedy="its form is name+8 hexadecimal digits+base64")
    if key[:1] != _ED25519:
        raise ProofError(
            f"verifier key of type {key[0]}: {shown!r}",
            remedy="give the log's Ed25519 key (type 1)",
        )
    found = VerifierKey(name, key[1:])
    if found.key_id.hex() != stated_id.lower():
        raise ProofError(
            f"verifier key {shown!r}: the key has id {found.key_id.hex()}, not {stated_id}",
            remedy="copy the whole key again: a part of it was changed",
        )
    return found


def parse_note(data: bytes) -> Note:
    """Read a note strictly; nothing is checked against a key.

    Raises:
        ProofError: it is not of the form.
    """
    if len(data) > MAX_NOTE_BYTES:
        raise ProofError(f"a note of {len(data)} bytes; {MAX_NOTE_BYTES} are read", remedy=_UNREADABLE)
    try:
        whole = data.decode()
    except UnicodeDecodeError as error:
        raise ProofError(f"the note is not UTF-8 (at byte {error.start})", remedy=_UNREADABLE) from None
    _refuse_control_characters(whole)
    text, separator, tail = whole.rpartition("\n\n")
    if not separator or not tail.endswith("\n"):
        raise ProofError("no note: there are no signature lines after an empty line", remedy=_UNREADABLE)
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise ProofError(f"a note with {len(lines)} signatures; {MAX_SIGNATURES} are read", remedy=_UNREADABLE)
    return Note(text + "\n", tuple(map(_parse_signature, lines)))


def open_note(data: bytes, keys: Iterable[VerifierKey]) -> OpenedNote:
    """Check a note: unknown keys are ignored, one known key must have signed, none may have a wrong signature.

    Raises:
        ProofError: it is malformed, or these keys do not vouch for it.
        UsageError: the extra is missing.
    """
    note, known = parse_note(data), _by_name_and_id(keys)
    message, signers = note.text.encode(), list[VerifierKey]()
    for line in note.signatures:
        key = known.get((line.name, line.key_id))
        if key is None:
            continue
        if not ed25519.verifies(key.public, line.signature, message):
            raise ProofError(
                f"the signature of {key.name} ({key.key_id.hex()}) is not one of this text",
                remedy="the note was changed or put together: get it again from where it was published",
            )
        if key not in signers:
            signers.append(key)
    if not signers:
        raise ProofError(
            f"no key that is known signed the note: {_names(note.signatures)} did, known: {_names(known.values())}",
            remedy="give the log's key: its name and key id must be those of a signature line",
        )
    return OpenedNote(note.text, tuple(signers))


def sign_note(text: str, key: SigningKey) -> bytes:
    r"""The note that *key* alone signed.

    Raises:
        ProofError: *text* cannot stand in a note: no `\n` at its end, or control characters.
    """
    if not text.endswith("\n") or not _is_text(text):
        raise ProofError("a note's text must be Unicode and end with a newline", remedy="add the newline")
    _refuse_control_characters(text)
    message, signer = text.encode(), key.verifier
    return message + f"\n{_MARK}{signer.name} {encode_base64(signer.key_id + key.sign(message))}\n".encode()


def encode_base64(data: bytes) -> str:
    """Base 64 of RFC 4648 section 4."""
    return b2a_base64(data, newline=False).decode()


def decode_base64(text: str) -> bytes | None:
    """What *text* encodes; None if it is not the one way to write that."""
    try:
        data = a2b_base64(text, strict_mode=True)
    except (Error, ValueError):  # the latter: not ASCII
        return None
    return data if encode_base64(data) == text else None


def _refuse_control_characters(text: str) -> None:
    if found := re.search(r"[\x00-\x09\x0b-\x1f]", text):
        raise ProofError(f"the note holds the control character {found[0]!r}", remedy=_UNREADABLE)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _parse_signature(line: str) -> NoteSignature:
    name, _, encoded = line.removeprefix(_MARK).partition(" ")
    signature = decode_base64(encoded)
    if not line.startswith(_MARK) or not signature or len(signature) <= _KEY_ID_BYTES:
        raise ProofError(f"not a signature line: {line[:120]!r}", remedy=_UNREADABLE)
    check_name(name)
    return NoteSignature(name, signature[:_KEY_ID_BYTES], signature[_KEY_ID_BYTES:])


def _by_name_and_id(keys: Iterable[VerifierKey]) -> dict[tuple[str, bytes], VerifierKey]:
    known: dict[tuple[str, bytes], VerifierKey] = {}
    for key in keys:
        if known.setdefault((key.name, key.key_id), key) != key:
            raise ProofError(
                f"two keys named {key.name} have the id {key.key_id.hex()}",
                remedy="give the one that is the log's: the other was made to look like it",
            )
    return known


def _names(items: Iterable[NoteSignature | VerifierKey]) -> str:
    return ", ".join(f"{item.name} ({item.key_id.hex()})" for item in items) or "none"
