"""The figures of keeping the log: proof, archives, many writers, memory."""

from __future__ import annotations

import dataclasses
import os
import statistics
import subprocess
import sys
from typing import Any

import appending_many
import log_questions as ask
from checks import Desk
from environments import GATE, HERE, LOG_PEERS, program, system_program
from figures import Figure, at_least, at_most, attempted
from log_files import SHORT, Log, run
from log_scale import LogScale, nothing, times, verify
from timing import FailedError, ratio, rounds


def chain(scale: LogScale) -> list[Figure]:
    """The chain alone."""
    name = f"chain of {scale.size} verified, nothing evaluated : openssl dgst -sha256"

    def measure() -> Figure:
        log = scale.log
        hashing = [system_program("openssl"), "dgst", "-sha256", log.bare]
        subjects = {
            "ours": scale.subject("chain", verify(log.bare, "--chain-only"), nothing, log=log),
            "openssl": scale.subject("openssl", hashing, nothing),
        }
        log.warm()
        values = rounds(subjects, count=scale.count, warm=1)
        return at_most(name, ratio(values, "ours", "openssl"), 2.4, 1.4, note=times(values, "ours", "openssl"))

    return [attempted(name, "<= 2.40 x", "<= 1.40 x", measure)]


def verifying(scale: LogScale) -> list[Figure]:
    """Everything: chain, digests, canonical form, decisions."""
    name = f"{scale.size}: chain, digests and every decision again, events per second : orjson loop, one process"

    def measure() -> Figure:
        log = scale.log
        loop = [program(LOG_PEERS, "python"), os.path.join(HERE, "peers", "replay_loop.py"), log.bare]
        subjects = {
            "ours": scale.subject("verify", verify(log.bare), nothing, log=log),
            "loop": scale.subject("loop", loop, nothing),
        }
        log.warm()
        values = rounds(subjects, count=scale.few, warm=0)
        rates = {key: [log.events / seconds for seconds in spent] for key, spent in values.items()}
        note = f"{statistics.median(rates['ours']):,.0f}/s : {statistics.median(rates['loop']):,.0f}/s"
        return at_least(name, ratio(rates, "ours", "loop"), 0.15, 0.4, note=note)

    return [attempted(name, ">= 0.15 x", ">= 0.4 x", measure)]


def sealing(scale: LogScale) -> list[Figure]:
    """Sealed and archived segments: their size, and whether they answer."""
    name = f"sealed segment of {scale.middle:,} events : its size at rest, still queried"

    def measure() -> Figure:
        log = scale.logs[scale.middle]
        place = log.another_name("sealed")
        home = os.path.dirname(place)
        gate = program(GATE, "gatekeeper")
        question = scale.subject("sealed", ask.hits(place), ask.seqs_of_events)

        def asked() -> tuple[Any, float]:
            seconds = statistics.median(question(number) for number in range(3))
            return question.answer(), seconds

        before, plain = asked()
        for step in ("rotate", "archive"):
            run([gate, "log", step, "--log", place])
        sealed = sum(os.path.getsize(os.path.join(home, one)) for one in os.listdir(home) if one.endswith(".zst"))
        with_projection, quick = asked()
        for one in os.listdir(home):
            if one.startswith("decision.ndjson.db"):
                os.remove(os.path.join(home, one))
        without, slow = asked()
        if not before or before != with_projection or before != without:
            raise FailedError(f"{len(before)} hits before, then {len(with_projection)}, without {len(without)}")
        note = (
            f"its REJECTs of one policy: {quick:.2f} s with projection, {slow:.2f} s without; plain file {plain:.2f} s"
        )
        return at_least(name, log.size / sealed, 6.5, 6.5, note=note)

    return [attempted(name, ">= 6.5 x", ">= 6.5 x", measure)]


def many_writers(scale: LogScale) -> list[Figure]:
    """Durable appends by sixteen processes."""
    name = "durable appends per second, 16 processes, one log file : PostgreSQL, 16 clients"

    def measure() -> Figure:
        values = appending_many.measure(count=3 if scale.quick else 7, seconds=1 if scale.quick else 3)
        rates = {key: f"{statistics.median(values[key]):,.0f}/s" for key in ("ledger", "postgres")}
        note = f"{rates['ledger']} : {rates['postgres']}, {values['bytes']:,} bytes each"
        return at_least(name, ratio(values, "ledger", "postgres"), 0.35, 1.0, note=note)

    return [attempted(name, ">= 0.35 x", ">= 1 x", measure)]


def memory(scale: LogScale) -> list[Figure]:
    """Peak memory of query, verify and check on the longest log against the shortest."""
    name = f"peak memory of query, verify and check, {scale.size} : 10,000"
    must, aim = "<= 1.10 x", "<= 32 MiB"

    def measure() -> Figure:
        found = {size: peaks(scale, scale.logs[size]) for size in sorted({SHORT, scale.longest})}
        pairs = {what: (found[SHORT][what], found[scale.longest][what]) for what in found[SHORT]}
        worst, largest = max(long / short for short, long in pairs.values()), max(map(max, pairs.values()))
        note = ", ".join(f"{what} {short:.0f} to {long:.0f}" for what, (short, long) in pairs.items()) + " MiB"
        row = at_most(name, worst, 1.1, 1.1, note=note)
        return dataclasses.replace(row, aim=aim, meets_aim=bool(row.meets_must) and largest <= 32)

    return [attempted(name, must, aim, measure)]


def peaks(scale: LogScale, log: Log) -> dict[str, float]:
    """Command -> MiB; a check makes the log longer."""
    commands = {
        "query": ask.hits(log.projected, log.since),
        "query without projection": ask.hits(log.bare, log.since),
        "counts": ask.counts(log.projected),
        "counts without projection": ask.counts(log.bare),
        "verify": verify(log.bare),
    }
    found = {what: peak(scale, command) for what, command in commands.items()}
    desk = Desk(os.path.join(scale.directory, f"{log.events}-desk"))
    desk.log = log.projected
    desk.begin()
    found["check"] = max(peak(scale, desk.another()) for _ in range(5))
    return found


def peak(scale: LogScale, command: list[str]) -> float:
    """MiB that the largest process of a command had resident."""
    output = os.path.join(scale.directory, "peak.out")
    measuring = [sys.executable, "-I", "-S", os.path.join(HERE, "peak.py"), output]
    done = subprocess.run([*measuring, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"exit code {done.returncode}: {' '.join(command)}")
    return int(done.stdout) / 1024


STEPS = (chain, verifying, sealing, many_writers, memory)
"""In this order: the last one appends to the logs."""
