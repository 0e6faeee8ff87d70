"""`gatekeeper explain EVENT`: one event in full."""

from __future__ import annotations

from itertools import islice

from gatekeeper.cli.compose import has_pattern, log_lines, open_ledger
from gatekeeper.cli.present import page_outcome
from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.address import only_remote
from gatekeeper.model.canonical import MAX_SAFE_INTEGER
from gatekeeper.render.explain import explain_page
from gatekeeper.replay.history import find_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.model.exchange import LogLine


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
    found = find_event(_lines(paths, wanted), wanted).event
    if found is None:  # pragma: no cover - find_event answers lines with an event only
        raise InputRefusedError(f"no event is named {wanted!r}", remedy="list events with: gatekeeper replay")
    return found


def _lines(paths: tuple[str, ...], wanted: str) -> Iterator[LogLine]:
    """The lines among which it is looked for; a ledger elsewhere is first asked for the line with this seq alone."""
    remote = only_remote(paths)
    if remote is not None and wanted.isascii() and wanted.isdigit() and 0 < int(wanted[:17]) <= MAX_SAFE_INTEGER:
        from gatekeeper.cli.remote import log_lines_of

        yield from islice(log_lines_of(remote, after=int(wanted) - 1), 1)
    yield from log_lines(paths)
