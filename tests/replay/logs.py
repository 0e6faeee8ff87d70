"""Logs of all that a log can hold: events of every kind, and what damage, gaps, other writers and rotation leave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import encode_line, line_digest, seal
from gatekeeper.model.times import format_time
from tests.doubles import StepClock
from tests.ledger.drafts import decision
from tests.replay.builder import START

RUNS = ("r", "r:1", "q/é")
EXPERIMENTS = ("e", "f")
STAGES = ("SHADOW", "CANARY_10")
VERDICTS = ("ACCEPT", "REJECT", "DEGRADE")
REASONS = ("guardrail_violation:a", "guardrail_violation:b[5m]", "observation_stale:x")
POLICIES = ("p", "q")
ACTORS = ("ci", "bob")
HOUR = 3_600_000_000

DAMAGE = (b'{"kind":"decision","seq":', b"[1]", b"\xff\xfe", b"no JSON", b'{"a":1}{"b":2}', b'"seq":3}')
BLANK = (b"", b" ", b"\r")


@dataclass
class Writer:
    """Writes lines behind each other as a ledger would, and between them what a ledger never would."""

    lines: list[bytes] = field(default_factory=list)
    seq: int = 0
    moment: int = START
    prev: str = GENESIS_DIGEST
    numbers: dict[str, int] = field(default_factory=dict)

    def event(self, draft: dict[str, Any], *, skip: int = 0, wait: int = 0, **changes: Any) -> None:
        """The next event, *skip* seqs and *wait* microseconds behind the one before; changed after it was sealed."""
        self.seq += 1 + skip
        self.moment += wait
        event = {**seal(draft, seq=self.seq, prev=self.prev, ts=format_time(self.moment)), **changes}
        self.line(encode_line({name: value for name, value in event.items() if value != "absent"}))

    def line(self, data: bytes) -> None:
        """Any line."""
        self.lines.append(data)
        if data.strip():
            self.prev = line_digest(data)

    def named(self, run_id: str, what: str) -> str:
        """The next free id of this kind of event."""
        number = self.numbers[f"{run_id}:{what}"] = self.numbers.get(f"{run_id}:{what}", 0) + 1
        return f"{run_id}:{what}" if number == 1 else f"{run_id}:{what}#{number}"


def _decision(draw: st.DrawFn, writer: Writer) -> dict[str, Any]:
    run_id, stage = draw(st.sampled_from(RUNS)), draw(st.sampled_from(STAGES))
    verdict = draw(st.sampled_from(VERDICTS))
    policy = draw(st.sampled_from(POLICIES))
    draft = decision(run_id, stage, verdict=verdict, experiment=draw(st.sampled_from(EXPERIMENTS)))
    draft["decision"]["reason_codes"] = [] if verdict == "ACCEPT" else draw(st.lists(st.sampled_from(REASONS)))
    draft |= {"event_id": writer.named(run_id, stage), "actor": draw(st.sampled_from(ACTORS)), "policy_id": policy}
    draft |= {"policy_version": draw(st.sampled_from(("1", "2"))), "variant_id": draw(st.sampled_from(("A", "B")))}
    if draw(st.booleans()):
        draft["as_of"] = "2026-01-01T00:00:00Z"
    return draft


def _other(draw: st.DrawFn, writer: Writer) -> dict[str, Any]:
    run_id, kind = draw(st.sampled_from(RUNS)), draw(st.sampled_from(("refusal", "action", "approval", "policy")))
    if kind == "policy":
        return {"kind": kind, "policy_id": "p", "policy_version": "1", "policy_digest": "sha256:00", "policy": {},
                "schema_version": 1, "actor": "ci"}  # fmt: skip
    draft: dict[str, Any] = {"kind": kind, "run_id": run_id, "event_id": writer.named(run_id, kind), "actor": "ci"}
    if kind == "refusal":
        draft |= {"question_digest": "sha256:11", "refusal": {"stage": draw(st.sampled_from(STAGES))}}
    if kind == "action":
        draft |= {"action": {"name": "stop", "params": {}}, "stage": draw(st.sampled_from(STAGES))}
        draft["decision"] = {"verdict": "REJECT", "reason_codes": ["change_refused:stopped"]}
    return draft


CHANGES: tuple[dict[str, Any], ...] = (
    {"ts": "2020-01-01T00:00:00Z"},
    {"ts": "2026-02-18T02:00:00+01:00"},
    {"ts": 7},
    {"ts": "absent"},
    {"seq": "absent"},
    {"seq": 1},
    {"seq": "9"},
    {"stage": 5},
    {"stage": ""},
    {"stage": ["S"]},
    {"policy_version": 3},
    {"kind": ""},
    {"event_id": "a name of its own"},
    {"decision": "REJECT"},
    {"decision": {"verdict": "REJECT", "reason_codes": ["guardrail_violation:a", 1, "guardrail_violation:a"]}},
    {"run_id": "absent"},
    {"variant_id": None},
    {"actor": {"name": "x"}},
    {"zz": {"seq": 400}},
    {"as_of": ""},
    {"stage": "absent", "refusal": {"stage": ""}},
)
FOUNDING: tuple[dict[str, Any], ...] = (
    {"run_id": "r", "stage": "SHADOW", "verdict": "REJECT", "reason_codes": ["guardrail_violation:a"]},
    {"run_id": "old", "stage": "SHADOW", "decision": "ACCEPT", "ts": "2026-02-18T01:30:00Z"},
    {"run_id": "r", "seq": 2, "decision": {"verdict": "DEGRADE"}, "ts": "2030-01-01T00:00:00Z"},
)


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[bytes], bytes]:
    """The lines of a log, and what stands behind the last newline."""
    writer = Writer()
    steps = ("decision",) * 6 + ("other",) * 3 + ("gap", "changed", "changed", "damage", "blank", "founding", "double")
    for step in draw(st.lists(st.sampled_from(steps), min_size=draw(st.integers(0, 8)), max_size=14)):
        wait = draw(st.sampled_from((0, 1, HOUR, 30 * HOUR)))
        if step == "decision":
            writer.event(_decision(draw, writer), wait=wait)
        elif step == "other":
            writer.event(_other(draw, writer), wait=wait)
        elif step == "gap":
            writer.event(_decision(draw, writer), skip=draw(st.integers(1, 3)), wait=wait)
        elif step == "changed":
            writer.event(_decision(draw, writer), wait=wait, **draw(st.sampled_from(CHANGES)))
        elif step == "damage":
            writer.line(draw(st.sampled_from(DAMAGE)))
        elif step == "blank":
            writer.line(draw(st.sampled_from(BLANK)))
        elif step == "founding":
            writer.line(json.dumps(draw(st.sampled_from(FOUNDING))).encode())
        elif writer.lines:
            writer.line(draw(st.sampled_from(writer.lines)))
    return writer.lines, draw(st.sampled_from((b"", b"", b" ", b'{"kind":"decision"', b'{"seq":1}')))


@st.composite
def chained_logs(draw: st.DrawFn) -> list[bytes]:
    """The lines of a log without damage, gaps and doubled ids; some events say of themselves what no writer would."""
    writer = Writer()
    usual = [change for change in CHANGES if change.keys() <= {"ts", "policy_version", "variant_id", "actor", "zz"}]
    for step in draw(st.lists(st.sampled_from(("decision",) * 4 + ("other", "changed")), max_size=10)):
        wait = draw(st.sampled_from((0, 1, HOUR, 30 * HOUR)))
        draft = _other(draw, writer) if step == "other" else _decision(draw, writer)
        writer.event(draft, wait=wait, **(draw(st.sampled_from(usual)) if step == "changed" else {}))
    return writer.lines


class Quick(FileOps):
    """Does not wait for the device."""

    def flush(self, descriptor: int) -> None:
        """Done."""

    def flush_directory(self, path: str) -> None:
        """Done."""


def ledger_at(path: Path, clock: StepClock | None = None) -> NdjsonLedger:
    """A ledger that waits for nothing; its clock stands still unless one is given."""
    return NdjsonLedger(str(path), clock=clock or StepClock(), ops=Quick())


def take_in(path: Path, lines: Sequence[bytes], rest: bytes = b"") -> None:
    """Let a ledger see a file of these lines in the log's place, and keep what it has seen."""
    path.write_bytes(b"".join(line + b"\n" for line in lines) + rest)
    ledger = ledger_at(path)
    ledger.view()
    ledger.close()
