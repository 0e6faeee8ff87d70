"""What the schema of a policy says of each key beyond its type: words for people, bounds, patterns.

The bounds are those of `review.rules`; a test finds no document on which the two disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema_words import BLANK, NOT_BLANK, exactly, note
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.model.stages import DRY_RUN, LONGEST_STAGE, ROLLOUT_100, SHADOW
from gatekeeper.review.rules import LONGEST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

_CANARY = exactly(r"CANARY_(?:[1-9][0-9]?(?:\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)")
_URL = exactly(rf"[Hh][Tt][Tt][Pp][Ss]?://[^{BLANK}/?#@]+(?:[/?#][^{BLANK}]*)?")

_NOT_NEGATIVE = {"minimum": 0}
_SECONDS = {"minimum": 0, "maximum": LONGEST_SECONDS}
_SECONDS_ABOVE_0 = {"exclusiveMinimum": 0, "maximum": LONGEST_SECONDS}
_STAGE = {"$ref": "#/$defs/Stage"}
_ENFORCED = {"type": "object", "properties": {"enforcement": {"const": "enforce"}}}

STAGE: dict[str, Any] = {
    "description": "A step of a run: DRY_RUN, SHADOW (0 percent), CANARY_<percent> (above 0, below 100), ROLLOUT_100.",
    "type": "string",
    "anyOf": [
        {"enum": [DRY_RUN, SHADOW, ROLLOUT_100]},
        {"pattern": _CANARY, "maxLength": LONGEST_STAGE},
    ],
    "examples": [DRY_RUN, SHADOW, "CANARY_0.5", "CANARY_10", ROLLOUT_100],
}


def _stages(description: str, *examples: Any) -> dict[str, Any]:
    return note(description, *examples, minItems=1, items=_STAGE)


def _metric(*examples: Any) -> dict[str, Any]:
    return note("Name of the metric, as it stands in the snapshot.", *examples, minLength=1)


def _on_trouble(description: str) -> dict[str, Any]:
    return note(f"{description} DEGRADE holds the run, REJECT stops it.")


_DESCRIPTION = note("For reviewers; read by no rule.", "Share of checkout requests answered with 5xx.")
_RUNBOOK = note(
    "Address that is shown with a finding; without credentials.", "https://runbooks.example.com/errors", pattern=_URL
)

NOTES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "Policy": {
        "": {
            "anyOf": [
                {"required": ["constraints"], "properties": {"constraints": {"minItems": 1}}},
                {"required": ["guardrails"], "properties": {"guardrails": {"contains": _ENFORCED}}},
            ],
            "dependentSchemas": {
                "promotion_gate": {"required": ["primary"], "properties": {"primary": {"minItems": 1}}}
            },
        },
        "policy_id": note("Name of the policy.", "checkout-guarded", pattern=NOT_BLANK),
        "policy_version": note(
            "Its version; part of the default run id, so letters, digits and . _ - : / @ serve best.",
            "2026-02-18",
            "7",
            pattern=NOT_BLANK,
        ),
        "primary": note("What the change should gain; asked by the promotion gate. Each metric once."),
        "guardrails": note("What it must not harm; asked at every stage unless a rule names its stages."),
        "constraints": note("What must never be; asked at every stage unless a rule names its stages."),
        "missing_data_policy": note("Which evidence is needed, how old it may be, and what happens without it."),
        "promotion_gate": note(
            "Which statistics must be there before which stage. Without it, statistics are not asked."
        ),
        "stages": note(
            "The steps of a run, in this order; percentages rise, ROLLOUT_100 is the last, a canary step is before it.",
            ["SHADOW", "CANARY_5", "CANARY_50", "ROLLOUT_100"],
            items=_STAGE,
            minItems=1,
            uniqueItems=True,
            allOf=[{"contains": {"const": ROLLOUT_100}}, {"contains": {"type": "string", "pattern": "^CANARY_"}}],
        ),
        "stage_policy": note("How long a stage lasts at least. Without it, no wait and no rule for the window."),
        "evidence": note("References that a run must bring."),
        "holds": note(
            "Category of reason codes: how a hold of that category is owned, retried, escalated and ended.",
            {"observation_missing": {"retry_after_seconds": 300, "owners": ["sre"]}},
            propertyNames={"enum": [str(category) for category in HOLD_CATEGORIES]},
        ),
        "suppressions": note("Remarks of `policy check` that are meant, and why; no run is judged by them."),
    },
    "Primary": {
        "": {"description": "A goal, judged by the promotion gate and never by the safety gate."},
        "metric": _metric("conversion_rate"),
        "direction": note("Where the metric should go; down turns effect and interval round."),
        "min_lift": note("Smallest gain over the baseline. Unit: the metric's.", 0.002),
        "description": _DESCRIPTION,
    },
    "Guardrail": {
        "": {
            "description": "A metric with a threshold, budgets of allowed worsening, or both.",
            "anyOf": [{"required": [key]} for key in ("threshold", "budget_delta", "budget_ratio")],
        },
        "metric": _metric("error_rate_5m", "p95_latency_ms_5m"),
        "op": note("The healthy side: a value equal to a <= threshold is healthy."),
        "threshold": note("Absolute limit. Unit: the metric's.", 0.01, 400),
        "budget_delta": note(
            "Largest worsening against the baseline; equal is within. Unit: the metric's.", 0.001, **_NOT_NEGATIVE
        ),
        "budget_ratio": note(
            "Largest worsening relative to the baseline's absolute value, 0.02 is 2 %. Unit: none, a ratio.",
            0.02,
            **_NOT_NEGATIVE,
        ),
        "range": note(
            "[low, high] that the metric can be at all, bounds included; a value outside is invalid evidence. "
            "Unit: the metric's.",
            [0, 1],
        ),
        "enforcement": note("enforce decides; observe writes the finding and touches neither verdict nor reasons."),
        "stages": _stages("Asked only there; without it, at every stage.", ["CANARY_50", "ROLLOUT_100"]),
        "description": _DESCRIPTION,
        "runbook": _RUNBOOK,
    },
    "Constraint": {
        "": {"description": "Something that must never be, at any age of the evidence."},
        "kind": note("must_be_zero takes numbers; must_be_false takes false and 0 as healthy, true and 1 as violated."),
        "metric": _metric("pii_leak_incidents"),
        "stages": _stages("Asked only there; without it, at every stage.", ["ROLLOUT_100"]),
        "description": _DESCRIPTION,
        "runbook": _RUNBOOK,
    },
    "MissingDataPolicy": {
        "": {"description": "What to do when evidence is missing or old."},
        "required_metrics": note(
            "Must be there at every check, whoever asks for them.", ["error_rate_5m"], items={"minLength": 1}
        ),
        "on_missing": _on_trouble("When a metric that is needed is not there."),
        "max_freshness_seconds": note(
            "Oldest evidence that is used; equal is fresh; not asked without it. Unit: seconds.", 120, **_SECONDS
        ),
        "max_watermark_skew_seconds": note(
            "How far one source may lag behind the newest; not asked without it. Unit: seconds.", 60, **_SECONDS
        ),
        "on_stale": _on_trouble("When evidence is older, lags more, or states no age."),
        "on_missing_baseline": _on_trouble(
            "When a budget has no baseline. Without this key, a snapshot without any baseline leaves budgets unchecked."
        ),
        "precedence": note(
            "violations_first: shown harm decides over missing evidence. evidence_first: the first phase in trouble "
            "decides alone, as in the founding order."
        ),
        "max_baseline_age_seconds": note(
            "Oldest baseline that is used; not asked without it. Unit: seconds.", 600, **_SECONDS
        ),
    },
    "PromotionGate": {
        "": {"description": "Statistics asked on entering the stages named, after safety has passed."},
        "required_for_stages": _stages("On entering which stages they are asked.", ["ROLLOUT_100"]),
        "min_sample_size": note(
            "Smallest sample of each primary. Unit: what the experiment counts, users or requests.",
            100000,
            **_NOT_NEGATIVE,
        ),
        "require_ci_low_gt": note("The lower confidence bound of the gain must be above it. Unit: the metric's.", 0.0),
        "on_not_ready": _on_trouble("When the sample, the bound or the lift is not there."),
    },
    "StagePolicy": {
        "": {"description": "How long a stage lasts at least; with it, evidence must come from within the stage."},
        "min_stage_seconds": note(
            "A later stage may be entered this long after the current one was. Unit: seconds.", 900, **_SECONDS_ABOVE_0
        ),
    },
    "EvidencePolicy": {
        "": {"description": "References that a run must bring: --evidence change_id=CHG-123."},
        "required": note(
            "Their names; approval asks for an approval of exactly this run, stage and revision.",
            ["change_id", "dashboard_id"],
            items={"pattern": NOT_BLANK},
        ),
        "on_missing": _on_trouble("When one is not there or empty."),
    },
    "HoldPolicy": {
        "": {
            "description": "How a hold of one category goes; seconds count from the moment the run was first held.",
            "dependentRequired": {"on_deadline": ["deadline_seconds"]},
        },
        "retry_after_seconds": note("The hold is due from then on. Unit: seconds.", 300, **_SECONDS),
        "escalate_after_seconds": note("When the owners should call somebody. Unit: seconds.", 1800, **_SECONDS),
        "owners": note("Whose turn it is.", ["sre"], minItems=1, items={"pattern": NOT_BLANK}),
        "deadline_seconds": note("When waiting ends; never without it. Unit: seconds.", 259200, **_SECONDS_ABOVE_0),
        "on_deadline": note("REJECT stops the run at the next check behind the deadline that still holds."),
    },
    "Suppression": {
        "": {"description": "A remark that the policy's owners have answered: it is shown and does not count."},
        "code": note("The remark, by its code.", "policy.canary_jump", pattern=NOT_BLANK),
        "reason": note("Why it does not count.", "Half a percent is a smoke test.", pattern=NOT_BLANK),
        "rule": note(
            "The one rule that is meant, named as in findings; without it, wherever the code stands.",
            "stage:CANARY_5",
            pattern=NOT_BLANK,
        ),
    },
    "Precedence": {"": {"description": "In which order troubles decide."}},
    "OnTrouble": {"": {"description": "What missing or old evidence does: hold the run, or stop it."}},
}
