"""Completion as a shell asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.support import finish

if TYPE_CHECKING:
    from pathlib import Path

NO_DETECTION = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}


def complete(words: str) -> list[str]:
    """What bash is offered for the last word of *words*."""
    result = finish(_GATEKEEPER_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1))
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode().split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("gatekeeper re", ["resume", "reevaluate", "replay"]),
        ("gatekeeper policy ", ["check", "diff", "test", "backtest", "suggest-cases", "explain", "schema"]),
        ("gatekeeper log re", ["rebuild"]),
        ("gatekeeper check --snap", ["--snapshot"]),
        ("gatekeeper check -o m", ["markdown"]),
        ("gatekeeper replay --verdict R", ["REJECT"]),
        ("gatekeeper check --policy ", []),
    ],
)
def test_completion_offers_commands_options_and_words(words: str, offered: list[str]) -> None:
    """From the same declaration; a path is left to the shell."""
    assert complete(words) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_calls_the_program(shell: str) -> None:
    """`--show-completion` prints what goes into the shell's start-up file."""
    result = finish("--show-completion", shell, **NO_DETECTION)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"_GATEKEEPER_COMPLETE=complete_" + shell.encode() in result.stdout


def test_completion_is_installed_for_the_user(tmp_path: Path) -> None:
    """`--install-completion` writes below the home directory only and says where."""
    result = finish("--install-completion", "bash", HOME=str(tmp_path), **NO_DETECTION)
    assert result.returncode == 0
    assert b"bash completion installed in" in result.stdout
    assert (tmp_path / ".bashrc").exists()


def test_an_unknown_instruction_is_no_verdict() -> None:
    """Left to itself, typer leaves with 1 there."""
    assert finish(_GATEKEEPER_COMPLETE="nonsense").returncode == 64
