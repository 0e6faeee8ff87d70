"""All figures of SPEC 10 in one run: `make bench`.

Sets up its own environments, measures in interleaved rounds, prints a table of ratios to named peers, and writes
bench/RESULTS.md. Exit code 1 when a figure misses its must or could not be measured.

usage: run.py [--quick] [--events=N] [STEP...]    --quick: few rounds, short logs; to try the benchmark itself
                                                  --events: how many the longest log gets, instead of a million
With an option, or when only some steps are named (start_up, unbounded, memory, ...), RESULTS.md is left as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import backtests
import collected_checks
import collecting
import evaluations
import git_checks
import log_figures
import log_upkeep
import postgres_appends
import reviews
from checks import Desk, loaded_heavies
from environments import GATE, HERE, ROOT, program, set_up_gate, set_up_log_peers, set_up_peers
from figures import Figure, at_least, at_most, attempted, machine, table, within
from log_scale import LogScale
from timing import FailedError, ratio, rounds

OUT = os.path.join(HERE, "out")
RESULTS = os.path.join(HERE, "RESULTS.md")
QUICK = "--quick" in sys.argv[1:]
NAMED = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
LONGEST = next((int(argument[9:]) for argument in sys.argv[1:] if argument.startswith("--events=")), None)
ROUNDS = 6 if QUICK else 40
GROWTH_ROUNDS = 10 if QUICK else 120
EVENTS = 4_000 if QUICK else 100_000
LATE_ROUNDS, LOOPBACK_ROUNDS = (2, 6) if QUICK else (7, 40)
DRIPS = 2 if QUICK else 5
COLLECTED_ROUNDS = 4 if QUICK else 30
REVIEW_ROUNDS = 4 if QUICK else 20
SHORT_ROUNDS, SHORT_SECONDS = (3, 0.1) if QUICK else (15, 0.4)


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    where = machine()
    say("setting up gatekeeper")
    set_up_gate()
    say("setting up what it is measured against")
    for set_up in (set_up_peers, set_up_log_peers):
        peers = attempted("peers", "", "", partial(installed, set_up))
        if peers.meets_must is None:
            say(peers.measured)
    figures: list[Figure] = []
    steps: dict[str, Callable[[], list[Figure]]] = {step.__name__: step for step in STEPS}
    scale = LogScale(os.path.join(OUT, "logs"), quick=QUICK, longest=LONGEST)
    steps |= {step.__name__: partial(step, scale) for step in (*log_figures.STEPS, *backtests.STEPS, *log_upkeep.STEPS)}
    unknown = set(NAMED) - set(steps)
    if unknown:
        sys.exit(f"no such step: {', '.join(sorted(unknown))}; there are: {', '.join(steps)}")
    for name in NAMED or steps:
        say(name)
        figures += steps[name]()
    shutil.rmtree(OUT)  # gigabytes
    text = table(figures)
    print(f"\n{where}\n\n{text}")
    if not sys.argv[1:]:
        with open(RESULTS, "w", encoding="utf-8") as file:
            file.write(HEAD.format(where=where, table=text))
    return 0 if all(figure.meets_must for figure in figures) else 1


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def installed(set_up: Callable[[], None]) -> Figure:
    set_up()
    return Figure("peers", "", "", "installed", meets_must=True, meets_aim=True)


def milliseconds(values: list[float]) -> str:
    return f"{statistics.median(values) * 1000:.1f} ms"


def start_up() -> list[Figure]:
    """Figures 1 and 2: whole processes against hello world."""
    desk = Desk(os.path.join(OUT, "start-up"))
    measured: dict[str, list[float]] = {}

    def against_hello(name: str, subject: str, must: float, aim: float) -> Figure:
        if not measured:
            desk.begin()
            measured.update(rounds({"hello": desk.hello, "known": desk.known, "unseen": desk.unseen}, count=ROUNDS))
            desk.assert_recorded()
        note = f"{milliseconds(measured[subject])} : {milliseconds(measured['hello'])}"
        return at_most(name, ratio(measured, subject, "hello"), must, aim, note=note)

    known = "`check` on a policy that the log holds : hello world, typer 0.29"
    unseen = "`check` on a policy never seen before : hello world, typer 0.29"
    return [
        attempted(known, "<= 0.60 x", "<= 0.45 x", lambda: against_hello(known, "known", 0.60, 0.45)),
        attempted(unseen, "<= 1.15 x", "<= 0.90 x", lambda: against_hello(unseen, "unseen", 1.15, 0.9)),
    ]


def modules() -> list[Figure]:
    """Figure 3: what a check loads."""
    name, must = "modules that a check loads", "no pydantic, rich, requests, pandas, prometheus_api_client"
    aim = "nor typer, typing, orjson"

    def measure() -> Figure:
        desk = Desk(os.path.join(OUT, "modules"))
        desk.begin()
        loaded = desk.modules()
        heavy = loaded_heavies(loaded)
        words = f"{len(loaded)} modules, of these heavy: {', '.join(heavy) or 'none'}"
        is_light = not set(heavy) - {"typer", "typing", "orjson"}
        return Figure(name, must, aim, words, meets_must=is_light, meets_aim=not heavy)

    return [attempted(name, must, aim, measure)]


def flushes() -> list[Figure]:
    """Figure 4: how often a check waits for the device."""
    name = "device flushes in one check"

    def measure() -> Figure:
        desk = Desk(os.path.join(OUT, "flushes"))
        desk.begin()
        counted = [desk.flushes() for _ in range(5)]
        usual = max(counted)
        return Figure(name, "1", "1", f"{usual} (most of 5 checks)", meets_must=usual == 1, meets_aim=usual == 1)

    return [attempted(name, "1", "1", measure)]


def growth() -> list[Figure]:
    """Figure 5: a check on a long log against one on a short log."""
    name = f"`check` after {EVENTS:,} events : after 100"

    def measure() -> Figure:
        desks = {}
        for size in (100, EVENTS):
            desks[str(size)] = desk = Desk(os.path.join(OUT, f"growth-{size}"))
            fill = [program(GATE, "python"), os.path.join(HERE, "fill_worker.py"), desk.log, str(size)]
            subprocess.run(fill, check=True)
            desk.begin()
        values = rounds({size: desk.known for size, desk in desks.items()}, count=GROWTH_ROUNDS)
        for desk in desks.values():
            desk.assert_recorded()
        note = f"{milliseconds(values[str(EVENTS)])} : {milliseconds(values['100'])}"
        return at_most(name, ratio(values, str(EVENTS), "100"), 1.10, 1.03, note=note)

    return [attempted(name, "<= 1.10 x", "<= 1.03 x", measure)]


def evaluation() -> list[Figure]:
    """Figure 6: evaluations in process."""
    name = "evaluations per second, 5 metrics, all findings : OPA engine"

    def measure() -> Figure:
        values = evaluations.measure(count=SHORT_ROUNDS, seconds=SHORT_SECONDS)
        note = f"{statistics.median(values['gatekeeper']):,.0f}/s : {statistics.median(values['opa']):,.0f}/s"
        return at_least(name, ratio(values, "gatekeeper", "opa"), 8, 25, note=note)

    return [attempted(name, ">= 8 x", ">= 25 x", measure)]


def appending() -> list[Figure]:
    """Figure 7: durable appends."""
    name = "durable appends per second, lock, chain and digest : write + fdatasync of as many bytes"

    def measure() -> Figure:
        directory = os.path.join(OUT, "append")
        os.makedirs(directory)
        worker = [program(GATE, "python"), os.path.join(HERE, "append_worker.py"), directory]
        done = subprocess.run(
            [*worker, str(SHORT_ROUNDS), str(SHORT_SECONDS)], stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            raise FailedError(f"append_worker.py ended with {done.returncode}")
        values = json.loads(done.stdout)
        rates = f"{statistics.median(values['ledger']):,.0f}/s : {statistics.median(values['raw']):,.0f}/s"
        note = f"{rates}, {values['bytes']:,} bytes each"
        return at_least(name, ratio(values, "ledger", "raw"), 0.5, 0.8, note=note)

    return [attempted(name, ">= 0.5 x", ">= 0.8 x", measure)]


def collections() -> list[Figure]:
    """Figures 8 and 9: collections in process, against the client library alone."""
    measured: dict[str, Any] = {}

    def against_client(name: str, how: str, must: float, aim: float) -> Figure:
        if not measured:
            directory = os.path.join(OUT, "collections")
            measured.update(collecting.measure(directory, late=LATE_ROUNDS, loopback=LOOPBACK_ROUNDS))
        values = measured[how]
        note = f"{milliseconds(values['ours'])} : {milliseconds(values['peer'])}, {len(measured['texts'])} queries"
        return at_most(name, ratio(values, "ours", "peer"), must, aim, note=note)

    what = "20 metrics, variant and baseline, with watermarks and coverage"
    peer = "prometheus-api-client, the same queries one after the other"
    late, loopback = f"{what}, each answer 50 ms late : {peer}", f"{what}, on loopback : {peer}"
    return [
        attempted(late, "<= 0.25 x", "<= 0.15 x", lambda: against_client(late, "late", 0.25, 0.15)),
        attempted(loopback, "<= 1.00 x", "<= 0.85 x", lambda: against_client(loopback, "loopback", 1.0, 0.85)),
    ]


def dripping() -> list[Figure]:
    """Figure 10: a deadline that no server can stretch."""
    name = "`collect` from a server that drips a byte at a time, deadline 2 s: process gone"

    def measure() -> Figure:
        values = collecting.drip(os.path.join(OUT, "dripping"), count=DRIPS)
        return within(name, max(values), 3.0, 2.3, show="{:.2f} s", note=f"longest of {DRIPS}")

    return [attempted(name, "<= 3.00 s", "<= 2.30 s", measure)]


def collected() -> list[Figure]:
    """Figure 11: what a check pays for collecting its evidence itself."""
    name = "`check --collect` of 5 metrics, variant and baseline, beyond `check --snapshot` of what it collects"

    def measure() -> Figure:
        values, queries = collected_checks.measure(os.path.join(OUT, "collected"), count=COLLECTED_ROUNDS)
        more = (statistics.median(values["collect"]) - statistics.median(values["snapshot"])) * 1000
        least = f"{(min(values['collect']) - min(values['snapshot'])) * 1000:+.0f} ms"
        asking = f"one plain connection brings the {queries} answers in {milliseconds(values['asking'])}"
        note = (
            f"{milliseconds(values['collect'])} - {milliseconds(values['snapshot'])}, fastest of each {least}; {asking}"
        )
        return within(name, more, 250, 120, show="{:+.0f} ms", note=note)

    return [attempted(name, "<= +250 ms", "<= +120 ms", measure)]


def checking_policies() -> list[Figure]:
    """A review of many policy files."""
    return reviews.checking_policies(os.path.join(OUT, "policies"), REVIEW_ROUNDS)


def golden_cases() -> list[Figure]:
    """The golden cases that ship."""
    return reviews.golden_cases(os.path.join(OUT, "golden"), REVIEW_ROUNDS)


def checking_on_git() -> list[Figure]:
    """A check on a branch of a bare repository."""
    return git_checks.checking(os.path.join(OUT, "git"), ROUNDS)


def appending_to_postgres() -> list[Figure]:
    """A log in a database, by one client and by many."""
    count, seconds = (3, 1.0) if QUICK else (7, 3.0)
    return postgres_appends.figures(count=count, seconds=seconds, short_seconds=SHORT_SECONDS)


STEPS = (
    start_up, modules, flushes, growth, evaluation, appending, collections, dripping, collected,
    checking_policies, golden_cases, checking_on_git, appending_to_postgres,
)  # fmt: skip

HEAD = """# Results of `make bench`

{where}

{table}

Each ratio is the median over interleaved rounds of one run; the times beside it are medians of that run and hold for
this machine only. How each figure is measured: [README.md](README.md).
"""

if __name__ == "__main__":
    assert os.path.isdir(ROOT)
    sys.exit(main())
