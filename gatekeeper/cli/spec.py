"""What a command line is made of: `Option`, `Argument`, `Command`, as frozen declarations.

Plain slotted classes instead of dataclasses: importing `dataclasses` alone costs as much as starting
Python once more, and every check pays for what stands here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal

    Answer = Literal["verdict", "effect", "report"]


class Option:
    """One option of a command.

    Attributes:
        name: the key in `Values`; a Python identifier.
        flags: as typed, long form first: `("--output", "-o")`.
        kind: how the text becomes a value; a key of `kinds.KINDS`, or `flag` (no text at all).
        help: one sentence for `--help`.
        metavar: what stands for the text in `--help`.
        default: the value when nobody states one; None means "not given".
        setting: the key that states it in gatekeeper.toml, and as `GATEKEEPER_<SETTING>` in the environment.
        choices: the allowed words of kind `choice`.
        required: the command means nothing without it.
        repeat: may be given several times; the value is a tuple.
        requires: names of options that must then be given too.
        conflicts: names of options that must then not be given.
    """

    __slots__ = (
        "choices",
        "conflicts",
        "default",
        "flags",
        "help",
        "kind",
        "metavar",
        "name",
        "repeat",
        "required",
        "requires",
        "setting",
    )

    def __init__(
        self,
        name: str,
        *flags: str,
        help: str,  # noqa: A002 - the word of the field
        kind: str = "text",
        metavar: str | None = None,
        default: str | None = None,
        setting: str | None = None,
        choices: tuple[str, ...] = (),
        required: bool = False,
        repeat: bool = False,
        requires: tuple[str, ...] = (),
        conflicts: tuple[str, ...] = (),
    ) -> None:
        self.name: Final = name
        self.flags: Final = flags
        self.help: Final = help
        self.kind: Final = kind
        self.metavar: Final = metavar
        self.default: Final = default
        self.setting: Final = setting
        self.choices: Final = choices
        self.required: Final = required
        self.repeat: Final = repeat
        self.requires: Final = requires
        self.conflicts: Final = conflicts


class Argument:
    """One positional argument; `repeat` takes all that are left and is the last one."""

    __slots__ = ("choices", "help", "kind", "metavar", "name", "repeat", "required")

    def __init__(
        self,
        name: str,
        *,
        metavar: str,
        help: str,  # noqa: A002 - the word of the field
        kind: str = "text",
        required: bool = True,
        repeat: bool = False,
    ) -> None:
        self.name: Final = name
        self.metavar: Final = metavar
        self.help: Final = help
        self.kind: Final = kind
        self.required: Final = required
        self.repeat: Final = repeat
        self.choices: Final[tuple[str, ...]] = ()


class Command:
    """One command: what may be given to it, and who carries it out.

    Attributes:
        path: the words that name it: `("policy", "check")`.
        handler: `module:function`; the function takes `Values` and returns an `Outcome`.
        help: the first line stands alone in lists of commands; the rest after a blank line.
        answer: what its exit code 0 says, and so which codes it may leave with:
            `verdict` 0 to 3 are verdicts (SPEC 8);
            `effect`  0 says it was done, whether or not anybody could read the answer;
            `report`  the answer is all there is: unreadable, it is a failure.
        arguments, options: what it takes.
        one_of: names of options of which one must be given.
        examples: (what for, command line) pairs for `--help`.
    """

    __slots__ = ("answer", "arguments", "examples", "handler", "help", "one_of", "options", "path")

    def __init__(
        self,
        *path: str,
        handler: str,
        help: str,  # noqa: A002 - the word of the field
        answer: Answer,
        examples: tuple[tuple[str, str], ...],
        arguments: tuple[Argument, ...] = (),
        options: tuple[Option, ...] = (),
        one_of: tuple[str, ...] = (),
    ) -> None:
        self.path: Final = path
        self.handler: Final = handler
        self.help: Final = help
        self.answer: Final = answer
        self.examples: Final = examples
        self.arguments: Final = arguments
        self.options: Final = options
        self.one_of: Final = one_of

    @property
    def title(self) -> str:
        """The command as typed: `gatekeeper policy check`."""
        return " ".join(("gatekeeper", *self.path))

    def names(self) -> tuple[str, ...]:
        """Names of all that may be given, arguments first."""
        return (*(argument.name for argument in self.arguments), *(option.name for option in self.options))
