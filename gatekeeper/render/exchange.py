"""The page of `log import`."""

from __future__ import annotations

from gatekeeper.render.answer import mapping_of
from gatekeeper.render.page import GOOD, Fields, Page
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def import_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log import`; `events` is 0 where all of the source was there already."""
    head, count = mapping_of(done["head"]), done["events"]
    pairs = [
        ("from", [str(done["source"])]),
        ("into", [str(done["log"])]),
        ("seqs of the source", [f"{done['first_seq']} to {done['last_seq']}"]),
        ("there already", [value_text(done["known"])] if done["known"] else []),
        ("the log ends at", [f"seq {head['seq']}", str(head["digest"])]),
    ]
    headline = f"{count} {'event' if count == 1 else 'events'} imported" if count else "nothing new to import"
    return Page(headline, [Fields(pairs)], document=done, tone=GOOD)
