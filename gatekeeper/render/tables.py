"""A table for people who read text: in columns where it fits, else one record after the other.

One writer of our own, so that a check stays light and every terminal gets the same.
"""

from __future__ import annotations

from gatekeeper.render.plain import columns, pad, paint, printable, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.render.page import Layout, Row, Table

_GAP = "  "
_DETAIL = "    "


def table_lines(table: Table, layout: Layout) -> list[str]:
    """The lines of *table*; no line is wider than the layout unless one word is."""
    if not table.rows:
        return wrap(printable(table.empty, unicode=layout.unicode), layout.width)
    cells = [[printable(cell, unicode=layout.unicode) for cell in row.cells] for row in table.rows]
    widths = [
        max(len(column.heading), *(columns(row[place]) for row in cells)) for place, column in enumerate(table.columns)
    ]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > layout.width:
        return _stacked(table, cells, layout)
    heading = _line([column.heading for column in table.columns], widths, table)
    lines = [paint(heading, "quiet", colour=layout.colour)]
    for row, texts in zip(table.rows, cells, strict=True):
        lines.append(paint(_line(texts, widths, table), row.tone, colour=layout.colour))
        lines += _detail(row, layout)
    return lines


def _line(texts: list[str], widths: list[int], table: Table) -> str:
    padded = [
        pad(text, width, right=column.right) for text, width, column in zip(texts, widths, table.columns, strict=True)
    ]
    return _GAP.join(padded).rstrip()


def _stacked(table: Table, cells: list[list[str]], layout: Layout) -> list[str]:
    """Each row as its first cell and `heading value` pairs, absent values left out; on one line where that fits."""
    lines: list[str] = []
    for row, texts in zip(table.rows, cells, strict=True):
        pairs = [
            text if column.plain else f"{column.heading} {text}"
            for column, text in zip(table.columns[1:], texts[1:], strict=True)
            if text not in {"", "-"}
        ]
        whole = _GAP.join([texts[0], *pairs])
        if columns(whole) <= layout.width:
            record = [whole]
        else:
            record = [*wrap(texts[0], layout.width), *_pairs(pairs, layout.width)]
        lines += [paint(line, row.tone, colour=layout.colour) for line in record]
        lines += _detail(row, layout)
    return lines


def _pairs(pairs: list[str], width: int) -> list[str]:
    """As many `heading value` pairs on a line as fit; a pair that does not fit is broken at its spaces."""
    lines: list[str] = []
    line = ""
    for pair in pairs:
        longer = f"{line}{_GAP}{pair}" if line else f"  {pair}"
        if line and columns(longer) > width:
            lines.append(line)
            longer = f"  {pair}"
        line = longer
        if columns(line) > width:
            lines += wrap(pair, width, first="  ", rest="    ")
            line = ""
    return [*lines, line] if line else lines


def _detail(row: Row, layout: Layout) -> list[str]:
    if not row.detail:
        return []
    text = printable(row.detail, unicode=layout.unicode)
    return wrap(text, layout.width, first=_DETAIL, rest=_DETAIL)
