"""Collections in process, in turn with prometheus-api-client asking the same texts one after the other: seconds each.

usage: collect_worker.py COLLECTION TEXTS URL TIME ROUNDS    TEXTS: a JSON list; TIME: unix seconds; prints JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from prometheus_api_client import PrometheusConnect

from gatekeeper.cli.compose import SystemClock
from gatekeeper.evidence.collect import Collector
from gatekeeper.evidence.collection_file.loading import read_collection


def main() -> None:
    path, texts_path, url, at, rounds = sys.argv[1:]
    with open(texts_path, encoding="utf-8") as file:
        texts = json.load(file)
    loaded = read_collection(path)
    compare(ours(loaded, int(at))[1], peer(url, texts, at)[1])
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(int(rounds)):
        seconds["ours"].append(ours(loaded, int(at))[0])
        seconds["peer"].append(peer(url, texts, at)[0])
    print(json.dumps(seconds))


def ours(loaded: Any, at: int) -> tuple[float, dict[str, Any]]:
    """One collection, from opening the sources to the snapshot."""
    begun = time.perf_counter()
    collector = Collector(loaded, clock=SystemClock(), environ=os.environ, read_standard_input=lambda: b"")
    snapshot = collector.collect(at=at * 1_000_000)
    return time.perf_counter() - begun, dict(snapshot.document)


def peer(url: str, texts: list[str], at: str) -> tuple[float, dict[str, Any]]:
    """The answers by text: one client, one connection, as its documentation uses it."""
    begun = time.perf_counter()
    with PrometheusConnect(url=url) as client:
        answers = {text: client.custom_query(text, params={"time": at}) for text in texts}
    return time.perf_counter() - begun, answers


def compare(snapshot: dict[str, Any], answers: dict[str, Any]) -> None:
    """Both must have found the same value of every metric on both sides, or the times compare nothing."""
    for part in (snapshot, snapshot["baseline"]):
        for metric, observation in part["observations"].items():
            (series,) = answers[observation["query"]]
            if observation["problem"] or "watermark_event_time" not in observation:
                raise SystemExit(f"{metric}: {observation}")
            if observation["value_text"] != series["value"][1]:
                raise SystemExit(f"{metric}: {observation['value_text']} and {series['value'][1]}")


main()
