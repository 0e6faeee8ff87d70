"""The registry of outputs: each name has a whole module, and asking for one loads no other."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatekeeper.render import FORMATS, load
from gatekeeper.render.answer import Answer
from gatekeeper.render.page import Fields, Layout, Lines, Page, Row, Table
from gatekeeper.render.runs import HISTORY_COLUMNS
from tests.render.events import EVENTS

ERROR = {"code": "usage", "message": "no such option", "remedy": "see --help", "exit_code": 64}


def test_the_formats_are_those_of_the_command_line() -> None:
    """SPEC 8: text, json, ndjson, markdown, github."""
    assert set(FORMATS) == {"text", "json", "ndjson", "markdown", "github"}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("event", EVENTS)
def test_every_format_answers_every_kind_of_result(name: str, event: str) -> None:
    """Text that ends its last line, twice the same."""
    module = load(name)
    page = Page(
        "a page",
        [Fields([("label", ["value"])]), Lines(["line"]), Table(HISTORY_COLUMNS, [Row("1", "2", "3", "4")])],
        document={"a": 1},
    )
    for shown, again in [
        (module.decision(Answer(EVENTS[event]), Layout()), module.decision(Answer(EVENTS[event]), Layout())),
        (module.page(page, Layout()), module.page(page, Layout())),
        (module.error(ERROR, Layout()), module.error(ERROR, Layout())),
    ]:
        assert shown.endswith("\n")
        assert shown == again


def test_an_unknown_format_is_not_guessed() -> None:
    """The caller says which there are."""
    with pytest.raises(KeyError):
        load("yaml")


def test_a_check_that_prints_text_loads_nothing_heavy() -> None:
    """Start-up cost: none of these modules, and no other format."""
    program = (
        "import sys; from gatekeeper.render import load; load('text')\n"
        "print(*sorted({'typing', 'textwrap', 'rich', 'pathlib', 'pydantic', 'orjson', 'unicodedata',"
        " 'gatekeeper.render.github', 'gatekeeper.render.markdown', 'gatekeeper.render.as_json'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
