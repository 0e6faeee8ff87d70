"""The declaration of all commands: the one thing that help, parsing, errors and completion read.

A new command is one entry in a table module and, for a new module, one line here. The modules are
imported one by one, so that a check pays for its own options only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.spec import Command

_TABLES: dict[tuple[str, ...], str] = {
    ("init",): "begin",
    ("demo",): "begin",
    ("check",): "gate",
    ("run",): "gate",
    ("resume",): "hold",
    ("reevaluate",): "hold",
    ("stop",): "hold",
    ("queue",): "state",
    ("status",): "state",
    ("explain",): "state",
    ("collect",): "collect",
    ("replay",): "records",
    ("verify",): "records",
    ("policy", "check"): "policy",
    ("policy", "diff"): "policy_diff",
    ("policy", "test"): "policy_test",
    ("policy", "backtest"): "policy_backtest",
    ("policy", "suggest-cases"): "policy_test",
    ("policy", "explain"): "policy_explain",
    ("policy", "schema"): "policy_schema",
    ("log", "head"): "log",
    ("log", "stat"): "log",
    ("log", "metrics"): "metrics",
    ("log", "rebuild"): "log",
    ("log", "migrate"): "migrate",
    ("log", "import"): "exchange",
    ("log", "export"): "export",
    ("log", "rotate"): "retention",
    ("log", "archive"): "retention",
    ("log", "prune"): "retention",
    ("log", "checkpoint"): "proof",
    ("log", "prove"): "proof",
    ("log", "check-proof"): "proof",
}
"""Path of a command -> the module of this package that declares it, in the order of `--help`."""

GROUPS: dict[str, str] = {
    "policy": "Review policy files.",
    "log": "Look at the log as a file, mend what is derived from it.",
}
"""First word of the commands that have two -> what they are about."""


def find(words: list[str]) -> Command | None:
    """The command whose path the first words are, or None."""
    path = tuple(words[: 2 if words and words[0] in GROUPS else 1])
    return _load(path) if path in _TABLES else None


def every() -> tuple[Command, ...]:
    """All commands, in the order of `--help`."""
    return tuple(_load(path) for path in _TABLES)


def _load(path: tuple[str, ...]) -> Command:
    module = __import__(f"{__name__}.{_TABLES[path]}", fromlist=["COMMANDS"])
    commands: tuple[Command, ...] = module.COMMANDS
    return next(command for command in commands if command.path == path)
