"""The whole collection: every source in a thread of its own, one deadline, one snapshot.

Whatever a source does (refuse, hang, drip, answer nonsense), there is a snapshot at the deadline, in which what is
missing is named. Only a mistake in the reviewed file, and a bug, are errors.
"""

from __future__ import annotations

import os
import queue
import threading
from math import floor
from typing import TYPE_CHECKING, Any

from gatekeeper.errors import GatekeeperError
from gatekeeper.evidence.assembly import Moment, assemble
from gatekeeper.evidence.readers import opener
from gatekeeper.evidence.round import Round
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.workers import Deadline, Workers
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gatekeeper.evidence.collection import EvaluateAt, LoadedCollection
    from gatekeeper.evidence.round import SourceReader
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.ports import Clock

_TICK_SECONDS = 0.2  # how often somebody who waits is told


@dataclass(frozen=True)
class SourceProgress:
    """How far one source is: answers of questions asked so far."""

    name: str
    answered: int
    asked: int
    ended: bool


class Collector:
    """Takes snapshots as one collection file says: the `ports.EvidenceSource` of `--collect`."""

    def __init__(
        self,
        loaded: LoadedCollection,
        *,
        clock: Clock,
        environ: Mapping[str, str],
        read_standard_input: Callable[[], bytes],
        on_progress: Callable[[Sequence[SourceProgress], Deadline], None] | None = None,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            on_progress: told several times a second while sources are asked, in the caller's thread.
        """
        self.loaded = loaded
        self._clock = clock
        self._environ = environ
        self._read_standard_input = read_standard_input
        self._on_progress = on_progress

    @property
    def digest(self) -> str:
        """`collector_digest`: of the collection file's content."""
        return self.loaded.digest

    def collect(self, *, at: int | None = None) -> Snapshot:
        """Ask all sources.

        Args:
            at: the evaluation instant, microseconds since 1970; None: the present, as the file settles and aligns it.

        Raises:
            CollectionError: a mistake in the file that a source reported (65).
            UsageError: an environment variable or an extra is missing (64).
        """
        collection = self.loaded.collection
        deadline = Deadline(collection.limits.deadline_seconds)
        workers = Workers(collection.limits.parallelism)
        instant = evaluation_instant(self._clock.now(), collection.evaluate_at) if at is None else at // 1000
        shared = Round(
            self.loaded,
            instant,
            deadline,
            workers,
            Secrets(self._environ),
            _once(self._read_standard_input),
            self._clock.now,
        )
        readers = self._open(shared)
        try:
            self._wait(readers, shared)
            readings = [reading for reader in readers.values() for reading in reader.readings()]
        finally:
            workers.close()
        return assemble(readings, self.loaded, Moment(instant, self._clock.now()), snapshot_id=_random_id())

    def _open(self, shared: Round) -> dict[str, SourceReader]:
        collection = self.loaded.collection
        readers: dict[str, SourceReader] = {}
        for name, source in collection.sources.items():
            metrics = collection.metrics_of(name)
            if metrics:
                readers[name] = opener(source.type)(name, source, metrics, shared)
        return readers

    def _wait(self, readers: Mapping[str, SourceReader], shared: Round) -> None:
        """Until every source has ended, or the time is up. Raises what a source raised."""
        ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()
        for name, reader in readers.items():
            threading.Thread(target=_run, args=(name, reader, ended), name=f"collect-{name}", daemon=True).start()
        waiting = set(readers)
        while waiting and (left := shared.deadline.left_seconds):
            try:
                name, failure = ended.get(timeout=min(left, _TICK_SECONDS) if self._on_progress else left)
            except queue.Empty:
                pass
            else:
                if failure is not None:
                    raise _told(failure, shared.secrets) from None
                waiting.discard(name)
            self._tell(readers, waiting, shared)

    def _tell(self, readers: Mapping[str, SourceReader], waiting: set[str], shared: Round) -> None:
        if self._on_progress is not None:
            told = [SourceProgress(name, *reader.progress, name not in waiting) for name, reader in readers.items()]
            self._on_progress(told, shared.deadline)


def evaluation_instant(now: int, wanted: EvaluateAt) -> int:
    """Milliseconds since 1970 of the instant that all queries are asked for.

    Args:
        now: microseconds since 1970.
    """
    settled = now / 1000 - wanted.settle_seconds * 1000
    step = wanted.align_seconds * 1000
    return round(floor(settled / step) * step) if step else floor(settled)


def _random_id() -> str:
    """A random UUID (RFC 4122, version 4); `uuid` itself would take as long to import as the half of an answer."""
    digits = f"{int.from_bytes(os.urandom(16)) & ~(0xF << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _run(name: str, reader: SourceReader, ended: queue.SimpleQueue[tuple[str, BaseException | None]]) -> None:
    try:
        reader.read()
    except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
        ended.put((name, error))
    else:
        ended.put((name, None))


def _told(failure: BaseException, secrets: Secrets) -> BaseException:
    """An error for the caller; what a bug says may quote an address or a header."""
    if isinstance(failure, GatekeeperError) or not isinstance(failure, Exception):
        return failure
    return RuntimeError(f"{type(failure).__name__} while collecting: {secrets.mask(str(failure))}")


def _once(read: Callable[[], bytes]) -> Callable[[], bytes]:
    """*read*, asked at most once: several parts may come from one standard input."""
    kept: list[Any] = []
    lock = threading.Lock()

    def reading() -> bytes:
        with lock:
            if not kept:
                kept.append(read())
            data: bytes = kept[0]
            return data

    return reading
