"""Output `json` and `ndjson`: documents for programs, the same bytes everywhere."""

from __future__ import annotations

import json
import locale
from typing import Any

import pytest

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.render import as_json, ndjson
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.page import Layout, Page
from tests.render.events import ACCEPTED, EVENTS, HELD, HIDDEN, REJECTED, decision, event, finding

STATE = {"state": "STOPPED", "stage": "CANARY_10", "next_stage": None, "percent": 0}


def shown(answer: Answer, layout: Layout | None = None) -> Any:
    """The document that a check prints."""
    return json.loads(as_json.decision(answer, layout or Layout()))


def test_check_prints_the_event_as_logged_and_three_things_more() -> None:
    """`message` in each finding, `recorded`, `run`; nothing else is added, nothing is lost."""
    document = shown(Answer(REJECTED, run=STATE))
    assert document.pop("recorded") is False
    assert document.pop("run") == STATE
    messages = [one.pop("message") for one in document["decision"]["findings"]]
    assert messages == [
        "p95_latency_ms_5m is 360, within its limit of <= 400 (margin 40)",
        "error_rate_5m is 0.013, above its limit of <= 0.01 (margin -0.003)",
    ]
    endpoint = document["metrics_snapshot"]["observations"]["error_rate_5m"]
    assert endpoint["endpoint"] == "https://***@prom.example/api?***"
    endpoint["endpoint"] = REJECTED["metrics_snapshot"]["observations"]["error_rate_5m"]["endpoint"]
    assert document == REJECTED


def test_the_event_that_is_shown_is_not_changed() -> None:
    """The same object may still be appended or compared."""
    before = canonical_bytes(REJECTED)
    as_json.decision(Answer(REJECTED), Layout())
    assert canonical_bytes(REJECTED) == before


@pytest.mark.parametrize(
    ("standing", "recorded"),
    [
        (Standing.APPENDED, False),
        (Standing.ANSWERED_BEFORE, True),
        (Standing.DRY_RUN, False),
        (Standing.NOT_RECORDED, False),
    ],
)
def test_recorded_means_answered_from_the_record(standing: Standing, recorded: bool) -> None:
    """SPEC 6: "returns that decision, marked `recorded`, and appends nothing"."""
    assert shown(Answer(ACCEPTED, standing=standing))["recorded"] is recorded


def test_a_run_that_could_not_be_read_is_null() -> None:
    """The key is always there."""
    assert shown(Answer(ACCEPTED))["run"] is None


@pytest.mark.parametrize("name", EVENTS)
def test_json_is_the_same_bytes_in_every_terminal_and_locale(name: str) -> None:
    """Width, colour, Unicode and locale have no say, and no encoding can refuse a byte."""
    layouts = [Layout(40), Layout(200, colour=True), Layout(80, unicode=False)]
    texts = {as_json.decision(Answer(EVENTS[name]), layout) for layout in layouts}
    texts |= {ndjson.decision(Answer(EVENTS[name]), layout) for layout in layouts}
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "C")
        texts.add(as_json.decision(Answer(EVENTS[name]), Layout()))
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert len(texts) == 1
    (text,) = texts
    assert text.isascii()
    assert text.count("\n") == 1
    assert text.endswith("}\n")


def test_letters_beyond_ascii_come_back_whole() -> None:
    """Escapes with surrogate pairs are what JSON means by them."""
    given = event(decision("DEGRADE", missing=["größe", "🚀", "\u2028"]))
    text = as_json.decision(Answer(given), Layout())
    assert text.isascii()
    assert "\\ud83d\\ude80" in text
    assert json.loads(text)["decision"]["missing"] == ["größe", "🚀", "\u2028"]


def test_numbers_are_written_as_the_log_writes_them() -> None:
    """13.0 is 13 in the log, and so it is here."""
    given = event(decision("ACCEPT", findings=[finding("guardrail:x", "PASS", metric="x", observed=13.0, limit=1e-7)]))
    assert '"observed":13,' in as_json.decision(Answer(given), Layout())
    assert '"limit":1e-7,' in as_json.decision(Answer(given), Layout())


def test_an_error_with_a_file_name_that_is_no_text_still_comes_out() -> None:
    """Names that are not UTF-8 arrive as lone surrogates."""
    error = {"code": "usage", "message": "no such file: caf\udce9 (https://u:p@h?t)", "remedy": "r", "exit_code": 64}
    document = json.loads(as_json.error(error, Layout()))
    assert document == {
        "error": {"code": "usage", "message": "no such file: caf? (https://***@h?***", "remedy": "r", "exit_code": 64}
    }


def test_an_old_log_with_odd_findings_is_shown_as_it_is() -> None:
    """What is no object gets no message; founding-style lines have no findings."""
    odd = shown(Answer(event(decision("ACCEPT", findings=["?", None]))))
    assert odd["decision"]["findings"] == ["?", None]
    assert shown(Answer({"decision": "ACCEPT", "run_id": "x"}))["decision"] == "ACCEPT"


def test_replay_passes_recorded_bytes_through() -> None:
    """Spaces, key order and bytes that are no UTF-8 are the log's own."""
    lines: list[Any] = [b'{"b": 1,"a":2}\n', b'{"x":"\xff"}', {"b": 1, "a": 2.0}]
    text = ndjson.page(Page("", [], document={}, records=lines), Layout())
    assert ndjson.encode(text) == b'{"b": 1,"a":2}\n{"x":"\xff"}\n{"a":2,"b":1}\n'
    assert ndjson.page(Page("", [], document={}, records=[]), Layout()) == ""


def test_no_credential_of_an_endpoint_comes_out() -> None:
    """Neither document holds it, even where the log does."""
    for text in (as_json.decision(Answer(HELD), Layout()), ndjson.decision(Answer(HELD), Layout())):
        assert HIDDEN not in text
    page = Page("", [], document={}, records=[HELD])
    assert HIDDEN not in ndjson.page(page, Layout())
