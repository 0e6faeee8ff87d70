"""A line that one reader takes for an event and another for damage."""

from __future__ import annotations

import pytest

from gatekeeper.replay.lines import is_blank, parse_line, reasons_of, seq_of, stage_of, verdict_of


@pytest.mark.parametrize(
    "data",
    [
        b'{"seq": 2, "run_id": "r-41", "stage": "CANARY_25", "verd',
        b"[1]",
        b'"text"',
        b"null",
        b'{"a":NaN}',
        b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b'{"a":1}{"b":2}',
        b"[" * 100_000,
        b"\0\0\0",
    ],
)
def test_what_is_no_json_object_is_damaged(data: bytes) -> None:
    """Also text that no UTF-8 holds, and nesting that no reader follows."""
    line = parse_line("log", 3, data)
    assert (line.event, line.problem, line.number, line.data) == (None, "damaged", 3, data)


@pytest.mark.parametrize("data", [b'{"a":1}', b'{"a":1}\r', b' {"a" : 1} '])
def test_space_around_an_object_is_no_damage(data: bytes) -> None:
    """A log that went through another system's editor is still read."""
    assert parse_line("log", 1, data).event == {"a": 1}


def test_a_number_beyond_doubles_is_unusual_and_no_damage() -> None:
    """A founding driver wrote what it wanted; the rest of the line still tells its story."""
    line = parse_line("log", 1, b'{"a":1e400,"verdict":"REJECT"}')
    assert line.event is not None
    assert verdict_of(line.event) == "REJECT"


def test_an_unterminated_line_is_torn_even_where_it_is_whole() -> None:
    """Nobody was promised it: the write may have been cut just before its newline."""
    line = parse_line("log", 9, b'{"a":1}', is_terminated=False)
    assert (line.event, line.problem) == (None, "torn")


def test_lines_of_space_are_blank() -> None:
    """Readers pass them over."""
    blank = [is_blank(parse_line("log", 1, data)) for data in (b"", b"\r", b" \t", b"{}", b"x")]
    assert blank == [True, True, True, False, False]


def test_fields_of_other_types_are_nothing() -> None:
    """No getter raises, and true is no seq."""
    event = {
        "kind": "decision",
        "seq": True,
        "stage": 5,
        "refusal": [],
        "decision": {"verdict": 1, "reason_codes": "x"},
    }
    assert (seq_of(event), stage_of(event), verdict_of(event), reasons_of(event)) == (None, None, None, ())
    assert verdict_of({"kind": "decision", "decision": "ACCEPT", "verdict": "ACCEPT"}) is None
