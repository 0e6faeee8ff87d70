"""A rollout gate: may this change go on to the next share of its users?

As a library::

    from gatekeeper import Context, evaluate, load_policy, load_snapshot

    policy = load_policy("policies/exp-eval-policy.json")
    snapshot = load_snapshot("snapshots/CANARY_10.json")
    decision = evaluate(policy, snapshot, Context(stage="CANARY_10", evaluated_at="2026-02-18T01:00:10Z"))

Importing the package does no I/O and loads nothing else: each name is fetched when it is first used (PEP 562).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.errors import (
        CanonicalError,
        CollectionError,
        DocumentError,
        GatekeeperError,
        GoldenCaseError,
        InputRefusedError,
        LedgerUnreachableError,
        LogDamagedError,
        LogError,
        LogInDoubtError,
        PolicyError,
        ProofError,
        RunRefusedError,
        ServiceUnavailableError,
        SnapshotError,
        StateUnreadableError,
        TokenError,
        UsageError,
    )
    from gatekeeper.evaluator import evaluate
    from gatekeeper.evidence.file import load_snapshot
    from gatekeeper.model.context import Context
    from gatekeeper.model.decision import Action, Decision, Finding, Outcome
    from gatekeeper.model.policy import Policy
    from gatekeeper.model.reasons import Verdict
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.review.load import load_policy
    from gatekeeper.version import __version__

__all__ = [
    "Action",
    "CanonicalError",
    "CollectionError",
    "Context",
    "Decision",
    "DocumentError",
    "Finding",
    "GatekeeperError",
    "GoldenCaseError",
    "InputRefusedError",
    "LedgerUnreachableError",
    "LogDamagedError",
    "LogError",
    "LogInDoubtError",
    "Outcome",
    "Policy",
    "PolicyError",
    "ProofError",
    "RunRefusedError",
    "ServiceUnavailableError",
    "Snapshot",
    "SnapshotError",
    "StateUnreadableError",
    "TokenError",
    "UsageError",
    "Verdict",
    "__version__",
    "evaluate",
    "load_policy",
    "load_snapshot",
]

_HOMES = {
    "__version__": "gatekeeper.version",
    "Action": "gatekeeper.model.decision",
    "Context": "gatekeeper.model.context",
    "Decision": "gatekeeper.model.decision",
    "Finding": "gatekeeper.model.decision",
    "Outcome": "gatekeeper.model.decision",
    "Policy": "gatekeeper.model.policy",
    "Snapshot": "gatekeeper.model.snapshot",
    "Verdict": "gatekeeper.model.reasons",
    "evaluate": "gatekeeper.evaluator",
    "load_policy": "gatekeeper.review.load",
    "load_snapshot": "gatekeeper.evidence.file",
}


def __getattr__(name: str) -> object:
    """Fetch a public name from its module at first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, "gatekeeper.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
