"""`verify` compares the head of each segment with what the segment before it made of the runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.replay.blocks import Source
from gatekeeper.replay.heads import head_problems
from gatekeeper.replay.parts import Wanted
from gatekeeper.replay.verify import verify_files
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision
from tests.ledger.segments import files_in_order, rotated_log

Forge = Callable[[dict[str, Any]], object]


def problems_of(path: Path, **options: Any) -> list[tuple[str | None, str, Any, Any]]:
    """Line, what is wrong, expected and found, of each problem with a head."""
    sources = [Source(str(file)) for file in files_in_order(path)]
    return [
        (f"{Path(one.place.source).name}:{one.place.number}", one.what, one.expected, one.found)
        for one in head_problems(sources, **options)
    ]


def forge(file: Path, change: Forge, *, line: int = 0) -> None:
    """Write one line of a file anew."""
    lines = file.read_bytes().split(b"\n")
    event = json.loads(lines[line])
    change(event)
    lines[line] = json.dumps(event, sort_keys=True, separators=(",", ":")).encode()
    file.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize("jobs", [1, 2])
def test_heads_of_a_log_that_is_as_it_was_written_agree(jobs: int, tmp_path: Path) -> None:
    """Stopped, held and active runs, digests and all: what the ledger wrote is what the fold says."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    assert problems_of(path, jobs=jobs) == []


@pytest.mark.parametrize(
    ("change", "expected", "found"),
    [
        (
            lambda event: event["runs"][0].update(state="ACTIVE"),
            "STOPPED, stage SHADOW, last event at seq 5",
            "ACTIVE, stage SHADOW, last event at seq 5",
        ),
        (
            lambda event: event["runs"][0].update(last_digest="sha256:" + "0" * 64),
            "STOPPED, stage SHADOW, last event at seq 5",
            "STOPPED, stage SHADOW, last event at seq 5",
        ),
        (lambda event: event["runs"].pop(0), "STOPPED, stage SHADOW, last event at seq 5", None),
        (
            lambda event: event["runs"].append({"run_id": "new", "state": "ACTIVE", "last_digest": "", "version": 4}),
            None,
            "ACTIVE, stage None, last event at seq 4",
        ),
    ],
)
def test_a_head_that_says_otherwise_is_named(change: Forge, expected: Any, found: Any, tmp_path: Path) -> None:
    """Another state, another digest, a run left out, a run that never was."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    forge(files_in_order(path)[1], change)
    problems = problems_of(path)
    place, what, ours, theirs = problems[0]
    assert place == "decision.ndjson.000000000006-000000000008:1"
    assert what.startswith("the head says otherwise of run ")
    assert (ours, theirs) == (expected, found)


def test_a_head_that_names_another_line_is_named(tmp_path: Path) -> None:
    """The digest of the segment before is not that of its last line."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    forge(files_in_order(path)[1], lambda event: event["segment"].update(digest="sha256:" + "0" * 64))
    assert [what for _, what, _, _ in problems_of(path)] == [
        "the head does not name the last line of the segment before"
    ]


def test_a_head_that_is_none_is_named(tmp_path: Path) -> None:
    """A state that does not exist: the head cannot be read, and nothing is compared with it."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    forge(files_in_order(path)[1], lambda event: event["runs"][0].update(state="BLESSED"))
    assert [what for _, what, _, _ in problems_of(path)] == ["the head of the segment cannot be read"]


def test_what_cannot_be_compared_is_passed_over(tmp_path: Path) -> None:
    """The segment before is not there: a gap is for others to name, and the next head is still compared."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    first, second, _ = files_in_order(path)
    first.unlink()
    assert problems_of(path) == []
    forge(second, lambda event: event["decision"].update(verdict="REJECT"), line=2)
    assert [place for place, _, _, _ in problems_of(path)] == ["decision.ndjson:1"]


def test_heads_before_the_place_asked_for_are_not_looked_at(tmp_path: Path) -> None:
    """`verify --from`."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    forge(files_in_order(path)[1], lambda event: event["runs"].pop())
    live = "decision.ndjson:1"
    sealed = "decision.ndjson.000000000006-000000000008:1"
    assert [place for place, _, _, _ in problems_of(path, from_seq=6)] == [sealed, live], "the run is unknown to both"
    assert [place for place, _, _, _ in problems_of(path, from_seq=7)] == [live]
    assert problems_of(path, from_seq=10) == []


def test_a_head_in_parts_is_compared_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs are many lines; each of them counts."""
    monkeypatch.setattr("gatekeeper.model.segment.RUNS_IN_PART", 2)
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    for number in range(5):
        ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.append([decision("r1", "SHADOW", experiment="e1", from_stage="DRY_RUN")], expect=None, actor="t")
    ledger.rotate(actor="t")
    assert problems_of(path) == []
    forge(path, lambda event: event["runs"][0].update(stage="CANARY_10"), line=1)
    assert [found for _, _, _, found in problems_of(path)] == ["ACTIVE, stage CANARY_10, last event at seq 3"]


def test_verify_reports_a_head_that_does_not_agree(tmp_path: Path) -> None:
    """It is one of the problems, in its place, with a code of its own; the quick look at the chain leaves it out."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    forge(path, lambda event: event["runs"].pop(0))
    sources = [Source(str(file)) for file in files_in_order(path)]
    report = verify_files(sources, Wanted())
    found = [problem for problem in report.problems if problem.code == "segment"]
    assert [(problem.place.seq, problem.order) for problem in found] == [(9, 9)]
    assert not report.ok
    assert "segment" not in {problem.code for problem in verify_files(sources, Wanted(chain_only=True)).problems}
