"""What all sources of one collection share: the instant, the limits, the threads, and their part of the seam."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from gatekeeper.evidence.collection import LoadedCollection, MetricSpec, SourceSpec
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.workers import Deadline, Workers
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from gatekeeper.evidence.reading import Reading


def wall_clock() -> int:
    """The present, microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Round:
    """One collection.

    Attributes:
        at: the evaluation instant, milliseconds since 1970; all queries are asked for it.
        read_standard_input: its bytes; called at most once.
        now: the wall clock, microseconds since 1970: what a stated time may lie ahead of.
    """

    loaded: LoadedCollection
    at: int
    deadline: Deadline
    workers: Workers
    secrets: Secrets
    read_standard_input: Callable[[], bytes]
    now: Callable[[], int] = wall_clock


class SourceReader(Protocol):
    """One source in one collection: what a source type implements (see `readers`)."""

    def read(self) -> None:
        """Ask everything, in a thread of its own; what comes is kept at once, so that a deadline loses only the rest.

        Raises:
            CollectionError: a mistake in the reviewed file, which no waiting mends.
        """
        ...

    def readings(self) -> list[Reading]:
        """One reading for each metric and side, from what is known by now; called once, maybe while `read` hangs."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """How many answers have come, of how many that are asked by now."""
        ...


class OpensReader(Protocol):
    """What a module of a source type offers as `open_reader`."""

    def __call__(self, name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> SourceReader:
        """The reader of one source.

        Raises:
            UsageError: an environment variable or an extra is missing (64).
            CollectionError: a mistake that shows before anything is asked (65).
        """
        ...
