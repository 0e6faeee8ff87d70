"""Keys as people have them: each form is the same key, and what is not a key is said to be none."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import ProofError, UsageError
from gatekeeper.proof.keys import load_signing_key, load_verifier_key, public_pem, ssh_line
from gatekeeper.proof.note import VerifierKey
from tests.proof import oracle
from tests.proof.samples import GO_SIGNER, LOCKED, LOCKED_LINE, NAME, PLAIN, PLAIN_LINE, openssh

_PEM = serialization.Encoding.PEM
_OPENSSH, _PKCS8 = serialization.PrivateFormat.OpenSSH, serialization.PrivateFormat.PKCS8
_CLEAR = serialization.NoEncryption()


def test_a_key_of_ssh_keygen_signs() -> None:
    """The private file and the line beside it are one key; the comment in them is no name."""
    key = load_signing_key(PLAIN, name=NAME)
    assert key.verifier == load_verifier_key(PLAIN_LINE.encode(), name=NAME)
    assert ssh_line(key.verifier) == PLAIN_LINE.replace("test\n", NAME)
    note = b"text\n\n" + oracle.signature_line(NAME, key.verifier.key_id, key.sign(b"text\n"))
    assert oracle.note_text(note, oracle.vkey_of(NAME, key.verifier.public)) == b"text\n"


def test_an_encrypted_key_of_ssh_keygen_opens_with_its_passphrase_only() -> None:
    """Without it the call is wrong, with another one the input is; neither names what was typed."""
    key = load_signing_key(LOCKED, name=NAME, passphrase=b"open sesame")
    assert key.verifier == load_verifier_key(LOCKED_LINE.encode(), name=NAME)
    for missing in (None, b""):
        with pytest.raises(UsageError, match="is encrypted"):
            load_signing_key(LOCKED, name=NAME, passphrase=missing)
    with pytest.raises(ProofError, match="passphrase is another one") as caught:
        load_signing_key(LOCKED, name=NAME, passphrase=b"open barley")
    assert "barley" not in str(caught.value.to_dict())


def test_an_encrypted_key_in_pem_opens_with_its_passphrase_only() -> None:
    """PKCS #8 as OpenSSL encrypts it."""
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    locked = private.private_bytes(_PEM, _PKCS8, serialization.BestAvailableEncryption(b"open sesame"))
    key = load_signing_key(locked, name=NAME, passphrase=b"open sesame")
    assert key.verifier.public == private.public_key().public_bytes_raw()
    with pytest.raises(UsageError, match="is encrypted"):
        load_signing_key(locked, name=NAME)
    with pytest.raises(ProofError, match="passphrase is another one"):
        load_signing_key(locked, name=NAME, passphrase=b"open barley")


@given(st.binary(min_size=32, max_size=32))
def test_every_form_of_a_key_is_the_same_key(seed: bytes) -> None:
    """OpenSSH, PEM and note key, private and public; a passphrase that is not needed does no harm."""
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key()
    vkey = oracle.vkey_of(NAME, public.public_bytes_raw())
    identity = vkey.split("+")[1]
    note_key = f"PRIVATE+KEY+{NAME}+{identity}+{base64.b64encode(bytes([1]) + seed).decode()}".encode()
    for data in (private.private_bytes(_PEM, _OPENSSH, _CLEAR), private.private_bytes(_PEM, _PKCS8, _CLEAR), note_key):
        for written in (data, b"\n" + data.strip() + b"\r\n"):
            key = load_signing_key(written, name=NAME, passphrase=b"not needed")
            assert key.verifier.vkey == vkey
            assert key.sign(b"text") == private.sign(b"text")
    pem = public.public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    line = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    for data in (pem, line, line + b" a comment of words", vkey.encode(), vkey.encode() + b"\n"):
        assert load_verifier_key(data, name=NAME).vkey == vkey
    assert public_pem(key.verifier).encode() == pem
    assert ssh_line(key.verifier).encode() == line + b" " + NAME.encode()


def test_a_key_that_has_a_name_keeps_it() -> None:
    """The name is part of a note key's id: under another one it would be another key."""
    vkey = oracle.vkey_of("theirs.example", bytes(32))
    assert load_verifier_key(vkey.encode(), name=NAME).name == "theirs.example"


@pytest.mark.parametrize("data", [PLAIN, PLAIN_LINE.encode()])
def test_a_key_without_a_name_needs_one(data: bytes) -> None:
    """Nothing is made up: who checks would look for another name."""
    with pytest.raises(UsageError, match="no name of its own"):
        (load_signing_key if b"PRIVATE" in data else load_verifier_key)(data)


def _other_types() -> dict[str, tuple[bytes, bytes, bytes]]:
    kinds: dict[str, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed448.Ed448PrivateKey] = {
        "RSA": rsa.generate_private_key(65537, 2048),
        "E": ec.generate_private_key(ec.SECP256R1()),
        "Ed448": ed448.Ed448PrivateKey.generate(),
    }
    found = {}
    for kind, key in kinds.items():
        public = key.public_key()
        is_ssh = kind != "Ed448"
        found[kind] = (
            key.private_bytes(_PEM, _OPENSSH if is_ssh else _PKCS8, _CLEAR),
            public.public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
            public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH) if is_ssh else b"",
        )
    return found


def test_another_type_of_key_is_named() -> None:
    """The key is sound, only of no use here: not `damaged`."""
    for kind, (private, public, line) in _other_types().items():
        with pytest.raises(ProofError, match=f"is of type {kind}.*, not Ed25519"):
            load_signing_key(private, name=NAME)
        with pytest.raises(ProofError, match=f"is of type {kind}.*, not Ed25519"):
            load_verifier_key(public, name=NAME)
        if line:
            with pytest.raises(ProofError, match=r"is of type (ssh-rsa|ecdsa-sha2-nistp256), not ssh-ed25519"):
                load_verifier_key(line, name=NAME)
    with pytest.raises(ProofError, match="is of type sk-ssh-ed25519@openssh"):
        load_verifier_key(b"sk-ssh-ed25519@openssh.com AAAA me@desk", name=NAME)


NO_PRIVATE_KEYS = {
    "nothing": b"",
    "the public line": PLAIN_LINE.encode(),
    "a vkey": oracle.vkey_of(NAME, bytes(32)).encode(),
    "a public key in PEM": public_pem(VerifierKey(NAME, bytes(32))).encode(),
    "text": b"hello",
    "bytes": b"\xff\x00",
    "half a file": PLAIN[:200],
    "a changed file": PLAIN.replace(b"AAAAMwAA", b"AAAANwAA"),
    "nothing inside": openssh(""),
    "a note key of another type": GO_SIGNER.replace(b"AYEK", b"BIEK"),
    "half a note key": b"PRIVATE+KEY+PeterNeumann+c74f20a3+AYEK",
    "a note key without its parts": b"PRIVATE+KEY+PeterNeumann",
    "a note key that is not UTF-8": b"PRIVATE+KEY+\xff+c74f20a3+AYEK",
    "a note key under another name": b"PRIVATE+KEY+Peter+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
}


@pytest.mark.parametrize("case", NO_PRIVATE_KEYS)
def test_what_is_no_private_key_is_refused_without_being_shown(case: str) -> None:
    """An error that quotes the file would put a key into a CI log."""
    data = NO_PRIVATE_KEYS[case]
    with pytest.raises((ProofError, UsageError)) as caught:
        load_signing_key(data, name=NAME)
    assert caught.value.exit_code == (64 if case == "nothing inside" else 65)
    shown = str(caught.value.to_dict())
    assert not [part for part in data.decode("latin-1").split() if len(part) > 30 and part in shown]


NO_PUBLIC_KEYS = {
    "nothing": b"",
    "the private file": PLAIN,
    "a private note key": b"PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
    "text": b"hello",
    "bytes": b"\xff\x00",
    "two lines": (PLAIN_LINE + LOCKED_LINE).encode(),
    "half a line": PLAIN_LINE[:60].encode(),
    "a line without its key": b"ssh-ed25519 test",
    "a line that claims a shorter key": PLAIN_LINE.replace("AAAAIOxe", "AAAAH+xe").encode(),
    "a line with the bare bytes": b"ssh-ed25519 " + base64.b64encode(bytes(32)),
    "a line with more after the key": PLAIN_LINE.replace("vF6d", "vF6dAAAA").encode(),
    "half a PEM": public_pem(VerifierKey(NAME, bytes(32)))[:60].encode(),
}


@pytest.mark.parametrize("case", NO_PUBLIC_KEYS)
def test_what_is_no_public_key_is_refused(case: str) -> None:
    """Least of all is a private key taken, or shown."""
    reason = "this is a private key" if "private" in case else "public key|ssh-ed25519 key"
    with pytest.raises(ProofError, match=reason) as caught:
        load_verifier_key(NO_PUBLIC_KEYS[case], name=NAME)
    assert "AYEKFALV" not in str(caught.value.to_dict())


def test_a_signing_key_shows_nothing_of_itself() -> None:
    """Neither its text nor its fields print the secret."""
    seed = bytes(range(32))
    vkey = oracle.vkey_of(NAME, Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())
    key = load_signing_key(
        f"PRIVATE+KEY+{NAME}+{vkey.split('+')[1]}+{base64.b64encode(bytes([1]) + seed).decode()}".encode()
    )
    assert repr(key) == f"SigningKey(verifier={key.verifier!r})"
