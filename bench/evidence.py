"""Evidence for the checks that are measured: the example snapshots of the repository, fresh and each time different."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POLICY = os.path.join(ROOT, "policies", "exp-eval-policy.json")
REFERENCES = {"change_id": "CHG-123", "dashboard_id": "dash-foo"}

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def read_json(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path: str, document: Any) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)


def example(stage: str) -> Any:
    """The example snapshot of *stage*."""
    return read_json(os.path.join(ROOT, "snapshots", f"{stage}.json"))


def collected(snapshot: Any, at: datetime, *, number: int = 0) -> Any:
    """*snapshot* as if it had been collected at *at*: all its times move along.

    Another *number* gives other, still healthy, values: a decision of its own and no answer from the record.
    """
    moved_by = at - datetime.fromisoformat(snapshot["_meta"]["collected_at"])

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [moved(inner) for inner in value]
        if isinstance(value, str) and _TIME.fullmatch(value):
            return zulu(datetime.fromisoformat(value) + moved_by)
        return value

    document = moved(snapshot)
    document["metrics"]["error_rate_5m"] = round(document["metrics"]["error_rate_5m"] - number * 1e-7, 9)
    document["metrics"]["p95_latency_ms_5m"] = round(document["metrics"]["p95_latency_ms_5m"] - number * 1e-3, 6)
    return document


def zulu(moment: datetime) -> str:
    """RFC 3339, UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def just_now() -> datetime:
    """A moment ago, in whole seconds, so that no clock finds it in the future."""
    return datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
