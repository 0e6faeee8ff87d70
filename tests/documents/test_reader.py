"""Pydantic's settings reach every nested dataclass, whatever version of it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from gatekeeper.documents import reader
from gatekeeper.documents.reader import adapter, quick_reader, type_errors
from gatekeeper.documents.shapes import hints_of
from gatekeeper.model.policy import Policy
from tests.review.documents import FULL, changed, encoded
from tests.review.test_structure import NUMBERS, OBJECTS


@pytest.mark.parametrize("path", OBJECTS)
def test_both_readers_forbid_unknown_keys_in_every_object(path: str) -> None:
    """A nested dataclass that forgot the setting would drop a misspelt limit."""
    document = changed(FULL, f"{path}/note".removeprefix("/"), "x")
    assert not quick_reader(Policy)(document)
    assert [error["type"] for error in type_errors(Policy, document)] == ["unexpected_keyword_argument"]


@pytest.mark.parametrize("wrong", ["1", True])
@pytest.mark.parametrize("path", NUMBERS)
def test_both_readers_convert_nothing(path: str, wrong: Any) -> None:
    """Strictness that stops at the outermost object reads `true` as 1."""
    document = changed(FULL, path, wrong)
    assert not quick_reader(Policy)(document)
    assert len(type_errors(Policy, document)) == 1


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_both_readers_want_finite_numbers(path: str, number: float) -> None:
    """A second line behind the strict parser."""
    document = changed(FULL, path, number)
    assert not quick_reader(Policy)(document)
    with pytest.raises(ValidationError):
        adapter(Policy).validate_json(encoded(document))


@pytest.mark.parametrize("path", ["policy_id", "guardrails/0/metric"])
def test_the_quick_form_does_not_pass_half_of_a_surrogate_pair(path: str) -> None:
    """No line of the log could hold it."""
    assert not quick_reader(Policy)(changed(FULL, path, "\ud800"))


def test_the_adapter_is_asked_only_of_what_is_not_surely_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the adapter costs more than a whole check, so a sound policy must not need it."""

    def too_dear(_: type) -> None:
        raise AssertionError("the adapter was made")

    monkeypatch.setattr(reader, "adapter", too_dear)
    assert type_errors(Policy, FULL) == []
    with pytest.raises(AssertionError, match="the adapter was made"):
        type_errors(Policy, {})


@dataclass(frozen=True)
class Undecided:
    """A field of two types."""

    value: str | float | None = None


def test_a_field_of_a_type_that_the_quick_form_does_not_know_fails_loudly() -> None:
    """Whoever adds such a field to the model learns it from the first test, not from a lax reader."""
    for shape in (dict[str, bytes], hints_of(Undecided)["value"]):
        with pytest.raises(TypeError, match="no field of type"):
            quick_reader(shape)
