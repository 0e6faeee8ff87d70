"""One part, read as a collection reads it, and collections of one part."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gatekeeper.evidence.collect import Collector
from gatekeeper.evidence.collection import FileMetric, FileSource, SourceType
from gatekeeper.evidence.collection_file.loading import load_collection
from gatekeeper.evidence.parts.reader import PartReader, open_reader
from gatekeeper.evidence.reading import Reading, Side
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.model.times import require_time
from tests.doubles import StepClock
from tests.evidence.http_support import round_of

NOW = "2026-02-18T01:00:10Z"
"""What the wall clock says."""


def reader(
    path: Path, metrics: Mapping[str, str | None], *, standard_input: Callable[[], bytes] = lambda: b""
) -> PartReader:
    """The reader of a part at *path*, not yet asked.

    Args:
        metrics: our names, and the part's where they differ.
    """
    stated = "-" if path.name == "-" else path.name
    source = FileSource(SourceType.FILE, stated)
    asked = {name: FileMetric("part", metric=theirs) for name, theirs in metrics.items()}
    shared = round_of(
        {"part": source},
        asked,
        path=str(path.parent / "collection.json"),
        read_standard_input=standard_input,
        now=lambda: require_time(NOW),
    )
    return open_reader("part", source, asked, shared)


def read(folder: Path, content: object, *names: str, **renamed: str) -> dict[tuple[str, Side], Reading]:
    """What a part says of metrics by these names: bytes, or what is written as JSON.

    Args:
        renamed: our name -> the part's.
    """
    path = folder / "part.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    one = reader(path, {**dict.fromkeys(names), **renamed})
    one.read()
    return {(reading.metric, reading.side): reading for reading in one.readings()}


def variant(folder: Path, content: object, name: str = "rate") -> Reading:
    """What a part says of one metric."""
    return read(folder, content, name)[name, Side.VARIANT]


def baseline(folder: Path, content: object, name: str = "rate") -> Reading:
    """What a part says of one metric's baseline."""
    return read(folder, content, name)[name, Side.BASELINE]


def collected(folder: Path, content: object, *names: str, window: str | None = None) -> Snapshot:
    """The snapshot of a collection that is nothing but this part."""
    (folder / "part.json").write_text(json.dumps(content), encoding="utf-8")
    document: dict[str, Any] = {
        "sources": {"part": {"type": "file", "path": "part.json"}},
        "metrics": {name: {"source": "part"} for name in names},
        **({} if window is None else {"window": window}),
    }
    loaded = load_collection(json.dumps(document).encode(), str(folder / "collection.json"))
    return Collector(loaded, clock=StepClock(require_time(NOW)), environ={}, read_standard_input=lambda: b"").collect()
