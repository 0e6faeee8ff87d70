"""Writes logs of as many events as asked, over sixty days, that `gatekeeper verify` accepts.

usage: make_log.py [--policies=N] DIRECTORY EVENTS...    writes DIRECTORY/EVENTS.ndjson for each number, and prints what
                                                         is in them; twenty policies unless set

Some thousand events are recorded by gatekeeper itself (recorded_runs.py). Their runs are then repeated under other
names and at other times, side by side as they would be: place in the log, chain, times, ids, names of holds, digests
of snapshot and input are those of the copy. Only `question_digest`, for which the log has no counterpart, is made up.
The same seed gives the same bytes.
"""

from __future__ import annotations

import heapq
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from operator import itemgetter
from typing import Any

from recorded_runs import POLICIES, Recorder

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.hold import resume_token

RECORDED = 6_000
"""So many events lie between two copies of the same run, more or less: more than what a compressor looks back."""
DAYS = 60
END = datetime(2026, 2, 18, tzinfo=UTC)
SEED = 7

_SECOND = 1_000_000
_NAME, _SEQ, _PREV, _SNAPSHOT, _INPUT, _QUESTION, _FIRST_FREE = range(7)
_DIGESTS = {b"prev": _PREV, b"snapshot_digest": _SNAPSHOT, b"input_digest": _INPUT, b"question_digest": _QUESTION}
_CHANGES = re.compile(
    rb'(?P<name>exp-r\d{6})|"seq":(?P<seq>\d+)|"(?P<key>prev|snapshot_digest|input_digest|question_digest)":"sha256:'
    rb'(?P<digest>[0-9a-f]{64})"|(?P<hold>hold-[0-9a-f]{24})|(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?P<rest>(?:\.\d+)?Z)'
)


class Part:
    """Bytes with places that are filled from a list of values."""

    def __init__(self, data: bytes, slot: Callable[[re.Match[bytes]], int]) -> None:
        places, pieces, at = list[int](), list[bytes](), 0
        for found in _CHANGES.finditer(data):
            group = "digest" if found["key"] else "time" if found["time"] else found.lastgroup or ""
            pieces.append(data[at : found.start(group)].replace(b"%", b"%%"))
            places.append(slot(found))
            at = found.end(group)
        self._format = b"%s".join([*pieces, data[at:].replace(b"%", b"%%")])
        self._values = itemgetter(*places, 0, 0)  # two more, so that it is always a tuple
        self._count = len(places)

    def filled(self, values: Sequence[bytes]) -> bytes:
        """The bytes with *values* in their places."""
        data: bytes = self._format % self._values(values)[: self._count]
        return data


class Template:
    """One recorded event, ready to be repeated.

    Attributes:
        at: microseconds since 1970.
        policy_digest: of the policy that must stand before it.
    """

    def __init__(self, line: bytes, event: dict[str, Any], holds: dict[bytes, str]) -> None:
        self.at = microseconds(event["ts"])
        self.policy_digest: str | None = event.get("policy_digest")
        self.verdict: str | None = event["decision"]["verdict"] if event["kind"] == "decision" else None
        self._times: list[int] = []  # seconds since 1970
        self._holds: list[str] = []  # ids of the events that began the holds that are named
        self._hold_ids, self._line = holds, line
        self._context = self._snapshot = None
        rest = line
        if event["kind"] == "decision":
            context, snapshot = canonical_bytes(event["context"]), canonical_bytes(event["metrics_snapshot"])
            before, _, rest = line.partition(b'"context":' + context)
            between, _, after = rest.partition(b'"metrics_snapshot":' + snapshot)
            self._context, self._snapshot = self._part(context), self._part(snapshot)
            self._between = self._part(between)
            line, rest = before, after
            self._before = self._part(before)
        self._rest = self._part(rest)
        self._policy = f',"policy_digest":"{self.policy_digest}","snapshot_digest":"sha256:'.encode()

    def _part(self, data: bytes) -> Part:
        return Part(data, self._slot)

    def _slot(self, found: re.Match[bytes]) -> int:
        if found["name"]:
            return _NAME
        if found["seq"]:
            return _SEQ
        if found["key"]:
            return _DIGESTS[found["key"]]
        if found["hold"]:
            return self._named(self._holds, self._hold_ids[found["hold"]], sign=1)
        return self._named(self._times, seconds(found["time"]), sign=-1)

    @staticmethod
    def _named(known: list[Any], value: Any, *, sign: int) -> int:
        """Place of a value: those of holds count up behind the fixed ones, those of times down from the end."""
        if value not in known:
            known.append(value)
        index = known.index(value)
        return _FIRST_FREE + index if sign > 0 else -1 - index

    def line(self, seq: int, prev: bytes, *, name: bytes, recorded: bytes, later: int) -> bytes:
        """The event as its copy in the run *name*, *later* seconds after *recorded*'s; without the newline."""
        values = [name, b"%d" % seq, prev, b"", b"", b""]
        for began in self._holds:
            event_id = began.replace(recorded.decode(), name.decode())
            values.append(resume_token(event_id[: event_id.rindex(":")], event_id).encode())
        values += [clock(moment + later) for moment in reversed(self._times)]
        if self._context is None or self._snapshot is None:
            values[_QUESTION] = sha256(name + values[_SEQ]).hexdigest().encode()
            return self._rest.filled(values)
        context, snapshot = self._context.filled(values), self._snapshot.filled(values)
        digest = values[_SNAPSHOT] = sha256(snapshot).hexdigest().encode()
        judged = sha256(b'{"context":' + context + self._policy + digest + b'"}').hexdigest().encode()
        values[_INPUT] = judged
        values[_QUESTION] = sha256(name + judged).hexdigest().encode()
        return b"".join(
            (
                self._before.filled(values), b'"context":', context, self._between.filled(values),
                b'"metrics_snapshot":', snapshot, self._rest.filled(values),
            )
        )  # fmt: skip


def seconds(text: bytes) -> int:
    return int(datetime.strptime(text.decode() + "Z", "%Y-%m-%dT%H:%M:%S%z").timestamp())


def microseconds(text: str) -> int:
    return seconds(text[:19].encode()) * _SECOND + int(text[20:26])


_minutes: dict[int, bytes] = {}


def clock(moment: int) -> bytes:
    """RFC 3339 up to the seconds; a minute is formatted once."""
    minute, second = divmod(moment, 60)
    prefix = _minutes.get(minute)
    if prefix is None:
        if len(_minutes) > 100_000:
            _minutes.clear()
        prefix = _minutes[minute] = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(minute * 60)).encode()
    return b"%s%02d" % (prefix, second)


class Run:
    """A recorded run: its name there and its events."""

    def __init__(self, name: bytes, lines: Sequence[tuple[bytes, dict[str, Any]]]) -> None:
        self.name = name
        ids = [(event["run_id"], event["event_id"]) for _, event in lines]
        holds = {resume_token(run_id, event_id).encode(): event_id for run_id, event_id in ids}
        self.events = [Template(line, event, holds) for line, event in lines]
        for (line, event), template in zip(lines, self.events, strict=True):
            copy = template.line(event["seq"], event["prev"][7:].encode(), name=name, recorded=name, later=0)
            question = event.get("question_digest", "")[7:].encode()
            if re.sub(rb'("question_digest":"sha256:)[0-9a-f]{64}', rb"\g<1>" + question, copy) != line:
                raise AssertionError(f"a copy is not as it was recorded:\n{line!r}\n{copy!r}")


def recorded(directory: str, events: int, of_policies: int = POLICIES) -> tuple[list[Run], dict[str, Template]]:
    """Runs of gatekeeper's own recording, and the events of their policies by digest."""
    recorder, count, number = Recorder(directory, SEED, count=of_policies), 0, 0
    while count < events:
        count += recorder.run(f"exp-r{number:06d}")
        number += 1
    recorder.close()
    runs: dict[str, list[tuple[bytes, dict[str, Any]]]] = {}
    policies = {}
    with open(recorder.path, "rb") as file:
        for line in file:
            event = json.loads(line)
            if event["kind"] == "policy":
                policies[event["policy_digest"]] = Template(line[:-1], event, {})
            else:
                runs.setdefault(event["run_id"], []).append((line[:-1], event))
    return [Run(lines[0][1]["experiment_id"].encode(), lines) for lines in runs.values()], policies


def schedule(runs: Sequence[Run], events: int) -> Iterator[tuple[Run, Template, bytes, int]]:
    """Which event comes next, in which copy, and how many seconds later than it was recorded."""
    chance = random.Random(SEED)
    length = sum(len(run.events) for run in runs) / len(runs)
    behind_begin = [event.at - run.events[0].at for run in runs for event in run.events]
    span = DAYS * 86_400 * _SECOND - sum(behind_begin) / len(behind_begin)
    apart = span / (events / length)
    begins, number = END.timestamp() * _SECOND - DAYS * 86_400 * _SECOND, 0
    going: list[tuple[int, int, int, Run, int]] = []
    while True:
        while not going or going[0][0] >= begins:
            run = chance.choice(runs)
            later = int(begins - run.events[0].at) // _SECOND + 1
            heapq.heappush(going, (run.events[0].at + later * _SECOND, number, 0, run, later))
            number += 1
            begins += apart * chance.uniform(0.1, 1.9)
        _, copy, index, run, later = going[0]
        yield run, run.events[index], b"exp-%07d" % copy, later
        if index + 1 < len(run.events):
            at = run.events[index + 1].at + later * _SECOND
            heapq.heapreplace(going, (at, copy, index + 1, run, later))
        else:
            heapq.heappop(going)


def write(path: str, events: int, runs: Sequence[Run], policies: dict[str, Template]) -> dict[str, Any]:
    """Write one log: what is in it."""
    seq, prev, last = 0, b"0" * 64, 0
    counted: Counter[str] = Counter()
    known: set[str] = set()
    with open(path, "wb", buffering=1 << 22) as file:
        for run, template, name, later in schedule(runs, events):
            lines = [(template, later)]
            needed = template.policy_digest
            if needed is not None and needed not in known:
                known.add(needed)
                policy = policies[needed]
                lines.insert(0, (policy, (template.at - policy.at) // _SECOND + later))
            for one, shift in lines:
                seq += 1
                line = one.line(seq, prev, name=name, recorded=run.name, later=shift)
                prev = sha256(line).hexdigest().encode()
                file.write(line)
                file.write(b"\n")
                counted[one.verdict or "other"] += 1
            last = template.at + later * _SECOND
            if seq >= events:
                break
    return {"path": path, "events": seq, "bytes": os.path.getsize(path), "last": last // _SECOND, "counted": counted}


def main() -> None:
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    directory, *sizes = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    of_policies = next((int(option.removeprefix("--policies=")) for option in options), POLICIES)
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as elsewhere:
        runs, policies = recorded(elsewhere, RECORDED, of_policies)
    for size in map(int, sizes):
        print(json.dumps(write(os.path.join(directory, f"{size}.ndjson"), size, runs, policies)), flush=True)


if __name__ == "__main__":
    main()
