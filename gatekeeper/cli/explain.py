"""`gatekeeper explain EVENT`: one event in full."""

from __future__ import annotations

from gatekeeper.cli.compose import has_pattern, log_lines, open_ledger
from gatekeeper.cli.present import page_outcome
from gatekeeper.errors import InputRefusedError
from gatekeeper.render.explain import explain_page
from gatekeeper.replay.history import find_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def explain(values: Values) -> Outcome:
    """Each rule, what it saw, what it allows, and what to do about it."""
    event = find_in_log(values.texts("log"), values.text("event"))
    return page_outcome(explain_page(event), values)


def find_in_log(paths: tuple[str, ...], wanted: str) -> Mapping[str, Any]:
    """The event of this `event_id` or seq in the files that `--log` names. Raises InputRefusedError."""
    if len(paths) == 1 and not has_pattern(paths[0]):
        event = open_ledger(paths[0]).view().event(wanted)  # one look-up in the projection's index
        if event is not None:
            return event
    found = find_event(log_lines(paths), wanted).event
    if found is None:  # pragma: no cover - find_event answers lines with an event only
        raise InputRefusedError(f"no event is named {wanted!r}", remedy="list events with: gatekeeper replay")
    return found
