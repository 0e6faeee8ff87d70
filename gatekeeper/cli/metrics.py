"""`gatekeeper log metrics`: what monitoring should know of the gate, for a textfile collector or a Pushgateway."""

from __future__ import annotations

import os
from contextlib import suppress

from gatekeeper.cli.compose import log_lines
from gatekeeper.cli.outcome import Outcome
from gatekeeper.errors import LogError
from gatekeeper.render.exposition import exposition
from gatekeeper.replay.metrics import Measures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values


def metrics(values: Values) -> Outcome:
    """The text on standard output, or in the file that --out names, which is replaced as a whole."""
    measures = Measures()
    for line in log_lines(values.texts("log"), lambda data: b"decision" in data):
        if line.event is not None:
            measures.take(line.event)
    text = exposition(measures.families()).encode()
    path = values.optional_text("out")
    if path is None:
        return Outcome(text)
    _replace(path, text)
    return Outcome()


def _replace(path: str, text: bytes) -> None:
    """Whoever reads the file finds the old text or the new one; others may read it, whatever the umask says."""
    temporary = f"{path}.{os.getpid()}"  # the collector reads *.prom only
    try:
        with open(temporary, "wb") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise LogError(
            f"{path} cannot be written: {error.strerror or error}", remedy="give --out a place that this user may write"
        ) from None
