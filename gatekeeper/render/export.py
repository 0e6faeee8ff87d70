"""Pages on what was exported."""

from __future__ import annotations

from gatekeeper.render.answer import list_of, mapping_of
from gatekeeper.render.page import GOOD, HELD, Column, Fields, Page, Row, Table
from gatekeeper.render.retention import size_text, span_text
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.page import Block

_SHOWN_FILES = 20  # the first export of years has one for each day


def copy_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log export --to`."""
    seqs = [] if done["first_seq"] is None else [f"{done['first_seq']} to {done['last_seq']}"]
    pairs = [("file", [str(done["file"])]), ("seqs", seqs), ("size", [size_text(done["size_bytes"])])]
    if not done["lines"]:
        return Page("nothing new to export", [Fields(pairs[:1])], document=done, tone=GOOD)
    noun = "line" if done["lines"] == 1 else "lines"
    return Page(f"{done['lines']} {noun} exported", [Fields(pairs)], document=done, tone=GOOD)


def lake_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log export --parquet`: a row for each file that was added."""
    files = [mapping_of(one) for one in list_of(done["files"])]
    missing = [span_text(mapping_of(gap)) for gap in list_of(done["missing"])]
    fields = Fields(
        [
            ("directory", [str(done["directory"])]),
            ("reaches", [f"seq {done['last_seq']}"]),
            ("lacks", missing),
            ("out of place", [value_text(done["out_of_place"])] if done["out_of_place"] else []),
        ]
    )
    shown = files[-_SHOWN_FILES:]
    rows = [Row(str(one["file"]), value_text(one["rows"]), size_text(one["size_bytes"])) for one in shown]
    title = "" if len(shown) == len(files) else f"the last {len(shown)} of {len(files)} files"
    columns = (Column("file", code=True), Column("events", right=True), Column("size", right=True))
    noun = "event" if done["rows"] == 1 else "events"
    headline = f"{done['rows']} {noun} exported" if files else "nothing new to export"
    blocks: list[Block] = [fields]
    if files:
        blocks.append(Table(columns, rows, title=title))
    return Page(headline, blocks, document=done, tone=HELD if missing else GOOD)
