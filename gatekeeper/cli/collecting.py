"""Taking evidence for a person or a job: the collector of a file, progress on a terminal, the table of `--verbose`.

Loaded only where a collection file is used.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from gatekeeper.cli.compose import STANDARD_INPUT, SystemClock
from gatekeeper.cli.kinds import did_you_mean
from gatekeeper.cli.output import say, say_once
from gatekeeper.cli.present import layout_of
from gatekeeper.cli.progress import CollectionProgress
from gatekeeper.errors import UsageError
from gatekeeper.evidence.collect import Collector
from gatekeeper.evidence.collection import FileSource
from gatekeeper.evidence.collection_file.loading import read_collection
from gatekeeper.evidence.lint.policy import policy_metrics
from gatekeeper.render import load
from gatekeeper.render.collection import observations_page, problem_lines
from gatekeeper.render.plain import printable

if TYPE_CHECKING:
    from gatekeeper.evidence.collection import Collection
    from gatekeeper.model.policy import Policy
    from gatekeeper.model.snapshot import Snapshot


def expect_file(path: str) -> None:
    """Refuse `-` as a collection file: a hold could not name it. Raises UsageError (64)."""
    if path == STANDARD_INPUT:
        raise UsageError(
            "a collection file is never read from standard input",
            remedy="give the path of a file; a part of the evidence may come from standard input",
        )


class TellingCollector:
    """The `ports.EvidenceSource` of a collection file that shows people what it waits for and what it found."""

    def __init__(self, path: str, *, verbose: bool = False) -> None:
        """Read the file; nothing is asked yet.

        Raises:
            UsageError: no file is named (64).
            CollectionError: it does not load (65).
        """
        expect_file(path)
        self.loaded = read_collection(path)
        self._verbose = verbose
        self._progress = CollectionProgress(sys.stderr)

    @property
    def digest(self) -> str:
        """As `ports.EvidenceSource`."""
        return self.loaded.digest

    @property
    def reads_standard_input(self) -> bool:
        """Whether a part comes from standard input, which can be read once only."""
        sources = self.loaded.collection.sources.values()
        return any(isinstance(source, FileSource) and source.path == STANDARD_INPUT for source in sources)

    @property
    def source(self) -> dict[str, Any] | None:
        """How `reevaluate` can take the evidence again; None where it cannot."""
        path = os.path.abspath(self.loaded.path)
        try:
            path.encode()
        except UnicodeEncodeError:  # no event could hold it
            return None
        if self.reads_standard_input:
            return None
        return {"kind": "collection", "collection": path, "collector_digest": self.digest}

    def collect(self, *, at: int | None = None) -> Snapshot:
        """As `evidence.collect.Collector.collect`."""
        collector = Collector(
            self.loaded,
            clock=SystemClock(),
            environ=os.environ,
            read_standard_input=_standard_input,
            on_progress=self._progress.show if self._progress.is_watched else None,
        )
        try:
            snapshot = collector.collect(at=at)
        finally:
            self._progress.clear()
        if self._verbose:
            say(load("text").page(observations_page(snapshot.document), layout_of(sys.stderr)))
        else:
            for line in problem_lines(snapshot.document):
                say_once(f"gatekeeper: {line}")
        return snapshot


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer.read()


def open_collector(path: str, *, verbose: bool = False, is_repeated: bool = False) -> TellingCollector:
    """The collector of a file.

    Raises:
        CollectionError: it does not load (65).
        UsageError: a part of it is standard input, and it *is_repeated* (64).
    """
    collector = TellingCollector(path, verbose=verbose)
    if is_repeated and collector.reads_standard_input:
        raise UsageError(
            f"--wait takes the evidence again each time: {path} has a part from standard input, which can be read once",
            remedy="give that source the path of a file",
        )
    return collector


def tell_uncollected(policy: Policy, collection: Collection) -> None:
    """Name each metric that *policy* asks and *collection* does not have; the nearest one without a rule, too."""
    asked = policy_metrics(policy)
    known = {*asked, *(guardrail.metric for guardrail in policy.guardrails)}
    unasked = tuple(name for name in collection.metrics if name not in known)
    for metric in asked:
        if metric not in collection.metrics:
            hint = did_you_mean(metric, unasked)
            say_once(f"gatekeeper: {printable(f'{metric} is asked by the policy and collected by nobody{hint}')}")
