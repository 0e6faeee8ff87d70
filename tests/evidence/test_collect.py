"""The whole collection: whatever sources do, there is a snapshot at the deadline that names what is missing."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collect import Collector, SourceProgress, evaluation_instant
from gatekeeper.evidence.collection import (
    Collection,
    EvaluateAt,
    FileMetric,
    FileSource,
    Limits,
    LoadedCollection,
    SourceType,
)
from gatekeeper.evidence.readers import READERS
from gatekeeper.evidence.workers import Deadline
from tests.doubles import StepClock
from tests.evidence import scripted
from tests.evidence.scripted import SCRIPTS, ScriptedReader

T0 = 1767225600


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(READERS, SourceType.FILE, scripted.__name__)
    yield
    SCRIPTS.clear()


def collector(
    metrics: dict[str, str], *, deadline_seconds: float = 10, told: list[Sequence[SourceProgress]] | None = None
) -> Collector:
    """Metric -> source; all sources are scripted."""
    collection = Collection(
        sources={name: FileSource(SourceType.FILE, f"{name}.json") for name in dict.fromkeys(metrics.values())},
        metrics={name: FileMetric(source) for name, source in metrics.items()},
        window=None,
        labels={},
        evaluate_at=EvaluateAt(),
        limits=Limits(deadline_seconds=deadline_seconds),
    )
    on_progress = None if told is None else lambda progress, _deadline: told.append(progress)
    return Collector(
        LoadedCollection(collection, {}, "sha256:0", "collection.json"),
        clock=StepClock(T0 * 1_000_000, step=0),
        environ={},
        read_standard_input=lambda: b"",
        on_progress=on_progress,
    )


def problems(document: Any) -> dict[str, str | None]:
    """Metric -> kind of its problem."""
    return {name: (seen["problem"] or {}).get("kind") for name, seen in document["observations"].items()}


def test_a_source_that_hangs_costs_its_own_metrics_only() -> None:
    """At the deadline what came is evidence, and what did not is named as missing."""
    release = threading.Event()
    SCRIPTS["quick"] = lambda reader: reader.put("a", 1)

    def half(reader: ScriptedReader) -> None:
        reader.put("b", 2)
        release.wait(20)

    SCRIPTS["slow"] = half

    snapshot = collector({"a": "quick", "b": "slow", "c": "slow"}, deadline_seconds=0.3).collect()

    release.set()
    assert snapshot.metrics == {"a": 1, "b": 2, "c": None}
    assert problems(snapshot.document) == {"a": None, "b": None, "c": "timeout"}


def test_a_mistake_in_the_file_ends_the_call_while_another_source_hangs() -> None:
    """An endless hold over a misspelt column helps nobody: 65 at once."""
    release = threading.Event()

    def mistaken(_reader: ScriptedReader) -> None:
        raise CollectionError("metric b: no column rtae", remedy="correct it")

    def hanging(_reader: ScriptedReader) -> None:
        release.wait(20)

    SCRIPTS["slow"] = hanging
    SCRIPTS["wrong"] = mistaken

    with pytest.raises(CollectionError, match="rtae"):
        collector({"a": "slow", "b": "wrong"}, deadline_seconds=15).collect()
    release.set()


def test_a_bug_is_told_without_the_secrets_that_its_message_quotes() -> None:
    """An exception of a library may hold a whole address; the log of a CI job keeps it for ever."""

    def broken(reader: ScriptedReader) -> None:
        reader.shared.secrets.hide("tok-EXAMPLE")
        raise ValueError("cannot parse tok-EXAMPLE in https://u:pw-EXAMPLE@host/p")

    SCRIPTS["s"] = broken

    with pytest.raises(RuntimeError) as caught:
        collector({"a": "s"}).collect()
    assert "ValueError" in str(caught.value)
    assert "host" in str(caught.value)
    assert "EXAMPLE" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_all_sources_are_asked_for_one_instant() -> None:
    """Numbers of different moments share no window."""
    instants: list[int] = []
    for name in ("a", "b", "c"):
        SCRIPTS[name] = lambda reader: instants.append(reader.shared.at)

    collector({"x": "a", "y": "b", "z": "c"}).collect()

    assert instants == [T0 * 1000] * 3


def test_a_stated_instant_is_what_sources_are_asked_for() -> None:
    """`--at` repeats a collection; only `collected_at` is of today."""
    instants: list[int] = []
    SCRIPTS["a"] = lambda reader: instants.append(reader.shared.at)

    snapshot = collector({"x": "a"}).collect(at=(T0 - 60) * 1_000_000 + 1_999)

    assert instants == [(T0 - 60) * 1000 + 1]
    assert snapshot.document["_meta"]["query_time"] == "2025-12-31T23:59:00.001000Z"
    assert snapshot.collected_at == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("settle", "align", "instant"),
    [
        (0, 1, 1_767_225_607_000),
        (30, 15, 1_767_225_570_000),  # 00:00:07.9 - 30 s = 23:59:37.9 -> 23:59:30
        (0, 0.5, 1_767_225_607_500),
    ],
)
def test_the_instant_settles_and_aligns(settle: float, align: float, instant: int) -> None:
    """The newest samples are still on their way; two collections within one interval ask for the same moment."""
    now = 1_767_225_607_900_000

    assert evaluation_instant(now, EvaluateAt(settle, align)) == instant


def test_whoever_waits_is_told_who_is_waited_for() -> None:
    """A person who looks at a terminal sees which source it is."""
    release, told = threading.Event(), list[Sequence[SourceProgress]]()

    def half(reader: ScriptedReader) -> None:
        reader.put("a", 1)
        release.wait(20)

    SCRIPTS["slow"] = half

    collector({"a": "slow", "b": "slow"}, deadline_seconds=0.5, told=told).collect()

    release.set()
    assert told[-1] == [SourceProgress("slow", 1, 2, ended=False)]


def test_standard_input_is_read_once_for_all_parts() -> None:
    """The second part of one standard input would find nothing."""
    data: list[bytes] = []
    reads = [b"{}"]
    SCRIPTS["a"] = SCRIPTS["b"] = lambda reader: data.append(reader.shared.read_standard_input())
    taken = collector({"x": "a", "y": "b"})
    taken._read_standard_input = reads.pop

    taken.collect()

    assert data == [b"{}", b"{}"]


def test_the_deadline_is_that_of_the_file() -> None:
    """A source is told how long it has."""
    seconds: list[Deadline] = []
    SCRIPTS["a"] = lambda reader: seconds.append(reader.shared.deadline)

    collector({"x": "a"}, deadline_seconds=7).collect()

    assert seconds[0].seconds == 7


def test_each_snapshot_has_a_name_of_its_own() -> None:
    """Two collections of equal evidence are two pieces of evidence."""
    SCRIPTS["a"] = lambda reader: reader.put("x", 1)
    taken = collector({"x": "a"})

    first, second = taken.collect(), taken.collect()

    assert first.document["_meta"]["snapshot_id"] != second.document["_meta"]["snapshot_id"]
