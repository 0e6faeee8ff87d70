"""The declaration itself: complete, consistent, and what `--help` shows."""

from __future__ import annotations

import importlib
import keyword

import pytest

from gatekeeper.cli import tables
from gatekeeper.cli.config import SETTINGS
from gatekeeper.cli.kinds import KINDS, convert
from gatekeeper.cli.parse import Parsed, check_combinations, parse
from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.typer_app import answer
from gatekeeper.errors import UsageError
from tests.cli.support import finish

COMMANDS = pytest.mark.parametrize("each", tables.every(), ids=lambda each: " ".join(each.path))

SPEC_8 = {
    ("init",), ("demo",), ("check",), ("run",), ("resume",), ("reevaluate",), ("stop",), ("queue",), ("status",),
    ("explain",), ("replay",), ("verify",), ("collect",), ("log", "head"),
    ("log", "metrics"), ("log", "rebuild"), ("log", "stat"), ("log", "rotate"), ("log", "archive"), ("log", "prune"),
    ("log", "migrate"), ("log", "import"), ("log", "export"), ("log", "checkpoint"), ("log", "prove"),
    ("log", "check-proof"),
    ("policy", "check"), ("policy", "diff"), ("policy", "test"), ("policy", "backtest"), ("policy", "suggest-cases"),
    ("policy", "explain"), ("policy", "schema"),
}  # fmt: skip


def test_no_command_of_the_specification_is_absent_and_none_is_there_too_early() -> None:
    """The commands are those of SPEC 8 that this version carries out, each once."""
    paths = [each.path for each in tables.every()]
    assert set(paths) == SPEC_8
    assert len(paths) == len(SPEC_8)


@COMMANDS
def test_no_command_or_option_goes_undocumented(each: Command) -> None:
    """Everything has a sentence, a metavar where it takes a text, and stands in `--help` with the examples."""
    text = answer([*each.path, "--help"])
    assert isinstance(text, str)
    joined = " ".join(text.split())
    assert " ".join(each.help.split()) in joined
    takers: list[Argument | Option] = [*each.arguments, *each.options]
    for taker in takers:
        assert taker.help.endswith(".")
        assert " ".join(taker.help.split()) in joined
        assert (taker.metavar is None) == (taker.kind == "flag")
    for option in each.options:
        assert all(flag in text for flag in option.flags)
    for purpose, line in each.examples:
        assert f"# {purpose}\n" in text
        assert f"    {line}\n" in text + "\n"


@COMMANDS
def test_no_declaration_contradicts_itself(each: Command) -> None:
    """Names are usable and unique, kinds are known, what an option refers to exists."""
    names = each.names()
    flags = [flag for option in each.options for flag in option.flags]
    assert len(set(names)) == len(names)
    assert len(set(flags)) == len(flags)
    assert not {"--help", "-h", "--version"} & set(flags)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names)
    for option in each.options:
        assert option.flags[0].startswith("--")
        assert option.kind in {*KINDS, "flag", "choice"}
        assert (option.kind == "choice") == bool(option.choices)
        assert {*option.requires, *option.conflicts} <= set(names) - {option.name}
        assert option.setting is None or option.setting in SETTINGS
        assert not (option.required and option.default is not None)
        if option.default is not None:
            assert convert(option, option.default) == option.default
    assert set(each.one_of) <= set(names)
    repeated = [argument.repeat for argument in each.arguments]
    assert not any(repeated[:-1])  # what takes the rest is the last


@COMMANDS
def test_no_command_is_declared_without_somebody_who_carries_it_out(each: Command) -> None:
    """The handler of every command can be imported by its declared name."""
    module, _, function = each.handler.partition(":")
    assert module.startswith("gatekeeper.cli.")
    assert callable(getattr(importlib.import_module(module), function))


def test_only_commands_that_ask_the_gate_may_leave_with_a_verdict() -> None:
    """0 to 3 as verdicts belong to these four."""
    verdicts = {each.path for each in tables.every() if each.answer == "verdict"}
    assert verdicts == {("check",), ("run",), ("resume",), ("reevaluate",)}


@pytest.mark.parametrize("line", ["check --policy p --experiment e --variant v", "resume TOKEN"])
def test_a_question_without_evidence_is_wrong_usage(line: str) -> None:
    """A gate without evidence would be a gate that asks nothing; with two kinds of it nobody knows which counts."""
    with pytest.raises(UsageError, match="one of --snapshot and --collect is needed"):
        check_combinations(parsed(line))
    with pytest.raises(UsageError, match="exclude each other"):
        check_combinations(parsed(f"{line} --snapshot s --collect c"))
    check_combinations(parsed(f"{line} --snapshot s"))
    check_combinations(parsed(f"{line} --collect c"))


@pytest.mark.parametrize("other", ["--as-of snapshot", "--baseline b.json"])
def test_a_collection_takes_no_evaluation_time_and_no_baseline_file(other: str) -> None:
    """Evidence of now cannot be judged as of another day; the collection file names the baseline itself."""
    with pytest.raises(UsageError, match="exclude each other"):
        check_combinations(parsed(f"check --policy p --experiment e --variant v --collect c {other}"))


def parsed(line: str) -> Parsed:
    """A command line as the fast way reads it."""
    found = parse(line.split())
    assert found is not None
    return found


def test_help_lists_every_command_without_cutting_its_sentence() -> None:
    """Each line of the list is whole at 80 columns."""
    text = answer(["--help"])
    assert isinstance(text, str)
    assert "..." not in text.partition("Commands:")[2]
    for each in tables.every():
        if len(each.path) == 1:
            assert f"  {each.path[0]} " in text
            assert each.help.partition("\n")[0] in text


def test_declarations_are_frozen_for_the_type_checker_and_have_no_room_for_more() -> None:
    """A handler that hangs something on a shared option would change another command."""
    with pytest.raises(AttributeError):
        Option("x", "--x", help="X.").other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["check", "--help"], ["policy", "-h"]])
def test_help_and_version_succeed(argv: list[str]) -> None:
    """They are asked for, so they are printed to standard output with 0."""
    result = finish(*argv)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.startswith((b"gatekeeper 0", b"Usage: gatekeeper"))
