"""Pairs of policies that differ in a few places, over few metrics and numbers, so that rules meet at their limits."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import assume
from hypothesis import strategies as st

from gatekeeper.errors import PolicyError
from gatekeeper.review.load import load_policy_document

if TYPE_CHECKING:
    from gatekeeper.model.policy import LoadedPolicy

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100")
METRICS = ("a", "b", "flag")
PRIMARIES = ("p", "q")
REFERENCES = ("change_id", "partial_response", "approval")
SECONDS = (60, 120)
WAITS = (60, 900)
OPERATORS = ("<=", "<", ">=", ">")
TROUBLE = ("DEGRADE", "REJECT")
CATEGORIES = ("observation_missing", "observation_stale", "evidence_missing")

Document = dict[str, Any]


def loaded(document: Document) -> LoadedPolicy:
    """The document as a policy."""
    return load_policy_document(json.dumps(document).encode(), "p.json")


def is_sound(document: Document) -> bool:
    """Whether it loads: an edit may leave a rule without limit, or a gate without primary."""
    try:
        loaded(document)
    except PolicyError:
        return False
    return True


def some_stages(draw: st.DrawFn, document: Document) -> list[str]:
    """A few of the policy's stages."""
    return draw(st.lists(st.sampled_from(document["stages"]), min_size=1, max_size=3, unique=True))


def limits(draw: st.DrawFn) -> Document:
    """A guardrail's limits: a threshold, budgets, or both; zero and ties included."""
    kinds = draw(st.sampled_from(["threshold", "threshold", "budget_delta", "budget_ratio", "all"]))
    found: Document = {}
    if kinds in {"threshold", "all"}:
        found["threshold"] = draw(st.integers(0, 4))
    if kinds in {"budget_delta", "all"}:
        found["budget_delta"] = draw(st.sampled_from([0, 1, 2]))
    if kinds in {"budget_ratio", "all"}:
        found["budget_ratio"] = draw(st.sampled_from([0, 0.5, 1]))
    return found


def guardrail(draw: st.DrawFn, document: Document) -> Document:
    """One guardrail, mostly one that decides everywhere."""
    made: Document = {"metric": draw(st.sampled_from(METRICS)), "op": draw(st.sampled_from(OPERATORS)), **limits(draw)}
    if draw(st.integers(0, 2)) == 0:
        low = draw(st.integers(-1, 2))
        made["range"] = [low, low + draw(st.integers(1, 5))]
    if draw(st.integers(0, 4)) == 0:
        made["enforcement"] = draw(st.sampled_from(["observe", "enforce"]))
    if draw(st.integers(0, 3)) == 0:
        made["stages"] = some_stages(draw, document)
    return made


def constraint(draw: st.DrawFn, document: Document) -> Document:
    """One constraint."""
    made: Document = {
        "kind": draw(st.sampled_from(["must_be_zero", "must_be_false"])),
        "metric": draw(st.sampled_from(METRICS)),
    }
    if draw(st.integers(0, 2)) == 0:
        made["stages"] = some_stages(draw, document)
    return made


def primary(draw: st.DrawFn, metric: str) -> Document:
    """One goal."""
    made: Document = {"metric": metric, "direction": draw(st.sampled_from(["up", "down"]))}
    if draw(st.booleans()):
        made["min_lift"] = draw(st.sampled_from([-1, 0, 1]))
    return made


def gate(draw: st.DrawFn, document: Document) -> Document:
    """A promotion gate, of which any part may be absent."""
    optional = {
        "min_sample_size": st.sampled_from([0, 10, 20]),
        "require_ci_low_gt": st.sampled_from([-1, 0, 1]),
        "on_not_ready": st.sampled_from(TROUBLE),
    }
    made: Document = draw(st.fixed_dictionaries({}, optional=optional))
    return {"required_for_stages": some_stages(draw, document), **made}


def hold(draw: st.DrawFn) -> Document:
    """How holds of one category end."""
    made: Document = draw(
        st.fixed_dictionaries({}, optional={"retry_after_seconds": st.sampled_from([0, 60]), "owners": st.just(["x"])})
    )
    if draw(st.booleans()):
        made["deadline_seconds"] = draw(st.sampled_from([100, 200, 300]))
        made["on_deadline"] = draw(st.sampled_from(["REJECT", "ESCALATE"]))
    return made


def missing_data(draw: st.DrawFn) -> Document:
    """Any of its settings."""
    seconds = st.sampled_from(SECONDS)
    made: Document = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "required_metrics": st.lists(st.sampled_from([*METRICS, "p"]), max_size=2),
                "on_missing": st.sampled_from(TROUBLE),
                "on_stale": st.sampled_from(TROUBLE),
                "on_missing_baseline": st.sampled_from(TROUBLE),
                "max_freshness_seconds": seconds,
                "max_watermark_skew_seconds": seconds,
                "max_baseline_age_seconds": seconds,
                "precedence": st.sampled_from(["violations_first", "violations_first", "evidence_first"]),
            },
        )
    )
    return made


@st.composite
def policies(draw: st.DrawFn) -> Document:
    """One policy that loads."""
    canaries = draw(st.lists(st.sampled_from(STAGES[2:5]), min_size=1, unique=True))
    ahead = draw(st.lists(st.sampled_from(STAGES[:2]), unique=True))
    document: Document = {
        "policy_id": "law",
        "policy_version": "1",
        "stages": [stage for stage in STAGES if stage in {*ahead, *canaries, "ROLLOUT_100"}],
    }
    document["guardrails"] = [guardrail(draw, document) for _ in range(draw(st.integers(0, 2)))]
    document["constraints"] = [constraint(draw, document) for _ in range(draw(st.integers(1, 2)))]
    document["missing_data_policy"] = missing_data(draw)
    if draw(st.booleans()):
        document["primary"] = [primary(draw, metric) for metric in PRIMARIES[: draw(st.integers(1, 2))]]
        document["promotion_gate"] = gate(draw, document)
    if draw(st.booleans()):
        document["stage_policy"] = draw(st.sampled_from([{}, *({"min_stage_seconds": wait} for wait in WAITS)]))
    if draw(st.booleans()):
        document["evidence"] = {
            "required": draw(st.lists(st.sampled_from(REFERENCES), max_size=2)),
            "on_missing": draw(st.sampled_from(TROUBLE)),
        }
    document["holds"] = {category: hold(draw) for category in draw(st.sets(st.sampled_from(CATEGORIES)))}
    return document


def _guardrail(draw: st.DrawFn, document: Document, key: str) -> None:
    """Change one key of a guardrail."""
    if not document["guardrails"]:
        return
    entry = draw(st.sampled_from(document["guardrails"]))
    values: dict[str, st.SearchStrategy[Any]] = {
        "threshold": st.integers(0, 4),
        "op": st.sampled_from(OPERATORS),
        "budget_delta": st.sampled_from([0, 1, 2]),
        "budget_ratio": st.sampled_from([0, 0.5, 1]),
        "range": st.tuples(st.integers(-1, 2), st.integers(1, 5)).map(lambda low: [low[0], sum(low)]),
        "enforcement": st.sampled_from(["observe", "enforce"]),
    }
    if key == "limit":  # operator and threshold at once: a limit that is no more or less strict by one of them alone
        entry["threshold"] = draw(values["threshold"])
        entry["op"] = draw(st.sampled_from(OPERATORS[:2] if entry.get("op") in OPERATORS[:2] else OPERATORS[2:]))
        return
    _key(draw, entry, key, _another(draw, entry, key, values[key]) if key in values else some_stages(draw, document))


def _another(draw: st.DrawFn, part: Document, key: str, values: st.SearchStrategy[Any]) -> Any:
    """A value that does not stand there yet."""
    return draw(values.filter(lambda value: value != part.get(key)))


def _constraint(draw: st.DrawFn, document: Document, key: str) -> None:
    if not document["constraints"]:
        return
    entry = draw(st.sampled_from(document["constraints"]))
    if key == "kind":
        entry["kind"] = "must_be_false" if entry["kind"] == "must_be_zero" else "must_be_zero"
    else:
        _key(draw, entry, key, some_stages(draw, document))


def _missing(draw: st.DrawFn, document: Document, key: str) -> None:
    values: dict[str, st.SearchStrategy[Any]] = {
        "required_metrics": st.lists(st.sampled_from([*METRICS, "p"]), max_size=2),
        "precedence": st.sampled_from(["violations_first", "evidence_first"]),
    }
    usual = st.sampled_from(TROUBLE) if key.startswith("on_") else st.sampled_from(SECONDS)
    part = document["missing_data_policy"]
    _key(draw, part, key, _another(draw, part, key, values.get(key, usual)))


def _gate(draw: st.DrawFn, document: Document, key: str) -> None:
    part = document.get("promotion_gate", {})
    values: dict[str, st.SearchStrategy[Any]] = {
        "min_sample_size": st.sampled_from([0, 10, 20]),
        "require_ci_low_gt": st.sampled_from([-1, 0, 1]),
        "on_not_ready": st.sampled_from(TROUBLE),
    }
    _key(draw, part, key, _another(draw, part, key, values[key]) if key in values else some_stages(draw, document))


def _primary(draw: st.DrawFn, document: Document, key: str) -> None:
    entry = draw(st.sampled_from(document.get("primary") or [{}]))
    values = ["up", "down"] if key == "direction" else [-1, 0, 1]
    _key(draw, entry, key, _another(draw, entry, key, st.sampled_from(values)))


def _key(draw: st.DrawFn, part: Document, key: str, value: Any) -> None:
    """Set a key, or take it out."""
    if key in part and draw(st.integers(0, 3)) == 0:
        del part[key]
    else:
        part[key] = value


def _entries(draw: st.DrawFn, document: Document, key: str) -> None:
    """One entry more, one less, or all in another order."""
    entries = document[key]
    action = draw(st.sampled_from(["add", "remove", "reverse"]))
    if action == "reverse" and len(entries) > 1:
        entries.reverse()
    elif action == "remove" and entries:
        entries.remove(draw(st.sampled_from(entries)))
    else:
        made = guardrail(draw, document) if key == "guardrails" else constraint(draw, document)
        entries.insert(draw(st.integers(0, len(entries))), made)


def _goals(draw: st.DrawFn, document: Document, _: str) -> None:
    goals = {one["metric"]: one for one in document.get("primary", [])}
    metric = draw(st.sampled_from(PRIMARIES))
    if metric in goals:
        del goals[metric]
    else:
        goals[metric] = primary(draw, metric)
    document["primary"] = list(goals.values())


def _whole(draw: st.DrawFn, document: Document, key: str) -> None:
    """A part of the policy is another one, or gone."""
    parts: dict[str, Document | None] = {
        "promotion_gate": gate(draw, document),
        "stage_policy": draw(st.sampled_from([{}, *({"min_stage_seconds": wait} for wait in WAITS)])),
        "evidence": _evidence(draw),
        "holds": {category: hold(draw) for category in draw(st.sets(st.sampled_from(CATEGORIES)))},
    }
    if key == "promotion_gate":
        document.setdefault("primary", [primary(draw, "p")])
    if key in document and draw(st.integers(0, 2)) == 0:
        del document[key]
    else:
        document[key] = parts[key]


def _evidence(draw: st.DrawFn) -> Document:
    return {
        "required": draw(st.lists(st.sampled_from(REFERENCES), max_size=2)),
        "on_missing": draw(st.sampled_from(TROUBLE)),
    }


def _stages(draw: st.DrawFn, document: Document, _: str) -> None:
    """One stage more or less; rules that named it name what is left."""
    names = {*document["stages"]} ^ {draw(st.sampled_from(STAGES[:5]))}
    document["stages"] = [name for name in STAGES if name in names]
    for rule in [*document["guardrails"], *document["constraints"], document.get("promotion_gate", {})]:
        for key in {"stages", "required_for_stages"} & rule.keys():
            rule[key] = [name for name in rule[key] if name in names] or ["ROLLOUT_100"]


def _wait(draw: st.DrawFn, document: Document, key: str) -> None:
    part = document.get("stage_policy", {})
    _key(draw, part, key, _another(draw, part, key, st.sampled_from(WAITS)))


_EDITS = {
    _guardrail: ("limit", "threshold", "op", "budget_delta", "budget_ratio", "range", "enforcement", "stages"),
    _constraint: ("kind", "stages"),
    _missing: (
        *("required_metrics", "on_missing", "on_stale", "on_missing_baseline", "precedence"),
        *("max_freshness_seconds", "max_watermark_skew_seconds", "max_baseline_age_seconds"),
    ),
    _gate: ("required_for_stages", "min_sample_size", "require_ci_low_gt", "on_not_ready"),
    _primary: ("direction", "min_lift"),
    _entries: ("guardrails", "constraints"),
    _goals: ("primary",),
    _whole: ("promotion_gate", "stage_policy", "evidence", "holds"),
    _stages: ("stages",),
    _wait: ("min_stage_seconds",),
}
EDITS = {f"{edit.__name__.strip('_')} {key}": (edit, key) for edit, keys in _EDITS.items() for key in keys}
"""Every kind of change, by name."""


@st.composite
def changed(draw: st.DrawFn, name: str) -> tuple[Document, Document]:
    """A policy and what an edit of this name makes of it, sometimes with another one; both load."""
    edits = [name, *([draw(st.sampled_from(sorted(EDITS)))] if draw(st.integers(0, 3)) == 0 else [])]
    old = draw(policies())
    if any(one.startswith(("gate", "primary")) for one in edits):
        old.setdefault("primary", [primary(draw, "p")])
        old.setdefault("promotion_gate", gate(draw, old))
    if name.startswith("wait"):
        old.setdefault("stage_policy", {})
    if name.startswith("guardrail") and not old["guardrails"]:
        old["guardrails"].append(guardrail(draw, old))
    if name.startswith("guardrail budget") or "baseline" in name:
        budget = {name.partition(" ")[2]: 1} if "budget" in name else {"budget_delta": 1}
        old["guardrails"] = [{"metric": "a", "op": draw(st.sampled_from(OPERATORS)), "threshold": 2, **budget}]
    new = deepcopy(old)
    for one in edits:
        edit, key = EDITS[one]
        edit(draw, new, key)
    assume(is_sound(old) and is_sound(new))
    return old, new
