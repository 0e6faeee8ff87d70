"""The figures of `policy backtest`: how fast it judges a log again under a changed policy, and in how much memory."""

from __future__ import annotations

import json
import os
import statistics
from typing import Any

from environments import GATE, HERE, LOG_PEERS, program
from figures import Figure, at_least, at_most, attempted
from log_files import SHORT, Log, run
from log_scale import LogScale
from log_upkeep import peak
from timing import FailedError, ratio, rounds

STRICTER = 0.785
"""Of the recorded threshold: a few in a hundred of the accepted decisions lie above it."""


def backtesting(scale: LogScale) -> list[Figure]:
    """All decisions of a log of one policy, under that policy with a lower threshold."""
    name = f"backtest of {scale.middle:,} events of one policy, events per second : orjson loop, one process"

    def measure() -> Figure:
        directory = os.path.join(scale.directory, "one-policy")
        maker = [program(GATE, "python"), os.path.join(HERE, "make_log.py"), "--policies=1", directory]
        log = Log(json.loads(run([*maker, str(scale.middle)])), directory)
        changed = _changed(log, directory)
        loop = [program(LOG_PEERS, "python"), os.path.join(HERE, "peers", "replay_loop.py"), log.bare]
        subjects = {
            "ours": scale.subject("backtest", _backtest(changed, log.bare), _report, log=log),
            "loop": scale.subject("backtest-loop", loop, _report),
        }
        log.warm()
        values = rounds(subjects, count=scale.count, warm=1)
        found = subjects["ours"].answer()
        if not 0 < found["flipped"] < found["compared"] or found["compared"] != found["decisions"]:
            raise FailedError(f"{found['flipped']} flips, {found['compared']} of {found['decisions']} compared")
        rates = {key: [found["compared"] / seconds for seconds in spent] for key, spent in values.items()}
        both = f"{statistics.median(rates['ours']):,.0f}/s : {statistics.median(rates['loop']):,.0f}/s"
        note = f"{both}, {found['flipped']:,} verdicts flip"
        return at_least(name, ratio(rates, "ours", "loop"), 0.15, 0.4, note=note)

    return [attempted(name, ">= 0.15 x", ">= 0.4 x", measure)]


def backtest_memory(scale: LogScale) -> list[Figure]:
    """Peak memory on the longest log against the shortest, all decisions of all policies."""
    name = f"peak memory of a backtest, {scale.size} : 10,000"

    def measure() -> Figure:
        changed = _changed(scale.logs[SHORT], scale.directory)
        found = {size: peak(scale, _backtest(changed, scale.logs[size].bare, every=True)) for size in _ends(scale)}
        short, long = found[SHORT], found[scale.longest]
        return at_most(name, long / short, 1.1, 1.1, note=f"{short:.0f} to {long:.0f} MiB")

    return [attempted(name, "<= 1.10 x", "<= 1.10 x", measure)]


def _ends(scale: LogScale) -> list[int]:
    return sorted({SHORT, scale.longest})


def _changed(log: Log, directory: str) -> str:
    """Path of the first policy of a log with a lower threshold; beside it the ids of all."""
    with open(log.bare, "rb") as file:
        policies = [json.loads(line)["policy"] for line in file if b'"kind":"policy"' in line]
    policy = policies[0]
    policy["policy_version"] += "-next"
    policy["guardrails"][0]["threshold"] = round(policy["guardrails"][0]["threshold"] * STRICTER, 6)
    path = os.path.join(directory, "changed.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy, file)
    with open(f"{path}.ids", "w", encoding="utf-8") as file:
        json.dump(sorted({one["policy_id"] for one in policies}), file)
    return path


def _backtest(changed: str, log: str, *, every: bool = False) -> list[str]:
    command = [program(GATE, "gatekeeper"), "policy", "backtest", changed, "--log", log, "-o", "json"]
    if every:
        with open(f"{changed}.ids", encoding="utf-8") as file:
            command += [word for policy_id in json.load(file) for word in ("--policy-id", policy_id)]
    return command


def _report(output: str) -> Any:
    """Of a document on one line; standard error may stand beside it."""
    with open(output, encoding="utf-8") as file:
        return next((json.loads(line) for line in file if line.startswith("{")), None)


STEPS = (backtesting, backtest_memory)
"""In this order."""
