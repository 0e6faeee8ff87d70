from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.errors import GoldenCaseError
from gatekeeper.model.context import CHANGE_CLASSES, Context
from gatekeeper.review.golden.case import CaseContext, ChangeClass
from gatekeeper.review.golden.judge import judge
from gatekeeper.review.golden.load import CaseLoader, Unloadable, case_files
from tests.review.golden.cases import CASE, CONTEXT, lay_out, loaded, refused

if TYPE_CHECKING:
    from pathlib import Path


def test_a_case_can_state_all_that_an_evaluation_knows() -> None:
    """A field of the context that a file could not state would make recorded decisions unrepeatable."""
    assert {field.name for field in fields(CaseContext)} == {field.name for field in fields(Context)}
    assert tuple(ChangeClass) == CHANGE_CLASSES


def test_a_misspelt_key_is_named_with_its_place_and_what_was_meant(tmp_path: Path) -> None:
    """An expectation under a wrong key would never be compared."""
    (path,) = lay_out(tmp_path, {**CASE, "expect": {"verdict": "ACCEPT", "reason_code": []}})
    case = CaseLoader().load(path)
    assert isinstance(case, Unloadable)
    (one,) = case.diagnostics
    assert (one.code, one.pointer) == ("golden.unknown_key", "/expect/reason_code")
    text = (tmp_path / "policies/golden/0.json").read_text().splitlines()
    assert text[(one.line or 0) - 1][(one.column or 0) - 1 :].startswith('"reason_code"')
    assert 'did you mean "reason_codes"?' in one.message


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": " "}, "/name golden.empty_text"),
        ({"policy": ""}, "/policy golden.empty_text"),
        ({"policy": None}, "/policy golden.null"),
        ({"policy": "../gone.json"}, "/policy golden.policy_refused"),
        ({"policy": "0.json"}, "/policy golden.policy_refused"),
        ({"snapshot": 3}, "/snapshot golden.wrong_type"),
        ({"snapshot": None}, "/snapshot golden.wrong_type"),
        ({"snapshot": "gone.json"}, "/snapshot golden.snapshot_refused"),
        ({"expect": {}}, "/expect golden.nothing_expected"),
        ({"expect": {"verdict": "ACCEPTED"}}, "/expect/verdict golden.unknown_value"),
        ({"expect": {"missing": "errors"}}, "/expect/missing golden.wrong_type"),
        ({"context": {"stage": "CANARY_10"}}, "/context/evaluated_at golden.missing_key"),
        ({"context": {**CONTEXT, "evaluated_at": "2026-03-10T10:00:00"}}, "/context/evaluated_at golden.bad_time"),
        ({"context": {**CONTEXT, "deadline_at": "soon"}}, "/context/deadline_at golden.bad_time"),
        ({"context": {**CONTEXT, "history": "whole"}}, "/context/history golden.unknown_value"),
        ({"context": {**CONTEXT, "change_class": "safe"}}, "/context/change_class golden.unknown_value"),
    ],
)
def test_a_case_that_could_not_fail_or_be_asked_does_not_load(
    change: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    """Each with the place in the file."""
    (path,) = lay_out(tmp_path, {**CASE, **change})
    assert refused(path) == [problem]


def test_a_file_that_is_no_json_is_named_with_line_and_column(tmp_path: Path) -> None:
    """As every file that people write."""
    (path,) = lay_out(tmp_path, CASE)
    (tmp_path / "policies/golden/0.json").write_text('{\n  "name": "a",\n  "name": "b"}')
    case = CaseLoader().load(path)
    assert isinstance(case, Unloadable)
    (one,) = case.diagnostics
    assert (one.line, one.column) == (3, 3)
    assert "duplicate key 'name'" in one.message


def test_a_case_that_is_no_object_does_not_load(tmp_path: Path) -> None:
    """Not even where its first item is a case."""
    (path,) = lay_out(tmp_path, CASE)
    (tmp_path / "policies/golden/0.json").write_text(json.dumps([CASE]))
    assert refused(path) == [" golden.wrong_type"]


def test_evidence_in_a_case_is_read_as_a_snapshot_file_is(tmp_path: Path) -> None:
    """A bare NaN, null and any depth are evidence: what they mean is the evaluator's to say."""
    deep: Any = 0
    for _ in range(30):
        deep = [deep]
    snapshot = {"errors": float("nan"), "leaks": 0, "_meta": {"note": deep}}
    inline, by_path = lay_out(
        tmp_path,
        {**CASE, "snapshot": snapshot, "expect": {"verdict": "DEGRADE", "missing": ["errors"]}},
        {**CASE, "snapshot": "evidence/s.json", "expect": {"verdict": "DEGRADE", "missing": ["errors"]}},
    )
    evidence = tmp_path / "policies/golden/evidence"
    evidence.mkdir()
    (evidence / "s.json").write_text(json.dumps(snapshot))
    assert loaded(inline).snapshot == loaded(by_path).snapshot
    assert judge(loaded(inline)).passes
    assert judge(loaded(by_path)).passes


def test_paths_are_those_of_the_case_wherever_it_is_read_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reviewer in another folder gets the same answer."""
    lay_out(tmp_path, CASE)
    monkeypatch.chdir(tmp_path / "policies/golden")
    assert judge(loaded("0.json")).passes
    monkeypatch.chdir(tmp_path)
    assert loaded("policies/golden/0.json").policy_path == "policies/shop.json"


def test_a_directory_without_cases_is_no_success(tmp_path: Path) -> None:
    """A mistyped directory must not read as "all pass"; what else lies there is no case."""
    (tmp_path / "README.md").write_text("x")
    (tmp_path / ".hidden.json").write_text("x")
    for path in (str(tmp_path), str(tmp_path / "gone")):
        with pytest.raises(GoldenCaseError):
            case_files([path])


def test_cases_are_found_in_the_order_of_their_names_and_once(tmp_path: Path) -> None:
    """The report of one machine is that of every other."""
    paths = lay_out(tmp_path, CASE, CASE)
    folder = str(tmp_path / "policies/golden")
    assert case_files([folder]) == paths
    assert case_files([paths[1], folder]) == [paths[1], paths[0]]


def test_a_folder_has_cases_in_both_languages_and_nothing_else(tmp_path: Path) -> None:
    """A case that is passed over would be believed to pass."""
    for name in ("b.json", "a.yaml", "c.yml", "README.md", ".d.json", "e.json.orig"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [os.path.basename(path) for path in case_files([str(tmp_path)])] == ["a.yaml", "b.json", "c.yml"]
