"""`gatekeeper log rotate` and `log archive`: the log in segments."""

from __future__ import annotations

import os

from gatekeeper.cli.compose import open_file_ledger, who_asks
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.ledger.address import refuse_remote
from gatekeeper.render.retention import archive_page, rotate_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


IN_ONE_PIECE = "it stays in one piece; for files that can be kept apart: gatekeeper log export"
"""What to do where a ledger is no file."""


def rotate(values: Values) -> Outcome:
    """Seal the live file under the name of its seqs; a new one begins with the state of all runs."""
    refuse_remote(values.text("log"), what="it is not rotated", instead=IN_ONE_PIECE)
    ledger = open_file_ledger(values.text("log"))
    done = ledger.rotate(actor=who_asks(values.optional_text("actor")), larger_than=(values.integer("max_bytes") or 0))
    warnings = tuple(ledger.view().warnings)
    ledger.close()
    if done is None:
        document = {"rotated": False, "log": ledger.path}
        return page_outcome(rotate_page(document), values, stderr=told(warnings))
    document = {
        "rotated": True,
        "log": ledger.path,
        "segment": done.path,
        "first_seq": done.first_seq,
        "last_seq": done.last_seq,
        "events": done.events,
        "size_bytes": done.size,
        "head_events": done.head_events,
    }
    return page_outcome(rotate_page(document), values, stderr=told((*done.warnings, *warnings)))


def archive(values: Values) -> Outcome:
    """Compress the sealed segments; each original goes once its archive was read back."""
    from gatekeeper.ledger.archive import archive as archive_segments
    from gatekeeper.ledger.fsops import FileOps

    refuse_remote(values.text("log"), what="it has no segments to compress", instead=IN_ONE_PIECE)
    path = os.path.abspath(values.text("log"))
    done = archive_segments(
        FileOps(), path, compression=values.text("compression"), directory=values.optional_text("to")
    )
    segments = [{"segment": one.path, "size_bytes": one.size, "archived_bytes": one.packed} for one in done]
    return page_outcome(archive_page({"log": path, "segments": segments}), values)
