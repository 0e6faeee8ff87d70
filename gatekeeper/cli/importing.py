"""`gatekeeper log import SOURCE`: the lines of another log into this one."""

from __future__ import annotations

import os

from gatekeeper.cli.beginning import pruned_before
from gatekeeper.cli.compose import has_pattern, open_shared_or_file
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.errors import UsageError
from gatekeeper.ledger.address import is_remote, shown_log
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.importing import import_lines
from gatekeeper.ledger.pruned import write_pruned
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.render.exchange import import_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.ledger.importing import SourceLine


def import_log(values: Values) -> Outcome:
    """65 where the source does not hold together, or the two are not one history."""
    source, log = values.text("source"), values.text("log")
    if source == log or (
        not is_remote(source) and not is_remote(log) and os.path.realpath(source) == os.path.realpath(log)
    ):
        raise UsageError(f"{shown_log(log)} is given as source and as log", remedy="name the other log with --log")
    ledger = open_shared_or_file(log)
    words = _keep_what_was_pruned(source, log, is_new=not ledger.head()["seq"])
    done = import_lines(lambda after: _lines(source, after), ledger, shown=shown_log(log))
    if done.torn is not None:
        words = (*words, f"{done.torn}: unfinished line, passed over")
    ledger.close()
    document = {
        "source": shown_log(source),
        "log": shown_log(log),
        "events": done.events,
        "known": done.known,
        "first_seq": done.first_seq,
        "last_seq": done.last_seq,
        "head": {"seq": done.seq, "digest": done.digest},
    }
    return page_outcome(import_page(document), values, stderr=told(words))


def _lines(source: str, after: int) -> Iterator[SourceLine]:
    if is_remote(source):
        from gatekeeper.cli.remote import shared_lines

        shown = shown_log(source)
        for number, data in shared_lines(source, after=after):
            yield shown, number, data, True
    else:
        yield from raw_lines((source,))


def _keep_what_was_pruned(source: str, log: str, *, is_new: bool) -> tuple[str, ...]:
    """The proof of what was removed goes along into a new file; other ledgers have no place for it."""
    pruned = None if is_remote(source) or has_pattern(source) else pruned_before((source,))
    if pruned is None or not is_new:
        return ()
    if is_remote(log):
        begins = pruned.last_seq + 1
        return (f"{pruned}: keep {source}.pruned, and verify {shown_log(log)} with gatekeeper verify --from {begins}",)
    path = os.path.abspath(log)
    write_pruned(FileOps(), path, pruned)
    return ()
