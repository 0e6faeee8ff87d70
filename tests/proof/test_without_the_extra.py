"""What works without the extra `proof`, and what is said where it is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from gatekeeper.errors import UsageError
from gatekeeper.proof import merkle
from gatekeeper.proof.checkpoint import open_checkpoint, parse_checkpoint
from gatekeeper.proof.keys import load_signing_key, load_verifier_key, public_pem, ssh_line
from gatekeeper.proof.note import parse_note, parse_vkey
from gatekeeper.proof.tlog_proof import check_proof, parse_proof
from tests.proof.samples import GO_SIGNER, LOCKED, NAME, NOTE, PLAIN, PLAIN_LINE, ROOT, VKEY
from tests.proof.test_tlog_proof import GOOD, LINES


@pytest.fixture
def no_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports of the library fail as where it is not installed."""
    for module in ["cryptography", *(name for name in sys.modules if name.startswith("cryptography."))]:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.usefixtures("no_cryptography")
def test_signing_and_checking_name_the_extra() -> None:
    """Wrong usage (64) with the command that helps, never `not signed`."""
    pem = public_pem(parse_vkey(VKEY)).encode()
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: open_checkpoint(NOTE, [parse_vkey(VKEY)]),
        "check": lambda: check_proof(GOOD, LINES[4], [parse_vkey(VKEY)]),
        "OpenSSH": lambda: load_signing_key(PLAIN, name=NAME),
        "note key": lambda: load_signing_key(GO_SIGNER),
        "public key in PEM": lambda: load_verifier_key(pem, name=NAME),
    }
    for name, call in calls.items():
        with pytest.raises(UsageError, match="not installed") as caught:
            call()
        remedy = "python -m pip install 'cryptography[ssh]>=42'"
        assert (caught.value.exit_code, caught.value.remedy) == (64, remedy), name


def test_an_encrypted_openssh_key_names_the_extra_where_bcrypt_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cryptography` alone cannot open it, and would say that the algorithm is unknown."""
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    with pytest.raises(UsageError) as caught:
        load_signing_key(LOCKED, name=NAME, passphrase=b"open sesame")
    assert caught.value.remedy == "python -m pip install 'cryptography[ssh]>=42'"
    assert load_signing_key(PLAIN, name=NAME).verifier.name == NAME


@pytest.mark.usefixtures("no_cryptography")
def test_trees_and_formats_need_no_library() -> None:
    """A log is written, hashed and read everywhere; only keys need more."""
    key = load_verifier_key(PLAIN_LINE.encode(), name=NAME)
    assert ssh_line(key).startswith("ssh-ed25519 AAAA")
    assert parse_vkey(key.vkey) == key
    assert parse_checkpoint(parse_note(NOTE).text).root == ROOT
    proof = parse_proof(GOOD)
    root = parse_checkpoint(parse_note(proof.checkpoint).text).root
    leaf = merkle.leaf_hash(merkle.line_leaf(LINES[4]))
    assert merkle.verify_inclusion(leaf, proof.index, 7, proof.hashes, root)


def test_importing_the_room_loads_no_library() -> None:
    """A log that is never signed must not pay for it."""
    script = (
        "import sys\n"
        "import gatekeeper.proof.tlog_proof, gatekeeper.proof.keys, gatekeeper.proof.checkpoint\n"
        "print(*[name for name in ('cryptography', 'bcrypt', 'cffi', 'typing') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")
