"""`policy schema` prints what docs/schema has, for each format by its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gatekeeper.cli.app import run
from gatekeeper.cli.policy_schema import SCHEMAS
from tests.docs.console import ROOT, read


def printed(capfdbinary: pytest.CaptureFixture[bytes], *argv: str) -> bytes:
    """Standard output of a call that succeeds."""
    assert run([*argv]) == 0
    return capfdbinary.readouterr().out


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_format_is_printed_by_its_name(capfdbinary: pytest.CaptureFixture[bytes], name: str) -> None:
    """Byte for byte the committed file, so that `>` makes it anew."""
    assert printed(capfdbinary, "policy", "schema", name).decode() == read(f"docs/schema/{name}.schema.json")


def test_without_a_name_it_is_the_policy(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What the group is about."""
    assert json.loads(printed(capfdbinary, "policy", "schema"))["$id"] == "urn:gatekeeper:schema:policy:1"


def test_collect_prints_the_same_for_its_file(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """One schema, two ways to it."""
    assert printed(capfdbinary, "collect", "--schema") == printed(capfdbinary, "policy", "schema", "collection")


def test_an_unknown_format_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    """64, with the nearest name and all of them."""
    assert run(["policy", "schema", "evnt"]) == 64
    said = capfd.readouterr().err
    assert "did you mean 'event'?" in said
    assert "policy, snapshot, collection, event" in said


def test_the_schema_of_a_policy_needs_no_evidence_room() -> None:
    """An editor's start-up waits for it: no parser of queries, no HTTP stack, no YAML."""
    program = (
        "import sys\nfrom gatekeeper.cli.app import run\nrun(['policy', 'schema'])\n"
        "foreign = ('gatekeeper.evidence', 'yaml', 'requests')\n"
        "sys.stderr.write(' '.join(name for name in sys.modules if name.startswith(foreign)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={**os.environ}, capture_output=True, check=True
    )
    assert done.stderr == b""
