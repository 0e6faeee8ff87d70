"""The figures of asking the log: two questions with and without projection, and the projection from nothing."""

from __future__ import annotations

import dataclasses
import os

import log_questions as ask
from environments import GATE, program
from figures import Figure, at_most, attempted
from log_files import SHORT
from log_questions import Subject, assert_equal
from log_scale import LogScale, Values, nothing, times
from timing import ratio, rounds

_FIRST_AIM = "<= 0.20 x; <= 1.3 x of 10,000 events"


def first_question(scale: LogScale) -> list[Figure]:
    """REJECT decisions of one policy in the last 7 of 60 days."""

    def measured() -> tuple[Values, int]:
        log, short = scale.log, scale.logs[SHORT]
        subjects = {
            "projected": scale.subject("projected", ask.hits(log.projected, log.since), ask.seqs_of_events),
            "short": scale.subject("short", ask.hits(short.projected, short.since), ask.seqs_of_events),
            "bare": scale.subject("bare", ask.hits(log.bare, log.since), ask.seqs_of_events, log=log),
            "rg": scale.subject("rg", ask.grep_hits(log.bare, log.since), ask.seqs_of_events),
        }
        log.warm()
        values = rounds(subjects, count=scale.count, warm=1)
        return values, assert_equal(subjects, "rg", "projected", "bare")

    what = f"REJECTs of one policy in the last 7 of 60 days, {scale.size}"
    with_, without = f"{what}, with projection : rg + rg + jq", f"{what}, without projection : rg + rg + jq"
    found: list[tuple[Values, int]] = []

    def against(name: str, subject: str, must: float, aim: float) -> Figure:
        if not found:
            found.append(measured())
        values, hits = found[0]
        note = f"{times(values, subject, 'rg')}, {hits} hits"
        if subject == "bare":
            return at_most(name, ratio(values, subject, "rg"), must, aim, note=note)
        growth = ratio(values, "projected", "short")
        row = at_most(name, ratio(values, subject, "rg"), must, aim, note=f"{note}; {growth:.2f} x of 10,000")
        return dataclasses.replace(row, aim=_FIRST_AIM, meets_aim=row.meets_aim and growth <= 1.3)

    return [
        attempted(with_, "<= 0.35 x", _FIRST_AIM, lambda: against(with_, "projected", 0.35, 0.2)),
        attempted(without, "<= 1.00 x", "<= 0.40 x", lambda: against(without, "bare", 1.0, 0.4)),
    ]


def unbounded(scale: LogScale) -> list[Figure]:
    """The same of all days, without projection."""
    name = f"the same of all 60 days, {scale.size}, without projection : DuckDB CLI, given columns"

    def measure() -> Figure:
        log = scale.log
        subjects = {
            "bare": scale.subject("bare-all", ask.hits(log.bare), ask.seqs_of_events, log=log),
            "duckdb": scale.subject("duckdb-all", ask.duckdb_hits(log.bare, scale.directory), ask.seqs),
        }
        log.warm()
        values = rounds(subjects, count=scale.count, warm=1)
        note = f"{times(values, 'bare', 'duckdb')}, {assert_equal(subjects, 'duckdb', 'bare'):,} hits"
        return at_most(name, ratio(values, "bare", "duckdb"), 0.6, 0.35, note=note)

    return [attempted(name, "<= 0.60 x", "<= 0.35 x", measure)]


def second_question(scale: LogScale) -> list[Figure]:
    """Decisions by verdict and reason code."""
    what = f"count by verdict and reason code, {scale.size}"
    with_, without = f"{what}, with projection : DuckDB on Parquet", f"{what}, without projection : DuckDB CLI"

    def against(name: str, subjects: dict[str, Subject], must: float, aim: float) -> Figure:
        scale.log.warm()
        values = rounds(subjects, count=scale.count, warm=1)
        ours, peer = subjects
        note = f"{times(values, ours, peer)}, {assert_equal(subjects, peer, ours)} groups"
        return at_most(name, ratio(values, ours, peer), must, aim, note=note)

    def indexed() -> Figure:
        ours = scale.subject("counts", ask.counts(scale.log.projected), ask.groups)
        peer = scale.subject("parquet", ask.parquet("count", scale.parquet), ask.rows)
        return against(with_, {"projected": ours, "parquet": peer}, 0.5, 0.25)

    def scanned() -> Figure:
        ours = scale.subject("counts-bare", ask.counts(scale.log.bare), ask.groups, log=scale.log)
        peer = scale.subject("duckdb-counts", ask.duckdb_counts(scale.log.bare, scale.directory), ask.rows)
        return against(without, {"bare": ours, "duckdb": peer}, 1.0, 0.6)

    return [
        attempted(with_, "<= 0.50 x", "<= 0.25 x", indexed),
        attempted(without, "<= 1.00 x", "<= 0.60 x", scanned),
    ]


def projecting(scale: LogScale) -> list[Figure]:
    """The projection from nothing."""
    name = f"projection from nothing, {scale.size} : DuckDB, the log to Parquet"
    must, aim = "<= 4.00 x; <= 10 % of the log", "<= 2.00 x; <= 5 % of the log"

    def measure() -> Figure:
        log = scale.log
        place = log.another_name("again")
        path = os.path.join(scale.directory, "again.parquet")

        def projected(number: int) -> float:
            for ending in (".db", ".db-wal", ".db-shm"):
                if os.path.exists(place + ending):
                    os.remove(place + ending)
            return ours(number)

        command = [program(GATE, "gatekeeper"), "log", "rebuild", "--log", place]
        ours = scale.subject("rebuild", command, nothing)
        subjects = {
            "ours": projected,
            "whole": scale.subject("whole", ask.parquet("write", log.bare, path), nothing),
            "columns": scale.subject("columns", ask.parquet("write-columns", log.bare, path), nothing),
        }
        log.warm()
        values = rounds(subjects, count=scale.few, warm=0)
        share = sum(os.path.getsize(place + end) for end in (".db", ".db-wal") if os.path.exists(place + end))
        share /= log.size
        given = f"{ratio(values, 'ours', 'columns'):.2f} x where DuckDB is given the few columns of the projection"
        note = f"{times(values, 'ours', 'whole')}; {given}; {share:.1%} of the log"
        row = at_most(name, ratio(values, "ours", "whole"), 4.0, 2.0, note=note)
        is_small, is_very_small = bool(row.meets_must) and share <= 0.1, bool(row.meets_aim) and share <= 0.05
        return dataclasses.replace(row, must=must, aim=aim, meets_must=is_small, meets_aim=is_very_small)

    return [attempted(name, must, aim, measure)]


STEPS = (first_question, unbounded, second_question, projecting)
"""In this order."""
