"""The pure judge: (policy, snapshot, context) -> decision, the same bytes on every machine."""

from __future__ import annotations

from gatekeeper.evaluator.judge import assess, evaluate

__all__ = ["assess", "evaluate"]
