"""Laws of loading: what is valid loads as pydantic reads it, what is spoilt never does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.build import build
from gatekeeper.documents.reader import adapter, quick_reader, type_errors
from gatekeeper.errors import PolicyError
from gatekeeper.model.policy import OnDeadline, OnTrouble, Policy
from gatekeeper.review.load import load_policy_document
from tests.review.documents import FULL, MISSING, changed, encoded, errors, places, policies, refusal
from tests.review.test_structure import MANDATORY

pytestmark = pytest.mark.slow


@given(policies())
def test_a_valid_document_loads_and_equals_what_pydantic_builds(document: dict[str, Any]) -> None:
    """The field table of the model, pydantic and the builder for any dataclass must read one document as one policy."""
    loaded = load_policy_document(encoded(document))
    assert loaded.policy == adapter(Policy).validate_json(encoded(document)) == build(Policy, document)
    assert loaded.document == document


def test_the_full_document_equals_what_pydantic_builds() -> None:
    """Every key of SPEC 3 goes into its field."""
    loaded = load_policy_document(encoded(FULL)).policy
    assert loaded == adapter(Policy).validate_json(encoded(FULL))
    assert loaded.guardrails[0].range == (0.0, 1.0)
    assert loaded.holds["evidence_missing"].on_deadline is OnDeadline.REJECT
    assert loaded.missing_data_policy.on_stale is OnTrouble.REJECT


@given(policies())
def test_a_valid_document_never_pays_for_the_adapter(document: dict[str, Any]) -> None:
    """The yes-or-no form knows every valid document, so that first sight of a policy stays quick."""
    assert quick_reader(Policy)(document)


@given(policies(), st.data())
def test_an_unknown_key_anywhere_never_loads(document: dict[str, Any], data: st.DataObject) -> None:
    """Whatever else is in the file."""
    objects = ["", *(path for path, value in places(document) if isinstance(value, dict) and "~" not in path)]
    path = f"{data.draw(st.sampled_from(objects))}/zzz".removeprefix("/")
    assert f"/{path}" in [
        pointer for pointer, _ in errors(changed(document, path, data.draw(st.sampled_from([1, {}]))))
    ]


@given(policies(), st.data())
def test_a_value_of_another_type_never_loads(document: dict[str, Any], data: st.DataObject) -> None:
    """No reading bends a value into what is wanted."""
    path, value = data.draw(st.sampled_from(places(document)))
    wrong: list[Any] = [None, True]
    wrong += [7] if not isinstance(value, (int, float)) else []
    wrong += ["7"] if not isinstance(value, str) else []
    wrong += [[]] if not isinstance(value, list) else []
    wrong += [{}] if not isinstance(value, dict) else []
    assert refusal(changed(document, path, data.draw(st.sampled_from(wrong)))) != []


@given(policies(), st.data())
def test_a_document_without_a_mandatory_key_never_loads(document: dict[str, Any], data: st.DataObject) -> None:
    """Each object has its own, down to the operator of a guardrail."""
    there = {path for path, _ in places(document)}
    path = data.draw(st.sampled_from([path for path in MANDATORY if path in there]))
    assert (f"/{path}", "policy.missing_key") in errors(changed(document, path, MISSING))


_JUNK = st.sampled_from([None, True, 0, -1, 0.5, "", "x", "<=", "REJECT", [], [1], [1, 2], ["x"], {}, {"metric": "m"}])


@given(policies(), st.data())
def test_the_quick_yes_is_never_laxer_than_pydantic(document: dict[str, Any], data: st.DataObject) -> None:
    """What passes without the adapter must be what the adapter reads."""
    path, _ = data.draw(st.sampled_from(places(document)))
    spoilt = changed(document, path, data.draw(_JUNK))
    if quick_reader(Policy)(spoilt):
        assert adapter(Policy).validate_json(encoded(spoilt)) is not None
        assert type_errors(Policy, spoilt) == []


@given(policies(), st.randoms(use_true_random=False), st.sampled_from([None, 1, 7]))
def test_key_order_and_spaces_keep_the_digest(document: dict[str, Any], random: Any, indent: int | None) -> None:
    """Identity is content: a formatter changes no policy."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(inner) for inner in value] if isinstance(value, list) else value

    other = json.dumps(shuffled(document), indent=indent, ensure_ascii=False).encode()
    assert load_policy_document(other).digest == load_policy_document(encoded(document)).digest


_NUMBERS = [path for path, value in places(FULL) if isinstance(value, (int, float)) and "range" not in path]


@pytest.mark.parametrize("path", _NUMBERS)
def test_one_changed_number_changes_the_digest(path: str) -> None:
    """No number is outside the identity of the policy."""
    other = changed(FULL, path, 0.125)
    assert load_policy_document(encoded(other)).digest != load_policy_document(encoded(FULL)).digest


def test_a_default_written_out_is_another_document() -> None:
    """The digest is of the document as parsed, defaults not filled in."""
    bare = changed(FULL, "missing_data_policy/precedence", MISSING)
    loaded, full = load_policy_document(encoded(bare)), load_policy_document(encoded(FULL))
    assert loaded.policy == full.policy
    assert loaded.digest != full.digest


@given(st.binary(max_size=40))
def test_bytes_of_any_kind_end_in_a_policy_error(data: bytes) -> None:
    """No file can crash the reader."""
    with pytest.raises(PolicyError):
        load_policy_document(data)
