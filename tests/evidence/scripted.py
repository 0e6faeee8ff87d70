"""A source type whose readers do what a test says: the module behind `file` sources while the test runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gatekeeper.evidence.reading import Reading, Side, Unavailable, unavailable

if TYPE_CHECKING:
    from gatekeeper.evidence.collection import MetricSpec, SourceSpec
    from gatekeeper.evidence.round import Round

Script = Callable[["ScriptedReader"], None]

SCRIPTS: dict[str, Script] = {}
"""Source name -> what its `read` does."""


class ScriptedReader:
    """Gives each of its metrics a reading once the script has put it there; else it says that time ran out."""

    def __init__(self, name: str, metrics: Mapping[str, MetricSpec], shared: Round) -> None:
        self.name, self.metrics, self.shared = name, metrics, shared
        self.kept: dict[str, Reading] = {}

    def put(self, metric: str, value: float, watermark: int | None = None) -> None:
        """An answer came."""
        self.kept[metric] = Reading(metric, Side.VARIANT, self.name, value=value, watermark=watermark)

    def read(self) -> None:
        """As `round.SourceReader`."""
        SCRIPTS[self.name](self)

    def readings(self) -> list[Reading]:
        """As `round.SourceReader`."""
        late = unavailable(Unavailable.TIMEOUT, "no answer in time")
        return [
            self.kept.get(metric) or Reading(metric, Side.VARIANT, self.name, problem=late) for metric in self.metrics
        ]

    @property
    def progress(self) -> tuple[int, int]:
        """As `round.SourceReader`."""
        return len(self.kept), len(self.metrics)


def open_reader(name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> ScriptedReader:
    """As `round.OpensReader`."""
    assert source.type == "file"
    return ScriptedReader(name, metrics, shared)
