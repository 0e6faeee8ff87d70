"""Console transcripts in the documentation: found, carried out in one shell, compared line by line.

In a ```console block a line that begins with `$ ` is a command; behind a backslash, or with `> `, it goes on. What
follows is its output, standard error included. `…` stands for any text in a line, and alone on a line for any lines;
blank lines do not count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "\x1e"
_ELISION = "…"


@dataclass(frozen=True)
class Command:
    """A command as written, where it stands, and the lines that it shall print."""

    place: str
    line: str
    expected: tuple[str, ...]


def read(path: str) -> str:
    """A file of the repository."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def blocks(path: str, language: str) -> list[str]:
    """The fenced blocks of *language* in a file of the repository, in order."""
    return [match["body"] for match in _FENCE.finditer(read(path)) if match["language"] == language]


def commands(path: str) -> list[Command]:
    """All commands of the ```console blocks of a file."""
    found: list[Command] = []
    for match in _FENCE.finditer(read(path)):
        if match["language"] != "console":
            continue
        first = read(path).count("\n", 0, match.start()) + 2
        found += _commands(path, first, match["body"].splitlines())
    return found


def _commands(path: str, first: int, lines: list[str]) -> list[Command]:
    found: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(lines, start=first):
        if found and not found[-1][2] and found[-1][1][-1].endswith("\\"):
            found[-1][1].append(line)
        elif found and not found[-1][2] and line.startswith("> "):
            found[-1][1].append(line[2:])
        elif line.startswith("$ "):
            found.append((number, [line[2:]], []))
        else:
            assert found, f"{path}:{number}: output before the first command"
            found[-1][2].append(line)
    return [Command(f"{path}:{number}", "\n".join(words), tuple(output)) for number, words, output in found]


def carry_out(transcript: list[Command], directory: str, **environment: str) -> list[list[str]]:
    """What each command of *transcript* printed, all of them in one bash in *directory*."""
    script = "exec 2>&1\n" + "".join(
        f"{command.line}\n__code=$?; printf '\\n{_MARK}\\n'; (exit $__code)\n" for command in transcript
    )
    programs = os.path.dirname(sys.executable)
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "80", **environment},
    )
    outputs = result.stdout.decode().split(f"\n{_MARK}\n")
    assert len(outputs) == len(transcript) + 1, result.stdout.decode()
    return [output.splitlines() for output in outputs[:-1]]


def differences(transcript: list[Command], outputs: list[list[str]]) -> list[str]:
    """One text for each command whose output is not as documented."""
    return [
        f"{command.place}: $ {command.line}\n--- documented\n"
        + "\n".join(command.expected)
        + "\n--- printed\n"
        + "\n".join(output)
        for command, output in zip(transcript, outputs, strict=True)
        if not fits(command.expected, output)
    ]


def fits(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Whether *printed* is what the documentation shows."""
    pattern = ""
    for line in expected:
        if line.strip() == _ELISION:
            pattern += r"(?:[^\n]*\n)*?"
        elif line.strip():
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split(_ELISION)) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in printed if line.strip())
    return re.fullmatch(pattern, text) is not None
