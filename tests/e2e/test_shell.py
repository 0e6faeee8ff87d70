"""HO-16 g h and SPEC 8 with the installed command in a real shell: pipes, terminals, locales, closed streams."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, policy, snapshot
from tests.e2e.terminal import in_narrow_terminal, in_terminal

pytestmark = pytest.mark.slow

METRICS = {"accept": HEALTHY, "reject": HARMFUL, "degrade": BLIND}
CODES = {"accept": 0, "reject": 1, "degrade": 2}
VERDICTS = {"accept": "ACCEPT", "reject": "REJECT", "degrade": "DEGRADE"}


def line_of(desk: Desk, name: str, *more: str) -> str:
    """A check with this answer as a line of bash."""
    return "gatekeeper " + shlex.join(desk.asking(METRICS[name], *more))


@pytest.mark.parametrize("name", CODES)
def test_ho_16_g_tee_under_pipefail_keeps_the_verdict(name: str, desk: Desk) -> None:
    """The documented step stops the pipeline on REJECT and DEGRADE; without pipefail the verdict is swallowed."""
    desk.begin_at("CANARY_10")
    line = f"{line_of(desk, name)} | tee answer.txt"
    done = desk.shell(f"set -eo pipefail\n{line}\necho went on")
    assert done.code == CODES[name]
    assert done.out.endswith(b"went on\n") is (name == "accept")
    assert (desk.place / "answer.txt").read_bytes() == done.out.removesuffix(b"went on\n")


@pytest.mark.parametrize("name", CODES)
def test_ho_16_h_head_keeps_the_verdict_and_the_record(name: str, desk: Desk) -> None:
    """The reader leaves after one line; 600 metrics of json do not fit into the pipe."""
    desk.begin_at("CANARY_10")
    evidence = desk.evidence(METRICS[name], more=600)
    line = f"gatekeeper {shlex.join(desk.asking(evidence))}"
    assert desk.shell(f"{line} | head -1; exit ${{PIPESTATUS[0]}}").code == CODES[name]
    assert desk.events()[-1]["decision"]["verdict"] == VERDICTS[name]
    again = desk.shell(f"gatekeeper {shlex.join(desk.asking(evidence, '-o', 'json'))} | true; exit ${{PIPESTATUS[0]}}")
    assert again.code == CODES[name]
    assert again.err == ""


def test_replay_into_head_ends_well(desk: Desk) -> None:
    """A report whose reader has seen enough is no failure."""
    desk.hold_at_canary_25()
    done = desk.shell("gatekeeper replay -o ndjson | head -1; exit ${PIPESTATUS[0]}")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["stage"] == "CANARY_10"


@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"])
def test_streams_that_are_closed_or_full_change_no_verdict(closing: str, desk: Desk) -> None:
    """Whatever becomes of the words, the exit code is the verdict's, and the log holds the decision whole."""
    desk.begin_at("CANARY_10")
    for name in ("degrade", "accept", "reject"):
        assert desk.shell(f"{line_of(desk, name)} {closing}").code == CODES[name]
        assert desk.events()[-1]["decision"]["verdict"] == VERDICTS[name]
    desk.assert_verifies()


def test_a_snapshot_on_standard_input_that_is_closed_is_no_verdict(desk: Desk) -> None:
    """`--snapshot -` without a standard input reads nothing: input refused, no trace."""
    done = desk.shell(f"gatekeeper {shlex.join(desk.asking('-'))} <&-")
    assert done.code == 65
    assert not desk.log.exists()


def test_a_snapshot_on_standard_input_is_evidence(desk: Desk) -> None:
    """`collect | gatekeeper check --snapshot -`."""
    desk.begin_at("CANARY_10")
    data = json.dumps(snapshot(HEALTHY, name="piped")).encode()
    done = desk.pipe(data, *desk.asking("-", "-o", "json"))
    assert done.code == 0
    assert done.document["metrics_snapshot"]["_meta"]["snapshot_id"] == "piped"


@pytest.mark.parametrize("name", ["accept", "reject", "degrade"])
def test_colours_are_for_terminals(name: str, desk: Desk) -> None:
    """A CI log has no use for escape sequences; a person sees the verdict's colour, unless told otherwise."""
    desk.begin_at("CANARY_10")
    argv = desk.asking(METRICS[name])
    colour = {"accept": b"\x1b[1;32m[OK]", "reject": b"\x1b[1;31m[STOP]", "degrade": b"\x1b[1;33m[HOLD]"}[name]
    shown = in_terminal(desk, *argv)
    assert shown.code == CODES[name]
    assert colour in shown.out
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert b"\x1b" not in in_terminal(desk, *argv, **env).out
    assert b"\x1b" not in desk.gate(*argv, TERM="xterm-256color").out


NAMES = {"größe_µs": "gr\\xf6\\xdfe_\\xb5s", "エラー率": "\\u30a8\\u30e9\\u30fc\\u7387", "p🚦q": "p\\U0001f6a6q"}


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "POSIX"},
        {"LANG": "C", "LC_ALL": None},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_metric_names_of_any_alphabet_are_judged_in_any_locale(locale: dict[str, str | None], desk: Desk) -> None:
    """UnicodeEncodeError would be exit 1, a rollback; the log holds the names as they are."""
    rules = [{"metric": name, "op": "<=", "threshold": 1} for name in NAMES]
    desk.write("policy.json", policy(guardrails=rules, constraints=[], missing_data_policy={}))
    healthy = dict.fromkeys(NAMES, 0.5)
    desk.begin_at_with(healthy, "CANARY_10", **locale)
    done = desk.gate(*desk.asking({**healthy, "größe_µs": 2}), **locale)
    assert done.code == 1
    assert b"[STOP]" in done.out
    assert "größe_µs" in done.out.decode("utf-8") or NAMES["größe_µs"].encode() in done.out
    assert desk.events()[-1]["decision"]["reason_codes"] == ["guardrail_violation:größe_µs"]
    for command in (["status", "r-41"], ["explain", "r-41:CANARY_25"], ["replay"], ["verify"], ["queue"]):
        assert desk.gate(*command, **locale).code == 0


def test_an_ascii_stream_gets_escapes(desk: Desk) -> None:
    """What the encoding cannot hold is written out, so that the line can still be read."""
    rules = [{"metric": name, "op": "<=", "threshold": 1} for name in NAMES]
    desk.write("policy.json", policy(guardrails=rules, constraints=[], missing_data_policy={}))
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = desk.gate(*desk.asking(dict.fromkeys(NAMES, 2), "--start-stage", "CANARY_10", "--reason", "x"), **env)
    assert done.code == 1
    assert done.out.isascii()
    for escaped in NAMES.values():
        assert escaped.encode() in done.out


def _fits(line: str, width: int) -> bool:
    """Whether a line keeps to *width*, or is over because its last word would not fit into half of it."""
    return len(line) <= width or len(line.rsplit(maxsplit=1)[-1]) > width // 2


@pytest.mark.parametrize("name", CODES)
def test_forty_columns_are_enough(name: str, desk: Desk) -> None:
    """In a narrow terminal only long words go beyond its edge; the mark stays first."""
    desk.begin_at("CANARY_10")
    done = desk.gate(*desk.asking(METRICS[name]), COLUMNS="40")
    assert done.code == CODES[name]
    assert re.match(rb"\[(OK|STOP|HOLD)\] r-41", done.out)
    for line in done.out.decode().splitlines():
        assert _fits(line, 40), line
    narrow = in_narrow_terminal(desk, "status", "r-41").out.decode().replace("\r\n", "\n")
    for line in narrow.splitlines():
        assert _fits(re.sub("\x1b\\[[0-9;]*m", "", line), 40), line


def test_a_new_log_is_announced_once_on_standard_error(desk: Desk) -> None:
    """A mistyped --log must not start all runs anew without a word."""
    desk.begin_at("CANARY_10")
    other = desk.place / "other.ndjson"
    argv = desk.asking(HEALTHY, "--start-stage", "CANARY_10", "--reason", "x", "--log", "other.ndjson", "-o", "json")
    first = desk.gate(*argv)
    assert first.err == f"gatekeeper: new log created at {other}\n"
    assert first.document["recorded"] is False
    assert desk.gate(*desk.asking(HEALTHY, "--log", "other.ndjson", "-o", "json")).err == ""
