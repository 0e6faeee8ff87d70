"""Logs in segments for tests, and what must hold of them; read with no code of ours."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import zstandard

from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, policy, stop

GENESIS = "sha256:" + "0" * 64
SEALED = re.compile(r"\.(\d{12})-(\d{12})(\.gz|\.zst)?$")


def content_of(path: Path) -> bytes:
    """A file's content, decompressed."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            return reader.read()
    return data


def files_in_order(path: Path) -> list[Path]:
    """Sealed segments by name, then the live file."""
    sealed = [found for found in path.parent.iterdir() if SEALED.search(found.name)]
    return [*sorted(sealed), *([path] if path.exists() else [])]


def all_events(path: Path) -> list[dict[str, Any]]:
    """The events of all files, after each `prev` was compared with the SHA-256 of the line before."""
    events, digest = [], GENESIS
    for file in files_in_order(path):
        data = content_of(file)
        assert data.endswith(b"\n") or not data
        for line in data.split(b"\n")[:-1]:
            event = json.loads(line)
            assert event["prev"] == digest, (file.name, event["seq"])
            digest = "sha256:" + hashlib.sha256(line).hexdigest()
            events.append(event)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    ids = [event["event_id"] for event in events]
    assert len(ids) == len(set(ids))
    return events


def rotated_log(path: Path) -> list[dict[str, Any]]:
    """Ten events in two segments and a live file.

    Seqs 1-5: a policy, run `a` enters two stages and is stopped, run `h` is held. 6-7: the head (one policy is in
    use: that of `h`), 8: `h` goes on. 9-10: the second head, no event behind it.
    """
    ledger = ledger_at(path)
    loaded = policy()
    judged: dict[str, Any] = {"policy_digest": loaded.digest}
    ledger.append(
        [decision("a", **judged), decision("a", "SHADOW", from_stage="DRY_RUN", **judged)],
        expect=None,
        policies=[loaded],
        actor="t",
    )
    held = decision("h", verdict="DEGRADE", experiment="e2", token="T", **judged)
    ledger.append([held, stop("a")], expect=None, actor="t")
    assert ledger.rotate(actor="t") is not None
    ledger.append([decision("h", number=2, experiment="e2", **judged)], expect=None, actor="t")
    assert ledger.rotate(actor="t") is not None
    ledger.close()
    return all_events(path)


def lose_state(path: Path) -> None:
    """Lose the database and what SQLite keeps with it."""
    for found in path.parent.glob(f"{path.name}.db*"):
        found.unlink()


def state_of(path: Path) -> dict[Path, bytes]:
    """The database as it is now, for `put_state_back`."""
    return {found: found.read_bytes() for found in path.parent.glob(f"{path.name}.db*")}


def put_state_back(path: Path, state: dict[Path, bytes]) -> None:
    """As after a kill before the state was written: the log is ahead of it."""
    lose_state(path)
    for found, content in state.items():
        found.write_bytes(content)
