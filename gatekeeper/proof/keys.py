"""Ed25519 keys as people have them: OpenSSH, PEM, and the note keys of Go's tools.

A key of OpenSSH or in PEM has no name, so the log's must be given; a note key has one and keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gatekeeper.errors import ProofError, UsageError
from gatekeeper.proof import ed25519
from gatekeeper.proof.note import VerifierKey, decode_base64, encode_base64, parse_vkey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NOTE_KEY = "PRIVATE+KEY+"
_SSH = "ssh-ed25519"
_SSH_BLOB = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"  # then the 32 bytes of the key (RFC 8709)
_PEM_HEAD = bytes.fromhex("302a300506032b6570032100")  # the DER of RFC 8410 before the 32 bytes of the key
_PUBLIC_FORMS = "give a line ssh-ed25519 AAAA…, a vkey name+id+base64, or a public key in PEM"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key; what it is made of is in no text of it."""

    verifier: VerifierKey
    _private: Ed25519PrivateKey = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """Signature of 64 bytes; the same for the same message."""
        return self._private.sign(message)


def load_signing_key(data: bytes, *, name: str | None = None, passphrase: bytes | None = None) -> SigningKey:
    """Read a private key.

    Args:
        data: an OpenSSH private key file, PKCS #8 as PEM, or `PRIVATE+KEY+name+id+base64`.
        name: of a key that has none of its own.
        passphrase: of an encrypted key; of no account for others.

    Raises:
        UsageError: name, passphrase or the extra is missing (64).
        ProofError: another type of key, wrong passphrase, damaged (65).
    """
    data = data.strip()
    if data.startswith(_NOTE_KEY.encode()):
        return _note_key(data)
    if b"PRIVATE KEY-----" not in data[:100]:
        raise ProofError(
            "this is not a private key",
            remedy="give the file that ssh-keygen -t ed25519 writes without .pub, or PKCS #8 in PEM",
        )
    named = _named(name)
    private = ed25519.private_of_file(data + b"\n", passphrase)
    return SigningKey(VerifierKey(named, ed25519.public_of(private)), private)


def load_verifier_key(data: bytes, *, name: str | None = None) -> VerifierKey:
    """Read a public key.

    Args:
        data: one vkey, one line `ssh-ed25519 AAAA… comment`, or a public key in PEM.
        name: of a key that has none of its own.

    Raises:
        UsageError: the name is missing, or for PEM the extra (64).
        ProofError: another type of key, damaged (65).
    """
    try:
        text = data.decode().strip()
    except UnicodeDecodeError:
        raise ProofError("this is not a public key", remedy=_PUBLIC_FORMS) from None
    if "PRIVATE KEY-----" in text or text.startswith(_NOTE_KEY):
        raise ProofError("this is a private key, which nobody but the signer needs", remedy="give its public part")
    if text.startswith("-----BEGIN "):
        return VerifierKey(_named(name), ed25519.public_of_pem(text.encode()))
    if "\n" in text:
        raise ProofError("these are several lines, not one public key", remedy="give each key by itself")
    if text.startswith(("ssh-", "ecdsa-", "sk-")) and " " in text:
        return VerifierKey(_named(name), _public_of_ssh_line(text))
    if "+" in text:
        return parse_vkey(text)
    raise ProofError("this is not a public key", remedy=_PUBLIC_FORMS)


def ssh_line(key: VerifierKey) -> str:
    """The key as a line of `authorized_keys` and `*.pub`, its name as comment."""
    return f"{_SSH} {encode_base64(_SSH_BLOB + key.public)} {key.name}"


def public_pem(key: VerifierKey) -> str:
    """The key in PEM, as `openssl pkey -pubout` writes it; the name is lost."""
    return f"-----BEGIN PUBLIC KEY-----\n{encode_base64(_PEM_HEAD + key.public)}\n-----END PUBLIC KEY-----\n"


def _named(name: str | None) -> str:
    if name is None:
        raise UsageError("this key has no name of its own", remedy="state the log's name, such as example.com/log")
    return name


def _note_key(data: bytes) -> SigningKey:
    try:
        name, stated_id, encoded = data.decode().removeprefix(_NOTE_KEY).split("+", 2)
    except ValueError:
        name = stated_id = encoded = ""
    secret = decode_base64(encoded)
    if not secret or len(secret) != 1 + ed25519.SEED_BYTES or secret[:1] != b"\x01":
        raise ProofError("the note key is damaged or not of type Ed25519", remedy="take it as its tool wrote it")
    private = ed25519.private_of_seed(secret[1:])
    verifier = VerifierKey(name, ed25519.public_of(private))
    if stated_id.lower() != verifier.key_id.hex():
        raise ProofError(
            f"the note key of {name} states an id that is not its own",
            remedy="take it as its tool wrote it: name, id or key was changed",
        )
    return SigningKey(verifier, private)


def _public_of_ssh_line(text: str) -> bytes:
    kind, encoded = text.split()[:2]
    if kind != _SSH:
        raise ProofError(f"the key is of type {kind[:40]}, not {_SSH}", remedy="make one: ssh-keygen -t ed25519")
    blob = decode_base64(encoded)
    if blob is None or not blob.startswith(_SSH_BLOB):
        raise ProofError("the ssh-ed25519 key is damaged", remedy="copy the whole line of the file *.pub")
    return blob.removeprefix(_SSH_BLOB)
