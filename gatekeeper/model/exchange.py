"""What the orchestrator and a ledger hand each other when events are appended."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ConflictError(Exception):
    """Somebody else was first: read again and decide again. Never leaves the orchestrator."""


@dataclass(frozen=True)
class Expectation:
    """What a writer has seen of a run; an append against anything else is a conflict.

    Attributes:
        run_id, version: the run and the `seq` of its last event, 0 when it is unknown.
        slot: experiment, variant, whether simulated; None when no run of a slot is begun.
        live_run_id: the live run of the slot as seen, None when there is none.
        key, key_seq: idempotency key and the `seq` of the newest decision that has it, 0 when unknown.
    """

    run_id: str
    version: int
    slot: tuple[str, str, bool] | None = None
    live_run_id: str | None = None
    key: str | None = None
    key_seq: int = 0


@dataclass(frozen=True)
class Receipt:
    """What an append did: the sealed events, `policy` events included, and what people should be told."""

    events: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class LogLine:
    r"""One line of a log as a reader meets it.

    Attributes:
        source: the file it stands in.
        number: its line number there, from 1.
        data: its bytes without `\n`.
        event: the JSON object it holds; None when it is damaged.
        problem: what is wrong with it (`damaged`: no JSON object, `torn`: the unterminated last line); None.
    """

    source: str
    number: int
    data: bytes
    event: Mapping[str, Any] | None
    problem: str | None = None
