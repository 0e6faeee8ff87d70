"""The guide to collecting evidence, held against real servers: its session, its measured table, its files and codes."""

from __future__ import annotations

import json
import math
import os
import re
import time
from pathlib import Path

import pytest

from gatekeeper.evidence.collection import Kind, SourceType
from gatekeeper.evidence.collection_file.loading import load_collection
from gatekeeper.evidence.reading import Side, Unavailable, value_code
from gatekeeper.review.load import load_policy_document
from tests.docs.console import ROOT, blocks, carry_out, commands, differences, read
from tests.evidence.prometheus.collecting import code, collected, observation
from tests.lab.fixtures import Labs
from tests.lab.series import T0
from tests.lab.servers import Lab

PAGE = "docs/guides/collect.md"

SCENARIOS = {
    "nothing": "healthy",
    "it has had no error yet": "missing_metric",
    "it stopped 4 minutes ago": "canary_slightly_stale",
    "it left service discovery 2 minutes ago": "canary_marked_stale",
    "one of its two instances stopped 4 minutes ago": "lagging_instance",
    "it was started 70 seconds ago": "late_start",
    "it stopped 10 minutes ago": "canary_stale",
    "nobody uses it": "zero_traffic",
    "a store behind the server is down": "partial_response",
}
"""First cell of the measured table -> the lab's name for it."""


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading that begins so."""
    (section,) = re.findall(rf"^## {re.escape(heading)}.*?\n(.*?)(?=^## |\Z)", read(PAGE), re.MULTILINE | re.DOTALL)
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


@pytest.mark.server
@pytest.mark.slow
def test_the_session_of_the_guide_prints_what_it_shows(tmp_path: Path, lab: Labs[Lab]) -> None:
    """With the page's two files, a healthy server, and one whose canary stopped four minutes ago."""
    for name, text in zip(("collection.json", "policy.json"), blocks(PAGE, "json"), strict=False):
        (tmp_path / name).write_text(text)
    now = time.time()
    servers = {"PROMETHEUS_URL": lab("healthy", end=now).url, "STALE_URL": lab("canary_slightly_stale", end=now).url}
    transcript = commands(PAGE)
    wrong = differences(transcript, carry_out(transcript, str(tmp_path), environment=servers))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.server
@pytest.mark.parametrize(("happened", "plain", "stated"), _rows("1."), ids=[row[0] for row in _rows("1.")])
def test_the_measured_table_is_what_a_server_answers(happened: str, plain: str, stated: str, lab: Labs[Lab]) -> None:
    """The one-liner and the collection file of the page, asked of the same data at the same time."""
    (one_liner,) = re.findall(r"'(sum\(rate.*)'", commands(PAGE)[0].line)
    server = lab(SCENARIOS[happened])
    answer = server.value(one_liner, T0)
    shown = "nothing" if answer is None else "NaN" if math.isnan(answer) else f"{answer:.4f}"
    snapshot = collected(json.loads(blocks(PAGE, "json")[0]), {"PROMETHEUS_URL": server.url})
    said = code(snapshot, "error_ratio")
    found = f"{observation(snapshot, 'error_ratio')['value']:.4f}" if said is None else f"`{said}`"
    assert (shown, found) == (plain, stated)


def test_the_measured_table_has_every_scenario_once() -> None:
    """A row that no test reads is a claim."""
    assert [row[0] for row in _rows("1.")] == list(SCENARIOS)


def test_the_files_of_the_guide_load() -> None:
    """They are copied as they are; together they have a source of each type."""
    first, policy, *others = blocks(PAGE, "json")
    assert load_policy_document(policy.encode()).policy.policy_id == "checkout"
    loaded = [load_collection(text.encode(), "collection.json").collection for text in (first, *others)]
    assert {source.type for one in loaded for source in one.sources.values()} == set(SourceType)
    for one in loaded:
        assert {metric.source for metric in one.metrics.values()} == set(one.sources)


def test_the_collection_file_of_the_readme_loads() -> None:
    """The first one that people copy."""
    (text,) = blocks("README.md", "json")
    assert load_collection(text.encode(), "collection.json").collection.window == "5m"


def test_every_code_that_a_collection_can_state_is_explained() -> None:
    """Codes as the source states them, and what the evaluator says of ages."""
    source = ""
    for directory, _, names in os.walk(os.path.join(ROOT, "gatekeeper/evidence")):
        source += "".join(read(os.path.join(directory, name)) for name in names if name.endswith(".py"))
    stated = set(re.findall(r'"((?:observation_\w+|evidence_missing|precondition_unknown):[a-z_]+)"', source))
    stated |= {value_code(kind, side) for kind in Kind for side in Side}
    assert len(stated) > 15
    stated |= {"observation_stale:watermark_skew", "observation_stale:window_before_stage"}
    stated |= {"observation_invalid:promotion_value", "observation_missing:baseline_metric"}
    rows = _rows("6.")
    assert stated <= {name for row in rows for name in re.findall(r"`([a-z_]+:[a-z_]+)`", row[0])}
    assert {kind.value for kind in Unavailable} <= {name for row in rows for name in re.findall(r"`([a-z_]+)`", row[0])}
    assert all(len(row) == 3 and all(row) for row in rows)
