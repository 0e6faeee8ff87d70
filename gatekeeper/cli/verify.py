"""`gatekeeper verify`: is the chain intact, and does every decision re-evaluate to what was recorded?"""

from __future__ import annotations

from gatekeeper.cli.beginning import pruned_before
from gatekeeper.cli.damaged import as_words
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.present import page_outcome
from gatekeeper.cli.pruned import pruned_words
from gatekeeper.errors import LogDamagedError
from gatekeeper.render.logs import verify_page
from gatekeeper.replay.parts import Wanted
from gatekeeper.replay.verify import verify_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.render.page import Page
    from gatekeeper.replay.blocks import Source
    from gatekeeper.replay.report import Report


def verify(values: Values) -> Outcome:
    """0 when nothing differs; 65 names the first line that does."""
    checkpoints = _checkpoints(values)
    pruned = pruned_before(values.texts("log"))
    wanted = Wanted(
        from_seq=values.integer("from_seq") or 1,
        chain_only=values.flag("chain_only"),
        jobs=values.integer("jobs"),
        behind=None if pruned is None else (pruned.last_seq, pruned.digest),
    )
    with opened_log(values.texts("log"), after=0 if pruned is None else pruned.last_seq) as sources:
        with watched("verifying") as progress:
            report = verify_files(sources, wanted, progress)
        page, is_ok, words = verify_page(report.to_dict()), report.ok, tuple[str, ...]()
        if checkpoints:
            page, is_ok, words = _with_checkpoints(page, report, checkpoints, sources, values)
    stderr: tuple[str, ...] = () if report.first_wrong is None else (f"gatekeeper: {report.first_wrong}",)
    stderr = (*stderr, *as_words(report.damaged), *words, *pruned_words(pruned))
    return page_outcome(page, values, code=0 if is_ok else LogDamagedError.exit_code, stderr=stderr)


def _checkpoints(values: Values) -> list[Checkpoint]:
    """Read first: a note that nobody signed is told before a long log is read."""
    if not values.given("checkpoint"):
        return []
    from gatekeeper.cli.kept import read_checkpoints

    return read_checkpoints(values)


def _with_checkpoints(
    page: Page, report: Report, checkpoints: list[Checkpoint], sources: list[Source], values: Values
) -> tuple[Page, bool, tuple[str, ...]]:
    """The page, whether all is well, and words: with what has become of the lines that were signed."""
    from gatekeeper.cli import kept
    from gatekeeper.render.proof import with_checkpoints

    compared = kept.compare(checkpoints, sources, values, last_seq=report.last_seq)
    is_ok = report.ok and all(one["code"] == "kept" for one in compared)
    document = {**report.to_dict(), "ok": is_ok, "checkpoints": compared}
    return with_checkpoints(page, document, compared), is_ok, kept.as_words(compared)
