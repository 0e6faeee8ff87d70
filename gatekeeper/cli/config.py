"""Defaults from outside: what is typed wins over the environment, that over gatekeeper.toml.

```toml
log = "logs/decision.ndjson"   # or an address (postgresql://…, git+ssh://…#BRANCH); or GATEKEEPER_LOG
output = "text"                # or GATEKEEPER_OUTPUT
actor = "release-bot"
rotate_bytes = "64MiB"         # or GATEKEEPER_ROTATE_BYTES
```
"""

from __future__ import annotations

from gatekeeper.cli.kinds import BadValueError, convert, did_you_mean
from gatekeeper.cli.tables.shared import EVERY_FORMAT, REPORT_FORMATS
from gatekeeper.cli.values import Values
from gatekeeper.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from gatekeeper.cli.parse import Parsed
    from gatekeeper.cli.spec import Option

CONFIG_FILE = "gatekeeper.toml"

_OUTPUTS = (*EVERY_FORMAT, *REPORT_FORMATS)

SETTINGS = ("log", "output", "actor", "rotate_bytes")
"""The keys of gatekeeper.toml."""

ENVIRONMENT = {"log": "GATEKEEPER_LOG", "output": "GATEKEEPER_OUTPUT", "rotate_bytes": "GATEKEEPER_ROTATE_BYTES"}
"""Key -> the variable of the environment that states it."""


class Setting:
    """A default and where it was stated."""

    __slots__ = ("origin", "text")

    def __init__(self, text: str, origin: str) -> None:
        self.text: Final = text
        self.origin: Final = origin


def read_settings(environ: Mapping[str, str], path: str = CONFIG_FILE) -> dict[str, Setting]:
    """Key -> setting. An empty variable counts as not set.

    Raises:
        UsageError: the file is there and cannot be read, is no TOML, has an unknown key or a value
            that is no text; or the output is none of the known ones.
    """
    settings = _read_file(path)
    for key, variable in ENVIRONMENT.items():
        if environ.get(variable):
            settings[key] = Setting(environ[variable], variable)
    output = settings.get("output")
    if output is not None and output.text not in _OUTPUTS:
        raise UsageError(
            f"{output.origin}: {output.text!r} is not one of {', '.join(_OUTPUTS)}"
            f"{did_you_mean(output.text, _OUTPUTS)}",
            remedy=f"correct {output.origin}, or give --output",
        )
    return settings


def _read_file(path: str) -> dict[str, Setting]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy=f"mend {path} or move it away") from None
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8", remedy=f"save {path} as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}", remedy=f"correct {path}") from None
    settings: dict[str, Setting] = {}
    for key, value in document.items():
        if key not in SETTINGS:
            raise UsageError(
                f"{path}: unknown key {key!r}; known are {', '.join(SETTINGS)}{did_you_mean(key, SETTINGS)}",
                remedy=f"correct {path}",
            )
        if key == "rotate_bytes" and isinstance(value, int):
            value = str(value)  # noqa: PLW2901 - a number of bytes may be written as one
        if not isinstance(value, str) or not value:
            raise UsageError(
                f"{path}: {key} must be a text that is not empty, found {value!r}", remedy=f"correct {path}"
            )
        settings[key] = Setting(value, path)
    return settings


def settle(parsed: Parsed, settings: Mapping[str, Setting]) -> Values:
    """The values that the handler gets: typed, else set, else by default, else None or empty.

    An output that is known but that this command does not have gives way to the default: a team that
    sets `github` for its checks still reads `queue`.
    """
    values: dict[str, object] = {
        argument.name: () if argument.repeat else None for argument in parsed.command.arguments
    }
    for option in parsed.command.options:
        values[option.name] = _default(option, settings)
    values.update(parsed.given)
    return Values(parsed.command, values)


def _default(option: Option, settings: Mapping[str, Setting]) -> object:
    setting = settings.get(option.setting) if option.setting else None
    if setting is not None and (not option.choices or setting.text in option.choices):
        try:
            value = convert(option, setting.text)
        except BadValueError as error:
            raise UsageError(f"{setting.origin}: {error}", remedy=f"correct {setting.origin}") from None
    elif option.kind == "flag":
        return False
    else:
        value = None if option.default is None else convert(option, option.default)
    if option.kind == "names":
        return value or ()
    if option.repeat:
        return () if value is None else (value,)
    return value


def asks_for_json(argv: list[str], environ: Mapping[str, str]) -> bool:
    """Whether a caller whose command line could not be parsed reads JSON: typed, else set."""
    answer: str | None = None
    for index, word in enumerate(argv):
        if word in {"-o", "--output"}:
            answer = "".join(argv[index + 1 : index + 2])
        elif word.startswith("--output="):
            answer = word.removeprefix("--output=")
        elif word.startswith("-o") and word != "-o":
            answer = word.removeprefix("-o")
    if answer is None:
        try:
            setting = read_settings(environ).get("output")
        except UsageError:
            return False
        answer = setting.text if setting else ""
    return answer.casefold() == "json"
