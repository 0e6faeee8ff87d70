"""Count selected events of a range by what they have in common; nearly all are never parsed.

Decisions with the same outcome share a short text (`slim.short_text`): it is read once, and from then on only counted.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

from gatekeeper.model.line import bulk_decoder
from gatekeeper.replay.group import getters_of
from gatekeeper.replay.slim import is_short_enough, short_text, slim_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.replay.needles import LineSearch
    from gatekeeper.replay.query import Filter

    Values = tuple[Sequence[str | None], ...]

_MOST_KNOWN = 4096


class ScanCounts:
    """What was counted since the last time it was asked for.

    Args:
        wanted: the filter of the question.
        fields: what is counted by.
        is_meant: whether an event is selected.

    Raises:
        UsageError: a field is unknown, or there is none.
    """

    def __init__(self, wanted: Filter, fields: tuple[str, ...], is_meant: Callable[[Mapping[str, Any]], bool]) -> None:
        self._getters = getters_of(fields)
        self._is_meant = is_meant
        self._decode = bulk_decoder()
        self._is_short = is_short_enough(wanted, fields)
        self._values: dict[bytes, Values | None] = {}  # by short text; None: such events are not selected
        self._texts: dict[bytes, int] = {}
        self._counts: Counter[Values] = Counter()

    def is_as_known(self, data: bytearray, position: int, stop: int, search: LineSearch, end: int) -> bool:
        """Deal with a usual line as with one of the same short text that was added before; False: there was none.

        Arguments as in `short_text`.
        """
        text = short_text(data, position, stop, search, end) if self._is_short else None
        if text not in self._texts:
            return False
        self._texts[text] += 1
        return True

    def read(
        self, data: bytearray, position: int, stop: int, search: LineSearch, end: int
    ) -> tuple[Mapping[str, Any] | None, bytes | None]:
        """The event of a usual line, as far as the question needs it, and its short text if it was read of that."""
        text = short_text(data, position, stop, search, end) if self._is_short else None
        if text is not None:
            return self._decode(text), text
        return slim_event(data, position, stop, search, end), None

    def add(self, event: Mapping[str, Any], text: bytes | None = None) -> bool:
        """Count an event if it is selected, and know those with the same short text from now on; False: it is not."""
        values = tuple([getter(event) for getter in self._getters]) if self._is_meant(event) else None
        if text is not None and len(self._texts) < _MOST_KNOWN:
            self._values[text] = values
            self._texts[text] = 0
        if values is None:
            return False
        self._counts[values] += 1
        return True

    def taken(self) -> dict[tuple[str | None, ...], int]:
        """Combination of values -> how many events; an event with several values of a field counts under each."""
        for text, count in self._texts.items():
            values = self._values[text]
            if count and values is not None:
                self._counts[values] += count
            self._texts[text] = 0
        counts: Counter[tuple[str | None, ...]] = Counter()
        for values, count in self._counts.items():
            for combination in product(*values):
                counts[combination] += count
        self._counts.clear()
        return dict(counts)
