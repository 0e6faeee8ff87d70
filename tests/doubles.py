"""Stand-ins for what tests should not depend on: a clock, a source of evidence, and a ledger without a disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import content_question_of, encode_line, line_digest, policy_draft, seal
from gatekeeper.model.exchange import ConflictError, Expectation, Receipt
from gatekeeper.model.fold import apply
from gatekeeper.model.policy import SCHEMA_VERSION, LoadedPolicy
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.model.times import MICROSECONDS, format_time, require_time


@dataclass
class StepClock:
    """A clock that stands still unless told: `moment` in microseconds since 1970, `step` added by each reading."""

    moment: int = require_time("2026-02-18T01:00:10Z")
    step: int = 0

    def now(self) -> int:
        """The moment, which then moves on by `step`."""
        moment = self.moment
        self.moment += self.step
        return moment

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.moment += round(seconds * MICROSECONDS)


@dataclass
class ScriptedSource:
    """`ports.EvidenceSource` that does what it is told and counts how often it was asked.

    Attributes:
        script: what one call after the other does and answers; the last is repeated.
        digest: of the collection file that it would be.
        calls: how often it was asked.
    """

    script: list[Callable[[], Snapshot]]
    digest: str = "sha256:" + "c0" * 32
    calls: int = 0

    def collect(self) -> Snapshot:
        """The next of the script."""
        self.calls += 1
        return (self.script.pop(0) if len(self.script) > 1 else self.script[0])()


@dataclass
class MemoryView:
    """`ports.LedgerView` over lists, as of its making."""

    known_runs: dict[str, Run]
    events: list[dict[str, Any]]
    is_complete: bool = True
    warnings: Sequence[str] = ()

    def run(self, run_id: str) -> Run | None:
        """The run, None when unknown."""
        return self.known_runs.get(run_id)

    def runs(self) -> Sequence[Run]:
        """All runs by first event."""
        return sorted(self.known_runs.values(), key=lambda run: run.first_seq)

    def holds(self) -> Sequence[Run]:
        """HELD runs, longest held first."""
        held = [run for run in self.known_runs.values() if run.state is RunState.HELD and run.hold is not None]
        return sorted(held, key=lambda run: run.hold.first_held_at if run.hold is not None else "")

    def _slot(self, experiment_id: str, variant_id: str, *, simulated: bool) -> list[Run]:
        wanted = (experiment_id, variant_id, simulated)
        return [run for run in self.runs() if (run.experiment_id, run.variant_id, run.simulated) == wanted]

    def live_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The ACTIVE or HELD run of the slot."""
        live = [run for run in self._slot(experiment_id, variant_id, simulated=simulated) if run.is_live]
        return live[-1] if live else None

    def latest_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The newest run of the slot."""
        runs = self._slot(experiment_id, variant_id, simulated=simulated)
        return runs[-1] if runs else None

    def token(self, token: str) -> tuple[str, str | None] | None:
        """Run of a hold, and what ended it."""
        for run in self.known_runs.values():
            if run.hold is not None and run.hold.token == token:
                return run.run_id, None
            if token in run.ended_holds:
                return run.run_id, run.ended_holds[token]
        return None

    def accepted(self, run_id: str, question: str) -> Mapping[str, Any] | None:
        """The newest ACCEPT with this content."""
        return self._newest(
            lambda event: (
                event["kind"] == "decision"
                and event["run_id"] == run_id
                and event["decision"]["verdict"] == "ACCEPT"
                and content_question_of(event) == question
            )
        )

    def key(self, key: str) -> Mapping[str, Any] | None:
        """The newest decision with this idempotency key."""
        return self._newest(lambda event: event["kind"] == "decision" and event.get("idempotency_key") == key)

    def refused(self, run_id: str, question_digest: str) -> bool:
        """Whether the run was refused this question."""
        wanted = ("refusal", run_id, question_digest)
        return any((e["kind"], e.get("run_id"), e.get("question_digest")) == wanted for e in self.events)

    def policy(self, digest: str) -> Mapping[str, Any] | None:
        """A recorded policy document."""
        wanted = ("policy", digest, SCHEMA_VERSION)
        found = self._newest(lambda e: (e["kind"], e.get("policy_digest"), e.get("schema_version")) == wanted)
        document: Mapping[str, Any] | None = found["policy"] if found is not None else None
        return document

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """The event with this id."""
        return self._newest(lambda event: event["event_id"] == event_id)

    def _newest(self, matches: Any) -> Mapping[str, Any] | None:
        return next((event for event in reversed(self.events) if matches(event)), None)


@dataclass
class MemoryLedger:
    """`ports.Ledger` in memory: the same order, chain, conflicts, policies and markers, and no disk.

    Attributes:
        fail_with: raised by the next appends instead of writing, to play a full disk.
        is_complete: what views say about the history.
    """

    clock: StepClock = field(default_factory=StepClock)
    fail_with: Exception | None = None
    is_complete: bool = True
    lines: list[bytes] = field(default_factory=list)
    markers: list[dict[str, Any]] = field(default_factory=list)
    _events: list[dict[str, Any]] = field(default_factory=list)
    _runs: dict[str, Run] = field(default_factory=dict)

    def view(self) -> MemoryView:
        """The state up to the last event; a marker is turned into its event first."""
        if self.fail_with is None:
            self._record_markers()
        return MemoryView(dict(self._runs), list(self._events), is_complete=self.is_complete)

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Seal and keep *drafts*, or raise `fail_with` or ConflictError with nothing kept."""
        if self.fail_with is not None:
            raise self.fail_with
        self._record_markers()
        view = MemoryView(self._runs, self._events)
        if expect is not None:
            _check(view, expect)
        unknown = {loaded.digest: loaded for loaded in policies if view.policy(loaded.digest) is None}
        return self._append([*(policy_draft(loaded, actor=actor) for loaded in unknown.values()), *drafts])

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Keep an unrecorded REJECT."""
        self.markers += [json.loads(encode_line(draft)) for draft in drafts]
        return "memory"

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Events from *start* on with their lines."""
        pairs = zip(self._events, self.lines, strict=True)
        return ((event, line) for event, line in list(pairs) if event["seq"] >= start)

    def _append(self, drafts: Sequence[Mapping[str, Any]]) -> Receipt:
        now, warnings, sealed = self.clock.now(), list[str](), list[tuple[dict[str, Any], bytes]]()
        last = self._events[-1]["ts"] if self._events else ""
        ts, behind = max(format_time(now), last), format_time(now) < last
        if behind and require_time(last) - now > 60 * MICROSECONDS:
            warnings.append(f"the log's last line is ahead of this clock ({last})")
        prev = line_digest(self.lines[-1]) if self.lines else GENESIS_DIGEST
        known = {event["event_id"] for event in self._events}
        for seq, draft in enumerate(drafts, len(self._events) + 1):
            line = encode_line(seal(draft, seq=seq, prev=prev, ts=ts, clock=format_time(now) if behind else None))
            event = json.loads(line)
            if event["event_id"] in known:
                raise ConflictError(f"event {event['event_id']} is in the log already")
            known.add(event["event_id"])
            sealed.append((event, line))
            prev = line_digest(line)
        for event, line in sealed:
            self._events.append(event)
            self.lines.append(line)
            if event.get("run_id") is not None:
                self._runs[event["run_id"]] = apply(self._runs.get(event["run_id"]), event)
        return Receipt(tuple(event for event, _ in sealed), tuple(warnings))

    def _record_markers(self) -> None:
        for draft in self.markers:
            run = self._runs.get(draft["run_id"]) if draft.get("run_id") is not None else None
            if run is not None and run.state is RunState.STOPPED:
                continue
            event = {**draft, "from_marker": True}
            if run is not None:
                kind = draft["kind"]
                ids = run.next_decision_id(draft["stage"]) if kind == "decision" else run.next_event_id(kind)
                event["event_id"] = ids
            self._append([event])
        self.markers.clear()


def _check(view: MemoryView, expect: Expectation) -> None:
    run = view.run(expect.run_id)
    if (run.version if run is not None else 0) != expect.version:
        raise ConflictError(f"run {expect.run_id} has moved")
    if expect.slot is not None:
        experiment_id, variant_id, simulated = expect.slot
        live = view.live_run(experiment_id, variant_id, simulated=simulated)
        if (live.run_id if live is not None else None) != expect.live_run_id:
            raise ConflictError("another run is live")
    if expect.key is not None:
        event = view.key(expect.key)
        if (event["seq"] if event is not None else 0) != expect.key_seq:
            raise ConflictError(f"key {expect.key} was used")
