"""The JSON Schema of a snapshot: any JSON object is one, and `WellFormed` is what evidence should look like.

What is not well-formed is read all the same, since bad evidence is a finding of the decision and never a crash of the
gate; so the whole accepts it, and says so. Collectors check themselves against `#/$defs/WellFormed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema_parts import (
    BOOLEAN,
    DIALECT,
    DURATION,
    NUMBER,
    OBJECT,
    TEXT,
    TIME,
    described,
    list_of,
    map_of,
    or_null,
    problem_code,
    refers,
    thing,
)
from gatekeeper.model.snapshot import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIME, _DURATION = refers("Time"), refers("Duration")
_AGE = {"type": "number", "minimum": 0}

_META: Mapping[str, Mapping[str, Any]] = {
    "collected_at": described("When the evidence was taken.", or_null(_TIME), "2026-02-18T01:00:05Z"),
    "watermark_event_time": described("Time of the newest event in it.", or_null(_TIME), "2026-02-18T00:59:40Z"),
    "freshness_seconds": described("Age that the collector states. Unit: seconds.", or_null(_AGE), 25),
    "window": described("Over what the values were taken.", or_null(_DURATION), "5m"),
    "sources": described("What the evidence comes from, each with its own age.", or_null(list_of(refers("Source")))),
    "snapshot_id": described("A name of yours; logged.", or_null(TEXT), "2026-02-18T01:00:05Z-exp-42-B"),
}


def snapshot_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a whole file."""
    return {
        "$schema": DIALECT,
        "$id": "urn:gatekeeper:schema:snapshot:1",
        "title": "gatekeeper snapshot",
        "description": "The evidence for one check: what was measured, against what, and what went wrong meanwhile.",
        "type": "object",
        "anyOf": [
            refers("WellFormed"),
            {"description": "Any other object is read, too, and judged as missing or invalid evidence."},
        ],
        "$defs": dict(sorted(_definitions().items())),
    }


def _definitions() -> dict[str, Any]:
    parts = {
        "baseline": described("The same metrics without the change.", or_null(refers("Side"))),
        "promotion": described("Primary metric: its statistics; or one of these, flat.", or_null(refers("Promotion"))),
    }
    sides = {
        "observations": described(
            "Metric: how its value came about.",
            or_null(map_of(refers("Observation"))),
            {"error_rate_5m": {"source": "prometheus", "problem": None}},
        ),
        "_meta": described("When, from where, how complete.", or_null(refers("Meta"))),
    }
    return {
        "WellFormed": {
            "description": "Evidence as it should be: with metrics as an object of its own, or flat.",
            "anyOf": [refers("Wrapped"), refers("Flat")],
        },
        "Wrapped": thing("Metrics in an object of their own.", _metrics(), {**parts, **sides, **_META}),
        "Flat": {**thing("Metrics at the top.", {}, {**parts, **sides}), "additionalProperties": refers("Value")},
        "Side": {
            "description": "A snapshot's baseline: metrics, observations and times of its own.",
            "anyOf": [
                thing("Metrics in an object of their own.", _metrics(), {**sides, **_META}),
                {**thing("Metrics at the top.", {}, sides), "additionalProperties": refers("Value")},
            ],
        },
        "Value": {
            "description": "A finite number; true or false for must_be_false; null is missing. Unit: the metric's.",
            "type": ["number", "boolean", "null"],
            "examples": [0.008, 360, False],
        },
        "Meta": thing(
            "When and from where the evidence comes.",
            {},
            {
                **_META,
                "collector_digest": described("Digest of the collection file that it was taken with.", or_null(TEXT)),
                "query_time": described("The moment that all queries were asked for.", or_null(_TIME)),
            },
        ),
        "Source": thing(
            "One source of the evidence, with its age.",
            {
                "name": described("Shown where the source is to blame.", TEXT, "warehouse"),
                "watermark_event_time": described(
                    "How far its data reach; a listed source without it is missing evidence.", or_null(_TIME)
                ),
            },
            {
                "metrics": described("What comes from it; without the list, everything may.", list_of(TEXT)),
                "freshness_seconds": described("Age of its data. Unit: seconds.", or_null(_AGE), 25),
            },
        ),
        "Observation": _observation(),
        "Problem": thing(
            "What went wrong; decides the rules of the metric, whose value then confirms nothing.",
            {"code": problem_code()},
            {
                "detail": described("One line for people.", TEXT),
                "kind": described("Why a source could not be asked.", TEXT, "timeout"),
            },
        ),
        "Statistics": _statistics(),
        "Promotion": {
            "description": "Statistics by primary metric; or those of the policy's only primary, flat.",
            "anyOf": [map_of(refers("Statistics")), {**refers("Statistics"), "anyOf": _one_of_them()}],
        },
        "Time": TIME,
        "Duration": DURATION,
    }


def _metrics() -> dict[str, Any]:
    example = {"error_rate_5m": 0.008, "pii_leak_incidents": 0, "prohibited_feature_present": False}
    return {
        "metrics": described("Name of a metric: what was measured of the variant.", map_of(refers("Value")), example)
    }


def _one_of_them() -> list[dict[str, Any]]:
    """What tells flat statistics from a mapping of them."""
    return [{"required": [name]} for name in STATISTICS]


def _statistics() -> dict[str, Any]:
    number = or_null(NUMBER)
    return thing(
        "Variant minus baseline, in the metric's unit.",
        {},
        {
            "sample_size": described("Compared with min_sample_size. Unit: users or requests.", number, 184211),
            "effect_estimate": described("Compared with min_lift. Unit: the metric's.", number, 0.0031),
            "ci_low": described("Lower confidence bound of the effect. Unit: the metric's.", number, 0.0009),
            "ci_high": described("Upper confidence bound of the effect. Unit: the metric's.", number, 0.0053),
            "assignment_stable": described("False: users changed sides, and the run is held.", or_null(BOOLEAN)),
            "p_value": {"description": "Recorded, never judged.", "examples": [0.004]},
            "sequential_test_state": {"description": "Recorded, never judged.", "examples": ["continue"]},
        },
    )


def _observation() -> dict[str, Any]:
    texts = {
        "source": "Where the value came from.",
        "query": "What was asked, as it was sent.",
        "endpoint": "Whom; credentials in addresses are masked.",
        "value_text": "The value as the source wrote it.",
        "pointer": "Of http: where the value stood.",
        "path": "Of a file: which one.",
        "metric": "Of a file: the metric's name there.",
        "stated_source": "Of a file: the source that it stated.",
        "snapshot_id": "Of a file: its name of itself.",
    }
    return thing(
        "How one value came about.",
        {},
        {
            **{name: described(words, or_null(TEXT)) for name, words in texts.items()},
            "watermark_event_time": described("The metric's own watermark.", or_null(_TIME)),
            "coverage_ratio": described(
                "Part of the window with samples. Unit: none, a ratio.",
                or_null({"type": "number", "minimum": 0, "maximum": 1}),
                1.0,
            ),
            "problem": described("What went wrong; null where nothing did.", or_null(refers("Problem"))),
            "collected_at": {"description": "Of a file: when it says that it was taken."},
            "http_status": described(
                "What the server answered, where out of the ordinary.", or_null({"type": "integer"}), 503
            ),
            "warnings": described("What the server said, where out of the ordinary.", list_of(TEXT)),
            "infos": {"description": "What else the server said."},
            "clock_difference_seconds": described(
                "Our clock minus the server's, beyond a second. Unit: seconds.", or_null(NUMBER)
            ),
            "imputed": described("An empty answer, which the collection file calls 0.", BOOLEAN),
            "columns": described("Of sql: our names and the query's.", OBJECT),
        },
    )
