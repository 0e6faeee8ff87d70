"""`verify --from`, and what a report holds."""

from __future__ import annotations

import json

from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import encode_line
from gatekeeper.replay.report import MAX_PROBLEMS, Place, Problem, Problems
from gatekeeper.replay.verify import verify
from tests.replay.builder import (
    RUN,
    edited,
    parsed,
    rollout,
)

VALUES: tuple[object, ...] = (None, True, 0, 1.5, "x", [], [1], {}, {"x": {}})


def test_from_a_seq_on_what_stands_before_gives_its_policies_only() -> None:
    """A difference before is not asked; decisions behind it are judged by the policy from before."""
    log = edited(3, lambda event: event.update(actor="eve", event_id=f"{RUN}:DRY_RUN", ts="soon"))(rollout())
    assert not verify(parsed(log)).ok
    report = verify(parsed(log), from_seq=5)
    assert report.problems == ()
    assert (report.first_seq, report.events, report.decisions, report.reevaluated) == (5, 6, 3, 3)


def test_from_a_seq_on_the_first_line_is_chained_to_the_one_before_it() -> None:
    """If that one was changed, the first line asked is where it shows."""
    first = verify(parsed(edited(4, lambda event: event.update(actor="eve"))(rollout())), from_seq=5).first_wrong
    assert first is not None
    assert (first.place.number, first.code) == (5, "prev")


def test_from_a_seq_on_an_earlier_part_may_be_absent() -> None:
    """A rotated file alone: its first `prev` cannot be known; decisions of a policy left behind cannot be judged."""
    log = rollout()
    assert verify(parsed(log[7:]), from_seq=8).problems == ()
    assert [problem.code for problem in verify(parsed(log[4:]), from_seq=5).problems] == ["policy", "policy"]
    assert [problem.code for problem in verify(parsed([*log[:1], *log[4:]]), from_seq=5).problems] == []


def test_from_a_seq_that_is_missing_itself_is_a_gap() -> None:
    """Seq 5 was asked and the log goes on with 6."""
    log = rollout()
    first = verify(parsed([*log[:4], *log[5:]]), from_seq=5).first_wrong
    assert first is not None
    assert (first.place.number, first.what) == (5, "seq 5 is missing")


def test_from_a_seq_behind_the_end_is_no_success() -> None:
    """Nothing was checked, so nothing is fine."""
    report = verify(parsed(rollout()), from_seq=11)
    assert not report.ok
    assert list(map(str, report.problems)) == ["log: no event has seq 11 or a later one"]


def test_damage_just_before_a_seq_belongs_to_what_is_asked() -> None:
    """The damaged line may be the event asked for."""
    log = rollout()
    first = verify(parsed([*log[:4], b"rubbish", *log[5:]]), from_seq=5).first_wrong
    assert first is not None
    assert (first.place.number, first.code) == (5, "damaged")


def test_an_empty_log_is_whole() -> None:
    """No line, or blank ones."""
    for lines in ([], [b"", b"\r"]):
        report = verify(parsed(lines))
        assert report.ok
        assert (report.lines, report.first_seq, report.last_seq, report.head) == (0, None, None, None)


def test_a_log_that_is_wrong_throughout_gives_a_bounded_report() -> None:
    """The first differences are kept, all are counted."""
    lines = [b"rubbish %d" % number for number in range(1000)]
    report = verify(parsed(lines))
    assert report.problem_count == 1000
    assert [problem.place.number for problem in report.problems] == list(range(1, MAX_PROBLEMS + 1))
    problems = Problems()
    for number in range(1000, 0, -1):
        problems.add(Problem(Place("log", number), number, "x", "x"))
        assert len(problems._kept) <= 2 * MAX_PROBLEMS
    assert [problem.order for problem in problems.first()] == list(range(1, MAX_PROBLEMS + 1))


def test_the_report_is_json() -> None:
    """Whatever the log holds, also what has no canonical form."""
    odd = b'{"kind":"decision","seq":1,"prev":"%s","ts":"x","v":1e400}' % GENESIS_DIGEST.encode()
    document = verify(parsed([odd, *rollout()])).to_dict()
    assert json.loads(json.dumps(document)) == document
    assert document["ok"] is False
    assert document["first_wrong"]["line"] == 1


def test_verify_reads_any_line_without_an_exception() -> None:
    """Every field of every event replaced by values of every type, one at a time."""
    log = rollout()
    for number in (1, 4, 6, 10):
        event = parsed([log[number - 1]])[0].event
        assert event is not None
        for name in event:
            for value in VALUES:
                line = encode_line({**event, name: value})
                report = verify(parsed([*log[: number - 1], line, *log[number:]]))
                assert json.dumps(report.to_dict())
                if number < 10:  # the last line has none behind it that would vouch for it
                    assert report.ok == (line == log[number - 1])
