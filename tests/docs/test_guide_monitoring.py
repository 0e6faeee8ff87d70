"""The guide to monitoring names every metric with its labels, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from gatekeeper.replay.metrics import Measures

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "monitoring.md"
EVENT = {
    "kind": "decision",
    "ts": "2026-02-18T01:00:10Z",
    "experiment_id": "e",
    "variant_id": "v",
    "stage": "CANARY_10",
    "policy_id": "p",
    "policy_version": "1",
    "policy_digest": "sha256:0123456789abcdef",
    "context": {"evaluated_at": "2026-02-18T01:00:10Z"},
    "metrics_snapshot": {"_meta": {"watermark_event_time": "2026-02-18T01:00:00Z"}},
    "decision": {
        "verdict": "REJECT",
        "reason_codes": ["guardrail_violation:m"],
        "findings": [{"rule": "guardrail:m", "metric": "m", "outcome": "VIOLATED", "margin": -1, "limit": 1}],
    },
}


def test_every_metric_stands_in_the_table_with_its_labels() -> None:
    """An alert is written from this page."""
    rows = re.findall(r"^\| `(gatekeeper_\w+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    described = {name: re.findall(r"`(\w+)`", labels) for name, labels in rows}
    measures = Measures()
    measures.take(EVENT)

    made = {family.name: list(family.samples[0][0]) for family in measures.families()}

    assert described == made


def test_alerts_name_metrics_that_there_are() -> None:
    """An expression over a misspelt name never fires."""
    named = set(re.findall(r"gatekeeper_\w+", "".join(re.findall(r"expr: (.*)", PAGE.read_text(encoding="utf-8")))))

    assert named
    assert named <= {family.name for family in Measures().families()}
