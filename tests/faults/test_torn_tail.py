"""A last line that was cut off anywhere: kept aside, told of, and never glued to the next one."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.ledger.checking import Unflushed, assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision
from tests.ledger.reading import read_lines


def log_with_two_lines(path: Path) -> tuple[bytes, bytes]:
    """A log of the runs `a` and `b`; its two lines, the second with characters of two bytes."""
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    ledger.append([decision("b", actor="Zoë Größe")], expect=None, actor="t")
    ledger.close()
    first, second, rest = path.read_bytes().split(b"\n")
    assert rest == b""
    return first, second


def remove_state(path: Path) -> None:
    """Lose the database and what SQLite keeps with it."""
    for found in path.parent.iterdir():
        if found.name.startswith(f"{path.name}.db"):
            found.unlink()


@pytest.mark.slow
def test_every_prefix_of_the_last_line_is_kept_aside(tmp_path: Path) -> None:
    """Torn at each byte, inside a character too: the first line stands, the bytes are kept, the next event tells."""
    path = tmp_path / "decision.ndjson"
    _, second = log_with_two_lines(path)
    assert any(byte >= 0x80 for byte in second)
    ledger = ledger_at(path, ops=Unflushed())
    for length in range(1, len(second) + 1):
        before = path.read_bytes()
        path.write_bytes(before + second[:length])
        event = ledger.append([decision(f"c{length}")], expect=None, actor="t").events[0]
        assert event["recovered"] == {"bytes": length, "sha256": sha256(second[:length]).hexdigest()}
        kept = list(tmp_path.glob("*.torn-*"))
        assert [found.read_bytes() for found in kept] == [second[:length]]
        kept[0].unlink()
        assert path.read_bytes()[: len(before)] == before
    ledger.close()
    assert_whole(path)
    assert_state_follows(path)


def test_torn_bytes_are_named_and_passed_over_by_readers(tmp_path: Path) -> None:
    """Reading changes nothing: the file keeps its torn line until the next append, and views say so."""
    path = tmp_path / "decision.ndjson"
    first, second = log_with_two_lines(path)
    remove_state(path)
    torn = first + b"\n" + second[:-5]
    path.write_bytes(torn)
    view = ledger_at(path).view()
    assert (view.run("a") is not None, view.run("b")) == (True, None)
    assert any("unfinished line" in warning for warning in view.warnings)
    assert [(line.number, line.problem) for line in read_lines(path)] == [(1, None), (2, "is unfinished")]
    assert path.read_bytes() == torn


def test_whole_json_without_its_newline_is_torn_too(tmp_path: Path) -> None:
    """A record that parses is no promise: its write did not end. The run it names stays unknown."""
    path = tmp_path / "decision.ndjson"
    first, second = log_with_two_lines(path)
    remove_state(path)
    path.write_bytes(first + b"\n" + second)
    ledger = ledger_at(path)
    assert ledger.view().run("b") is None
    ledger.append([decision("c")], expect=None, actor="t")
    assert ledger.view().run("b") is None
    assert [event["seq"] for event in events_of(path)] == [1, 2]


def test_a_promised_line_that_was_torn_later_stays_in_the_state(tmp_path: Path) -> None:
    """The state has seen seq 2; the file lost half of it: the log goes on with seq 3, and run b stays known."""
    path = tmp_path / "decision.ndjson"
    _, second = log_with_two_lines(path)
    with path.open("r+b") as log:
        log.truncate(path.stat().st_size - len(second) // 2)
    ledger = ledger_at(path)
    event = ledger.append([decision("c")], expect=None, actor="t").events[0]
    assert event["seq"] == 3
    assert ledger.view().run("b") is not None
    assert event["prev"] == "sha256:" + sha256(second).hexdigest()


def test_a_zero_filled_tail_is_torn(tmp_path: Path) -> None:
    """After a power cut a file can be longer than its data: zeros are no line."""
    path = tmp_path / "decision.ndjson"
    log_with_two_lines(path)
    with path.open("ab") as log:
        log.write(bytes(4096))
    ledger = ledger_at(path)
    event = ledger.append([decision("c")], expect=None, actor="t").events[0]
    assert event["recovered"]["bytes"] == 4096
    assert_whole(path)
    assert_state_follows(path)


def test_two_tears_before_an_event_are_told_together(tmp_path: Path) -> None:
    """A repair that was itself cut short does not lose what the first one kept."""
    path = tmp_path / "decision.ndjson"
    log_with_two_lines(path)
    (tmp_path / "decision.ndjson.torn-untold").write_bytes(b'{"first')
    with path.open("ab") as log:
        log.write(b'{"second')
    event = ledger_at(path).append([decision("c")], expect=None, actor="t").events[0]
    both = b'{"first{"second'
    assert event["recovered"] == {"bytes": 15, "sha256": sha256(both).hexdigest()}
    assert (tmp_path / "decision.ndjson.torn-1").read_bytes() == both


def test_a_torn_line_followed_by_good_ones_is_named_and_kept(tmp_path: Path) -> None:
    """Handout HO-12 b: only an unterminated last line is repaired; damage further up is named by its number."""
    path = tmp_path / "decision.ndjson"
    good = b'{"seq":%d,"run_id":"r-41","stage":"CANARY_10","verdict":"ACCEPT"}\n'
    torn = b'{"seq": 2, "run_id": "r-41", "stage": "CANARY_25", "verd\n'
    content = good % 1 + torn + good % 3 + good % 4 + good % 5
    path.write_bytes(content)
    lines = list(read_lines(path))
    assert [line.number for line in lines if line.problem == "is damaged"] == [2]
    assert [line.event["seq"] for line in lines if line.event is not None] == [1, 3, 4, 5]
    ledger = ledger_at(path)
    view = ledger.view()
    assert any("line 2 is damaged" in warning for warning in view.warnings)
    run = view.run("r-41")
    assert run is not None
    assert run.history == "incomplete"
    event = ledger.append([decision("new")], expect=None, actor="t").events[0]
    assert event["seq"] == 6
    assert path.read_bytes().startswith(content)
