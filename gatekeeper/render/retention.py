"""Pages on a log in segments: what was sealed, archived, removed."""

from __future__ import annotations

from gatekeeper.render.answer import list_of, mapping_of
from gatekeeper.render.page import GOOD, HELD, Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.sentences import value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.page import Block

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: Any) -> str:
    """A number of bytes in words: `7.3 KiB`."""
    if not isinstance(size, int):
        return value_text(size)
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{size} B" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def rotate_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log rotate`; `rotated` is False where there was nothing to seal."""
    if not done["rotated"]:
        return Page("nothing to rotate", [Fields([("log", [str(done["log"])])])], document=done)
    pairs = [
        ("sealed", [str(done["segment"])]),
        ("seqs", [f"{done['first_seq']} to {done['last_seq']}"]),
        ("events", [value_text(done["events"])]),
        ("size", [size_text(done["size_bytes"])]),
        ("goes on in", [str(done["log"])]),
    ]
    return Page(f"sealed at seq {done['last_seq']}; the chain runs on", [Fields(pairs)], document=done, tone=GOOD)


def archive_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log archive`: a row for each segment."""
    segments = [mapping_of(one) for one in list_of(done["segments"])]
    rows = [
        Row(str(one["segment"]), size_text(one["size_bytes"]), size_text(one["archived_bytes"]), _ratio(one))
        for one in segments
    ]
    columns = (
        Column("archive", code=True),
        Column("size", right=True),
        Column("archived", right=True),
        Column("ratio", right=True),
    )
    noun = "segment" if len(rows) == 1 else "segments"
    table = Table(columns, rows, empty="no plain segment: gatekeeper log rotate seals one")
    return Page(f"{len(rows)} {noun} archived", [table], document=done, records=list(segments), tone=GOOD)


def prune_page(done: Mapping[str, Any]) -> Page:
    """The outcome of `log prune`; `pruned` is False where nothing was removed, or would only be."""
    segments = [str(one) for one in list_of(done["segments"])]
    finished = Lines([str(one) for one in list_of(done["finished"])], title="removed, left by an earlier prune")
    if not segments:
        return Page("nothing to prune", [finished], document=done)
    noun = "segment" if len(segments) == 1 else "segments"
    fields = Fields(
        [
            ("seqs", [f"{done['first_seq']} to {done['last_seq']}"]),
            ("digest of the last line", [value_text(done["digest"])]),
            ("proof kept in", [str(done["kept"])] if "kept" in done else []),
        ]
    )
    title = "removed" if done["pruned"] else "would be removed"
    return Page(
        f"{len(segments)} {noun} {title}",
        [fields, Lines(segments, title=title), finished],
        document=done,
        tone=GOOD if done["pruned"] else HELD,
    )


def stat_page(stat: Mapping[str, Any]) -> Page:
    """The document of `log stat`."""
    chain, kept = mapping_of(stat["chain"]), mapping_of(stat["projection"])
    files = [mapping_of(one) for one in list_of(stat["files"])]
    seqs = "none" if chain["last_seq"] is None else f"{chain['first_seq']} to {chain['last_seq']}"
    pairs = [
        ("size", [size_text(stat["size_bytes"])]),
        ("events", [value_text(stat["events"])]),
        ("seqs", [seqs]),
        ("first", _some(stat["first_ts"])),
        ("last", _some(stat["last_ts"])),
        ("verdicts", [f"{name}: {count}" for name, count in mapping_of(stat["verdicts"]).items()]),
        ("kinds", [f"{name}: {count}" for name, count in mapping_of(stat["kinds"]).items()]),
    ]
    state = [
        ("head", _some(chain["head"])),
        ("pruned", _pruned(chain)),
        ("missing", [span_text(mapping_of(gap)) for gap in list_of(chain["gaps"])]),
        ("damaged lines", [value_text(chain["damaged"])] if chain["damaged"] else []),
        ("lines without kind", [value_text(chain["unchained"])] if chain["unchained"] else []),
        ("torn", ["an unfinished last line"] if chain["torn"] else []),
    ]
    share = "" if kept["share"] is None else f", {kept['share']:.1%} of the log"
    beside = [("state", [value_text(kept["state"])]), ("size", [size_text(kept["size_bytes"]) + share])]
    rows = [
        Row(
            str(one["path"]),
            value_text(one["kind"]) + ("" if one["compression"] is None else f", {one['compression']}"),
            value_text(one["first_seq"]),
            value_text(one["last_seq"]),
            size_text(one["size_bytes"]),
        )
        for one in files
    ]
    columns = (
        Column("file", code=True),
        Column("what"),
        Column("from seq", right=True),
        Column("to", right=True),
        Column("size", right=True),
    )
    is_whole = not chain["gaps"] and not chain["damaged"]
    headline = f"{stat['events']} events"
    blocks: list[Block] = [Fields(pairs), Fields(state, title="chain", code=True)]
    if files:  # a ledger in a database or on a branch has none, nor a state beside them
        headline += f" in {len(files)} {'file' if len(files) == 1 else 'files'}"
        blocks += [Fields(beside, title="projection"), Table(columns, rows, title="files")]
    return Page(headline, blocks, document=stat, tone=GOOD if is_whole else HELD)


def _pruned(chain: Mapping[str, Any]) -> list[str]:
    if chain["pruned_to"] is None:
        return []
    seqs, date = span_text({"from_seq": 1, "to_seq": chain["pruned_to"]}), str(chain["pruned_at"])[:10]
    lines = "line" if chain["pruned_under"] == 1 else "lines"
    return [f"{seqs} on {date}, under a signed checkpoint of {chain['pruned_under']} {lines}"]


def _some(value: Any) -> list[str]:
    return [] if value is None else [value_text(value)]


def span_text(gap: Mapping[str, Any]) -> str:
    """Missing or removed seqs in words: `seq 5 to 9`."""
    first, last = value_text(gap["from_seq"]), value_text(gap["to_seq"])
    return f"seq {first}" if first == last else f"seq {first} to {last}"


def _ratio(segment: Mapping[str, Any]) -> str:
    packed = segment["archived_bytes"]
    return f"1/{segment['size_bytes'] / packed:.1f}" if packed else ""
