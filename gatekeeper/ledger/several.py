"""The runs of several log files, folded in memory: nothing is written beside files that others may own."""

from __future__ import annotations

from gatekeeper.ledger.codec import decoder_for
from gatekeeper.ledger.projection_fold import Fold
from gatekeeper.ledger.projection_rows import RUN_COLUMNS, run_of_row
from gatekeeper.ledger.projection_schema import open_memory
from gatekeeper.ledger.reading import raw_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.model.run import Run


def fold_files(paths: Sequence[str]) -> tuple[list[Run], list[str]]:
    """All runs in the order of their first events, and what was noticed, the file named.

    Args:
        paths: files and patterns, as for `ledger.reading.read_lines`.

    Raises:
        LogError: a file cannot be read.
    """
    fold, warnings, present = Fold(open_memory()), list[str](), ""
    decode = decoder_for(0)
    for path, number, line, is_terminated in raw_lines(paths):
        if path != present:
            present = path
            fold.leave_file()
        if not is_terminated:
            warnings.append(f"{path}:{number}: unfinished line, passed over")
            continue
        fold.head.lines = number - 1
        fold.take(decode(line), line, 0)
        warnings += [f"{path}: {warning}" for warning in fold.warnings]
        fold.warnings.clear()
    fold.flush()
    rows = fold.connection.execute(f"SELECT {RUN_COLUMNS} FROM runs ORDER BY first_seq, number").fetchall()  # noqa: S608
    fold.connection.close()
    return [run_of_row(row) for row in rows], warnings
