"""Each way in which an option, a code or a name may change, and what the comparison says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frozen.changes import Change, Direction, Effect
from tests.frozen.command_line import compare_command_lines
from tests.frozen.python_names import compare_python_names
from tests.frozen.tables import Rule, compare_tables

ADDED, REMOVED, NARROWED, WIDENED, CHANGED = Effect

Fields = dict[str, Any]


@pytest.mark.parametrize(
    ("rule", "old", "new", "expected"),
    [
        (Rule.FIXED, "path", "text", [CHANGED]),
        (Rule.FIXED, None, "20", [CHANGED]),
        (Rule.WORDS, ["text"], ["text", "json"], [ADDED]),
        (Rule.WORDS, ["text", "json"], ["json"], [REMOVED]),
        (Rule.CLOSED, ["verdict"], ["verdict", "report"], [WIDENED]),
        (Rule.CLOSED, ["verdict", "report"], ["verdict"], [REMOVED]),
        (Rule.DEMAND, False, True, [NARROWED]),
        (Rule.DEMAND, True, False, [WIDENED]),
        (Rule.DEMANDS, [], ["--reason"], [NARROWED]),
        (Rule.DEMANDS, ["--reason"], [], [WIDENED]),
        (Rule.DEMANDS, ["--a"], ["--b"], [NARROWED, WIDENED]),
        (Rule.ALTERNATIVES, [], ["--collect"], [NARROWED]),
        (Rule.ALTERNATIVES, ["--collect"], [], [WIDENED]),
        (Rule.ALTERNATIVES, ["--collect"], ["--collect", "--snapshot"], [WIDENED]),
        (Rule.ALTERNATIVES, ["--collect", "--snapshot"], ["--collect"], [REMOVED]),
        (Rule.ABILITY, False, True, [ADDED]),
        (Rule.ABILITY, True, False, [REMOVED]),
        (Rule.NAME, None, "log", [ADDED]),
        (Rule.NAME, "log", None, [CHANGED]),
        (Rule.NAME, "log", "journal", [CHANGED]),
        *((rule, ["x"], ["x"], []) for rule in Rule),
    ],
)
def test_a_field_may_change_as_its_rule_says(rule: Rule, old: Any, new: Any, expected: list[Effect]) -> None:
    """One row for each thing that a rule allows or not."""
    found = list(compare_tables({"--x": {"field": old}}, {"--x": {"field": new}}, {"field": rule}))
    assert sorted(change.effect for change in found) == sorted(expected)
    assert all(change.place == "/--x/field" for change in found)


def test_a_field_without_a_rule_does_not_change() -> None:
    """Who adds a field to the contract and forgets its rule gets the strictest."""
    assert [change.effect for change in compare_tables({"a": {"x": 1}}, {"a": {"x": 2}}, {})] == [CHANGED]


def test_a_field_that_is_not_told_any_more_is_gone() -> None:
    """A contract that says less promises less; one that says more breaks nobody."""
    assert [change.effect for change in compare_tables({"a": {"x": 1}}, {"a": {}}, {})] == [REMOVED]
    assert [change.effect for change in compare_tables({"a": {}}, {"a": {"x": 1}}, {})] == [ADDED]


def test_a_name_that_comes_asks_for_nothing_or_breaks() -> None:
    """A new option that is mandatory breaks every call."""
    rules = {"required": Rule.DEMAND}
    assert [c.effect for c in compare_tables({}, {"--x": {"required": False}}, rules)] == [ADDED]
    assert [c.effect for c in compare_tables({}, {"--x": {"required": True}}, rules)] == [NARROWED]
    assert [c.effect for c in compare_tables({"--x": {"required": False}}, {}, rules)] == [REMOVED]


def _command(**fields: Any) -> dict[str, Fields]:
    whole = {"answer": "report", "arguments": [], "options": {}}
    return {"policy test": {**whole, **fields}}


def _argument(name: str, **fields: Any) -> Fields:
    return {"name": name, "kind": "path", **fields}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (_command(), {}, [("/policy test", REMOVED)]),
        ({}, _command(), [("/policy test", ADDED)]),
        (_command(), _command(answer="verdict"), [("/policy test/answer", CHANGED)]),
        (_command(), _command(one_of=["--a"]), [("/policy test/one_of", NARROWED)]),
        (
            _command(options={"--a": {"kind": "path"}}),
            _command(options={"--a": {"kind": "path", "required": True}}),
            [("/policy test/options/--a/required", NARROWED)],
        ),
        (
            _command(options={"--a": {"kind": "path", "default": "x"}}),
            _command(options={"--a": {"kind": "path"}}),
            [("/policy test/options/--a/default", CHANGED)],
        ),
        (_command(), _command(arguments=[_argument("f")]), [("/policy test/arguments/0", ADDED)]),
        (_command(), _command(arguments=[_argument("f", required=True)]), [("/policy test/arguments/0", NARROWED)]),
        (_command(arguments=[_argument("f")]), _command(), [("/policy test/arguments/0", REMOVED)]),
        (
            _command(arguments=[_argument("old"), _argument("new")]),
            _command(arguments=[_argument("new"), _argument("old")]),
            [("/policy test/arguments/0/name", CHANGED), ("/policy test/arguments/1/name", CHANGED)],
        ),
        (
            _command(arguments=[_argument("f", repeat=True)]),
            _command(arguments=[_argument("f")]),
            [("/policy test/arguments/0/repeat", REMOVED)],
        ),
    ],
)
def test_a_command_line_that_worked_works_or_the_change_is_named(
    old: dict[str, Fields], new: dict[str, Fields], expected: list[tuple[str, Effect]]
) -> None:
    """Commands, options and arguments by position; what is left out has its usual value."""
    assert [(change.place, change.effect) for change in compare_command_lines(old, new)] == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"attributes": ["a", "b"]}, {"attributes": ["a"]}, [("/Policy/attributes", REMOVED)]),
        ({"attributes": ["a"]}, {"attributes": ["a", "b"]}, [("/Policy/attributes", ADDED)]),
        ({"is": "class"}, {"is": "function"}, [("/Policy/is", CHANGED)]),
        ({}, {"parameters": {"x": {"required": True}}}, [("/Policy/parameters/x", NARROWED)]),
        ({}, {"parameters": {"x": {"required": False}}}, [("/Policy/parameters/x", ADDED)]),
        ({"parameters": {"x": {"required": False}}}, {}, [("/Policy/parameters/x", REMOVED)]),
    ],
)
def test_a_program_that_ran_runs_or_the_change_is_named(
    old: Fields, new: Fields, expected: list[tuple[str, Effect]]
) -> None:
    """Attributes and parameters of what `gatekeeper` exports."""
    whole: Fields = {"is": "class", "attributes": [], "parameters": {}}
    found = compare_python_names({"Policy": {**whole, **old}}, {"Policy": {**whole, **new}})
    assert [(change.place, change.effect) for change in found] == expected


@pytest.mark.parametrize(
    ("direction", "harmless"),
    [
        (Direction.INPUT, {ADDED, WIDENED}),
        (Direction.OUTPUT, {ADDED, NARROWED}),
        (Direction.BOTH, {ADDED}),
    ],
)
def test_who_is_hurt_depends_on_who_writes(direction: Direction, harmless: set[Effect]) -> None:
    """A limit that is lowered hurts who writes a policy, a key that may be absent hurts who reads an event."""
    assert {effect for effect in Effect if not Change("", "", effect).is_break(direction)} == harmless
