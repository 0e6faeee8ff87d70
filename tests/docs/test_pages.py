"""Pages that lead somewhere: links and anchors, decision records that are whole, examples that can be written anew."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.console import ROOT, blocks, read

if TYPE_CHECKING:
    from pathlib import Path

_LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")


def _pages() -> list[str]:
    found = ["README.md", "CHANGELOG.md"]
    for folder in ("docs", "policies", "snapshots", "logs"):
        for directory, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(directory, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def _anchors(page: str) -> set[str]:
    """Anchors as GitHub makes them of headings; a repeated one gets a number."""
    found: list[str] = []
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return set(found)


@pytest.mark.parametrize("page", _pages())
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    """Files and folders that exist, anchors that the other page has."""
    for match in _LINK.finditer(read(page)):
        target = os.path.normpath(os.path.join(os.path.dirname(page), match["path"])) if match["path"] else page
        assert os.path.exists(os.path.join(ROOT, target)), match[0]
        if match["anchor"]:
            assert match["anchor"] in _anchors(target), match[0]


@pytest.mark.parametrize("page", [page for page in _pages() if page.startswith("docs/adr/")])
def test_a_decision_record_states_its_price(page: str) -> None:
    """Context, options, decision, consequences; a decision without disadvantages was none."""
    text = read(page)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[:4] == ["Context", "Options", "Decision", "Consequences"]
    assert "\n* Negative: " in text


def test_the_readme_says_what_it_is_for_in_three_sentences() -> None:
    """The first paragraph, before anything is asked of the reader."""
    paragraph = read("README.md").split("\n\n")[1]
    assert len(re.findall(r"[.?](?=[\s\"]|$)", paragraph.replace('"may it go on?"', "may it go on"))) == 3


@pytest.mark.slow
def test_the_example_log_can_be_written_anew_as_its_page_says(tmp_path: Path) -> None:
    """The commands of logs/README.md give the same events, but for the time at which they were appended."""
    for folder in ("policies", "snapshots"):
        shutil.copytree(os.path.join(ROOT, folder), tmp_path / folder)
    (tmp_path / "logs").mkdir()
    (script,) = blocks("logs/README.md", "sh")
    programs = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
    written = (tmp_path / "logs/example.ndjson").read_text()
    assert _without_times(written) == _without_times(read("logs/example.ndjson"))


def _without_times(log: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in log.splitlines()]
    return [{name: value for name, value in event.items() if name not in {"ts", "prev"}} for event in events]


def test_the_example_log_has_a_hold_and_a_reject_and_no_path_of_anybodys_machine() -> None:
    """What its page promises to those who replay it."""
    events = [json.loads(line) for line in read("logs/example.ndjson").splitlines()]
    verdicts = [event["decision"]["verdict"] for event in events if event["kind"] == "decision"]
    assert verdicts == ["DEGRADE", "ACCEPT", "ACCEPT", "ACCEPT", "REJECT"]
    assert '"/' not in read("logs/example.ndjson")
