"""A name or a value from outside is text in every output: no command, no markup, no escape sequence, no extra line."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from gatekeeper.render import FORMATS, github, load
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.explain import explain_page
from gatekeeper.render.logs import replay_page
from gatekeeper.render.markdown import table
from gatekeeper.render.page import Column, Layout, Row, Table
from tests.render.events import HIDDEN, decision, event, finding
from tests.render.test_github import read_outputs

EVIL = [
    "m\n::error title=owned::pwned",
    "m\r\n::set-output name=proceed::true",
    "::error::owned",
    "a ::stop-commands::x",
    "##[error]owned",
    "##vso[task.setvariable variable=proceed]true",
    "\x1b[2J\x1b[1;32m[OK] forged",
    "\x9b2J",
    "x | y | z",
    "</td><script>alert(1)</script>",
    "`code` **bold** [link](javascript:x)",
    "@org/everyone #1",
    "\u202edetrever",
    "\u2028[OK] forged",
    "proceed=true\nverdict=ACCEPT",
    "EOF",
    "%0A::error::x",
]


def evil_event(text: str) -> dict[str, Any]:
    """An event with *text* wherever a policy, a snapshot or a caller can put it."""
    return event(
        decision(
            "DEGRADE",
            reason_codes=[f"guardrail_violation:{text}", f"evidence_missing:{text}"],
            missing=[text],
            findings=[
                finding(
                    f"guardrail:{text}",
                    "VIOLATED",
                    code=f"guardrail_violation:{text}",
                    metric=text,
                    observed=text,
                    op="<=",
                    limit=text,
                    source=text,
                    would_be=text,
                ),
                finding(f"evidence:{text}", "MISSING", code=f"evidence_missing:{text}"),
                finding(f"guardrail:{text}", "PASS", metric=text, observed=1, op="<=", limit=2),
            ],
            notes=[text],
            requested_actions=[
                {"name": "collect_metric", "params": {"metric": text}},
                {"name": text, "params": {text: text}},
            ],
        ),
        run_id=text,
        actor=text,
        evidence_refs={text: text},
        collector_change={"from": text, "to": text},
        resume={
            "resume_token": text,
            "attempt": 1,
            "first_held_at": text,
            "next_evaluation": {"not_before": text, "on": [text]},
            "owners": [text],
            "escalate_at": text,
            "deadline_at": text,
            "on_deadline": text,
        },
    )


def evil_answer(text: str) -> Answer:
    """The event as an answer, with *text* in all that stands around it."""
    standing = Standing.NOT_RECORDED if len(text) % 2 else Standing.ANSWERED_BEFORE
    return Answer(evil_event(text), standing=standing, log=text, runbooks={text: text}, why_not_recorded=text)


def texts(name: str, text: str, layout: Layout) -> list[str]:
    """All that a format says of the event."""
    module = load(name)
    given = evil_event(text)
    error = {"code": "usage", "message": text, "remedy": text, "exit_code": 64}
    return [
        module.decision(evil_answer(text), layout),
        module.page(explain_page(given, runbooks={text: text}), layout),
        module.page(replay_page([given], damaged=[{"source": text, "line": 1, "problem": text}]), layout),
        module.error(error, layout),
    ]


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("width", [40, 120])
def test_no_escape_sequence_and_no_hidden_character_comes_through(name: str, text: str, width: int) -> None:
    """C0, C1, direction marks and line separators are escaped in every format."""
    for shown in texts(name, text, Layout(width)):
        body = shown.replace("\n", "")
        if name == "ndjson":  # recorded text, as the log has it: JSON escapes C0 only
            assert not re.search(r"[\x00-\x1f]", body)
        else:
            assert not re.search("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", body)


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("name", ["text", "json", "markdown"])
@pytest.mark.parametrize("width", [20, 40, 120])
def test_no_ci_system_finds_a_command_in_what_people_read(name: str, text: str, width: int) -> None:
    """No line begins with `::`, and `##[` or `##vso[` stands nowhere."""
    for shown in texts(name, text, Layout(width)):
        assert not re.search(r"(?m)^\s*::", shown)
        assert not re.search(r"##[\w.-]*\[", shown)


@pytest.mark.parametrize("text", EVIL)
def test_the_runner_sees_our_annotations_and_no_others(text: str) -> None:
    """Each line is a command of ours, its title holds no `::`, its message no raw `%`."""
    for line in github.annotation_lines(evil_answer(text)).splitlines():
        match = re.fullmatch(r"::(error|warning|notice) title=([^:,]*)::(.*)", line)
        assert match, line
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", match[2] + match[3])
        assert "##[" not in line
    first, *rest = github.decision(evil_answer(text), Layout()).splitlines()
    assert first.startswith("[HOLD] ")
    assert all(line.startswith("::") for line in rest)


@pytest.mark.parametrize("text", EVIL)
def test_no_value_sets_a_step_output_of_its_own(text: str) -> None:
    """The runner reads the names we wrote, and `proceed` stays false."""
    values = read_outputs(github.step_outputs(evil_answer(text)))
    assert list(values) == [
        "verdict", "proceed", "reason_codes", "missing", "resume_token", "event_id", "percent", "run_state", "stage",
        "recorded",
    ]  # fmt: skip
    assert values["proceed"] == "false"
    assert values["verdict"] == "DEGRADE"
    assert json.loads(values["missing"]) == [text]


@pytest.mark.parametrize("text", EVIL)
def test_no_name_adds_a_cell_or_a_line_to_a_markdown_table(text: str) -> None:
    """Each line has as many cells as the heading."""
    shown = table(Table((Column("a", code=True), Column("b")), [Row(text, text, detail=text)]))
    lines = shown.splitlines()
    assert len(lines) == 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}


@pytest.mark.parametrize("text", EVIL)
def test_no_html_and_no_mention_stands_in_markdown_outside_of_code(text: str) -> None:
    """Only our own comment that breaks a mention up."""
    for shown in texts("markdown", text, Layout()):
        outside = re.sub(r"(?s)```sh\n.*?\n```", "", shown.replace("<!-- -->", "\x00"))
        prose = re.sub(r"(`+) ?.*? ?\1", "", outside)
        assert "<" not in prose
        assert not re.search(r"@[\w-]", prose)
        assert "](" not in prose.replace("\\](", "")


@pytest.mark.parametrize("token", ["hold-1; rm -rf /", "$(id)", "a'b", "`id`"])
@pytest.mark.parametrize("name", ["text", "markdown"])
def test_a_forged_token_in_a_log_is_no_command_to_copy(name: str, token: str) -> None:
    """What is no plain word stands in quotes."""
    given = event(decision("DEGRADE"), resume={"resume_token": token})
    (line,) = [
        line for line in load(name).decision(Answer(given), Layout(120)).splitlines() if "gatekeeper resume" in line
    ]
    assert shlex.split(line) == ["gatekeeper", "resume", token, "--snapshot", "FILE"]


@pytest.mark.parametrize("text", EVIL)
def test_json_says_exactly_what_was_logged(text: str) -> None:
    """Escaping changes no value."""
    document = json.loads(load("json").decision(evil_answer(text), Layout()))
    assert document["run_id"] == text
    assert document["decision"]["findings"][0]["metric"] == text


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_prints_the_credentials_of_a_source(name: str) -> None:
    """Masked in endpoints, in messages and in runbooks."""
    address = f"https://ci:{HIDDEN}@host.example/p"
    for shown in texts(name, address, Layout(200)):
        if name in {"text", "markdown", "github"}:
            outside = shown.replace("guardrail:" + address, "").replace("violation:" + address, "")
            assert f"source {address}" not in outside
            assert f"runbook: {address}" not in outside
    module = load(name)
    answer = Answer(event(decision("ACCEPT")), why_not_recorded=address, standing=Standing.NOT_RECORDED)
    error = {"code": "log.unwritable", "message": f"cannot reach {address}", "remedy": address, "exit_code": 74}
    assert HIDDEN not in module.decision(answer, Layout())
    assert HIDDEN not in module.error(error, Layout())
