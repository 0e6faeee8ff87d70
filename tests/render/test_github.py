"""Output `github`: annotations, step outputs and the job summary, as the runner reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.render import github
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.page import Layout, Page
from tests.render.events import (
    ACCEPTED,
    HELD,
    NOT_THERE,
    OVER_LIMIT,
    REJECTED,
    RUN,
    STOPPED,
    TOKEN,
    decision,
    event,
    finding,
)

STATE = {"state": "ACTIVE", "stage": "CANARY_10", "next_stage": "CANARY_25", "percent": 10}


def read_outputs(text: str) -> dict[str, str]:
    """What the runner makes of the file: `name=value`, or `name<<delimiter` up to a line that is the delimiter."""
    values: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, delimiter = line.split("<<", 1)
            body: list[str] = []
            while (part := next(lines)) != delimiter:
                body.append(part)
            values[name] = "\n".join(body)
        else:
            name, values[name] = line.split("=", 1)
    return values


def test_a_reject_is_an_error_on_the_job_and_on_the_rule() -> None:
    """The headline for the log, then one command per trouble; passes are no annotation."""
    assert github.decision(Answer(REJECTED), Layout()).splitlines() == [
        f"[STOP] {RUN}  CANARY_10 -> CANARY_25  REJECT",
        f"::error title=gatekeeper REJECT::{RUN}: CANARY_10 -> CANARY_25: guardrail_violation:error_rate_5m",
        "::error title=guardrail%3Aerror_rate_5m::error_rate_5m is 0.013, above its limit of <= 0.01 (margin -0.003)",
    ]


def test_a_hold_is_a_warning_with_the_way_back_in_and_its_note_a_notice() -> None:
    """A line break inside a message is `%0A`."""
    assert github.annotation_lines(Answer(HELD)).splitlines() == [
        (
            f"::warning title=gatekeeper DEGRADE::{RUN}: CANARY_10 -> CANARY_25: observation_missing:required_metric"
            f"%0Agatekeeper resume {TOKEN} --snapshot FILE"
        ),
        "::warning title=required%3Aconversion_rate::conversion_rate is required and was not observed",
        "::notice title=gatekeeper note::no baseline: budgets were not checked",
    ]


def test_an_accept_is_a_notice() -> None:
    """Nothing red on a green job."""
    assert github.annotation_lines(Answer(ACCEPTED)) == (
        f"::notice title=gatekeeper ACCEPT::{RUN}: CANARY_10 -> CANARY_25\n"
    )


def test_a_weaker_trouble_and_a_watched_rule_are_not_shown_as_what_stopped_the_run() -> None:
    """Errors are the reasons of the verdict only."""
    watched = finding(
        "guardrail:w", "OBSERVED", metric="w", observed=3, op="<=", limit=2, would_be="guardrail_violation:w"
    )
    given = event(decision("REJECT", reason_codes=[OVER_LIMIT["code"]], findings=[NOT_THERE, OVER_LIMIT, watched]))
    levels = [line.split(" ")[0] for line in github.annotation_lines(Answer(given)).splitlines()]
    assert levels == ["::error", "::error", "::warning", "::notice"]


def test_the_runner_drops_no_annotation_without_a_word() -> None:
    """It shows ten of a level; the tenth says how many are left."""
    findings = [
        finding(f"guardrail:m{n}", "VIOLATED", code=f"guardrail_violation:m{n}", metric=f"m{n}") for n in range(30)
    ]
    given = event(decision("REJECT", reason_codes=[one["code"] for one in findings], findings=findings))
    lines = github.annotation_lines(Answer(given)).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "::error title=gatekeeper::22 more: see the job summary"


def test_escaping_follows_the_runner() -> None:
    """`%`, CR, LF in data; `:` and `,` as well in properties; `%` first, so that nothing is escaped twice."""
    assert github.escape_data("100%\r\na:b,c") == "100%25%0D%0Aa:b,c"
    assert github.escape_property("100%\r\na:b,c") == "100%25%0D%0Aa%3Ab%2Cc"
    assert github.escape_data("%0A") == "%250A"


def test_a_step_reads_the_outputs_of_an_accept() -> None:
    """Every output is there; the percent is what the pipeline sets."""
    assert read_outputs(github.step_outputs(Answer(ACCEPTED, run=STATE))) == {
        "verdict": "ACCEPT",
        "proceed": "true",
        "reason_codes": "[]",
        "missing": "[]",
        "resume_token": "",
        "event_id": f"{RUN}:CANARY_25",
        "percent": "25",
        "run_state": "ACTIVE",
        "stage": "CANARY_25",
        "recorded": "false",
    }


def test_a_step_reads_the_outputs_of_a_hold() -> None:
    """The token to come back with; the share of traffic stays."""
    values = read_outputs(github.step_outputs(Answer(HELD, run=STATE)))
    assert values["proceed"] == "false"
    assert json.loads(values["reason_codes"]) == ["observation_missing:required_metric"]
    assert json.loads(values["missing"]) == ["conversion_rate"]
    assert values["resume_token"] == TOKEN
    assert values["percent"] == "10"


def test_a_step_reads_the_outputs_of_a_reject_and_of_a_stop() -> None:
    """Roll back to 0; a stop has no stage and no actions."""
    assert read_outputs(github.step_outputs(Answer(REJECTED, run=STATE)))["percent"] == "0"
    stopped = read_outputs(github.step_outputs(Answer(STOPPED, standing=Standing.ANSWERED_BEFORE)))
    assert (stopped["verdict"], stopped["proceed"], stopped["stage"], stopped["percent"]) == ("REJECT", "false", "", "")


@pytest.mark.parametrize(
    ("given", "standing", "proceed"),
    [
        (ACCEPTED, Standing.APPENDED, "true"),
        (ACCEPTED, Standing.ANSWERED_BEFORE, "true"),
        (ACCEPTED, Standing.DRY_RUN, "false"),
        (REJECTED, Standing.APPENDED, "false"),
        (REJECTED, Standing.NOT_RECORDED, "false"),
        (HELD, Standing.APPENDED, "false"),
    ],
)
def test_nothing_proceeds_but_an_accept_that_is_in_the_log(
    given: dict[str, Any], standing: Standing, proceed: str
) -> None:
    """A dry run's ACCEPT lets no traffic in and moves no percent."""
    values = read_outputs(github.step_outputs(Answer(given, standing=standing, run=STATE)))
    assert values["proceed"] == proceed
    if standing is Standing.DRY_RUN:
        assert (values["percent"], values["event_id"], values["resume_token"]) == ("10", "", "")


@pytest.mark.parametrize("value", ["a\nb", "x\nproceed=true\n", "\n", "a\r\nb", "EOF\nEOF"])
def test_a_value_of_several_lines_sets_no_other_output(value: str) -> None:
    """The delimiter is made of the value and cannot stand in it."""
    text = github.output("note", value)
    assert read_outputs(text) == {"note": value}
    assert github.output("note", value) == text, "no randomness"
    assert read_outputs(github.output("note", text)) == {"note": text}, "not even its own delimiter ends it"


def test_the_summary_is_the_markdown_of_the_decision() -> None:
    """It ends with an empty line, because other steps append to the same file."""
    text = github.job_summary(Answer(HELD))
    assert text.startswith(f"### \\[HOLD\\] {RUN}")
    assert text.endswith("\n\n")


def test_an_error_and_a_page_have_a_form_here_too() -> None:
    """An error is an annotation; any other result is markdown."""
    error = {"code": "policy.invalid", "message": "p.json:3: no, 100%", "remedy": "mend it"}
    assert github.error(error, Layout()) == (
        "::error title=gatekeeper policy.invalid::p.json:3: no, 100%25%0Ato do: mend it\n"
    )
    assert github.page(Page("a|b", [], document={}), Layout()) == "### a\\|b\n"
