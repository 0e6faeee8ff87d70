"""The page of the collection file has the keys and defaults of the program, each in its table, and nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from typing import Any

import pytest

from gatekeeper.evidence import collection
from gatekeeper.evidence.collection_file.bounds import LONGEST_TIMEOUT_SECONDS, MOST_BYTES, ONE_DAY_SECONDS
from gatekeeper.evidence.collection_file.loading import load_collection
from gatekeeper.evidence.collection_file.rules import LONGEST_DEADLINE_SECONDS, MOST_WORKERS
from tests.docs.console import blocks, read

PAGE = "docs/formats/collection.md"

TABLES: dict[str, type[Any]] = {
    "Top level": collection.Frame,
    "`prometheus`": collection.PrometheusSource,
    "`http`": collection.HttpSource,
    "`sql`": collection.SqlSource,
    "`file`": collection.FileSource,
    "Metrics of `prometheus` sources": collection.PrometheusMetric,
    "`watermark`": collection.Watermark,
    "`on_empty`": collection.OnEmpty,
    "Metrics of `http` sources": collection.HttpMetric,
    "Metrics of `sql` sources": collection.SqlMetric,
    "`columns`": collection.Columns,
    "Metrics of `file` sources": collection.FileMetric,
    "`labels`": collection.LabelValues,
    "`evaluate_at`": collection.EvaluateAt,
    "`limits`": collection.Limits,
}
"""Heading -> the class whose keys its table has."""


def section(heading: str) -> str:
    """What stands under a heading, up to the next one."""
    (found,) = re.findall(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", read(PAGE), re.MULTILINE | re.DOTALL)
    return str(found)


def table(heading: str) -> dict[str, list[str]]:
    """Key -> the other cells of its row."""
    rows = [line.strip("|").split(" | ") for line in section(heading).splitlines() if line.startswith("| `")]
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in rows}


@pytest.mark.parametrize(("heading", "shape"), TABLES.items(), ids=list(TABLES))
def test_a_table_has_the_keys_of_its_class_and_no_other(heading: str, shape: type[Any]) -> None:
    """A key that only the source knows is used by nobody; one that only the page knows is refused."""
    assert list(table(heading)) == [field.name for field in fields(shape)]


@pytest.mark.parametrize(("heading", "shape"), TABLES.items(), ids=list(TABLES))
def test_a_default_on_the_page_is_that_of_the_program(heading: str, shape: type[Any]) -> None:
    """People rely on a default without writing it down."""
    for field in fields(shape):
        _, default, *_ = table(heading)[field.name]
        is_mandatory = field.default is MISSING and field.default_factory is MISSING
        assert (default == "mandatory") == is_mandatory, field.name
        if isinstance(field.default, (str, int, float)):
            assert default == f"`{json.dumps(field.default)}`", field.name
        elif not is_mandatory:
            assert not default.startswith(("`0", "`1", '`"', "`t", "`f")), field.name


def test_every_class_of_the_file_has_a_table() -> None:
    """A new part of the file must not slip past the tests before."""
    parts = {kind for kind in vars(collection).values() if hasattr(kind, "__dataclass_fields__")}
    assert parts - {collection.Collection, collection.LoadedCollection} == set(TABLES.values())


def test_every_word_that_a_file_may_state_is_named() -> None:
    """Types, dialects, kinds."""
    text = read(PAGE)
    for kind in (collection.SourceType, collection.Dialect, collection.Kind):
        for member in kind:
            assert f'"{member.value}"' in text, member


def test_limits_on_the_page_are_those_of_the_program() -> None:
    """A number that is refused although the page allows it sends people to the source code."""
    assert f"at most {LONGEST_DEADLINE_SECONDS}" in table("`limits`")["deadline_seconds"][0]
    assert table("`limits`")["parallelism"][0] == f"1 to {MOST_WORKERS}"
    assert table("`http`")["max_bytes"][0] == f"1 to {MOST_BYTES}"
    assert f"All seconds are above 0 and at most {LONGEST_TIMEOUT_SECONDS}" in section("Sources")
    assert f"at most {ONE_DAY_SECONDS}" in table("`prometheus`")["scrape_interval_seconds"][0]
    for row in table("`evaluate_at`").values():
        assert row[0].endswith(f" to {ONE_DAY_SECONDS}")


def test_the_example_of_the_page_loads_and_has_a_source_of_each_type() -> None:
    """It is copied as it is."""
    (example,) = blocks(PAGE, "json")
    loaded = load_collection(example.encode(), "collection.json").collection
    assert {source.type for source in loaded.sources.values()} == set(collection.SourceType)
    assert {metric.source for metric in loaded.metrics.values()} == set(loaded.sources)


def test_the_readme_leads_to_the_page() -> None:
    """A page that nothing links to is found by nobody."""
    assert f"[{PAGE}]({PAGE})" in read("README.md")
