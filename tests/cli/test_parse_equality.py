"""The fast way and typer read one declaration; here they are held equal."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatekeeper.cli import tables
from gatekeeper.cli.parse import Parsed, parse
from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.typer_app import answer
from gatekeeper.errors import UsageError
from tests.cli.support import CHECK

VALID = {
    "text": ["", "x", "-", "guardrail_violation:*", "a=b"],
    "sentence": ["because", "change_id=CHG-1", "-", "-x", "ünïcode"],
    "path": ["p.json", "-", "a b", "dir/é"],
    "name": ["exp-42", "B", "CANARY_12.5"],
    "run_id": ["exp-42:B:2026-02-18", "team/exp@1"],
    "count": ["1", "0007", "999999"],
    "bytes": ["1", "64MiB", "10k", "1GB"],
    "before": ["90d", "5000", "2026-02-18T01:00:00Z"],
    "duration": ["30m", "1h30m", "500ms", "7d"],
    "time": ["2026-02-18T01:00:00Z", "2026-02-18T01:00:00.5+01:00"],
    "moment": ["snapshot", "2026-02-18T01:00:00Z"],
    "since": ["7d", "2026-02-18T01:00:00Z"],
    "names": ["verdict", "verdict,reason", " a , b"],
}
ODD = ["", "abc", "-1", "--", "--policy", "--polic", "--nope", "-o", "-x", "-ojson", "=", "30 m", "\udc80", "--dry-run"]


def values_of(taker: Option | Argument) -> st.SearchStrategy[str]:
    """Texts for one option or argument, mostly valid."""
    valid = list(taker.choices) + [choice.lower() for choice in taker.choices] or VALID[taker.kind]
    return st.one_of(st.sampled_from(valid), st.sampled_from(valid), st.sampled_from(valid), st.sampled_from(ODD))


@st.composite
def words_of(draw: st.DrawFn, option: Option) -> list[str]:
    """One option as typed: apart, with `=`, or glued to its short flag."""
    flag = draw(st.sampled_from(option.flags))
    if option.kind == "flag":
        return [draw(st.sampled_from([flag, flag, flag, flag + "=1", flag[:-1]]))]
    value = draw(values_of(option))
    glued = flag + ("=" if flag.startswith("--") else "") + value
    return draw(st.sampled_from([[flag, value], [flag, value], [glued], [flag]]))


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Command lines over the whole declaration: usual ones, and ones with everything that may go wrong."""
    command = draw(st.sampled_from(tables.every()))
    options = [option for option in command.options if option.required and draw(st.integers(0, 9))]
    options += draw(st.lists(st.sampled_from(command.options), max_size=5)) if command.options else []
    parts = [draw(words_of(option)) for option in options]
    for argument in command.arguments:
        parts += [[draw(values_of(argument))] for _ in range(draw(st.integers(0, 2 if argument.repeat else 1)))]
    parts += [[word] for word in draw(st.lists(st.sampled_from(ODD), max_size=1))]
    return [*command.path, *(word for part in draw(st.permutations(parts)) for word in part)]


@pytest.mark.slow
def test_the_fast_way_never_reads_a_command_line_differently_than_typer() -> None:
    """Whatever the fast way accepts, typer reads as the same command with the same values."""
    accepted: list[bool] = []

    @settings(max_examples=1500)
    @given(command_lines())
    @example([*CHECK, "--reason", "--", "--start", "S"])
    @example(["replay", "--limit", "x", "--limit", "3"])
    @example(["policy", "check", "--", "-x.json"])
    def law(argv: list[str]) -> None:
        fast = parse(argv)
        accepted.append(fast is not None)
        if fast is not None:
            slow = answer(argv)
            assert isinstance(slow, Parsed)
            assert (slow.command.path, slow.given) == (fast.command.path, fast.given)

    law()
    assert sum(accepted) > 200  # the law is no empty one


def _least(command: Command) -> list[str]:
    words = list(command.path)
    for option in command.options:
        if option.required:
            words += [option.flags[0], (option.choices or tuple(VALID[option.kind][1:]))[0]]
    return words + [VALID[argument.kind][1] for argument in command.arguments if argument.required]


@pytest.mark.parametrize("command", tables.every(), ids=lambda command: " ".join(command.path))
def test_no_usual_command_line_pays_for_typer(command: Command) -> None:
    """The least that a command takes, and each of its options in turn, goes the fast way."""
    least = _least(command)
    assert parse(least) is not None
    for option in command.options:
        value = [] if option.kind == "flag" else [(option.choices or tuple(VALID[option.kind]))[0]]
        for flag in option.flags:
            assert parse([*least, flag, *value]) is not None, flag


@pytest.mark.parametrize("command", tables.every(), ids=lambda command: " ".join(command.path))
def test_no_example_in_the_help_is_wrong(command: Command) -> None:
    """Each example of a command is a command line of that command."""
    assert command.examples
    for _, line in command.examples:
        program, *argv = shlex.split(line)
        parsed = parse(argv)
        assert program == "gatekeeper"
        assert parsed is not None, line
        assert parsed.command is command


def test_a_shortened_option_is_not_guessed() -> None:
    """`--pol` could mean another option tomorrow; getopt would take it, so the fast way declines it."""
    argv = [word.replace("--policy", "--pol") for word in CHECK]
    assert parse(argv) is None
    with pytest.raises(UsageError, match="no such option: --pol"):
        answer(argv)


def test_posixly_correct_does_not_turn_options_into_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under that variable getopt would read the option as one more file, so the fast way stands back."""
    argv = ["policy", "check", "p.json", "-o", "json"]
    assert parse(argv) is not None
    monkeypatch.setenv("POSIXLY_CORRECT", "1")
    assert parse(argv) is None
    slow = answer(argv)
    assert isinstance(slow, Parsed)
    assert slow.given == {"files": ("p.json",), "output": "json"}
