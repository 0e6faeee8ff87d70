"""The same declaration as a typer app: help, errors with "did you mean", completion.

typer parses and explains; it runs nothing. Each of its commands answers with what was typed, and the
caller goes on as after the fast way.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from gatekeeper.cli import exit_codes, tables
from gatekeeper.cli.kinds import BadValueError, convert
from gatekeeper.cli.parse import Parsed
from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.errors import UsageError
from gatekeeper.model.masking import mask_text
from gatekeeper.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

_ABOUT = "A rollout gate: may this change go on to the next share of its users?"
_EXIT_CODES = f"\b\nExit codes:\n{exit_codes.listed()}"
_HELP_FLAGS = {"help_option_names": ["--help", "-h"]}


def answer(argv: list[str]) -> Parsed | str:
    """What typer makes of *argv*: what was typed, or a text to print and leave with 0.

    Raises:
        UsageError: typer refuses the command line.
    """
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            result = _command().main(args=argv, prog_name="gatekeeper", standalone_mode=False)
        except typer.TyperException as error:
            raise _usage_error(error) from None
        except typer.Abort:
            raise KeyboardInterrupt from None
        except SystemExit as leaving:  # completion leaves this way
            if leaving.code not in {0, None}:
                raise UsageError("completion did not work out", remedy="gatekeeper --help") from None
            result = 0
    if isinstance(result, Parsed):
        return result
    if result == _INTERRUPTED:
        raise KeyboardInterrupt
    return printed.getvalue()


_INTERRUPTED = 130  # what typer answers to Ctrl-C


@functools.cache
def _command() -> Any:
    return get_command(build())


def build() -> typer.Typer:
    """The app of all declared commands."""
    app = _group("gatekeeper", _ABOUT, epilog=_EXIT_CODES, add_completion=True)
    app.callback()(_root)
    groups = {name: _group(name, about) for name, about in tables.GROUPS.items()}
    for name, group in groups.items():
        app.add_typer(group, name=name)
    for command in tables.every():
        owner = groups.get(command.path[0], app)
        owner.command(
            command.path[-1],
            help=command.help,
            short_help=command.help.partition("\n")[0],
            epilog=_examples(command),
            context_settings=_HELP_FLAGS,
        )(_taker(command))
    return app


def _group(name: str, about: str, *, epilog: str | None = None, add_completion: bool = False) -> typer.Typer:
    return typer.Typer(
        name=name,
        help=about,
        epilog=epilog,
        add_completion=add_completion,
        context_settings=_HELP_FLAGS,
        rich_markup_mode=None,  # plain help reads the same in every terminal and log
        pretty_exceptions_enable=False,
    )


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer's signature
    if asked:
        print(f"gatekeeper {__version__}")  # noqa: T201 - caught, and printed by the caller
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def _examples(command: Command) -> str:
    lines = ["\b", "Examples:"]
    for purpose, line in command.examples:
        lines += [f"  # {purpose}", f"  {line}"]
    return "\n".join(lines)


def _taker(command: Command) -> Callable[..., Parsed]:
    """A function with the signature that typer reads, answering with what was typed."""

    def take(**typed: Any) -> Parsed:
        # typer says None, False or nothing for what was not typed
        return Parsed(command, {name: _plain(value) for name, value in typed.items() if value not in (None, False, [])})

    take.__name__ = "_".join(command.path)
    takers: list[Argument | Option] = [*command.arguments, *command.options]
    parameters = [_parameter(taker) for taker in takers]
    take.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    take.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return take


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _parameter(taker: Argument | Option) -> inspect.Parameter:
    flag = taker.kind == "flag"
    base: Any = bool if flag else str
    info: Any
    if isinstance(taker, Option):
        info = typer.Option(
            *taker.flags,
            help=_option_help(taker),
            metavar=taker.metavar,
            show_default=False,
            parser=None if flag else _converter(taker),
            autocompletion=_completer(taker.choices) if taker.choices else None,
        )
    else:
        info = typer.Argument(metavar=taker.metavar, help=taker.help, show_default=False, parser=_converter(taker))
    default: Any = inspect.Parameter.empty if taker.required else (False if flag else None)
    taken: Any = list[base] if taker.repeat else base
    return inspect.Parameter(
        taker.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[taken, info]
    )


def _option_help(option: Option) -> str:
    from gatekeeper.cli.config import ENVIRONMENT

    notes = []
    if option.default is not None:
        notes.append(f"default: {option.default}")
    if option.setting in ENVIRONMENT:
        notes.append(f"env: {ENVIRONMENT[option.setting]}")
    if option.repeat:
        notes.append("repeatable")
    return f"{option.help} [{'; '.join(notes)}]" if notes else option.help


def _converter(taker: Argument | Option) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return convert(taker, text)
        except BadValueError as error:
            raise typer.BadParameter(str(error)) from None

    read.__name__ = taker.kind
    return read


def _completer(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _usage_error(error: typer.TyperException) -> UsageError:
    """The error of typer as ours: one line, with the nearest option, and where the help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "gatekeeper"
    option = getattr(error, "option_name", None)
    near = getattr(error, "possibilities", None)
    if option is not None and near is not None:
        message = f"no such option: {option}" + (f"; did you mean {near[0]}?" if near else "")
    else:
        message = str(getattr(error, "format_message", error.__str__)()).strip().removesuffix(".")
        message = message[:1].lower() + message[1:].replace(". Did you mean", "; did you mean")
    # it repeats what was typed, which may be a ledger's address with its password
    return UsageError(mask_text(" ".join(message.split())), remedy=f"see: {command} --help")
