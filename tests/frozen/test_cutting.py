"""A release is cut with its contract, and not with a broken one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.frozen import cutting, kept
from tests.frozen.changes import Change, Direction, Effect
from tests.frozen.judgement import Judgement, judge, release_troubles, report
from tests.frozen.kept import Contract
from tests.frozen.subjects import SUBJECTS

OLD = Contract("exit-codes", 2, {})
BREAK = Change("/65", "taken out", Effect.REMOVED)
NEWS = Change("/66", "added", Effect.ADDED)


@pytest.mark.parametrize(
    ("version", "changes", "breaks", "news"),
    [
        (2, [], 0, 0),
        (2, [NEWS], 0, 1),
        (2, [BREAK, NEWS], 1, 1),
        (3, [BREAK, NEWS], 0, 3),
        (3, [], 0, 1),
        (1, [], 1, 0),
    ],
)
def test_a_break_needs_a_version_of_its_own(version: int, changes: list[Change], breaks: int, news: int) -> None:
    """And a version that falls is a break, too."""
    found = judge(OLD, replace(OLD, version=version), changes, Direction.OUTPUT)
    assert (len(found.breaks), len(found.news)) == (breaks, news)


def test_a_subject_that_is_frozen_no_more_is_a_break() -> None:
    """Deleting the code that looks would be the easiest way round."""
    assert judge(OLD, None).breaks
    assert judge(None, OLD) == Judgement("exit-codes", news=("not kept yet",))


def test_a_report_says_what_is_broken_and_what_to_do() -> None:
    """And nothing where nothing is."""
    assert report([Judgement("exit-codes", news=("x",))]) == ""
    lines = report([Judgement("exit-codes", breaks=("/65: taken out (removed)",))]).splitlines()
    assert lines[0] == "exit-codes.json /65: taken out (removed)"
    assert "raise the version" in lines[1]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A copy of what is kept, brought up to date."""
    copy = tmp_path / "contract"
    shutil.copytree(kept.FOLDER, copy)
    code, text = cutting.cut("9.9.9", str(copy))
    assert code == 0, text
    return str(copy)


def _edit(folder: str, name: str, **fields: object) -> None:
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**document, **fields}, file)


def test_what_is_kept_is_what_the_code_has_when_a_release_is_cut(folder: str) -> None:
    """Read back, nothing is left to say; cut again, nothing is written."""
    assert [one for one in cutting.judgements(folder) if one.breaks or one.news] == []
    assert kept.read_release(folder) == "9.9.9"
    assert cutting.cut("9.9.9", folder) == (0, "docs/contract is of 9.9.9: nothing to rewrite")
    assert {one.subject: one for one in kept.read(folder).values()} == {
        name: subject.now() for name, subject in SUBJECTS.items()
    }


def test_a_release_that_breaks_something_is_not_cut(folder: str) -> None:
    """An outcome that was promised is gone: nothing is written, not even what is merely new."""
    _edit(folder, "finding-outcomes.json", contract=["PASS", "SHRUG"])
    _edit(folder, "exit-codes.json", contract={})
    before = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    code, text = cutting.cut("10.0.0", folder)
    assert code == 1
    assert 'finding-outcomes.json /: "SHRUG" taken out (removed)' in text.splitlines()
    assert {path.name: path.read_bytes() for path in Path(folder).iterdir()} == before


def test_a_release_that_says_so_may_break(folder: str) -> None:
    """The version of the format is higher than the one that is kept."""
    _edit(folder, "finding-outcomes.json", contract=["PASS", "SHRUG"], format_version=0)
    code, text = cutting.cut("10.0.0", folder)
    assert code == 0
    assert "finding-outcomes.json version 1, was 0" in text.splitlines()
    assert text.endswith("docs/contract is of 10.0.0: finding-outcomes.json, release.json")


def test_what_is_merely_new_is_taken_over(folder: str) -> None:
    """Also a subject that was not kept before."""
    _edit(folder, "exit-codes.json", contract={})
    os.remove(os.path.join(folder, "schema-event.json"))
    code, text = cutting.cut("9.9.9", folder)
    assert code == 0
    assert "exit-codes.json /65: added (added)" in text.splitlines()
    assert text.endswith("docs/contract is of 9.9.9: exit-codes.json, schema-event.json")


def test_a_file_that_nobody_compares_is_named(folder: str) -> None:
    """Else a contract could be taken out of the code and be forgotten in the folder."""
    shutil.copy(os.path.join(folder, "exit-codes.json"), os.path.join(folder, "smoke-signals.json"))
    _edit(folder, "smoke-signals.json", subject="smoke-signals")
    assert cutting.cut("9.9.9", folder)[0] == 1


@pytest.mark.slow
def test_the_command_leaves_with_a_failure_when_it_refuses(tmp_path: Path) -> None:
    """What `make contract` runs: 0 and the files, then 1 and why."""
    call = [sys.executable, "-m", "tests.frozen", str(tmp_path)]
    assert subprocess.run(call, cwd=kept.ROOT, check=False, capture_output=True).returncode == 0
    assert len(list(tmp_path.iterdir())) == len(SUBJECTS) + 1
    _edit(str(tmp_path), "finding-outcomes.json", contract=["SHRUG"])
    refused = subprocess.run(call, cwd=kept.ROOT, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "SHRUG" in refused.stdout


CHANGELOG = "# Changelog\n\n## Unreleased\n{pending}\n## 1.1.0 (2026-03-01)\n\n* b\n\n## [1.0.0] - 2026-02-01\n\n* a\n"


@pytest.mark.parametrize(
    ("changelog", "release", "news", "troubles"),
    [
        ("# Changelog\n\n## Unreleased\n\n* a\n", "1.2.0", ("x",), 0),  # nothing is released yet
        ("# Changelog\n\n## Unreleased\n\n* a\n", "1.1.0", (), 1),
        (CHANGELOG.format(pending="\n* c\n"), "1.1.0", ("x",), 0),
        (CHANGELOG.format(pending="\n* c\n"), "1.0.0", (), 1),
        (CHANGELOG.format(pending=""), "1.1.0", ("x", "y"), 2),
        (CHANGELOG.format(pending=""), "1.1.0", (), 0),
        (CHANGELOG.format(pending="").replace("## Unreleased\n", ""), "1.1.0", ("x",), 1),
        (CHANGELOG.format(pending="").replace("1.1.0 (2026-03-01)", "[1.1.0]"), "1.0.0", (), 1),
    ],
)
def test_a_release_is_published_with_its_own_contract(
    changelog: str, release: str, news: tuple[str, ...], troubles: int
) -> None:
    """The commit that names it in the changelog is the one that keeps it; what comes after waits for the next."""
    found = release_troubles(changelog, "1.2.0", release, [Judgement("exit-codes", news=news)])
    assert len(found) == troubles
