"""The real contract with one thing changed: what must fail the build fails it, and nothing else does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frozen.changes import Direction
from tests.frozen.judgement import judge
from tests.frozen.kept import Contract
from tests.frozen.subjects import SUBJECTS

Path = tuple[str | int, ...]


@cache
def now(subject: str) -> Contract:
    """The contract of the code; never changed, only copied."""
    return SUBJECTS[subject].now()


def breaks(subject: str, content: Any) -> tuple[str, ...]:
    """What a code with this contract would break."""
    old, known = now(subject), SUBJECTS[subject]
    changes = known.compare(old.content, content)
    return judge(old, Contract(subject, old.version, content), changes, known.direction).breaks


def changed(subject: str, path: str, change: Callable[[Any], Any]) -> tuple[str, ...]:
    """The breaks when what stands at *path* (words with blanks between) is another; None takes it out."""
    content = copy.deepcopy(now(subject).content)
    *steps, last = path.split("|")
    part = content
    for step in steps:
        part = part[int(step) if isinstance(part, list) else step]
    value = change(part.get(last) if isinstance(part, dict) else part[int(last)])
    if value is None:
        del part[last]
    else:
        part[last] = value
    return breaks(subject, content)


def gone(_value: Any) -> None:
    """Take it out."""


def to(value: Any) -> Callable[[Any], Any]:
    """Put this there."""
    return lambda _value: value


def without(word: str) -> Callable[[list[str]], list[str]]:
    """The list without a word that is in it."""

    def taken(words: list[str]) -> list[str]:
        assert word in words
        return [one for one in words if one != word]

    return taken


def plus(*words: Any) -> Callable[[Any], Any]:
    """The list with these, too."""
    return lambda stated: [*(stated or []), *words]


def also(**keys: Any) -> Callable[[Any], Any]:
    """The object with these, too."""
    return lambda stated: {**stated, **keys}


LINE, POLICY, EVENT, SNAPSHOT = "command-line", "schema-policy", "schema-event", "schema-snapshot"
COLLECTION, CASE = "schema-collection", "schema-golden-case"

BREAKS = [
    (LINE, "policy check", gone),
    (LINE, "check|options|--dry-run", gone),
    (LINE, "check|options|--revision|required", to(value=True)),
    (LINE, "check|options|--wait|kind", to("text")),
    (LINE, "check|options|--change-class|choices", without("reversible")),
    (LINE, "check|options|--output|flags", without("-o")),
    (LINE, "check|options|--output|default", to("json")),
    (LINE, "check|options|--log|environment", gone),
    (LINE, "check|options|--log|setting", to("journal")),
    (LINE, "check|options|--evidence|repeat", to(value=False)),
    (LINE, "check|options|--as-of|conflicts", plus("--dry-run")),
    (LINE, "check|options|--actor|requires", plus("--reason")),
    (LINE, "check|one_of", without("--collect")),
    (LINE, "verify|answer", to("verdict")),
    (LINE, "resume|arguments", to([])),
    (LINE, "check|options", also(**{"--owner": {"flags": ["--owner"], "kind": "text", "required": True}})),
    ("exit-codes", "10", gone),
    ("exit-codes", "65|meaning", to("anything went wrong")),
    ("exit-codes", "1|answers", plus("report")),
    ("exit-codes", "10|answers", without("report")),
    ("error-codes", "policy.invalid", gone),
    ("error-codes", "policy.invalid|exit_code", to(64)),
    ("reason-codes", "change_refused:deadline_passed", gone),
    ("reason-codes", "observation_missing:empty_result|verdict", to("REJECT")),
    ("remark-codes", "policy.canary_jump", gone),
    ("remark-codes", "policy.canary_jump|severity", to("error")),
    ("remark-codes", "policy.unused_suppression|is_mended", to(value=False)),
    ("python-names", "evaluate", gone),
    ("python-names", "Decision|attributes", without("missing")),
    ("python-names", "evaluate|parameters", also(clock={"kind": "keyword_only", "required": True})),
    (POLICY, "properties|holds", gone),
    (POLICY, "required", plus("guardrails")),
    (POLICY, "$defs|Operator|enum", without("<=")),
    (POLICY, "$defs|Guardrail|properties|threshold|type", to("string")),
    (POLICY, "$defs|Guardrail|properties|enforcement|default", to("observe")),
    (POLICY, "$defs|Guardrail|properties|budget_delta|minimum", to(1)),
    (POLICY, "$defs|MissingDataPolicy|properties|max_freshness_seconds|maximum", to(60)),
    (POLICY, "$defs|MissingDataPolicy|properties|max_freshness_seconds|unit", to("milliseconds")),
    (COLLECTION, "properties|labels", gone),
    (CASE, "$defs|CaseContext|properties|looks", gone),
    (CASE, "required", plus("reason")),
    (EVENT, "properties|clock", gone),
    (EVENT, "required", without("seq")),
    (EVENT, "properties|kind|enum", without("approval")),
    (EVENT, "$defs|Verdict|enum", plus("MAYBE")),
    (EVENT, "$defs|Outcome|enum", plus("SHRUG")),
    (EVENT, "$defs|Digest|pattern", to("^sha512:")),
    (EVENT, "$defs|Finding|properties|code", to({})),
    (SNAPSHOT, "$defs|Meta|properties|freshness_seconds", gone),
    (SNAPSHOT, "$defs|Value|type", plus("string")),
    (SNAPSHOT, "$defs|Value|type", without("boolean")),
    (SNAPSHOT, "$defs|Source|required", plus("metrics")),
]


@pytest.mark.parametrize(("subject", "path", "change"), BREAKS, ids=[f"{one[0]} {one[1]}" for one in BREAKS])
def test_what_breaks_somebody_fails(subject: str, path: str, change: Callable[[Any], Any]) -> None:
    """One change each, in the contract as it is."""
    assert changed(subject, path, change)


def test_an_outcome_more_or_less_fails() -> None:
    """Readers of findings know all of them."""
    outcomes = now("finding-outcomes").content
    assert breaks("finding-outcomes", outcomes[1:])
    assert breaks("finding-outcomes", [*outcomes, "SHRUG"])


def test_a_definition_that_collectors_name_fails_under_another_name() -> None:
    """docs/schema/README.md tells them to refer to `WellFormed` of a snapshot."""
    text = json.dumps(now(SNAPSHOT).content)
    assert breaks(SNAPSHOT, json.loads(text.replace("WellFormed", "Sound")))
    assert breaks(SNAPSHOT, json.loads(text.replace("Statistics", "Numbers"))) == ()


HARMLESS = [
    (LINE, "check|options", also(**{"--owner": {"flags": ["--owner"], "kind": "text"}})),
    (LINE, "check|options|--change-class|choices", plus("experimental")),
    (LINE, "check|options|--policy|required", to(value=False)),
    (LINE, "check|options|--actor|flags", plus("-a")),
    (LINE, "check|options|--policy|repeat", to(value=True)),
    (LINE, "resume|arguments", plus({"name": "more", "kind": "text"})),
    (LINE, "stop", also(one_of=[])),
    ("exit-codes", "75", to({"meaning": "try again later", "is_verdict": False, "answers": ["report"]})),
    ("reason-codes", "change_refused:frozen|is_in_use", to(value=True)),
    ("reason-codes", "change_refused:too_late", to({"verdict": "REJECT"})),
    ("remark-codes", "policy.too_polite", to({"severity": "info"})),
    ("python-names", "Decision|attributes", plus("confidence")),
    (POLICY, "properties|note", to({"type": "string"})),
    (POLICY, "$defs|Operator|enum", plus("==")),
    (POLICY, "$defs|MissingDataPolicy|properties|max_freshness_seconds|maximum", gone),
    (POLICY, "required", without("policy_version")),
    (EVENT, "properties|weather", to({"type": "string"})),
    (EVENT, "required", plus("actor")),
    (EVENT, "properties|kind|enum", plus("postmortem")),
    (EVENT, "$defs|Action|properties|name|enum", plus("phone_home")),
    (EVENT, "$defs|ReasonCode|anyOf|0|enum", plus("change_refused:too_late")),
    (SNAPSHOT, "$defs|Meta|properties|weather", to({"type": "string"})),
]


@pytest.mark.parametrize(("subject", "path", "change"), HARMLESS, ids=[f"{one[0]} {one[1]}" for one in HARMLESS])
def test_what_is_new_and_breaks_nobody_passes(subject: str, path: str, change: Callable[[Any], Any]) -> None:
    """Else a version would rise with every feature, and nobody would look any more."""
    assert changed(subject, path, change) == ()


_LOOSENS = frozenset({"conflicts", "one_of", "required", "requires"})
"""Fields of tables whose loss asks for less."""
_FRAME = frozenset({"arguments", "options", "parameters"})
"""What every command and every name has, be it empty."""
_IN_PLACE = frozenset({"allOf", "anyOf", "contains", "dependentSchemas", "if", "not", "oneOf", "then"})
"""Within them, an input's keys may be conditions."""
_LIMITS = frozenset({"additionalProperties", "const", "enum", "items", "minimum", "pattern", "type"})


def removable(subject: str, part: Any, path: Path = ()) -> Iterator[Path]:
    """Where something stands whose loss hurts somebody."""
    if isinstance(part, dict):
        for name, value in part.items():
            if subject.startswith("schema-"):
                yield from _of_schema(SUBJECTS[subject].direction, part, path, name)
            elif name not in _LOOSENS | _FRAME:
                yield (*path, name)
            yield from removable(subject, value, (*path, name))
    elif isinstance(part, list):
        for index, value in enumerate(part):
            if not subject.startswith("schema-") and not _LOOSENS & set(path):
                yield (*path, index)
            yield from removable(subject, value, (*path, index))


def _of_schema(direction: Direction, part: dict[str, Any], path: Path, name: str) -> Iterator[Path]:
    members, value = path[-1:] == ("properties",), part[name]
    within = (*path, name)
    if members and (direction is Direction.OUTPUT or not _IN_PLACE & set(path)):
        yield within
    elif members or path[-1:] == ("$defs",):
        return
    elif name == "enum":
        yield from ((*within, index) for index in range(len(value)))
    elif name == "default":
        yield within
    elif name == "required" and direction is not Direction.INPUT:
        yield from ((*within, index) for index in range(len(value)))
    if name in _LIMITS and direction is not Direction.INPUT:
        yield within
    if name == "type" and isinstance(value, list) and direction is not Direction.OUTPUT:
        yield from ((*within, index) for index in range(len(value)))


def _removed(content: Any, path: Path) -> Any:
    left = copy.deepcopy(content)
    part = left
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return left


PLACES = [(subject, path) for subject in sorted(SUBJECTS) for path in removable(subject, now(subject).content)]


def test_every_subject_has_something_to_lose() -> None:
    """A strategy without places would test nothing."""
    assert {subject for subject, _ in PLACES} == set(SUBJECTS)
    assert len(PLACES) > 2000


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PLACES))
def test_whatever_is_taken_out_of_the_contract_fails(place: tuple[str, Path]) -> None:
    """Any key, option, code, word: what was promised is not taken back in silence."""
    subject, path = place
    assert breaks(subject, _removed(now(subject).content, path))
