"""The page of `policy check` has every code of the program, as the program means it, with an example that shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import PolicyError
from gatekeeper.review.advice import Beside
from gatekeeper.review.catalogue import CATALOGUE, REFUSALS, Entry
from gatekeeper.review.load import check_policy_document, load_policy_document, read_policy_file
from gatekeeper.review.warnings import warnings_for
from tests.docs.console import ROOT, blocks, read

PAGE = "docs/formats/policy-check.md"
BESIDE = Beside(
    window_seconds=300,
    case_metrics={"golden/minimal.json": ["error_ratio", "double_charges"]},
)
"""What the page says of the files around its policy: a window of 5m, and a case that states two metrics."""


def rows(heading: str) -> dict[str, list[str]]:
    """Code -> the other cells of its row in the table under a heading."""
    (found,) = re.findall(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", read(PAGE), re.MULTILINE | re.DOTALL)
    cells = [line.strip("|").split(" | ") for line in str(found).splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in cells}


def merged(document: Any, patch: Any) -> Any:
    """RFC 7396: what a merge patch makes of a document."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def quiet() -> dict[str, Any]:
    """The policy of the page that leaves nothing open."""
    document: dict[str, Any] = json.loads(blocks(PAGE, "json")[-1])
    return document


def example(cells: list[str]) -> Any:
    """The patch in the last cell."""
    return json.loads(cells[-1].strip("`"))


@pytest.mark.parametrize(("heading", "known"), [("What keeps a file from loading", REFUSALS), ("Remarks", CATALOGUE)])
def test_the_table_says_what_the_program_says(heading: str, known: dict[str, Entry]) -> None:
    """Neither may have a code, a severity, a meaning or a remedy that the other lacks."""
    stated = {
        code: [entry.severity.value + (", mended" if entry.is_mended else ""), entry.summary, entry.remedy]
        for code, entry in known.items()
    }
    assert {code: cells[:-1] for code, cells in rows(heading).items()} == stated
    assert list(rows(heading)) == sorted(stated)


def test_the_policy_of_the_page_leaves_nothing_open() -> None:
    """Or an example would show two things."""
    loaded = load_policy_document(json.dumps(quiet()).encode())
    assert warnings_for(loaded, beside=BESIDE) == []


@pytest.mark.parametrize("code", CATALOGUE)
def test_the_example_of_a_remark_shows_it_and_nothing_else(code: str) -> None:
    """Each code has a policy that triggers exactly it."""
    document = merged(quiet(), example(rows("Remarks")[code]))
    found = warnings_for(load_policy_document(json.dumps(document).encode()), beside=BESIDE)
    assert {one.code for one in found} == {code}
    assert {one.severity for one in found} == {CATALOGUE[code].severity}
    assert all(one.remedy and one.suppressed is None for one in found)


@pytest.mark.parametrize("code", sorted(REFUSALS.keys() - {"document.invalid", "policy.invalid", "policy.too_deep"}))
def test_the_example_of_a_refusal_shows_it_and_nothing_else(code: str) -> None:
    """Each code has a file that is refused with exactly it."""
    loaded, found = check_policy_document(json.dumps(merged(quiet(), example(rows(REFUSED)[code]))).encode())
    assert loaded is None
    assert {(one.code, one.severity) for one in found} == {(code, REFUSALS[code].severity)}


REFUSED = "What keeps a file from loading"


def test_what_stands_too_deep_has_the_wrong_type_as_well() -> None:
    """No key of a policy takes lists in lists."""
    document = merged(quiet(), example(rows(REFUSED)["policy.too_deep"]))
    _, found = check_policy_document(json.dumps(document).encode())
    assert {one.code for one in found} == {"policy.too_deep", "policy.wrong_type"}


def test_what_is_no_json_is_refused_as_the_page_says() -> None:
    """The example is the whole file."""
    _, found = check_policy_document(rows(REFUSED)["document.invalid"][-1].strip("`").encode())
    assert [one.code for one in found] == ["document.invalid"]


def test_a_path_without_a_file_is_refused_as_the_page_says(tmp_path: Path) -> None:
    """It is the only code that no content has."""
    with pytest.raises(PolicyError) as refused:
        read_policy_file(tmp_path / "none.json")
    assert refused.value.code == "policy.invalid"


def test_every_code_in_the_source_stands_in_a_table() -> None:
    """A new code without a line is explained nowhere."""
    review = Path(ROOT, "gatekeeper")
    text = "".join(path.read_text() for room in ("review", "documents") for path in review.joinpath(room).rglob("*.py"))
    stated = set(re.findall(r'"(policy\.[a-z_0-9]+)"', text))
    built = set(re.findall(r'_problem\("([a-z_]+)"', text)) | {"wrong_type"}
    assert stated | {f"policy.{word}" for word in built} | {"document.invalid"} == REFUSALS.keys() | CATALOGUE.keys()
