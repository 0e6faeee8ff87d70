"""What the page says about YAML is what the reader does."""

from __future__ import annotations

import json
import re

import pytest

from gatekeeper.documents.yaml_reading import parse_yaml
from gatekeeper.errors import DocumentError
from gatekeeper.model.canonical import digest
from gatekeeper.review.load import load_policy_document
from tests.docs.console import blocks, read

PAGE = "docs/formats/policy.md"
SECTION = read(PAGE).partition("\n## In YAML\n")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in SECTION.splitlines() if line[:3] == "| `"]
REFUSED = [text for row in ROWS for text in re.findall(r"`([^`]+)`", row[0])]
WRITTEN = [text for row in ROWS for text in re.findall(r"`([^`]+)`", row[2])]


def test_the_smallest_policy_is_one_in_both_languages() -> None:
    """Same content, same digest."""
    (in_json, *_), (in_yaml, *_) = blocks(PAGE, "json"), blocks(PAGE, "yaml")
    loaded = load_policy_document(in_yaml.encode(), "smallest.yaml")
    assert loaded.digest == digest(json.loads(in_json)) == load_policy_document(in_json.encode()).digest


def test_the_table_was_found() -> None:
    """A table that a formatter renamed would be tested no more."""
    assert len(ROWS) == 13
    assert len(REFUSED) >= 26


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_table_calls_refused_is_refused(text: str) -> None:
    """Each example alone in a file."""
    with pytest.raises(DocumentError):
        parse_yaml(f"{text}\n".encode())


@pytest.mark.parametrize("text", WRITTEN)
def test_what_the_table_advises_to_write_is_read_as_json_reads_it(text: str) -> None:
    """The remedy is one."""
    assert parse_yaml(f"x: {text}\n".encode()) == {"x": json.loads(text.replace("e+", "e"))}


@pytest.mark.parametrize("text", ["5m", "1.2.3", "<=", "CANARY_0.5", "https://a.example.com/x"])
def test_what_needs_no_quotes_is_text(text: str) -> None:
    """The sentence below the table."""
    assert f"`{text}`" in SECTION or text.startswith("https")
    assert parse_yaml(f"x: {text}\n".encode()) == {"x": text}


def test_the_example_of_the_modeline_is_a_policy_and_leads_to_its_schema() -> None:
    """The line is a comment to gatekeeper and a path to editors."""
    (block,) = blocks("docs/schema/README.md", "yaml")
    assert block.startswith("# yaml-language-server: $schema=../.schemas/policy.schema.json\n")
    assert load_policy_document(block.encode(), "policies/checkout.yaml").policy.policy_id == "checkout"


def test_the_editor_settings_are_json_with_the_schemas_that_are_printed() -> None:
    """Each path is one that the shell lines above write."""
    (script, *_) = blocks("docs/schema/README.md", "sh")
    (settings, *_) = blocks("docs/schema/README.md", "json")
    parsed = json.loads(settings)
    paths = {one["url"] for one in parsed["json.schemas"]} | parsed["yaml.schemas"].keys()
    assert paths == {f"./{path}" for path in re.findall(r"> (\S+)", script)}
