"""`gatekeeper log checkpoint`: the size and the root of the log, signed."""

from __future__ import annotations

import os

from gatekeeper.cli.beginning import beginning_of, pruned_before
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.cli.proof_inputs import beside, read_if_there, read_signing_key, unchecked, write_file
from gatekeeper.errors import InputRefusedError, LogDamagedError, ProofError, UsageError
from gatekeeper.ledger.address import address_of, is_remote, shown_log
from gatekeeper.proof.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from gatekeeper.proof.note import check_name
from gatekeeper.render.proof import checkpoint_page
from gatekeeper.replay.kept import standings
from gatekeeper.replay.leaves import Asked, read_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values
    from gatekeeper.proof.keys import SigningKey
    from gatekeeper.replay.leaves import Leaves


def checkpoint(values: Values) -> Outcome:
    """Write the signed note and print it; 65 where the log is not whole, or not the one that was signed before."""
    path = values.text("log")
    out = values.optional_text("out") or beside(path, "--out")
    note_before = read_if_there(out, what="checkpoint before")
    key, origin = _signer(values, out, note_before)
    before = None if note_before is None else _opened(note_before, key, origin, out)
    leaves = _leaves(path, before)
    if before is not None:
        _expect_kept(before, leaves, out)
    signed = Checkpoint(origin, leaves.size, leaves.root_at(leaves.size))
    note = sign_checkpoint(signed, key)
    write_file(out, note)
    stderr = told((f"{out}: signed up to seq {signed.size} for the public key {key.verifier.vkey}",))
    if values.text("output") == "text":
        return Outcome(note, stderr=stderr)
    document = {
        "origin": origin,
        "size": signed.size,
        "root": signed.root.hex(),
        "head": leaves.head,
        "file": os.path.abspath(out),
        "public_key": key.verifier.vkey,
        "note": note.decode(),
    }
    return page_outcome(checkpoint_page(document), values, stderr=stderr)


def _signer(values: Values, out: str, note_before: bytes | None) -> tuple[SigningKey, str]:
    """The key, and the log's name: as stated, the key's own, that of the checkpoint before, or one made of the path."""
    stated = values.optional_text("origin")
    name = stated
    if name is None:
        try:
            name = _origin_of(values.text("log")) if note_before is None else unchecked(note_before).origin
        except ProofError as error:
            raise _not_ours(out, error) from None
    key = read_signing_key(values.text("key"), name=name)
    return key, key.verifier.name if stated is None else stated


def _origin_of(log: str) -> str:
    place = log if not is_remote(log) else address_of(log).target.partition("?")[0].rstrip("/")
    name = f"gatekeeper/{os.path.basename(place)}"
    try:
        check_name(name)
    except ProofError:
        raise UsageError(
            f"the log {shown_log(log)} gives no name to sign it with", remedy="name it with --origin"
        ) from None
    return name


def _opened(note: bytes, key: SigningKey, origin: str, out: str) -> Checkpoint:
    try:
        return open_checkpoint(note, [key.verifier], origin)
    except ProofError as error:
        raise _not_ours(out, error) from None


def _not_ours(out: str, error: ProofError) -> ProofError:
    return ProofError(
        f"{out} is no checkpoint of this log by this key: {error.message}",
        remedy="give another --out; after a change of key or name, keep this one elsewhere and move it away",
    )


def _leaves(path: str, before: Checkpoint | None) -> Leaves:
    known = 0 if before is None else before.size  # its chain was followed before it was signed
    pruned = pruned_before((path,))
    asked = Asked(cuts=(known,), known=known, beginning=beginning_of(pruned))
    with opened_log((path,), after=0 if pruned is None else pruned.last_seq) as sources, watched("reading") as progress:
        leaves = read_leaves(sources, asked, progress)
    if leaves.size == 0:
        raise InputRefusedError("the log has no event yet", remedy="make a first check, or name the log with --log")
    return leaves


def _expect_kept(before: Checkpoint, leaves: Leaves, out: str) -> None:
    """A log must never sign two histories: neither would be worth anything."""
    (standing,) = standings([before], leaves, leaves.size)
    if standing.code != "kept":
        remedy = "find out what has happened to the log: gatekeeper verify --checkpoint"
        if standing.code == "pruned":
            remedy = "put the newer note in its place with which the log was pruned"
        raise LogDamagedError(f"{out}: {standing.message}; nothing was signed", remedy=remedy)
