"""Logs as accidents and intruders leave them, made of the example by any number of changes in any order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gatekeeper.model.event import encode_line, line_digest
from tests.replay.builder import BLIND, HARMFUL, HEALTHY, OTHER_POLICY, LogBuilder, changed, rechained, rollout

Lines = list[bytes]
Change = Callable[[dict[str, Any]], object]


def long_log() -> Lines:
    """Three rollouts of the example's kind under two policies, the second of which is recorded late."""
    log = LogBuilder()
    log.lines = rollout()
    loaded = log.policy({**OTHER_POLICY, "policy_version": "v8"})
    for number in range(4):
        run = f"exp-{number}:A:v8"
        log.decision(loaded, "DRY_RUN", HEALTHY, run_id=run)
        log.decision(loaded, "SHADOW", BLIND if number % 2 else HEALTHY, run_id=run, from_stage="DRY_RUN")
        log.decision(loaded, "SHADOW", HARMFUL, run_id=run, number=2, from_stage="DRY_RUN")
    return log.lines


LOG = long_log()

EDITS: dict[str, Change] = {
    "actor": lambda event: event.update(actor="eve"),
    "actor beyond ASCII": lambda event: event.update(actor="é\u2028"),
    "prev": lambda event: event.update(prev="sha256:" + "1" * 64),
    "no prev": lambda event: event.pop("prev", None),
    "ts far ahead": lambda event: event.update(ts="2027-01-01T00:00:00.000000Z"),
    "ts far back": lambda event: event.update(ts="2020-01-01T00:00:00.000000Z"),
    "ts in another form": lambda event: event.update(ts="2026-02-18T02:30:00+01:00"),
    "ts that is none": lambda event: event.update(ts="2026-02-30T00:00:00.000000Z"),
    "seq far ahead": lambda event: event.update(seq=1000),
    "seq back": lambda event: event.update(seq=2),
    "seq of another type": lambda event: event.update(seq=True),
    "no kind": lambda event: event.pop("kind", None),
    "kind": lambda event: event.update(kind="policy"),
    "event_id": lambda event: event.update(event_id="exp-42:B:2026-02-18:SHADOW"),
    "no event_id": lambda event: event.pop("event_id", None),
    "evaluator": lambda event: event.update(evaluator="gatekeeper/0"),
    "policy": lambda event: event.update(policy={"policy_id": "x"}),
    "verdict": lambda event: event.update(decision={**(event.get("decision") or {}), "verdict": "ACCEPT"}),
    "snapshot": lambda event: event.update(metrics_snapshot={"metrics": {"error_rate": 0.5}}),
    "number": lambda event: event.update(attempt=1.5e-9),
}


def _spaced(line: bytes) -> bytes:
    return json.dumps(json.loads(line)).encode()


def _escaped(line: bytes) -> bytes:
    return line.replace(b"policy", b"\\u0070olicy", 1).replace(b"REJECT", b"\\u0052EJECT")


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "spaced": _spaced,
    "escaped": _escaped,
    "slashed": lambda line: line.replace(b"exp-", b"exp\\/", 1),
    "carriage return": lambda line: line + b"\r",
    "no UTF-8": lambda line: line.replace(b'"actor":"', b'"actor":"\xff', 1),
    "cut": lambda line: line[: len(line) // 2],
    "cut before its end": lambda line: line[:-1],
    "beginning lost": lambda line: line[len(line) // 3 :],
    "zeros": lambda line: b"\0" * len(line),
    "rubbish": lambda _: b"rubbish",
    "a list": lambda _: b"[1]",
    "blank": lambda _: b"",
    "spaces": lambda _: b" \t",
    "founding-style": lambda _: b'{"run_id":"r-41","stage":"SHADOW","verdict":"REJECT"}',
    "whole double": lambda line: line.replace(b'"attempt":1,', b'"attempt":1.0,'),
}


def _edit(log: Lines, at: int, change: Change) -> Lines:
    try:
        return [*log[:at], changed(log[at], change), *log[at + 1 :]]
    except (AssertionError, TypeError, ValueError):  # what stands there is no event any more
        return log


def _appended(log: Lines, at: int) -> Lines:
    """A line that fits behind the one at *at*, for a fork of the history."""
    try:
        event = dict(json.loads(log[at]))
        event |= {"seq": event["seq"] + 1, "prev": line_digest(log[at]), "event_id": "forged"}
        return [*log[: at + 1], encode_line(event), *log[at + 1 :]]
    except (KeyError, TypeError, ValueError):
        return log


def _rewritten(log: Lines) -> Lines:
    try:
        return rechained(log)
    except (AssertionError, TypeError, ValueError):
        return log


Step = tuple[str, int, int]
"""What is done: the name of an edit or of another change, and two lines that it is about."""

MOVES = ("delete", "copy", "swap", "glue", "fork", "rewrite")

STEPS = st.lists(
    st.tuples(st.sampled_from((*EDITS, *BYTES, *MOVES)), st.integers(0, len(LOG) - 1), st.integers(0, len(LOG) - 1)),
    max_size=4,
)


def tampered(steps: list[Step]) -> Lines:
    """The long log after these changes; one that is about a line which is not there any more is left out."""
    log = LOG
    for what, at, other in steps:
        if max(at, other) < len(log):
            log = _after(log, what, at, other)
    return log


def _after(log: Lines, what: str, at: int, other: int) -> Lines:
    if what in EDITS:
        return _edit(log, at, EDITS[what])
    if what in BYTES:
        try:
            return [*log[:at], BYTES[what](log[at]), *log[at + 1 :]]
        except ValueError:  # what stands there is no JSON any more
            return log
    if what == "delete":
        return [*log[:at], *log[max(at, other) + 1 :]] or log
    if what == "copy":
        return [*log[:at], log[other], *log[at:]]
    if what == "swap":
        first, second = sorted((at, other))
        if first == second:
            return log
        return [*log[:first], log[second], *log[first + 1 : second], log[first], *log[second + 1 :]]
    if what == "glue":
        return [*log[:at], log[at][: len(log[at]) // 2] + log[other], *log[at + 1 :]]
    return _appended(log, at) if what == "fork" else _rewritten(log)
