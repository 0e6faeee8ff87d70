"""Output `markdown`: review comments and notes in GitHub's flavour."""

from __future__ import annotations

import pytest

from gatekeeper.render import markdown
from gatekeeper.render.answer import Answer, Standing
from gatekeeper.render.page import Layout
from tests.render.events import HELD, REJECTED, RUN, TOKEN

ANYWHERE = Layout()


def test_a_reject_reads_as_a_review_comment() -> None:
    """The whole text, by hand."""
    assert markdown.decision(Answer(REJECTED, log="logs/decision.ndjson"), ANYWHERE).splitlines() == [
        f"### \\[STOP\\] {RUN}  CANARY_10 -&gt; CANARY_25  REJECT",
        "",
        "* reason: `guardrail_violation:error_rate_5m`",
        "",
        "**findings**",
        "",
        "| rule | outcome | observed | limit | baseline | margin | what it says |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
        (
            "| `guardrail:error_rate_5m` | VIOLATED | 0.013 | &lt;= 0.01 | - | -0.003 | "
            "error_rate_5m is 0.013, above its limit of &lt;= 0.01 (margin -0.003) |"
        ),
        "| `guardrail:p95_latency_ms_5m` | PASS | 360 | &lt;= 400 | - | 40 |  |",
        "",
        "**next**",
        "",
        "* roll back to 0 percent",
        "",
        "**record**",
        "",
        "* policy: `exp-eval-policy 2026-02-18`",
        f"* event: `{RUN}:CANARY_25`",
        "* log: `logs/decision.ndjson`",
    ]


def test_the_resume_command_stands_in_a_block_that_can_be_copied() -> None:
    """A fenced block, one line."""
    text = markdown.decision(Answer(HELD), ANYWHERE)
    assert f"```sh\ngatekeeper resume {TOKEN} --snapshot FILE\n```" in text


def test_an_unrecorded_reject_is_loud_here_too() -> None:
    """The words are those of the terminal."""
    text = markdown.decision(Answer(REJECTED, standing=Standing.NOT_RECORDED), ANYWHERE)
    assert "NOT RECORDED: this REJECT counts" in text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("<script>", "&lt;script&gt;"),
        ("&lt;", "&amp;lt;"),
        ("*b* _i_ snake_case `c`", "\\*b\\* \\_i\\_ snake_case \\`c\\`"),
        ("[x](http://y)", "\\[x\\](http://y)"),
        ("![x](y)", "!\\[x\\](y)"),
        ("@team", "@<!-- -->team"),
        ("see #12", "see #<!-- -->12"),
        ("# title", "\\# title"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("a\nb", "a\\\\x0ab"),
        ("$x$ ~s~", "\\$x\\$ \\~s\\~"),
    ],
)
def test_no_name_becomes_markup_a_mention_or_a_link(text: str, escaped: str) -> None:
    """Running text shows its letters."""
    assert markdown.prose(text) == escaped


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a_b", "`a_b`"),
        ("a`b", "``a`b``"),
        ("`a``b`", "``` `a``b` ```"),
        ("", "`  `"),
    ],
)
def test_a_backtick_in_a_name_does_not_end_its_code_span(text: str, span: str) -> None:
    """The fence is longer than any inside."""
    assert markdown.code(text) == span


def test_a_bar_in_a_name_does_not_end_its_cell() -> None:
    """In a table a bar is escaped even in code; outside it stays."""
    assert markdown.code("a|b", in_table=True) == "`a\\|b`"
    assert markdown.code("a|b") == "`a|b`"


def test_an_error_is_short() -> None:
    """Code, message, next step."""
    error = {"code": "usage", "message": "a|b\nsecond https://u:p@h/", "remedy": "do *it*"}
    assert markdown.error(error, ANYWHERE) == (
        "### `usage`\n\na\\|b\n\nsecond https://\\*\\*\\*@h/\n\n**to do:** do \\*it\\*\n".replace("@h", "@<!-- -->h")
    )
