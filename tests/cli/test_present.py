"""From an answer to an outcome: layout, exit code, warnings, the files of a runner."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.github_files import write_summary
from gatekeeper.cli.present import exit_code, layout_of_output, page_outcome, told
from gatekeeper.cli.values import Values
from gatekeeper.model.reasons import Verdict
from gatekeeper.orchestrator.question import Answer
from gatekeeper.render.page import Page
from tests.cli.support import command


class Stream(io.TextIOWrapper):
    """Standard output with an encoding, at a terminal or not."""

    def __init__(self, encoding: str, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return self._is_terminal


@pytest.mark.parametrize(
    ("encoding", "is_unicode"),
    [("UTF-8", True), ("utf8", True), ("ascii", False), ("ANSI_X3.4-1968", False), ("latin-1", False)],
)
def test_unicode_is_for_streams_that_hold_it(encoding: str, is_unicode: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any other encoding a sign may be one that it lacks."""
    monkeypatch.setattr(sys, "stdout", Stream(encoding, is_terminal=False))
    assert layout_of_output().unicode is is_unicode


@pytest.mark.parametrize(
    ("is_terminal", "environ", "has_colour"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),  # no-color.org: present and not empty
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    is_terminal: bool, environ: dict[str, str], has_colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escape sequences in a CI log are noise."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Stream("utf-8", is_terminal=is_terminal))
    assert layout_of_output().colour is has_colour


def test_a_stream_that_was_closed_from_the_start_has_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict must not fail on the way to nobody."""
    monkeypatch.setattr(sys, "stdout", None)
    layout = layout_of_output()
    assert (layout.colour, layout.unicode) == (False, False)


@pytest.mark.parametrize(
    ("stated", "width"), [("40", 40), ("1", 1), ("0", 80), ("-5", 80), ("x", 80), ("", 80), ("99999", 80)]
)
def test_the_width_is_what_was_stated_if_it_can_be_one(
    stated: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else that of the terminal, else 80."""

    def no_terminal(_: int) -> os.terminal_size:
        raise OSError

    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    monkeypatch.setenv("COLUMNS", stated)
    assert layout_of_output().width == width


def test_a_terminal_that_states_no_width_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some pseudo terminals are 0 columns wide."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    assert layout_of_output().width == 80


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_dry_run_never_ends_with_a_verdicts_code(verdict: Verdict) -> None:
    """3 whatever the verdict; else 0, 1 or 2."""
    assert exit_code(Answer({}, verdict, is_dry_run=True)) == 3
    assert exit_code(Answer({}, verdict)) == {"ACCEPT": 0, "REJECT": 1, "DEGRADE": 2}[verdict.value]


def test_a_warning_is_told_once_in_its_order() -> None:
    """Reading and appending may both notice the same."""
    assert told(("b", "a", "b")) == ("gatekeeper: b", "gatekeeper: a")


def values_of(*path: str, **given: Any) -> Values:
    """Values of a command as its handler gets them."""
    return Values(command(*path), given)


def test_a_report_for_github_goes_to_the_summary_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Appended: a step may call the command twice."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    page = Page("the log verifies", [], document={})
    for _ in range(2):
        outcome = page_outcome(page, values_of("verify", output="github"))
        assert (outcome.stdout, outcome.stderr) == ("### the log verifies\n", ())
    assert summary.read_text() == "### the log verifies\n\n" * 2
    page_outcome(page, values_of("verify", output="markdown"))
    assert summary.read_text() == "### the log verifies\n\n" * 2


def test_a_summary_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """It changes no exit code; half a surrogate pair in it changes nothing at all."""
    assert write_summary("x", {"GITHUB_STEP_SUMMARY": str(tmp_path)}) == (
        f"gatekeeper: GITHUB_STEP_SUMMARY: Is a directory: {tmp_path}",
    )
    assert write_summary("x", {}) == ()
    place = tmp_path / "summary"
    assert write_summary("a\udcffb", {"GITHUB_STEP_SUMMARY": str(place)}) == ()
    assert place.read_text() == "a\\udcffb\n"
