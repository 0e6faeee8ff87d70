"""Console transcripts in the documentation: found, carried out in one shell, compared line by line.

In a ```console block a line that begins with `$ ` is a command; behind a backslash, or with `> `, it goes on. What
follows is its output, standard error included. `…` stands for any text in a line, and alone on a line for any lines;
blank lines do not count. A comment `<!-- meanwhile: WORDS -->` before a block names what happens to the page's servers
before the first command of the block; whoever carries the page out says by which function.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import IO

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

_FENCE = re.compile(
    r"(?:^<!-- meanwhile: (?P<meanwhile>[^\n]*) -->\n+)?^```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = "\x1e"
_ELISION = "…"


@dataclass(frozen=True)
class Command:
    """A command as written, where it stands, and the lines that it shall print.

    `meanwhile`: what has happened to the page's servers just before it; empty: nothing.
    """

    place: str
    line: str
    expected: tuple[str, ...]
    meanwhile: str = ""


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
        first = read(path).count("\n", 0, match.start("body")) + 1
        inside = _commands(path, first, match["body"].splitlines())
        found += [replace(inside[0], meanwhile=match["meanwhile"] or ""), *inside[1:]]
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


def carry_out(
    transcript: list[Command],
    directory: str,
    *,
    meanwhile: Mapping[str, Callable[[], object]] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[list[str]]:
    """What each command of *transcript* printed, all of them in one bash in *directory*.

    Args:
        transcript: of one page.
        directory: where it begins.
        meanwhile: by the words of the page's comments, what is done just before the command behind the comment.
        environment: besides that of the tests.
    """
    reading, writing = os.pipe()
    programs = os.path.dirname(sys.executable)
    shell = subprocess.Popen(
        ["bash", f"/dev/fd/{reading}"],  # bash reads it line by line, and standard input stays empty
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(reading,),
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "80", **(environment or {})},
    )
    os.close(reading)
    assert shell.stdout is not None
    outputs = []
    with shell, open(writing, "w", encoding="utf-8") as script:
        for command in transcript:
            if command.meanwhile:
                assert meanwhile is not None, f"{command.place}: {command.meanwhile}?"
                meanwhile[command.meanwhile]()
            script.write(f"{command.line}\n__code=$?; printf '\\n{_MARK}\\n'; (exit $__code)\n")
            script.flush()
            outputs.append(_until_the_mark(shell.stdout, command.place))
        script.close()  # the shell waits for what comes next
    return outputs


def _until_the_mark(printed: IO[bytes], place: str) -> list[str]:
    text = b""
    for line in printed:
        text += line
        if text.endswith(f"\n{_MARK}\n".encode()):
            return text.removesuffix(f"\n{_MARK}\n".encode()).decode().splitlines()
    raise AssertionError(f"{place}: the shell has ended: {text.decode()}")


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
