"""The index over events as it is written: rows, dictionaries and counts, in the fold's transaction."""

from __future__ import annotations

import json

from gatekeeper.ledger.projection_rows import question_number
from gatekeeper.model.event import content_question_of
from gatekeeper.model.facts import facts_of, text_of
from gatekeeper.model.line import stated_seq
from gatekeeper.model.times import MICROSECONDS, format_time, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping
    from typing import Any

    from gatekeeper.ledger.head import Head

DAY = 86_400 * MICROSECONDS
"""Microseconds in a day; `daily` counts by days since 1970."""

CACHED = 1 << 14
"""How many numbers of a dictionary are remembered."""

_LONGEST_NUMBER = 15  # digits
_COLUMN_TYPES = frozenset({str, int, bytes, type(None)})
_INSERT_EVENT = "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_INSERT_ODD = "INSERT OR REPLACE INTO odd VALUES (?,?,?,?,?,?,?,?)"
_ADD_DAILY = "INSERT INTO daily VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
_ADD_TOTALS = "INSERT INTO totals VALUES (?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
_NAMED = (
    "SELECT seq FROM events WHERE run = (SELECT number FROM runs WHERE run_id = ?) "
    "AND name = (SELECT id FROM names WHERE name = ?) AND number = ? ORDER BY seq DESC LIMIT 1"
)


class IndexWriter:
    """Gathers what events say of themselves; `write` puts it into the tables.

    Args:
        connection: the tables; whoever calls `write` has opened the transaction.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []
        self._odd: list[tuple[Any, ...]] = []
        self._jumps: list[tuple[int, int, int]] = []
        self._other_ids: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._event_ids: set[str] = set()
        self._facets: dict[tuple[Any, ...], int] = {}
        self._names: dict[str, int] = {}

    def __len__(self) -> int:
        """Lines that the tables do not have yet."""
        return len(self._rows) + len(self._odd)

    def has_event_id(self, event_id: str) -> bool:
        """Whether an event of this id was taken, be it written or not."""
        return event_id in self._event_ids or newest_named(self._fetch, event_id) is not None

    def is_pending(self, event_id: str) -> bool:
        """Whether an event of this id was taken and is not written."""
        return event_id in self._event_ids

    def take(
        self,
        event: Mapping[str, Any],
        line: bytes,
        *,
        seq: int,
        head: Head,
        offset: int,
        digest: bytes,
        said: tuple[Any, ...] | None = None,
    ) -> None:
        """Note a chained event, which is the next line of the file behind *head*.

        Args:
            said: what `said_of` gives, where it was asked before.

        Raises:
            TypeError: a field that is text holds something else.
            KeyError: a field of an ACCEPT's question is missing.
        """
        kind, run_id, event_id = event["kind"], event.get("run_id"), event.get("event_id")
        name = number = None
        key = event.get("idempotency_key") if kind == "decision" else None
        names = (event.get("ts"), kind, run_id, event_id, event.get("stage"), event.get("policy_id"), key)
        if not _COLUMN_TYPES.issuperset(map(type, names)) or not _is_text(event.get("decision"), "verdict"):
            raise TypeError("a field that is text holds something else")
        facts, question = said if said is not None else said_of(event)
        ts = parse_time(event.get("ts"))
        is_usual = ts is not None and format_time(ts) >= head.ts and stated_seq(line) == seq
        if event_id is not None:
            self._event_ids.add(event_id)
            if run_id is not None and event_id.startswith(run_id + ":"):
                name, number = _numbered(event_id[len(run_id) + 1 :])
            else:
                self._other_ids[event_id] = seq
        if key is not None:
            self._keys[key] = seq
        place = (head.segment, head.lines + 1, offset, len(line), digest)
        dictionary = (text_of(event, "experiment_id"), text_of(event, "variant_id"), text_of(event, "actor"), name)
        if is_usual:
            self._rows.append((seq, *place, ts, facts, run_id, *dictionary, number, question))
            self._list(seq, head)
        else:
            self._rows.append((seq, *place, None, None, run_id, *dictionary, number, question))
            self.take_odd(head, offset, len(line), digest)

    def take_odd(
        self,
        head: Head,
        offset: int,
        length: int,
        digest: bytes,
        stopping: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """Note a line that the index does not list, the next of the file behind *head*.

        Args:
            stopping: id and run of a founding-style line that stopped its run.
        """
        self._odd.append((head.segment, head.lines + 1, head.listed, offset, length, digest, *stopping))

    def find_again(self, seq: int, head: Head, offset: int, *, is_usual: bool) -> None:
        """A listed event stands in another file now, as its next line: note the place. Writes at once."""
        facet = "" if is_usual else ", facet = NULL, ts = NULL"
        self._connection.execute(
            f"UPDATE events SET segment = ?, line = ?, offset = ?{facet} WHERE seq = ?",  # noqa: S608
            (head.segment, head.lines + 1, offset, seq),
        )
        if is_usual:
            self._list(seq, head)

    def write(self, number_of: Callable[[str], int]) -> None:
        """Put all that was gathered into the tables.

        Args:
            number_of: gives the number of a run's row.
        """
        many = self._connection.executemany
        if self._rows:
            name, facet = self._name, self._facet
            rows = [
                (
                    *row[:7], None if row[7] is None else facet(row[7]), None if row[8] is None else number_of(row[8]),
                    name(row[9]), name(row[10]), name(row[11]), name(row[12]), *row[13:],
                )
                for row in self._rows
            ]  # fmt: skip
            many(_INSERT_EVENT, rows)
            self._count(rows)
        if self._odd:
            many(_INSERT_ODD, self._odd)
        if self._jumps:
            many("INSERT OR REPLACE INTO jumps VALUES (?,?,?)", self._jumps)
        for table, column, found in (("other_ids", "event_id", self._other_ids), ("keys", "key", self._keys)):
            if found:
                many(f"INSERT OR REPLACE INTO {table} ({column}, seq) VALUES (?,?)", found.items())  # noqa: S608
        for gathered in (self._rows, self._odd, self._jumps, self._other_ids, self._keys, self._event_ids):
            gathered.clear()
        for remembered in (self._facets, self._names):
            if len(remembered) > CACHED:
                remembered.clear()

    def begin_segment(self, number: int, *, last_seq: int, name: str | None) -> None:
        """Another file stands in the log's place. Writes at once.

        Args:
            last_seq: the last that the index lists of the file before; 0 when there is none.
            name: what the file before is called now, in the log's directory; None: nobody has said.
        """
        execute = self._connection.execute
        execute(
            "UPDATE segments SET name = ?, first_seq = (SELECT min(seq) FROM jumps WHERE segment = number), "
            "last_seq = ? WHERE name = ''",
            (name, last_seq or None),
        )
        execute("INSERT INTO segments (number, name) VALUES (?, '')", (number,))

    def count_anew(self) -> None:
        """Events have moved from file to file: count all of them again. Writes at once."""
        execute = self._connection.execute
        execute("DELETE FROM totals")
        execute("DELETE FROM daily")
        execute(
            f"INSERT INTO daily SELECT segment, ts / {DAY} - (ts % {DAY} < 0), facet, count(*) FROM events "  # noqa: S608
            "WHERE facet IS NOT NULL GROUP BY 1, 2, 3"
        )
        execute("INSERT INTO totals SELECT segment, facet, sum(count) FROM daily GROUP BY 1, 2")

    def _list(self, seq: int, head: Head) -> None:
        if head.listed == 0 or head.listed + 1 != seq:
            self._jumps.append((head.segment, seq, head.listed))
        head.listed = seq

    def _count(self, rows: list[tuple[Any, ...]]) -> None:
        daily: dict[tuple[int, int, int], int] = {}
        totals: dict[tuple[int, int], int] = {}
        for row in rows:
            segment, ts, facet = row[1], row[6], row[7]
            if facet is not None:
                day = (segment, ts // DAY, facet)
                daily[day] = daily.get(day, 0) + 1
                totals[segment, facet] = totals.get((segment, facet), 0) + 1
        many = self._connection.executemany
        many(_ADD_DAILY, [(*key, count) for key, count in daily.items()])
        many(_ADD_TOTALS, [(*key, count) for key, count in totals.items()])

    def _facet(self, facts: tuple[Any, ...]) -> int:
        known = self._facets.get(facts)
        if known is None:
            body = json.dumps(facts, separators=(",", ":"), ensure_ascii=False)
            known = self._facets[facts] = self._number("facets", "body", body)
        return known

    def _name(self, name: str | None) -> int | None:
        if name is None:
            return None
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self._number("names", "name", name)
        return known

    def _number(self, table: str, column: str, text: str) -> int:
        execute = self._connection.execute
        row = execute(f"SELECT id FROM {table} WHERE {column} = ?", (text,)).fetchone()  # noqa: S608
        if row is not None:
            return int(row[0])
        return int(execute(f"INSERT INTO {table} ({column}) VALUES (?)", (text,)).lastrowid or 0)  # noqa: S608

    def _fetch(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()


def said_of(event: Mapping[str, Any]) -> tuple[tuple[Any, ...], int | None]:
    """What a chained event says of itself, and the number of its question, if later ones may be the same.

    Raises:
        KeyError, TypeError: a field of an ACCEPT's question is missing or no text.
    """
    facts, kind = facts_of(event), event["kind"]
    if kind == "decision" and facts[1] == "ACCEPT":
        return facts, question_number(kind, content_question_of(event))
    if kind == "refusal":
        return facts, question_number(kind, str(event.get("question_digest")))
    return facts, None


def _is_text(part: Any, name: str) -> bool:
    return not isinstance(part, dict) or type(part.get(name)) in _COLUMN_TYPES


def _numbered(name: str) -> tuple[str, int]:
    """What an event's id goes on with behind its run's, less its number: `CANARY_10#3` is the third of `CANARY_10`."""
    stem, sign, digits = name.rpartition("#")
    is_number = sign and digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    if is_number and digits[0] != "0" and digits != "1":  # only what stands for the same text again
        return stem, int(digits)
    return name, 1


def newest_named(fetch: Callable[..., list[tuple[Any, ...]]], event_id: str) -> int | None:
    """`seq` of the newest event with this id in the tables; *fetch* gives the rows of a statement."""
    found = fetch("SELECT seq FROM other_ids WHERE event_id = ?", event_id)
    end = event_id.rfind(":")
    while end >= 0:  # a run's id may hold colons itself
        found += fetch(_NAMED, event_id[:end], *_numbered(event_id[end + 1 :]))
        end = event_id.rfind(":", 0, end)
    return max((seq for (seq,) in found), default=None)
