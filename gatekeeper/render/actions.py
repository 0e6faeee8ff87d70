"""Actions in words (SPEC 5.7). gatekeeper states them; a person or the pipeline carries them out."""

from __future__ import annotations

from gatekeeper.render.answer import list_of, mapping_of
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WORDS = {
    "set_percent": "set the share of traffic to {percent} percent",
    "wait_until": "ask again not before {time}",
    "rollback": "roll back to {to_percent} percent",
    "escalate": "escalate to a person: rolling back an irreversible change may do harm itself",
    "collect_metric": "collect metric {metric}",
    "collect_baseline": "collect the baseline of {metric}",
    "attach_evidence": "attach evidence: --evidence {name}=VALUE",
    "collect_approval": "get an approval for {stage}",
    "collect_sample": "collect a larger sample of {metric}: have {have}, need {need}",
    "adopt_policy": "take the changed policy over with --adopt-policy REASON: {digest}",
    "rerun_gate_check": "then ask again for {stage}",
    "plan": "follow the plan of the stages",
}


class _Params(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "(unknown)"


def action_text(action: Any) -> str:
    """One action as a sentence; an unknown one by its name and parameters."""
    fields = mapping_of(action)
    name, params = fields.get("name"), mapping_of(fields.get("params"))
    words = _WORDS.get(name) if isinstance(name, str) else None
    if words is None:
        pairs = " ".join(f"{key}={value_text(value)}" for key, value in params.items())
        return f"{value_text(name)} {pairs}".rstrip()
    return words.format_map(_Params({key: value_text(value) for key, value in params.items()}))


def planned_stages(decision: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The stages of the `plan` that a check of DRY_RUN answers; empty elsewhere."""
    for action in list_of(decision.get("next_actions")):
        fields = mapping_of(action)
        if fields.get("name") == "plan":
            return [mapping_of(stage) for stage in list_of(mapping_of(fields.get("params")).get("stages"))]
    return []


def next_percent(decision: Mapping[str, Any]) -> Any:
    """Share of traffic that the decision's actions state, in percent; None where they state none."""
    for action in list_of(decision.get("next_actions")):
        fields = mapping_of(action)
        params = mapping_of(fields.get("params"))
        if fields.get("name") == "set_percent":
            return params.get("percent")
        if fields.get("name") == "rollback":
            return params.get("to_percent")
    return None
