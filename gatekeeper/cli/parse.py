"""The fast way from a command line to values: the declaration, `getopt`, no typer.

It knows only command lines that leave no doubt. Whatever is unusual (help, an unknown or shortened
option, a bad or missing value, a word too many) is left to typer, which reads the same declaration
and answers people at length. A property test holds both ways equal.
"""

from __future__ import annotations

import getopt
import os

from gatekeeper.cli import tables
from gatekeeper.cli.kinds import BadValueError, convert
from gatekeeper.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from gatekeeper.cli.spec import Command, Option


class Parsed:
    """A command and what was typed for it: name -> value; what was not typed is not in it."""

    __slots__ = ("command", "given")

    def __init__(self, command: Command, given: Mapping[str, object]) -> None:
        self.command: Final = command
        self.given: Final = given


def parse(argv: Sequence[str]) -> Parsed | None:
    """What *argv* (without the program's name) says, or None where typer has to answer."""
    command = tables.find(list(argv[:2]))
    # getopt stops at the first argument under POSIXLY_CORRECT, typer does not.
    if command is None or "POSIXLY_CORRECT" in os.environ:
        return None
    return _parse(command, list(argv[len(command.path) :]))


def _parse(command: Command, words: list[str]) -> Parsed | None:
    options = {flag: option for option in command.options for flag in option.flags}
    if not _long_flags_are_exact(words, options):
        return None
    short, long = _getopt_forms(options)
    try:
        pairs, rest = getopt.gnu_getopt(words, short, long)
        given = _options(pairs, options)
        if not _arguments(command, rest, given):
            return None
    except (getopt.GetoptError, BadValueError):
        return None
    if any(option.required and option.name not in given for option in command.options):
        return None
    return Parsed(command, given)


def _long_flags_are_exact(words: list[str], options: Mapping[str, Option]) -> bool:
    """Whether no word could be a shortened option, which getopt takes and typer refuses."""
    return all(word.partition("=")[0] in options for word in words if word.startswith("--") and len(word) > len("--"))


def _getopt_forms(options: Mapping[str, Option]) -> tuple[str, list[str]]:
    short, long = "", []
    for flag, option in options.items():
        takes_text = option.kind != "flag"
        if flag.startswith("--"):
            long.append(flag[2:] + ("=" if takes_text else ""))
        else:
            short += flag[1:] + (":" if takes_text else "")
    return short, long


def _options(pairs: list[tuple[str, str]], options: Mapping[str, Option]) -> dict[str, object]:
    """Name -> value; of an option that may not be repeated the last one counts, as with typer."""
    last: dict[str, str] = {}
    every: dict[str, list[str]] = {}
    given: dict[str, object] = {}
    for flag, text in pairs:
        last[options[flag].name] = text
        every.setdefault(options[flag].name, []).append(text)
    for option in options.values():
        if option.name not in last:
            continue
        if option.kind == "flag":
            given[option.name] = True
        elif option.repeat:
            given[option.name] = tuple(convert(option, text) for text in every[option.name])
        else:
            given[option.name] = convert(option, last[option.name])
    return given


def _arguments(command: Command, rest: list[str], given: dict[str, object]) -> bool:
    """Hand *rest* out to the arguments; False if one is missing or a word is left over."""
    for argument in command.arguments:
        if not rest:
            if argument.required:
                return False
        elif argument.repeat:
            given[argument.name] = tuple(convert(argument, text) for text in rest)
            rest = []
        else:
            given[argument.name] = convert(argument, rest[0])
            rest = rest[1:]
    return not rest


def check_combinations(parsed: Parsed) -> None:
    """Refuse options that need or exclude one another. Raises UsageError."""
    flags = {option.name: option.flags[0] for option in parsed.command.options}
    choice = parsed.command.one_of
    if choice and parsed.given.keys().isdisjoint(choice):
        raise UsageError(
            f"one of {' and '.join(flags[name] for name in choice)} is needed",
            remedy=f"give one of the two; see: {parsed.command.title} --help",
        )
    for option in parsed.command.options:
        if option.name not in parsed.given:
            continue
        for other in option.conflicts:
            if other in parsed.given:
                raise UsageError(
                    f"{option.flags[0]} and {flags[other]} exclude each other",
                    remedy=f"give one of the two; see: {parsed.command.title} --help",
                )
        for other in option.requires:
            if other not in parsed.given:
                raise UsageError(
                    f"{option.flags[0]} needs {flags[other]}",
                    remedy=f"give both or none; see: {parsed.command.title} --help",
                )
