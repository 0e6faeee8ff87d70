"""`gatekeeper verify`: is the chain intact, and does every decision re-evaluate to what was recorded?"""

from __future__ import annotations

from gatekeeper.cli.compose import log_lines
from gatekeeper.cli.damaged import as_words
from gatekeeper.cli.present import page_outcome
from gatekeeper.errors import LogDamagedError
from gatekeeper.render.logs import verify_page
from gatekeeper.replay.verify import verify as verify_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def verify(values: Values) -> Outcome:
    """0 when nothing differs; 65 names the first line that does."""
    report = verify_lines(log_lines(values.texts("log")), values.integer("from_seq") or 1)
    stderr: tuple[str, ...] = () if report.first_wrong is None else (f"gatekeeper: {report.first_wrong}",)
    stderr = (*stderr, *as_words(report.damaged))
    code = 0 if report.ok else LogDamagedError.exit_code
    return page_outcome(verify_page(report.to_dict()), values, code=code, stderr=stderr)
