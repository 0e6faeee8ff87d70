"""`gatekeeper log metrics`: what monitoring should know of the gate, for a textfile collector or a Pushgateway."""

from __future__ import annotations

from gatekeeper.cli.compose import log_lines
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.whole_file import replace_file
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
    try:
        replace_file(path, text, mode=0o644)  # others may read it, and the collector reads *.prom only
    except OSError as error:
        raise LogError(
            f"{path} cannot be written: {error.strerror or error}", remedy="give --out a place that this user may write"
        ) from None
    return Outcome()
