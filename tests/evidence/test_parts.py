from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.evidence.reading import Side
from tests.evidence.http_support import code, detail
from tests.evidence.parts_support import baseline, read, reader, variant

EMPTY = "observation_missing:empty_result"
BAD_RESPONSE = "observation_invalid:bad_response"


def test_a_metric_brings_its_value_its_record_and_its_statistics(tmp_path: Path) -> None:
    """A part is evidence that somebody else has collected: where it came from must stay with it."""
    part = {
        "metrics": {"rate": 0.132, "pii": 0},
        "observations": {
            "rate": {
                "source": "bigquery",
                "query": "select …",
                "endpoint": "https://u:pw-EXAMPLE@bq.example/q?k=v",
                "value_text": "0.1320",
                "coverage_ratio": 0.9,
                "problem": None,
                "rows": 7,
            }
        },
        "promotion": {"rate": {"sample_size": 184211, "ci_low": 0.0009, "remark": "kept"}},
        "_meta": {"snapshot_id": "nightly-7", "collected_at": "2026-02-18T01:00:05Z"},
    }
    readings = read(tmp_path, part, "rate", "pii")
    assert [key for key, _ in readings.items()] == [("rate", Side.VARIANT), ("pii", Side.VARIANT)]
    rate, pii = readings.values()
    assert (rate.value, rate.value_text, rate.coverage_ratio, rate.problem) == (0.132, "0.1320", 0.9, None)
    assert rate.statistics == {"sample_size": 184211, "ci_low": 0.0009, "remark": "kept"}
    assert rate.record == {
        "path": "part.json",
        "snapshot_id": "nightly-7",
        "collected_at": "2026-02-18T01:00:05Z",
        "watermark_event_time": "2026-02-18T01:00:05.000000Z",
        "stated_source": "bigquery",
        "query": "select …",
        "endpoint": "https://***@bq.example/q?***",
        "rows": 7,
    }
    assert (pii.value, pii.problem, pii.statistics) == (0, None, {})


def test_a_flat_part_is_read_like_a_wrapped_one(tmp_path: Path) -> None:
    """The same content gives the same verdict."""
    assert variant(tmp_path, {"rate": 0.5, "_meta": {}}).value == 0.5


def test_a_metric_may_have_another_name_in_the_part(tmp_path: Path) -> None:
    """Producers name things as they like; the record tells what was read."""
    part = {
        "metrics": {"replay_errors": 3, "rate": 9},
        "baseline": {"metrics": {"replay_errors": 2}, "_meta": {"collected_at": "2026-02-18T01:00:05Z"}},
        "promotion": {"replay_errors": {"p_value": 0.1}},
    }
    readings = read(tmp_path, part, rate="replay_errors")
    reading = readings["rate", Side.VARIANT]
    assert (reading.metric, reading.value, reading.statistics) == ("rate", 3, {"p_value": 0.1})
    assert reading.record == {"path": "part.json", "metric": "replay_errors"}
    assert readings["rate", Side.BASELINE].value == 2


def test_flat_statistics_are_those_of_the_only_metric(tmp_path: Path) -> None:
    """Of two metrics nobody could tell whose they are."""
    part = {"metrics": {"rate": 1, "depth": 2}, "promotion": {"sample_size": 5, "ci_low": 0.1, "other": {"p_value": 1}}}
    assert variant(tmp_path, part).statistics == {"sample_size": 5, "ci_low": 0.1}
    readings = read(tmp_path, part, "rate", "depth")
    assert [reading.statistics for reading in readings.values()] == [{}, {}]


@pytest.mark.parametrize("part", [{"metrics": {}}, {"metrics": {"rate": None}}, {"metrics": {"Rate": 1}}, {}])
def test_a_metric_that_the_part_does_not_have_is_missing(tmp_path: Path, part: dict[str, Any]) -> None:
    """It is not zero."""
    reading = variant(tmp_path, part)
    assert (reading.value, code(reading)) == (None, EMPTY)


@pytest.mark.parametrize("problem", [EMPTY, "evidence_missing:partial_response", "observation_invalid:multiple_series"])
def test_a_problem_of_the_part_stays_the_problem_of_its_metric(tmp_path: Path, problem: str) -> None:
    """What went wrong when the part was collected confirms nothing now; the value is kept for the record."""
    stated = {"code": problem, "detail": "store eu-2 did not answer"}
    reading = variant(tmp_path, {"metrics": {"rate": 0.1}, "observations": {"rate": {"problem": stated}}})
    assert reading.value == 0.1
    assert reading.problem is not None
    assert reading.problem.to_dict() == stated


@pytest.mark.parametrize(("kind", "kept"), [("timeout", "timeout"), ("hiccup", None), (["timeout"], None), (5, None)])
def test_the_kind_of_a_problem_is_kept_where_it_is_one(tmp_path: Path, kind: object, kept: str | None) -> None:
    """It counts as an outage only where it is one of ours."""
    stated = {"code": "observation_missing:source_unavailable", "detail": "x", "kind": kind}
    reading = variant(tmp_path, {"metrics": {"rate": None}, "observations": {"rate": {"problem": stated}}})
    assert reading.problem is not None
    assert reading.problem.to_dict().get("kind") == kept


@pytest.mark.parametrize(
    "observations",
    [
        [],
        "fine",
        {"rate": "fine"},
        {"rate": {"problem": "none"}},
        {"rate": {"problem": {}}},
        {"rate": {"problem": {"code": "guardrail_violation:rate"}}},
        {"rate": {"problem": {"code": 5}}},
        {"rate": {"problem": {"code": ["observation_missing:x"]}}},
    ],
)
def test_an_observation_that_cannot_be_understood_is_a_problem(tmp_path: Path, observations: object) -> None:
    """It may have said that the value is worthless; and no part may state a violation."""
    reading = variant(tmp_path, {"metrics": {"rate": 0.1}, "observations": observations})
    assert code(reading) == BAD_RESPONSE


def test_a_value_that_is_no_finite_number_keeps_the_problem_of_reading_it(tmp_path: Path) -> None:
    """Python writes NaN into JSON without a word."""
    reading = variant(tmp_path, b'{"metrics": {"rate": NaN}}')
    assert (reading.value, reading.value_text, code(reading)) == (None, "NaN", BAD_RESPONSE)
    compared = baseline(tmp_path, b'{"metrics": {"rate": 1}, "baseline": {"metrics": {"rate": 1e400}}}')
    assert (compared.value, code(compared)) == (None, "observation_invalid:baseline_value")


@pytest.mark.parametrize("value", ["0.1", [0.1], {"v": 1}, True])
def test_a_value_of_another_type_is_passed_on_for_the_rules_to_judge(tmp_path: Path, value: object) -> None:
    """Which type a metric must have is the policy's to say."""
    reading = variant(tmp_path, {"metrics": {"rate": value}})
    assert (reading.value, reading.problem) == (value, None)


def test_a_file_that_is_not_there_is_a_source_that_cannot_be_asked(tmp_path: Path) -> None:
    """The nightly job may still be writing it: the run is held, and held again."""
    one = reader(tmp_path / "absent.json", {"rate": None, "depth": None})
    one.read()
    readings = one.readings()
    assert [(r.metric, r.value, code(r)) for r in readings] == [
        ("rate", None, "unreachable"),
        ("depth", None, "unreachable"),
    ]
    assert detail(readings[0]) == "absent.json: cannot be read: No such file or directory"


def test_a_folder_in_the_files_place_is_one_too(tmp_path: Path) -> None:
    """The path may be half of one."""
    (tmp_path / "parts").mkdir()
    one = reader(tmp_path / "parts", {"rate": None})
    one.read()
    assert code(one.readings()[0]) == "unreachable"


def test_a_part_lies_beside_the_collection_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job runs in any directory."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert variant(tmp_path, {"rate": 1}).value == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"metrics": {"rate": 1}',
        b'{"metrics": {"rate": 1, "rate": 2}}',
        b"[1]",
        b'"rate"',
        b'{"metrics": {"rate": 1}, "note": "\\ud800"}',
        b'{"metrics": {"rate": 1}, "\\udfff": 1}',
        b'{"metrics": {"rate": 1}, "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"metrics": {"rate": 1}, "observations": {"x": ' + b"[" * 600 + b"]" * 600 + b"}}",
        b'{"metrics": {"rate": 1}, "observations": {"rate": {"x": ' + b"[" * 400 + b"]" * 400 + b"}}}",
    ],
)
def test_a_file_that_is_no_snapshot_is_a_bad_response(tmp_path: Path, content: bytes) -> None:
    """Half a file, a name twice, text that no log line can hold: none of it may stop the gate."""
    reading = variant(tmp_path, content)
    assert (reading.value, code(reading)) == (None, BAD_RESPONSE)
    assert detail(reading).startswith("part.json")


def test_standard_input_is_a_part_and_is_read_where_the_source_is(tmp_path: Path) -> None:
    """A producer at the other end of the pipe may take its time; the main thread must not wait for it."""
    threads: list[str] = []

    def standard_input() -> bytes:
        threads.append(threading.current_thread().name)
        return b'{"rate": 0.25}'

    one = reader(tmp_path / "-", {"rate": None}, standard_input=standard_input)
    assert threads == []
    thread = threading.Thread(target=one.read, name="the source's")
    thread.start()
    thread.join(5)
    assert threads == ["the source's"]
    assert (one.readings()[0].value, one.readings()[0].record) == (0.25, {"path": "-"})


def test_standard_input_that_cannot_be_read_is_a_source_that_cannot_be_asked(tmp_path: Path) -> None:
    """A job without one has it closed."""

    def closed() -> bytes:
        raise OSError(9, os.strerror(9))

    one = reader(tmp_path / "-", {"rate": None}, standard_input=closed)
    one.read()
    assert detail(one.readings()[0]) == "-: cannot be read: Bad file descriptor"


def test_every_metric_has_a_reading_while_the_pipe_still_hangs(tmp_path: Path) -> None:
    """A named pipe that nobody writes to is a part as well."""
    os.mkfifo(tmp_path / "pipe")
    one = reader(tmp_path / "pipe", {"rate": None, "depth": None})
    thread = threading.Thread(target=one.read, daemon=True)
    thread.start()
    assert one.progress == (0, 1)
    assert [(r.metric, code(r)) for r in one.readings()] == [("rate", "timeout"), ("depth", "timeout")]
    with open(tmp_path / "pipe", "wb") as pipe:
        pipe.write(b'{"rate": 1}')
    thread.join(5)
    assert one.progress == (1, 1)
    assert [code(r) for r in one.readings()] == [None, EMPTY]
