"""What the documentation shows at a prompt is carried out, and prints what stands there."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.docs.console import ROOT, Command, carry_out, commands, differences, fits

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

IN_A_CHECKOUT = [
    "docs/formats/event.md",
    "docs/formats/policy-check.md",
    "docs/guides/backtest.md",
    "docs/guides/git-ledger.md",
    "docs/guides/holds.md",
    "docs/guides/incident-replay.md",
    "docs/guides/lake.md",
    "docs/guides/policy-diff.md",
    "docs/guides/policy-review.md",
    "docs/guides/policy-test.md",
    "docs/guides/proof.md",
    "docs/guides/retention.md",
    "logs/README.md",
    "snapshots/README.md",
]
IN_A_DIRECTORY_OF_YOURS = ["README.md"]
WITH_SERVERS = ["docs/guides/collect.md", "docs/guides/ledgers.md"]  # by `test_guide_collect`, `test_guide_ledgers`


def test_no_page_with_a_session_is_forgotten() -> None:
    """A new page's commands must run here, too."""
    pages = ["README.md"]
    for folder in ("docs", "policies", "snapshots", "logs"):
        for directory, _, names in os.walk(os.path.join(ROOT, folder)):
            pages += [os.path.relpath(os.path.join(directory, name), ROOT) for name in names if name.endswith(".md")]
    with_sessions = sorted(page for page in pages if commands(page))
    assert with_sessions == sorted([*IN_A_DIRECTORY_OF_YOURS, *IN_A_CHECKOUT, *WITH_SERVERS])


@pytest.mark.parametrize("page", IN_A_CHECKOUT)
def test_a_session_of_the_documentation_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    """In a checkout with the data folders as they are in the repository."""
    for folder in ("policies", "snapshots", "logs"):
        derived = shutil.ignore_patterns("*.db*", "*.lock")
        shutil.copytree(os.path.join(ROOT, folder), tmp_path / folder, ignore=derived)
    _carry_out(page, tmp_path)


@pytest.mark.parametrize("page", IN_A_DIRECTORY_OF_YOURS)
def test_the_first_session_works_in_an_empty_directory(page: str, tmp_path: Path) -> None:
    """The README's reader has nothing but the installed command."""
    _carry_out(page, tmp_path)


def _carry_out(page: str, directory: Path) -> None:
    transcript = commands(page)
    elsewhere = {f"XDG_{name}_HOME": str(directory / f".{name.lower()}") for name in ("CACHE", "STATE")}
    wrong = differences(transcript, carry_out(transcript, str(directory), environment=elsewhere))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    ("expected", "printed", "fit"),
    [
        (("[OK] …", "…"), ["[OK] exp-42", "", "findings:"], True),
        (("[OK]", "…"), ["[STOP]"], False),
        (("a", "c"), ["a", "b", "c"], False),
        (("a", "…", "c"), ["a", "b", "b", "c"], True),
        (("a",), ["a", "b"], False),
        ((), ["a"], False),
    ],
)
def test_the_comparison_notices_what_differs(expected: tuple[str, ...], printed: list[str], fit: bool) -> None:
    """A comparison that fits everything would let the documentation rot."""
    assert fits(expected, printed) is fit


def test_what_a_page_says_of_its_servers_happens_between_two_commands(tmp_path: Path) -> None:
    """An outage that is only told would show what commands print without one."""
    before = Command("page:1", "cat state; exit_code() { return 69; }", ())
    behind = Command("page:5", "cat state; exit_code", (), meanwhile="the server is down")
    asked = Command("page:6", "echo $?", ())
    (tmp_path / "state").write_text("up\n")

    outputs = carry_out(
        [before, behind, asked],
        str(tmp_path),
        meanwhile={"the server is down": lambda: (tmp_path / "state").write_text("down\n")},
    )

    assert outputs == [["up"], ["down"], ["69"]]


def test_a_comment_before_a_block_belongs_to_its_first_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line numbers go on to name the line of the command."""
    page = "<!-- meanwhile: it is down -->\n\n```console\n$ one\n$ two\n```\n\n```console\n$ three\n```\n"
    monkeypatch.setattr("tests.docs.console.read", lambda _path: page)

    found = [(command.place, command.line, command.meanwhile) for command in commands("page")]

    assert found == [("page:4", "one", "it is down"), ("page:5", "two", ""), ("page:9", "three", "")]


def test_a_shell_that_ends_in_mid_page_is_an_error(tmp_path: Path) -> None:
    """And no wait without end."""
    with pytest.raises(AssertionError, match="page:1: the shell has ended"):
        carry_out([Command("page:1", "exit 3", ())], str(tmp_path))
