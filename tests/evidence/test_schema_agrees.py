"""The schema of a collection file and the loader are two validators of one format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gatekeeper.evidence.collection import METRIC_SHAPES, SourceType
from gatekeeper.evidence.collection_file.schema import collection_schema
from tests.docs.schema_page import SemanticRule, semantic_rules, unlisted
from tests.documents.near_valid import paths, spoilt
from tests.evidence.collections import EXAMPLE, FULL, errors
from tests.review.documents import MISSING, changed, encoded

SCHEMA = collection_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
KEYS = sorted({str(path[-1]) for path, _ in paths(FULL) if isinstance(path[-1], str)})
TYPED_CODES = {"collection.unknown_key", "collection.missing_key", "collection.query_choice"}


def problems_of(document: Any) -> list[tuple[str, str]]:
    """Code and pointer of every problem for which the loader refuses a document."""
    return [(f"collection.{code}", pointer) for pointer, code in errors(document)]


def is_valid(document: Any) -> bool:
    """What the schema says of the same bytes, read as any program reads JSON."""
    return VALIDATOR.is_valid(json.loads(encoded(document)))


@pytest.mark.slow
@settings(max_examples=400)
@given(spoilt(st.sampled_from([FULL, json.loads(EXAMPLE)]), KEYS))
def test_the_two_validators_agree_but_for_the_listed_rules(document: dict[str, Any]) -> None:
    """An editor that marks what loads is switched off; one that passes what does not load is believed."""
    problems = problems_of(document)
    if not is_valid(document):
        assert problems != []
        return
    assert unlisted(problems, "Collection file") == []
    of_its_type = {pointer.split("/")[2] for code, pointer in problems if code in TYPED_CODES}
    for name in of_its_type:  # the schema of its source's type sees what that of all types together cannot
        metric = document["metrics"][name.replace("~1", "/").replace("~0", "~")]
        shape = METRIC_SHAPES[SourceType(document["sources"][metric["source"]]["type"])]
        one = {key: SCHEMA[key] for key in ("$schema", "$id", "$defs")} | {"$ref": f"#/$defs/{shape.__name__}"}
        assert not Draft202012Validator(one).is_valid(metric)


RATIO = FULL["metrics"]["error_ratio"]
AT = "/metrics/error_ratio"


def with_metric(**changes: Any) -> dict[str, Any]:
    """FULL with another first metric; MISSING takes a key out."""
    metric = {key: value for key, value in {**RATIO, **changes}.items() if value is not MISSING}
    return changed(FULL, "metrics/error_ratio", metric)


def everywhere(code: str, text: str, **more: Any) -> dict[tuple[str, str], Any]:
    """The same query at each place where one may stand, refused with *code*."""
    made = {
        (code, f"{AT}/query"): with_metric(query=text, **more),
        (code, f"{AT}/variant_query"): with_metric(query=MISSING, variant_query=text, **more),
        (code, f"{AT}/baseline_query"): with_metric(
            query=MISSING, variant_query="sum(up)", baseline_query=text, **more
        ),
        (code, f"{AT}/on_empty/zero_if"): with_metric(on_empty={"zero_if": text}),
    }
    for key in ("selector", "event_time_query"):
        made[code, f"{AT}/watermark/{key}"] = with_metric(watermark={key: text})
    return made


def without_window(witnesses: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """The same files without a window."""
    return {problem: changed(document, "window", MISSING) for problem, document in witnesses.items()}


TAKEN = 'up{track=~"c.*"}'
"""It selects by the label that would be bound, with another operator than =."""

WITNESSES: dict[tuple[str, str], Any] = {
    **everywhere("collection.bad_query", "sum(up", watermark=MISSING),
    **without_window(everywhere("collection.no_window", "sum(rate(up[$window]))")),
    **everywhere("collection.fixed_time", "sum(up @ 5)"),
    ("collection.cannot_bind", f"{AT}/query"): with_metric(query=f"sum({TAKEN})"),
    ("collection.cannot_bind", f"{AT}/watermark/selector"): with_metric(watermark={"selector": TAKEN}),
    ("collection.cannot_bind", f"{AT}/watermark/event_time_query"): with_metric(
        watermark={"event_time_query": f"max({TAKEN})"}
    ),
    ("collection.cannot_bind", f"{AT}/on_empty/zero_if"): with_metric(on_empty={"zero_if": TAKEN}),
    ("collection.needs_watermark", f"{AT}/query"): with_metric(query="sum(a:b)", watermark=MISSING),
    ("collection.needs_watermark", f"{AT}/variant_query"): with_metric(
        query=MISSING, variant_query="sum(a:b)", watermark=MISSING
    ),
    ("collection.needs_watermark", f"{AT}/baseline_query"): with_metric(
        query=MISSING, variant_query="sum(up)", baseline_query="sum(a:b)", watermark=MISSING
    ),
    ("collection.needs_watermark", f"{AT}/watermark/selector"): with_metric(watermark={"selector": "a:b"}),
    ("collection.bad_selector", f"{AT}/watermark/selector"): with_metric(watermark={"selector": "sum(up)"}),
    ("collection.age_not_measured", f"{AT}/watermark/event_time_query"): with_metric(
        watermark={"event_time_query": "time()"}
    ),
    ("collection.bad_guard", f"{AT}/on_empty/zero_if"): with_metric(on_empty={"zero_if": "vector(1)"}),
    ("collection.unknown_source", f"{AT}/source"): with_metric(source="prm"),
    ("collection.unknown_key", f"{AT}/bind"): with_metric(source="svc"),
    ("collection.missing_key", "/metrics/replayed/pointer"): changed(FULL, "metrics/replayed", {"source": "svc"}),
    ("collection.query_choice", "/metrics/replayed"): changed(FULL, "metrics/replayed", {"source": "prom"}),
    ("collection.bad_range", f"{AT}/range"): with_metric(range=[1, 0]),
    ("collection.bad_duration", "/window"): changed(FULL, "window", "101y"),
    ("collection.bad_duration", "/limits/watermark_depth"): changed(FULL, "limits/watermark_depth", "101y"),
    ("collection.same_sides", "/labels"): changed(FULL, "labels", {"track": {"variant": "a", "baseline": "a"}}),
    ("collection.standard_input_twice", "/sources/two/path"): changed(
        changed(FULL, "sources/part/path", "-"), "sources/two", {"type": "file", "path": "-"}
    ),
    ("collection.bad_url", "/sources/svc/url"): changed(FULL, "sources/svc/url", "https://a.example.com:0/x"),
    ("collection.bad_url", "/sources/svc/proxy_url"): changed(FULL, "sources/svc/proxy_url", "http://a.example.com:0"),
    ("collection.literal_credential", "/sources/svc/url"): changed(
        FULL, "sources/svc/url", "https://a:b@c.example.com"
    ),
    ("collection.literal_credential", "/sources/svc/proxy_url"): changed(
        FULL, "sources/svc/proxy_url", "https://a:b@c.example.com"
    ),
    ("collection.literal_credential", "/sources/svc/headers/X-Api-Key"): changed(
        FULL, "sources/svc/headers/X-Api-Key", "0123"
    ),
    ("collection.bad_text", "/metrics/lift/query"): changed(FULL, "metrics/lift/query", "select \ud800"),
    ("collection.not_a_number", "/metrics/lift/range/1"): changed(FULL, "metrics/lift/range", [0, 2**53]),
}


@pytest.mark.parametrize("problem", WITNESSES)
def test_each_listed_rule_is_one_that_the_schema_cannot_see(problem: tuple[str, str]) -> None:
    """A row that the schema could state would hide a gap in it."""
    assert is_valid(WITNESSES[problem])
    assert problem in problems_of(WITNESSES[problem])


@pytest.mark.parametrize("rule", semantic_rules("Collection file"), ids=lambda rule: rule.code)
def test_every_row_of_the_list_has_its_witness(rule: SemanticRule) -> None:
    """Each code at each of its places."""
    for place in rule.places:
        assert any(SemanticRule(rule.code, (place,)).covers(*problem) for problem in WITNESSES), place
    assert rule.code in {code for code, _ in WITNESSES}


SLIPS: list[tuple[str, Any]] = [
    ("window", "5 minutes"),
    ("window", "0m"),
    ("labels/9x", {"variant": "a", "baseline": "b"}),
    ("labels/__name__", {"variant": "a", "baseline": "b"}),
    ("labels/track/variant", "${TRACK"),
    ("labels/track/variant", " "),
    ("evaluate_at/align_seconds", 0),
    ("limits/deadline_seconds", 601),
    ("limits/parallelism", 17),
    ("sources/prom/url", "prometheus.example.com"),
    ("sources/prom/url", "https://a.example.com\n"),
    ("sources/prom/url", "https://${1}/"),
    ("sources/prom/url", "http\u017f://a.example.com"),  # a long s, which is an s to whoever ignores case
    ("sources/dwh/url", "\u017fqlite://"),
    ("sources/prom/cert_file", MISSING),
    ("sources/prom/ca_file", "${CA}"),
    ("sources/prom/ca_file", "a\x00b"),
    ("sources/prom/target_labels", []),
    ("sources/prom/headers/X Y", "z"),
    ("sources/prom/headers/X-Y", " z"),
    ("sources/prom/timeout_seconds", 0),
    ("sources/dwh/url", "db.example.com"),
    ("sources/part/path", ""),
    ("metrics/queue/pointer", "queues/0"),
    ("metrics/queue/pointer", "/~2"),
    ("metrics/lift/columns/value", ""),
    ("metrics/error_ratio/variant_query", "sum(up)"),
    ("metrics/mismatches/variant_query", MISSING),
    ("metrics/error_ratio/watermark", {}),
    ("metrics/error_ratio/watermark/event_time_query", "max(x)"),
    ("metrics/error_ratio/min_coverage", 1.1),
]


@pytest.mark.parametrize(("path", "value"), SLIPS)
def test_an_editor_marks_the_slips_that_a_schema_can_see(path: str, value: Any) -> None:
    """Each of these is refused by both, so that none can be moved to the list unseen."""
    assert not is_valid(changed(FULL, path, value))
    assert problems_of(changed(FULL, path, value)) != []


@pytest.mark.parametrize("text", ["$${A}{", "${A}${B}", "$", "{A}", "${_9}"])
def test_a_text_that_names_variables_well_is_read_by_both(text: str) -> None:
    """What a variable leaves behind when it is looked away is no other variable."""
    document = changed(FULL, "labels/track/variant", text)
    assert is_valid(document)
    assert problems_of(document) == []
