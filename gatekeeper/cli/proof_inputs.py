"""Keys, notes and proofs from files and the command line."""

from __future__ import annotations

import os

from gatekeeper.cli.compose import read_bytes
from gatekeeper.errors import LogError, ProofError, UsageError
from gatekeeper.ledger.address import refuse_remote
from gatekeeper.ledger.fsops import FileOps, write_durably
from gatekeeper.proof.checkpoint import open_checkpoint, parse_checkpoint
from gatekeeper.proof.keys import load_signing_key, load_verifier_key
from gatekeeper.proof.note import parse_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.proof.keys import SigningKey
    from gatekeeper.proof.note import VerifierKey

PASSPHRASE = "GATEKEEPER_KEY_PASSPHRASE"  # noqa: S105 - the variable's name
"""The environment's variable with the passphrase of the signing key: an argument would stand in every process list."""

CHECKPOINT_SUFFIX = ".checkpoint"
"""What the name of the note beside a log ends with."""


def beside(log: str, option: str) -> str:
    """Where the note of a log is kept unless *option* says otherwise. Raises UsageError for what is no file (64)."""
    refuse_remote(log, what="nothing can be kept beside it", instead=f"name the note's file with {option}")
    return log + CHECKPOINT_SUFFIX


def read_file(path: str, *, what: str) -> bytes:
    """A file, or standard input for `-`. Raises ProofError naming it."""
    return read_bytes(path, what=what, error=ProofError, remedy=f"give the path of the {what}")


def read_if_there(path: str, *, what: str) -> bytes | None:
    """The same of a file that need not be there."""
    return read_file(path, what=what) if os.path.lexists(path) else None


def write_file(path: str, data: bytes) -> None:
    """Replace a file in one step, on the device before this returns. Raises LogError (74)."""
    try:
        write_durably(FileOps(), path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LogError(f"{path} cannot be written: {reason}", remedy="make room or choose another --out") from error


def read_signing_key(path: str, *, name: str, environ: Mapping[str, str] = os.environ) -> SigningKey:
    """The private key in a file; *name* for one that has none of its own.

    Raises:
        UsageError: it is encrypted and the environment has no passphrase; the extra is missing (64).
        ProofError: it cannot be read, or is no Ed25519 key (65).
    """
    data, passphrase = read_file(path, what="signing key"), os.fsencode(environ.get(PASSPHRASE, ""))
    try:
        return load_signing_key(data, name=name, passphrase=passphrase or None)
    except UsageError as error:
        lacks_passphrase = "its passphrase" in error.remedy
        remedy = f"put its passphrase into {PASSPHRASE}" if lacks_passphrase else error.remedy
        raise UsageError(f"{path}: {error.message}", remedy=remedy) from None
    except ProofError as error:
        raise ProofError(f"{path}: {error.message}", remedy=error.remedy) from None


def read_public_keys(given: tuple[str, ...], *, name: str) -> list[VerifierKey]:
    """Public keys, each a file or the key itself as text; *name* for those that have none of their own.

    Raises:
        ProofError: one cannot be read, or is no Ed25519 key (65).
        UsageError: one is in PEM and the extra is missing (64).
    """
    keys = []
    for one in given:
        is_text = not os.path.exists(one) and ("+" in one or one.startswith("ssh-"))
        data = os.fsencode(one) if is_text else read_file(one, what="public key")
        try:
            keys.append(load_verifier_key(data, name=name))
        except ProofError as error:
            raise ProofError(f"{one}: {error.message}", remedy=error.remedy) from None
    return keys


def unchecked(note: bytes) -> Checkpoint:
    """What a note says, whoever signed it. Raises ProofError."""
    return parse_checkpoint(parse_note(note).text)


def read_checkpoint(path: str, keys: tuple[str, ...], *, origin: str | None) -> Checkpoint:
    """The checkpoint in a file that one of the keys signed.

    Raises:
        ProofError: it cannot be read or is malformed, of another log, or not signed by these keys (65).
        UsageError: the extra is missing (64).
    """
    note = read_file(path, what="checkpoint")
    try:
        known = read_public_keys(keys, name=origin if origin is not None else unchecked(note).origin)
        return open_checkpoint(note, known, origin)
    except ProofError as error:
        raise ProofError(f"{path}: {error.message}", remedy=error.remedy) from None
