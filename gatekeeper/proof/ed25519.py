"""Ed25519 by the library `cryptography`: the only module that loads it, and only when a signature is at stake."""

from __future__ import annotations

from binascii import b2a_base64

from gatekeeper.errors import ProofError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_BYTES = 32
SEED_BYTES = 32

_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_OPENSSH_PLAIN = b2a_base64(b"openssh-key-v1\x00\x00\x00\x00\x04none")[:28]  # how the key goes on without a cipher
_PEM_ENCRYPTED = (b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED")


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the owner of the public key (32 bytes, RFC 8032) signed *message*."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        _miss_extra("checking a signature")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def public_of(private: Ed25519PrivateKey) -> bytes:
    """The 32 bytes of the public key."""
    return private.public_key().public_bytes_raw()


def private_of_seed(seed: bytes) -> Ed25519PrivateKey:
    """The key of RFC 8032 that 32 random bytes make."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        _miss_extra("signing")
    return Ed25519PrivateKey.from_private_bytes(seed)


def private_of_file(data: bytes, passphrase: bytes | None) -> Ed25519PrivateKey:
    """The key in the bytes of an OpenSSH private key file, or of PKCS #8 as PEM.

    Raises:
        UsageError: it is encrypted and no passphrase is given; the extra is missing (64).
        ProofError: wrong passphrase, another type of key, damaged (65).
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key
    except ImportError:
        _miss_extra("signing")
    is_openssh, is_encrypted = data.startswith(_OPENSSH), _is_encrypted(data)
    if is_encrypted and not passphrase:
        raise UsageError("the signing key is encrypted", remedy="give its passphrase")
    if is_encrypted and is_openssh:
        _expect_bcrypt()
    try:
        key = (load_ssh_private_key if is_openssh else load_pem_private_key)(data, passphrase if is_encrypted else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # what they say may tell of the key
        suspicion = "its passphrase is another one, or it" if is_encrypted else "it"
        raise ProofError(
            f"the signing key cannot be read: {suspicion} is damaged or of an unknown type",
            remedy=_EXPECTED,
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        _refuse_type(key)
    return key


def public_of_pem(data: bytes) -> bytes:
    """The 32 bytes of the public key in a PEM file (SubjectPublicKeyInfo, RFC 8410).

    Raises:
        UsageError: the extra is missing (64).
        ProofError: another type of key, damaged (65).
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        _miss_extra("reading a public key in PEM")
    try:
        key = load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ProofError("the public key cannot be read: damaged or of an unknown type", remedy=_EXPECTED) from None
    if not isinstance(key, Ed25519PublicKey):
        _refuse_type(key)
    return key.public_bytes_raw()


_EXPECTED = "take an Ed25519 key: ssh-keygen -t ed25519"


def _is_encrypted(data: bytes) -> bool:
    """By the file's head: libraries of different age report it as different errors."""
    if data.startswith(_OPENSSH):
        return not data.removeprefix(_OPENSSH).lstrip().startswith(_OPENSSH_PLAIN)
    return any(mark in data for mark in _PEM_ENCRYPTED)


def _expect_bcrypt() -> None:
    try:
        import bcrypt  # noqa: F401 - cryptography derives the key of OpenSSH's encryption with it
    except ImportError:
        _miss_extra("an encrypted OpenSSH key")


def _miss_extra(need: str) -> NoReturn:
    raise UsageError(
        f"{need} needs a library that is not installed", remedy="python -m pip install 'cryptography[ssh]>=42'"
    ) from None


def _refuse_type(key: object) -> NoReturn:
    kind = type(key).__name__.strip("_").removesuffix("PrivateKey").removesuffix("PublicKey")
    raise ProofError(f"the key is of type {kind}, not Ed25519", remedy=_EXPECTED)
