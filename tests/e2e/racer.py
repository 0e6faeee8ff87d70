"""The installed command, all of it loaded, that waits at a barrier: `python racer.py DESCRIPTOR ARGUMENTS…`.

It goes on when the other end of the descriptor's pipe is closed, at the same moment as all others that
wait there.
"""

from __future__ import annotations

import os
import sys

from gatekeeper.cli import app, check, resume  # noqa: F401 - loaded before the race
from gatekeeper.documents import load, structure  # noqa: F401 - the same
from gatekeeper.review import rules  # noqa: F401 - the same

if __name__ == "__main__":
    barrier = int(sys.argv.pop(1))
    os.write(1, b"\n")  # ready
    while os.read(barrier, 1):
        pass
    app.main()
