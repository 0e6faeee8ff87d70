"""Policies that load, to be spoilt one thing at a time, and a strategy that makes more of them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from gatekeeper.errors import PolicyError
from gatekeeper.model.canonical import is_number
from gatekeeper.model.document import escape_pointer
from gatekeeper.review.load import check_policy_document, load_policy_document

MISSING: Any = object()
"""Value that takes a key out."""

FULL: dict[str, Any] = {
    "policy_id": "checkout-api",
    "policy_version": "7",
    "primary": [{"metric": "lift", "direction": "up", "min_lift": 0.0, "description": "d"}],
    "guardrails": [
        {
            "metric": "error_rate",
            "op": "<=",
            "threshold": 0.02,
            "budget_delta": 0.005,
            "budget_ratio": 0.1,
            "range": [0, 1],
            "enforcement": "enforce",
            "stages": ["CANARY_10", "ROLLOUT_100"],
            "description": "d",
            "runbook": "https://runbooks.example.com/errors?x=1#top",
        }
    ],
    "constraints": [
        {
            "kind": "must_be_zero",
            "metric": "data_loss_events",
            "stages": ["DRY_RUN"],
            "description": "d",
            "runbook": "http://runbooks.example.com",
        }
    ],
    "missing_data_policy": {
        "required_metrics": ["error_rate"],
        "on_missing": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
        "on_stale": "REJECT",
        "on_missing_baseline": "DEGRADE",
        "precedence": "violations_first",
        "max_baseline_age_seconds": 600,
    },
    "promotion_gate": {
        "required_for_stages": ["ROLLOUT_100"],
        "min_sample_size": 100000,
        "require_ci_low_gt": 0.0,
        "on_not_ready": "DEGRADE",
    },
    "stages": ["DRY_RUN", "SHADOW", "CANARY_0.5", "CANARY_10", "ROLLOUT_100"],
    "stage_policy": {"min_stage_seconds": 900},
    "evidence": {"required": ["change_id"], "on_missing": "DEGRADE"},
    "holds": {
        "evidence_missing": {
            "retry_after_seconds": 300,
            "escalate_after_seconds": 1800,
            "owners": ["sre"],
            "deadline_seconds": 3600,
            "on_deadline": "REJECT",
        }
    },
    "suppressions": [{"code": "policy.canary_jump", "rule": "stage:CANARY_10", "reason": "r"}],
}
"""Every key of SPEC 3 once."""


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of *document* with the value at *path* (`guardrails/0/op`) set, or taken out (MISSING)."""
    copy = deepcopy(document)
    *parents, last = path.split("/")
    place: Any = copy
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    key: Any = int(last) if isinstance(place, list) else last
    if value is MISSING:
        del place[key]
    else:
        place[key] = value
    return copy


def encoded(document: Any) -> bytes:
    """Bytes of a policy file; floats that JSON does not know come out as NaN and Infinity."""
    return json.dumps(document).encode()


def refusal(document: Any) -> list[str]:
    """The lines with which *document* is refused; none when it loads."""
    try:
        load_policy_document(document if isinstance(document, bytes) else encoded(document), "p.json")
    except PolicyError as error:
        return error.message.splitlines()
    return []


def errors(document: Any) -> list[tuple[str, str]]:
    """Pointer and code of every error in *document*, in the order of the file."""
    loaded, found = check_policy_document(encoded(document), "p.json")
    return [(one.pointer, one.code) for one in found] if loaded is None else []


def places(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Path and value of all that stands below *value*, in the form that `changed` takes."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[str, Any]] = []
    for key, inner in members:
        here = f"{path}/{escape_pointer(str(key))}".removeprefix("/")
        found += [(here, inner), *places(inner, here)]
    return found


_ON_TROUBLE = st.sampled_from(["DEGRADE", "REJECT"])
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(is_number) | st.integers(-(2**53) + 1, 2**53 - 1)
_NOT_NEGATIVE = st.floats(0, 1e9) | st.integers(0, 10**9)
_ABOVE_ZERO = st.floats(1e-6, 1e9) | st.integers(1, 10**9)
_NAMES = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() != "")
_METRICS = st.text(min_size=1, max_size=8)
_STAGES = st.lists(st.integers(1, 199), min_size=1, max_size=4, unique=True).map(
    lambda halves: ["DRY_RUN", *(f"CANARY_{half / 2:g}" for half in sorted(halves)), "ROLLOUT_100"]
)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A document that SPEC 3 allows: any subset of the optional keys, any number where one may stand."""

    def some(mandatory: dict[str, Any], optional: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
        return draw(st.fixed_dictionaries({key: st.just(value) for key, value in mandatory.items()}, optional=optional))

    stages = draw(_STAGES)
    some_stages = st.lists(st.sampled_from(stages), min_size=1, max_size=3)
    words = {"description": st.text(max_size=5), "runbook": st.just("https://runbooks.example.com/a")}

    def guardrail() -> dict[str, Any]:
        low = draw(st.integers(-100, 100))
        kind = draw(st.sampled_from(["threshold", "budget_delta", "budget_ratio"]))
        limit = draw(_NUMBERS if kind == "threshold" else _NOT_NEGATIVE)
        op = draw(st.sampled_from(["<=", "<", ">=", ">"]))
        budgets = {key: _NOT_NEGATIVE for key in ("budget_delta", "budget_ratio") if key != kind}
        enforcement = st.sampled_from(["enforce", "observe"])
        optional = {"range": st.just([low, low + 0.5]), "enforcement": enforcement, "stages": some_stages}
        return some({"metric": draw(_METRICS), "op": op, kind: limit}, {**budgets, **optional, **words})

    def hold() -> dict[str, Any]:
        ends = draw(st.booleans())
        return some(
            {"deadline_seconds": draw(_ABOVE_ZERO)} if ends else {},
            {
                "retry_after_seconds": _NOT_NEGATIVE,
                "escalate_after_seconds": _NOT_NEGATIVE,
                "owners": st.lists(_NAMES, min_size=1, max_size=2),
                **({"on_deadline": st.sampled_from(["REJECT", "ESCALATE"])} if ends else {}),
            },
        )

    kinds = st.sampled_from(["must_be_zero", "must_be_false"])
    constraint = {"kind": draw(kinds), "metric": draw(_METRICS)}
    primaries = st.lists(
        st.fixed_dictionaries(
            {"metric": _METRICS, "direction": st.sampled_from(["up", "down"])}, optional={"min_lift": _NUMBERS}
        ),
        min_size=1,
        max_size=2,
        unique_by=lambda primary: str(primary["metric"]),
    )
    with_gate = draw(st.booleans())
    gate = {"min_sample_size": _NOT_NEGATIVE, "require_ci_low_gt": _NUMBERS, "on_not_ready": _ON_TROUBLE}
    seconds = ("max_freshness_seconds", "max_watermark_skew_seconds", "max_baseline_age_seconds")
    missing = {
        "required_metrics": st.lists(_METRICS, max_size=2),
        "precedence": st.sampled_from(["violations_first", "evidence_first"]),
        **dict.fromkeys(("on_missing", "on_stale", "on_missing_baseline"), _ON_TROUBLE),
        **dict.fromkeys(seconds, _NOT_NEGATIVE),
    }
    evidence = {"required": st.lists(_NAMES, max_size=2), "on_missing": _ON_TROUBLE}
    return some(
        {
            "policy_id": draw(_NAMES),
            "policy_version": draw(_NAMES),
            "stages": stages,
            "constraints": [some(constraint, {"stages": some_stages, **words})],
            "guardrails": [guardrail() for _ in range(draw(st.integers(0, 2)))],
            "missing_data_policy": some({}, missing),
            "evidence": some({}, evidence),
            "holds": {
                name: hold() for name in draw(st.sets(st.sampled_from(["observation_stale", "evidence_missing"])))
            },
            **(
                {"primary": draw(primaries), "promotion_gate": some({"required_for_stages": draw(some_stages)}, gate)}
                if with_gate
                else {}
            ),
        },
        {"stage_policy": st.fixed_dictionaries({}, optional={"min_stage_seconds": _ABOVE_ZERO})},
    )
