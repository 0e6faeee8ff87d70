"""The command line as it is declared, and what may change of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gatekeeper.cli.config import ENVIRONMENT
from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables import every
from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.tables import Rule, compare_fields, compare_tables

_COMMAND = {"one_of": Rule.ALTERNATIVES}
_OPTION = {
    "choices": Rule.WORDS,
    "conflicts": Rule.DEMANDS,
    "environment": Rule.NAME,
    "flags": Rule.WORDS,
    "repeat": Rule.ABILITY,
    "required": Rule.DEMAND,
    "requires": Rule.DEMANDS,
    "setting": Rule.NAME,
}
_ARGUMENT = {"repeat": Rule.ABILITY, "required": Rule.DEMAND}

_NOT_SAID: Mapping[str, Any] = {
    "choices": [],
    "conflicts": [],
    "default": None,
    "environment": None,
    "one_of": [],
    "repeat": False,
    "required": False,
    "requires": [],
    "setting": None,
}
"""Fields that are left out where they have this value, which is that of most."""

Commands = Mapping[str, Mapping[str, Any]]


def command_line() -> dict[str, dict[str, Any]]:
    """Command as typed -> its kind of answer, its arguments in order, its options by their long form."""
    return {" ".join(command.path): _command(command) for command in every()}


def compare_command_lines(old: Commands, new: Commands) -> Iterator[Change]:
    """What differs between two of them."""
    yield from compare_tables(_without(old), _without(new), _COMMAND)
    for name in sorted({*old} & {*new}):
        before, after = (
            {name: _whole(fields) for name, fields in side[name]["options"].items()} for side in (old, new)
        )
        yield from compare_tables(before, after, _OPTION, beneath("", name, "options"))
        first, second = ([_whole(fields) for fields in side[name]["arguments"]] for side in (old, new))
        yield from _arguments(first, second, beneath("", name, "arguments"))


def _without(commands: Commands) -> Commands:
    """Only what is said of a command as a whole."""
    return {
        name: _whole({field: value for field, value in fields.items() if field not in {"arguments", "options"}})
        for name, fields in commands.items()
    }


def _said(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in _NOT_SAID or value != _NOT_SAID[name]}


def _whole(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**_NOT_SAID, **fields}


def _arguments(old: list[dict[str, Any]], new: list[dict[str, Any]], place: str) -> Iterator[Change]:
    """By position, which is what a caller types."""
    for index in range(max(len(old), len(new))):
        where = beneath(place, index)
        if index >= len(new):
            yield Change(where, "taken out", Effect.REMOVED)
        elif index >= len(old):
            yield Change(where, "added", Effect.NARROWED if new[index]["required"] else Effect.ADDED)
        else:
            yield from compare_fields(old[index], new[index], _ARGUMENT, where)


def _command(command: Command) -> dict[str, Any]:
    flags = {option.name: option.flags[0] for option in command.options}
    return _said(
        {
            "answer": command.answer,
            "one_of": sorted(flags.get(name, name) for name in command.one_of),
            "arguments": [_argument(argument) for argument in command.arguments],
            "options": {option.flags[0]: _option(option, flags) for option in command.options},
        }
    )


def _argument(argument: Argument) -> dict[str, Any]:
    return _said(
        {
            "name": argument.name,
            "kind": argument.kind,
            "required": argument.required,
            "repeat": argument.repeat,
        }
    )


def _option(option: Option, flags: Mapping[str, str]) -> dict[str, Any]:
    return _said(
        {
            "flags": list(option.flags),
            "kind": option.kind,
            "choices": list(option.choices),
            "required": option.required,
            "repeat": option.repeat,
            "default": option.default,
            "setting": option.setting,
            "environment": ENVIRONMENT.get(option.setting) if option.setting else None,
            "requires": sorted(flags.get(name, name) for name in option.requires),
            "conflicts": sorted(flags.get(name, name) for name in option.conflicts),
        }
    )
