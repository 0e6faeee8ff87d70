"""What every source of evidence promises; each source type runs the same suite, in every condition it can be in."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evaluator import evaluate
from gatekeeper.evidence import collect
from gatekeeper.evidence.assembly import assemble
from gatekeeper.evidence.collect import Collector
from gatekeeper.evidence.collection import SourceType
from gatekeeper.evidence.collection_file.loading import load_collection
from gatekeeper.evidence.readers import READERS, opener
from gatekeeper.evidence.reading import Side, Unavailable
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.reasons import is_observation_problem
from gatekeeper.model.snapshot import Snapshot, meta_of
from gatekeeper.model.times import format_time, require_time
from gatekeeper.ports import EvidenceSource
from tests.contracts.evidence_scenes import (
    DEADLINE_SECONDS,
    ENVIRON,
    MISTAKES,
    SCENES,
    SECRETS,
    TROUBLES,
    VALUES,
    Condition,
    Scenes,
    Setting,
)
from tests.doubles import StepClock

SLACK_SECONDS = 3.0
"""What a busy machine may take beyond a deadline; the limits of the sources are 60 s."""

HARSH: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1",
    "guardrails": [
        {"metric": "rate", "op": "<=", "threshold": 0.5, "budget_delta": 0.1, "range": [0, 1]},
        {"metric": "open", "op": "<=", "threshold": 10},
    ],
    "missing_data_policy": {
        "required_metrics": ["rate", "open"],
        "on_missing": "REJECT",
        "on_missing_baseline": "REJECT",
        "on_stale": "REJECT",
        "max_freshness_seconds": 60,
        "max_watermark_skew_seconds": 60,
    },
}
"""Whatever a policy can set to REJECT, this one does."""


@dataclass
class Taken:
    """One collection: what came back, and what it left behind.

    Attributes:
        readings: metric and side of every reading, as the sources gave them.
        threads: those that it started and that keep a process alive.
    """

    condition: Condition
    setting: Setting
    digest: str
    outcome: Snapshot | Exception
    readings: Sequence[str]
    elapsed_seconds: float
    threads: Sequence[str]
    printed: io.StringIO

    @property
    def snapshot(self) -> Snapshot:
        """What was collected."""
        assert isinstance(self.outcome, Snapshot), repr(self.outcome)
        return self.outcome

    @property
    def observations(self) -> dict[str, dict[str, Any]]:
        """Each observation with its value; those of the baseline as `baseline.<metric>`."""
        document = self.snapshot.document
        return {
            prefix + metric: {**observation, "value": part["metrics"][metric]}
            for prefix, part in (("", document), ("baseline.", document.get("baseline") or {}))
            for metric, observation in part.get("observations", {}).items()
        }


def collector(setting: Setting, folder: Path) -> Collector:
    """The collector of the scene's file, with the environment that the file needs."""
    loaded = load_collection(json.dumps(setting.document).encode(), str(folder / "collection.json"))
    clock = StepClock(time.time_ns() // 1000)
    return Collector(loaded, clock=clock, environ=ENVIRON, read_standard_input=setting.read_standard_input)


@contextmanager
def _printing_to(stream: io.StringIO) -> Iterator[None]:
    """As in a process of its own: without pytest's handlers, what nobody handles is printed by `logging`."""
    root, kept = logging.getLogger(), list(logging.getLogger().handlers)
    with redirect_stdout(stream), redirect_stderr(stream):
        root.handlers = []
        try:
            yield
        finally:
            root.handlers = kept


def take(scenes: Scenes, condition: Condition, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Taken:
    """Collect from a source in *condition*, then let it go and wait for every thread that still waits for it."""
    readings: list[str] = []

    def assembled(found: Sequence[Any], *args: Any, **more: Any) -> Snapshot:
        readings.extend(f"{'baseline.' if one.side is Side.BASELINE else ''}{one.metric}" for one in found)
        return assemble(found, *args, **more)

    monkeypatch.setattr(collect, "assemble", assembled)
    printed = io.StringIO()
    with _printing_to(printed):
        with scenes(condition, folder) as setting:
            one = collector(setting, folder)
            for source in one.loaded.collection.sources.values():
                opener(source.type)  # imports are no part of a deadline
            before, begun = set(threading.enumerate()), time.monotonic()
            outcome: Snapshot | Exception
            try:
                outcome = one.collect()
            except Exception as error:  # noqa: BLE001 - what tests look at
                outcome = error
            elapsed = time.monotonic() - begun
            # those of a stand-in server are daemons, too
            started = [thread for thread in threading.enumerate() if thread not in before]
            kept = [thread.name for thread in started if not thread.daemon]
        for thread in started:
            thread.join(20)
            assert not thread.is_alive(), f"{thread.name} waits on although its source has gone"
    return Taken(condition, setting, one.digest, outcome, readings, elapsed, kept, printed)


def _of_each(conditions: Sequence[Condition]) -> list[Any]:
    return [
        pytest.param((scenes, condition), id=f"{kind.value}-{scenes.__name__}-{condition.value}")
        for kind in READERS
        for scenes in SCENES.get(kind, ())
        for condition in conditions
    ]


@pytest.fixture(scope="module", params=_of_each([Condition.WELL, *TROUBLES]))
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """Each source type in each condition, collected once."""
    scenes, condition = request.param
    with pytest.MonkeyPatch.context() as monkeypatch:
        return take(scenes, condition, tmp_path_factory.mktemp("scene"), monkeypatch)


def test_every_source_type_has_scenes() -> None:
    """A type that is registered and never put through this suite would break its promises unseen."""
    assert set(SCENES) == set(READERS) == set(SourceType)
    assert all(SCENES.values())


def test_trouble_with_a_source_is_a_snapshot_and_no_error(taken: Taken) -> None:
    """An error would end the pipeline with a code that is no verdict, and nothing would be on record."""
    assert isinstance(taken.outcome, Snapshot), repr(taken.outcome)


def test_a_collection_ends_at_its_deadline(taken: Taken) -> None:
    """A job that waits for a silent server keeps a runner busy, and the traffic where it is."""
    limit = DEADLINE_SECONDS if taken.condition is Condition.HANGING else 30
    assert taken.elapsed_seconds < limit + SLACK_SECONDS


def test_every_metric_and_side_that_is_asked_has_one_observation(taken: Taken) -> None:
    """One that is left out passes for one that nobody asked for; of two, one would silently win."""
    assert sorted(taken.readings) == sorted(taken.setting.asked)
    assert sorted(taken.observations) == sorted(taken.setting.asked)


def test_a_source_that_is_well_states_values_and_their_age(taken: Taken) -> None:
    """The same three numbers from every type, dated by the data and not by the answer."""
    if taken.condition is not Condition.WELL:
        assert all(one["problem"] for one in taken.observations.values())
        return
    assert {name: one["value"] for name, one in taken.observations.items()} == VALUES
    assert all(one["problem"] is None for one in taken.observations.values())
    watermark = format_time(taken.setting.watermark)
    assert {one["watermark_event_time"] for one in taken.observations.values()} == {watermark}


def test_a_trouble_has_a_code_that_the_evaluator_knows(taken: Taken) -> None:
    """With any other code the observation would be thrown away as unreadable, and the reason with it."""
    for one in taken.observations.values():
        if problem := one["problem"]:
            assert is_observation_problem(problem["code"])
            assert problem["detail"]


def test_a_trouble_is_called_what_it_is(taken: Taken) -> None:
    """People look at the server, the file or the query, depending on the code."""
    kinds = {Condition.DOWN: Unavailable.UNREACHABLE, Condition.HANGING: Unavailable.TIMEOUT}
    for one in taken.observations.values():
        problem = one["problem"] or {}
        if kind := kinds.get(taken.condition):
            assert (problem["code"], problem["kind"]) == ("observation_missing:source_unavailable", kind.value)
        elif taken.condition is not Condition.WELL:
            assert problem["code"].startswith("observation_invalid:")


def test_a_value_is_a_finite_number_or_null(taken: Taken) -> None:
    """JSON cannot hold anything else, and what is written in its place would be read as something else."""
    for one in taken.observations.values():
        value = one["value"]
        assert value is None or (isinstance(value, (int, float)) and isfinite(value))
        assert (value is None) == (taken.condition is not Condition.WELL)


def test_trouble_with_a_source_holds_under_the_harshest_policy(taken: Taken) -> None:
    """It is no harm and no health: neither a roll back nor a step forward."""
    context = Context(stage="CANARY_10", evaluated_at=meta_of(taken.snapshot.document)["collected_at"])
    verdict = evaluate(policy_from_document(HARSH), taken.snapshot, context).verdict
    assert verdict.value == ("ACCEPT" if taken.condition is Condition.WELL else "DEGRADE")


def test_no_secret_of_the_environment_is_in_a_snapshot(taken: Taken) -> None:
    """It is logged for ever and printed in CI, and servers echo what they were sent."""
    text = json.dumps(taken.snapshot.document, ensure_ascii=False)
    assert not [secret for secret in SECRETS if secret in text]


def test_a_collection_prints_nothing(taken: Taken) -> None:
    """Standard output is one document; libraries' warnings quote addresses, and come after the deadline as well."""
    assert taken.printed.getvalue() == ""


def test_a_collection_leaves_no_thread_that_keeps_the_process(taken: Taken) -> None:
    """The process would wait for the silent server after all."""
    assert not taken.threads


def test_a_snapshot_names_the_file_and_the_moment_that_it_is_of(taken: Taken) -> None:
    """Whoever reads the log can tell which version of the file it was, and what it asked for."""
    meta = meta_of(taken.snapshot.document)
    assert meta["collector_digest"] == taken.digest
    assert require_time(meta["query_time"]) <= require_time(meta["collected_at"])
    assert set(taken.snapshot.metrics) == {"rate", "open"}


@pytest.mark.parametrize("case", _of_each([Condition.WELL]))
def test_the_digest_is_of_what_the_file_says_and_of_nothing_else(
    case: tuple[Scenes, Condition], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another password, another place or other spaces are the same collection; another limit is not."""

    def digest_of(text: str, path: str, environ: dict[str, str]) -> str:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        loaded, clock = load_collection(text.encode(), path), StepClock()
        source: EvidenceSource = Collector(loaded, clock=clock, environ=environ, read_standard_input=lambda: b"")
        return source.digest

    with case[0](case[1], tmp_path) as setting:
        document = setting.document
        setting.read_standard_input()  # nobody else does
    spaced = json.dumps(dict(reversed(document.items())), indent=3)
    first = digest_of(json.dumps(document), "a.json", ENVIRON)
    assert first.startswith("sha256:")
    assert digest_of(spaced, "elsewhere/b.json", dict.fromkeys(ENVIRON, "another")) == first
    assert digest_of(json.dumps({**document, "limits": {"deadline_seconds": 7}}), "a.json", ENVIRON) != first


@pytest.mark.parametrize("scenes", MISTAKES, ids=lambda scenes: scenes.__name__)
def test_a_mistake_in_the_file_is_an_error_without_secrets(
    scenes: Scenes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No waiting mends it, so it must not become a hold; what the server says of it may quote what it was sent."""
    taken = take(scenes, Condition.MISTAKEN, tmp_path, monkeypatch)
    assert isinstance(taken.outcome, CollectionError), repr(taken.outcome)
    assert "/metrics/" in taken.outcome.message or "/sources/" in taken.outcome.message
    assert "key-EXAMPLE" not in taken.outcome.message
    assert (taken.printed.getvalue(), taken.threads) == ("", [])
