"""`gatekeeper log prove` and `log check-proof`: one event, for somebody without the log."""

from __future__ import annotations

import os

from gatekeeper.cli.beginning import beginning_of, pruned_before
from gatekeeper.cli.compose import STANDARD_INPUT, has_pattern
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import page_outcome
from gatekeeper.cli.proof_inputs import beside, read_file, read_public_keys, unchecked, write_file
from gatekeeper.errors import InputRefusedError, LogDamagedError, ProofError, UsageError
from gatekeeper.model.line import decode
from gatekeeper.proof.merkle import inclusion_between, leaf_hash, line_leaf, verify_inclusion
from gatekeeper.proof.tlog_proof import TlogProof, parse_proof
from gatekeeper.proof.tlog_proof import check_proof as check
from gatekeeper.render.proof import check_proof_page, prove_page
from gatekeeper.replay.finding import find_line
from gatekeeper.replay.kept import standings
from gatekeeper.replay.leaves import Asked, read_leaves
from gatekeeper.replay.lines import seq_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values
    from gatekeeper.model.exchange import LogLine
    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.replay.blocks import Source
    from gatekeeper.replay.leaves import Beginning


def prove(values: Values) -> Outcome:
    """Print the way from an event's line to the signed root."""
    paths = values.texts("log")
    place = values.optional_text("checkpoint") or _beside(paths)
    note = read_file(place, what="checkpoint")
    try:
        checkpoint = unchecked(note)
    except ProofError as error:
        raise ProofError(f"{place}: {error.message}", remedy=error.remedy) from None
    pruned = pruned_before(paths)
    with opened_log(paths, after=0 if pruned is None else pruned.last_seq) as sources:
        line = find_line(sources, values.text("event"))
        index = _index(line, checkpoint)
        hashes = _way(sources, index, line.data, checkpoint, beginning_of(pruned))
    proof = TlogProof(index, tuple(hashes), note, line.data if values.flag("with_line") else b"").encode()
    out = values.optional_text("out")
    if out is not None:
        write_file(out, proof)
    elif values.text("output") == "text":
        return Outcome(proof)
    document = {
        "event_id": None if line.event is None else line.event.get("event_id"),
        "seq": index + 1,
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
        "file": None if out is None else os.path.abspath(out),
        "proof": proof.decode(),
    }
    return page_outcome(prove_page(document), values)


def _beside(paths: tuple[str, ...]) -> str:
    if len(paths) > 1 or has_pattern(paths[0]):
        raise UsageError("several files have no checkpoint beside them", remedy="name it with --checkpoint")
    return beside(paths[0], "--checkpoint")


def _index(line: LogLine, checkpoint: Checkpoint) -> int:
    seq = None if line.event is None else seq_of(line.event)
    if seq is None or seq < 1:
        raise InputRefusedError(
            f"{line.source}:{line.number} is not in the chain: it has no seq", remedy="choose an event of gatekeeper"
        )
    if seq > checkpoint.size:
        raise InputRefusedError(
            f"the event has seq {seq}, and the checkpoint covers {checkpoint.size}",
            remedy="make a newer checkpoint: gatekeeper log checkpoint",
        )
    return seq - 1


def _way(sources: list[Source], index: int, line: bytes, checkpoint: Checkpoint, beginning: Beginning) -> list[bytes]:
    """The siblings; only of a log that the checkpoint is of, and a line that stands where it says."""
    size = checkpoint.size
    with watched("reading") as progress:
        asked = Asked(cuts=(index, index + 1, size), is_strict=False, beginning=beginning)
        leaves = read_leaves(sources, asked, progress)
    (standing,) = standings([checkpoint], leaves, leaves.size)
    if standing.code != "kept":
        raise LogDamagedError(
            f"{standing.message}; nothing can be proven with it", remedy="see gatekeeper verify --checkpoint"
        )
    hashes = inclusion_between(leaves.over(0, index), leaves.over(index + 1, size))
    if not verify_inclusion(leaf_hash(line_leaf(line)), index, size, hashes, checkpoint.root):
        raise LogDamagedError(
            f"the line with seq {index + 1} is not line {index + 1} of the log", remedy="see gatekeeper verify"
        )
    return hashes


def check_proof(values: Values) -> Outcome:
    """0 if the line is proven to stand in the log, 65 and why if not."""
    data, line = _proof_and_line(values)
    origin = values.optional_text("origin")
    name = origin if origin is not None else _stated_origin(data)
    outcome = check(data, line, read_public_keys(values.texts("public_key"), name=name), origin)
    checkpoint, code = outcome.checkpoint, 0 if outcome.is_proven else ProofError.exit_code
    document = {
        "proven": outcome.is_proven,
        "code": outcome.code,
        "message": outcome.message,
        "remedy": outcome.remedy,
        "origin": None if checkpoint is None else checkpoint.origin,
        "size": None if checkpoint is None else checkpoint.size,
        "seq": outcome.index + 1 if outcome.is_proven and outcome.index is not None else None,
        "event": decode(line) if outcome.is_proven else None,
    }
    stderr = () if outcome.is_proven else (f"gatekeeper: not proven: {outcome.message}",)
    return page_outcome(check_proof_page(document), values, code=code, stderr=stderr)


def _proof_and_line(values: Values) -> tuple[bytes, bytes]:
    proof, place = values.text("proof"), values.optional_text("line")
    if proof == place == STANDARD_INPUT:
        raise UsageError("the proof and its line cannot both be standard input", remedy="give one of them as a file")
    data = read_file(proof, what="proof")
    if place is not None:
        line = read_file(place, what="line").removesuffix(b"\n")
        if b"\n" in line:
            raise ProofError(f"{place} holds several lines; a proof is of one", remedy="give one line, as recorded")
        return data, line
    try:
        line = parse_proof(data).extra
    except ProofError:
        return data, b""  # whoever checks it says what is wrong with it
    if not line:
        raise UsageError("the proof does not hold its event's line", remedy="give it with --line FILE")
    return data, line


def _stated_origin(proof: bytes) -> str:
    """The name for keys without one: what the checkpoint says; anything where it says nothing."""
    try:
        return unchecked(parse_proof(proof).checkpoint).origin
    except ProofError:
        return "unknown"
