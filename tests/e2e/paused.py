"""The installed command, stopped between its decision and its append: `python paused.py DESCRIPTOR ARGUMENTS…`.

It says `decided` by a line on standard output and goes on when the descriptor's pipe is closed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gatekeeper.cli import app
from gatekeeper.ledger.ndjson import NdjsonLedger

if TYPE_CHECKING:
    from gatekeeper.model.exchange import Receipt

if __name__ == "__main__":
    barrier = int(sys.argv.pop(1))
    append = NdjsonLedger.append

    def paused(self: NdjsonLedger, drafts: Sequence[Mapping[str, Any]], **more: Any) -> Receipt:
        """Wait before the first append of this process."""
        setattr(NdjsonLedger, "append", append)  # noqa: B010
        os.write(1, b"decided\n")
        while os.read(barrier, 1):
            pass
        return append(self, drafts, **more)

    setattr(NdjsonLedger, "append", paused)  # noqa: B010
    app.main()
