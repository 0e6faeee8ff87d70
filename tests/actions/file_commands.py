"""The files through which a step talks to the runner: outputs, environment, path, summary.

Source: docs.github.com, "Workflow commands for GitHub Actions", and actions/runner, FileCommandManager.cs: a value of
several lines stands between delimiters, the last value of a name counts, any other line fails the step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class FileCommands:
    """The files of one step, empty when it begins, in a directory of its own."""

    directory: Path

    @classmethod
    def of_a_step(cls, directory: Path) -> FileCommands:
        """Lay the files out in *directory*."""
        directory.mkdir(parents=True)
        commands = cls(directory)
        for path in commands.environment().values():
            open(path, "w", encoding="utf-8").close()
        return commands

    def environment(self) -> dict[str, str]:
        """The variables that name them."""
        names = ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH", "STATE")
        return {f"GITHUB_{name}": str(self.directory / name.lower()) for name in names}

    def text(self, variable: str) -> str:
        """What was written to the file that `GITHUB_<variable>` names."""
        return (self.directory / variable.lower()).read_text(encoding="utf-8")

    def values(self, variable: str) -> dict[str, str]:
        """The same as names and values. Raises ValueError for a line that is neither form."""
        return pairs(self.text(variable))


def pairs(text: str) -> dict[str, str]:
    """`NAME=VALUE` and `NAME<<DELIMITER … DELIMITER`, by name."""
    found: dict[str, str] = {}
    lines = iter(re.split(r"\r?\n", text))
    for line in lines:
        equals, heredoc = line.find("="), line.find("<<")
        if not line:
            continue
        if equals > 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
        elif heredoc > 0:
            delimiter, value = line[heredoc + 2 :], list[str]()
            while (part := next(lines, None)) != delimiter:
                if part is None:
                    raise ValueError(f"no end of {line!r}")
                value.append(part)
            found[line[:heredoc]] = "\n".join(value)
        else:
            raise ValueError(f"neither NAME=VALUE nor NAME<<DELIMITER: {line!r}")
    return found
