"""The pure judge: (policy, snapshot, context) -> decision, the same bytes on every machine."""

from __future__ import annotations

from gatekeeper.evaluator.judge import evaluate

__all__ = ["evaluate"]
