"""What a terminal makes of the text: colours, ASCII, wide letters, characters that move the cursor."""

from __future__ import annotations

import re

import pytest

from gatekeeper.render import text
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.page import Layout, Page
from gatekeeper.render.plain import columns, printable, wrap
from tests.render.events import (
    EVENTS,
    REJECTED,
    RUN,
    decision,
    event,
)


@pytest.mark.parametrize("name", EVENTS)
def test_no_escape_sequence_is_written_where_nobody_asked_for_colour(name: str) -> None:
    """A log file gets plain text; with colour the words are the same."""
    answer = Answer(EVENTS[name], standing=Standing.NOT_RECORDED)
    plain = text.decision(answer, Layout(100))
    coloured = text.decision(answer, Layout(100, colour=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_red_line_ends_red_at_its_end() -> None:
    """Nothing after the line is coloured."""
    first = text.decision(Answer(REJECTED), Layout(100, colour=True)).splitlines()[0]
    assert first == f"\x1b[1;31m[STOP] {RUN}  CANARY_10 -> CANARY_25  REJECT\x1b[0m"


def test_a_terminal_that_knows_ascii_only_gets_ascii_only() -> None:
    """Arrows and dots have a spelling, other letters an escape."""
    given = event(decision("DEGRADE", missing=["größe → ≤"], notes=["ünï 🚀"]))
    shown = text.decision(Answer(given), Layout(80, unicode=False))
    assert shown.isascii()
    assert "gr\\xf6\\xdfe -> <=" in shown
    assert "\\U0001f680" in shown
    assert "größe → ≤" in text.decision(Answer(given), Layout(80))


def test_wide_letters_do_not_break_the_columns() -> None:
    """A letter of double width takes two columns."""
    assert columns("漢字") == 4
    assert columns("e\u0301") == 1
    assert wrap("漢字 漢字", 6) == ["漢字", "漢字"]


def test_an_error_says_what_happened_then_what_to_do() -> None:
    """Several lines stay lines; addresses are masked."""
    error = {
        "code": "policy.invalid",
        "message": "p.json:3: no\nsee https://u:p@h/x",
        "remedy": "mend it",
        "exit_code": 65,
    }
    assert text.error(error, Layout(120)) == "policy.invalid: p.json:3: no\nsee https://***@h/x\nto do: mend it\n"


def test_a_page_of_nothing_is_its_headline() -> None:
    """No empty line is left behind."""
    assert text.page(Page("0 runs", [], document={}), Layout(120)) == "0 runs\n"


@pytest.mark.parametrize(
    "character", ["\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u202e", "\u200b", "\ufeff"]
)
def test_no_character_that_moves_the_cursor_or_hides_text_comes_through(character: str) -> None:
    """It is written as an escape."""
    shown = printable(f"a{character}b")
    assert character not in shown
    assert shown.startswith("a\\")
    assert shown.endswith("b")


def test_words_of_a_ci_system_are_broken_up_and_names_with_colons_are_not() -> None:
    """`::` begins a command only where a word begins; `##[` and `##vso[` count anywhere."""
    assert printable("::error::x") == "\\::error::x"
    assert printable("a ::set-output name=x::y") == "a \\::set-output name=x::y"
    assert printable("std::vector job:rate::5m") == "std::vector job:rate::5m"
    assert printable("a##[group]b##vso[x]") == "a#\\#[group]b#\\#vso[x]"
