"""Keys and types: strictness reaches every object of a policy, and every problem has its place."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import PolicyError
from gatekeeper.review.load import check_policy_document, load_policy_document, parse_policy
from tests.review.documents import FULL, MISSING, changed, encoded, errors, places, refusal

OBJECTS = ["", *(path for path, value in places(FULL) if isinstance(value, dict) and path != "holds")]
NUMBERS = [path for path, value in places(FULL) if isinstance(value, (int, float))]
VALUES = [path for path, _ in places(FULL)]
MANDATORY = [
    "policy_id",
    "policy_version",
    "primary/0/metric",
    "primary/0/direction",
    "guardrails/0/metric",
    "guardrails/0/op",
    "constraints/0/kind",
    "constraints/0/metric",
    "promotion_gate/required_for_stages",
]


def test_the_full_policy_loads_and_names_every_object() -> None:
    """What the tests below spoil is sound, and no object of it is left out of them."""
    assert refusal(FULL) == []
    assert len(OBJECTS) == 10
    assert len(NUMBERS) == 15


@pytest.mark.parametrize("path", OBJECTS)
def test_an_unknown_key_is_refused_in_every_object(path: str) -> None:
    """A key that nobody reads is a rule that nobody asks."""
    key = f"{path}/note".removeprefix("/")
    assert errors(changed(FULL, key, "x")) == [(f"/{key}", "policy.unknown_key")]


@pytest.mark.parametrize("path", VALUES)
def test_null_is_refused_wherever_it_stands(path: str) -> None:
    """A blank field is neither a value nor an absent key."""
    assert (f"/{path}", "policy.null") in errors(changed(FULL, path, None))


@pytest.mark.parametrize("wrong", [True, "0.5", [], {}])
@pytest.mark.parametrize("path", NUMBERS)
def test_nothing_is_bent_into_a_number(path: str, wrong: Any) -> None:
    """A boolean is no 1 and a text no number, at any depth."""
    assert (f"/{path}", "policy.wrong_type") in errors(changed(FULL, path, wrong))


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"9007199254740992"])
@pytest.mark.parametrize("path", NUMBERS)
def test_a_number_that_no_double_holds_is_refused(path: str, text: bytes) -> None:
    """A limit of NaN would let every value pass."""
    data = encoded(changed(FULL, path, 987654321)).replace(b"987654321", text)
    _, found = check_policy_document(data, "p.json")
    assert (f"/{path}", "policy.not_a_number") in [(one.pointer, one.code) for one in found]
    assert text.decode() in found[0].message


def test_a_bare_nan_is_refused_where_text_may_stand() -> None:
    """`NaN` and `"NaN"` have one digest, so the first must not even reach a look-up by digest."""
    data = encoded(changed(FULL, "primary/0/description", 987654321)).replace(b"987654321", b"NaN")
    with pytest.raises(PolicyError, match="/primary/0/description"):
        parse_policy(data)


@pytest.mark.parametrize("path", [path for path, value in places(FULL) if isinstance(value, (list, dict))])
def test_lists_and_objects_do_not_stand_in_for_each_other(path: str) -> None:
    """An empty object where a list is meant drops every rule in it."""
    value = dict(places(FULL))[path]
    wrong: Any = {} if isinstance(value, list) else []
    assert (f"/{path}", "policy.wrong_type") in errors(changed(FULL, path, wrong))


@pytest.mark.parametrize("path", MANDATORY)
def test_a_mandatory_key_left_out_is_named(path: str) -> None:
    """The message points to where the key would stand."""
    assert (f"/{path}", "policy.missing_key") in errors(changed(FULL, path, MISSING))


@pytest.mark.parametrize("bounds", [[0], [0, 1, 2], []])
def test_a_range_has_two_ends(bounds: list[int]) -> None:
    """A range with one end would bound nothing on the other side."""
    assert errors(changed(FULL, "guardrails/0/range", bounds)) == [("/guardrails/0/range", "policy.wrong_length")]


@pytest.mark.parametrize(
    ("path", "word", "meant"),
    [
        ("guardrails/0/op", "=<", "<="),
        ("guardrails/0/op", "gte", ">="),
        ("guardrails/0/op", "\N{LESS-THAN OR EQUAL TO}", "<="),
        ("guardrails/0/enforcement", "observed", "observe"),
        ("primary/0/direction", "increase", "up"),
        ("primary/0/direction", "Down", "down"),
        ("constraints/0/kind", "must_be_zeros", "must_be_zero"),
        ("missing_data_policy/on_missing", "degrade", "DEGRADE"),
        ("missing_data_policy/on_stale", "REJCT", "REJECT"),
        ("missing_data_policy/on_missing_baseline", "DEGRADED", "DEGRADE"),
        ("missing_data_policy/precedence", "violation_first", "violations_first"),
        ("promotion_gate/on_not_ready", "REJECTED", "REJECT"),
        ("evidence/on_missing", "Reject", "REJECT"),
        ("holds/evidence_missing/on_deadline", "ESCALATED", "ESCALATE"),
    ],
)
def test_an_unknown_word_is_refused_with_the_one_that_was_meant(path: str, word: str, meant: str) -> None:
    """A misspelt effect must not fall back to a default."""
    lines = refusal(changed(FULL, path, word))
    assert len(lines) == 1
    assert f"/{path}: " in lines[0]
    assert f'did you mean "{meant}"? allowed: ' in lines[0]


def test_a_word_like_nothing_gets_no_suggestion() -> None:
    """A guess that is far off misleads; the allowed words are listed all the same."""
    lines = refusal(changed(FULL, "guardrails/0/op", "approximately"))
    assert "did you mean" not in lines[0]
    assert lines[0].endswith('found text "approximately"; allowed: "<=", "<", ">=", ">"')


def test_every_problem_of_a_file_is_named_at_once_with_its_place() -> None:
    """A reviewer mends a file once; the order is that of the file, types and rules together."""
    data = b"""{"policy_id": "x", "policy_version": "",
 "guardrails": [{"metric": "a", "op": "<=", "threshhold": 1},
                {"metric": "b", "op": "<=", "threshold": "1"},
                {"metric": "c", "op": "<=", "budget_delta": -1, "range": [2, 2]}],
 "constraints": [{"kind": "must_be_nil", "metric": null}],
 "stages": ["CANARY_10", "CANARY_5", "ROLLOUT_100"]}
"""
    assert [line.partition(": ")[0] + " " + line.split(": ")[1] for line in refusal(data)] == [
        "p.json:1:38 /policy_version",
        "p.json:2:45 /guardrails/0/threshhold",
        "p.json:3:58 /guardrails/1/threshold",
        "p.json:4:61 /guardrails/2/budget_delta",
        "p.json:4:74 /guardrails/2/range",
        "p.json:5:27 /constraints/0/kind",
        "p.json:5:52 /constraints/0/metric",
        "p.json:6:26 /stages/1",
    ]


def test_the_message_says_file_line_pointer_found_and_allowed() -> None:
    """One whole line, as SPEC 3 asks for it."""
    assert refusal(b'{"policy_id": "x", "policy_version": "1",\n "constraints": {}}') == [
        "p.json:2:17: /constraints: found an object; allowed: a list of objects"
    ]


def test_what_stands_below_an_unknown_key_is_not_judged() -> None:
    """The key has to go, and all below goes with it."""
    assert errors({**FULL, "notes": [None, {"a": None}]}) == [("/notes", "policy.unknown_key")]


def test_an_unknown_key_with_null_is_an_unknown_key() -> None:
    """The name is the trouble there, not the blank."""
    assert errors({**FULL, "notes": None}) == [("/notes", "policy.unknown_key")]


@pytest.mark.parametrize("data", [b"[]", b"7", b'"text"', b"null", b"true"])
def test_a_file_that_is_no_object_is_refused(data: bytes) -> None:
    """JSON that is something else is no policy."""
    for reader in (load_policy_document, parse_policy):
        with pytest.raises(PolicyError, match="a policy is one JSON object"):
            reader(data)
    assert check_policy_document(data)[0] is None


@pytest.mark.parametrize(
    ("data", "where"),
    [(b"", "p.json:1:1: not JSON"), (b'{"a": 1,\n "a": 2}', "p.json:2:2: duplicate key 'a' at /a"), (b"\xff", "UTF-8")],
)
def test_bytes_that_are_no_strict_json_are_a_policy_error(data: bytes, where: str) -> None:
    """Whoever catches PolicyError catches every policy that does not load."""
    with pytest.raises(PolicyError) as caught:
        load_policy_document(data, "p.json")
    assert where in caught.value.message
    _, found = check_policy_document(data, "p.json")
    assert found[0].text("p.json").startswith("p.json:")
    assert not found[0].message.startswith(("p.json", ":", "1"))


@pytest.mark.parametrize("depth", [20, 400, 980, 100_000])
def test_a_file_nested_without_end_is_refused_and_never_crashes(depth: int) -> None:
    """A deep file is the author's slip or an attack, not a bug of ours."""
    data = b'{"policy_id": "x", "policy_version": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    with pytest.raises(PolicyError, match="nested too deeply"):
        load_policy_document(data, "p.json")
    assert check_policy_document(data, "p.json")[0] is None


def test_half_a_surrogate_pair_is_refused_in_texts_and_in_keys() -> None:
    """Such text has no UTF-8 and no digest, and must not crash the message either."""
    assert errors(changed(FULL, "guardrails/0/metric", "\ud800")) == [("/guardrails/0/metric", "policy.bad_text")]
    lines = refusal({**FULL, "\udfff": 1})
    assert len(lines) == 1
    assert "\\udfff" in lines[0]
    assert lines[0].encode()


def test_a_key_with_a_line_break_cannot_forge_a_line_of_its_own() -> None:
    """A message goes into CI logs that read commands from the beginning of a line."""
    lines = refusal({**FULL, "x\n::error::": 1})
    assert len(lines) == 1
    assert "x\\n::error::" in lines[0]


def test_a_byte_order_mark_moves_no_column() -> None:
    """Editors that write one do not shift the place."""
    assert refusal(b'\xef\xbb\xbf{"policy_id": 7}')[0].startswith("p.json:1:")
    plain = refusal(b'{"policy_id": 7}')
    assert refusal(b'\xef\xbb\xbf{"policy_id": 7}') == plain


def test_the_remedy_names_the_command_that_checks_again() -> None:
    """The operator's next step, one line."""
    with pytest.raises(PolicyError) as caught:
        load_policy_document(b"{}", "policies/p.json")
    assert caught.value.remedy == "correct the policy, then: gatekeeper policy check policies/p.json"
