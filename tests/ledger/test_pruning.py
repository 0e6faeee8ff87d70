"""Lines that are removed for good: only what is proven, nothing that runs stand on, and never without its proof."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError, LogDamagedError, LogError
from gatekeeper.ledger.pruned import Pruned, read_pruned, write_pruned
from gatekeeper.ledger.pruning import Cut, choose, finish, remove
from gatekeeper.model.event import line_digest
from gatekeeper.model.times import require_time
from tests.faults.faulty_ops import FaultyOps, fails_with, in_killed_process, killed_after, killed_before, killed_within
from tests.ledger.checking import Unflushed
from tests.ledger.segments import files_in_order, rotated_log

NOTE = "gates.example.com/prod\n10\nT8rJwpLxgbOqiDyVny/K784UgMB5HDsth29keUIOHNU=\n\n— gates.example.com/prod c2ln\n"


def chosen(path: Path, seq: int | None = None, time: str | None = None) -> Cut | None:
    """What would go."""
    return choose(Unflushed(), str(path), before_seq=seq, before_time=None if time is None else require_time(time))


def proof_of(cut: Cut) -> Pruned:
    """What is kept of it."""
    return Pruned(cut.last_seq, cut.digest, "2026-02-18T01:00:10.000000Z", NOTE, (b"\1" * 32, b"\2" * 32))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Seqs 1-5 and 6-8 are sealed, 9 and 10 are the live file's head; all of one second."""
    path = tmp_path / "log" / "decision.ndjson"
    path.parent.mkdir()
    rotated_log(path)
    return path


@pytest.mark.parametrize(("seq", "names", "last"), [(5, 0, 0), (6, 1, 5), (8, 1, 5), (9, 2, 8), (99, 2, 8)])
def test_only_whole_segments_before_the_seq_go(seq: int, names: int, last: int, log: Path) -> None:
    """The one that holds it stays, and so does the live file."""
    cut = chosen(log, seq)
    if cut is None:
        assert names == 0
        return
    assert [*cut.paths] == [str(file) for file in files_in_order(log)[:names]]
    line = files_in_order(log)[names - 1].read_bytes().split(b"\n")[-2]
    assert (cut.first_seq, cut.last_seq, cut.digest) == (1, last, line_digest(line))


def test_an_event_at_the_time_itself_is_not_before_it(log: Path) -> None:
    """All of this log was written at one moment."""
    assert chosen(log, time="2026-02-18T01:00:10Z") is None
    cut = chosen(log, time="2026-02-18T01:00:10.000001Z")
    assert cut is not None
    assert cut.last_seq == 8


def test_what_is_left_of_a_prune_is_not_chosen_again(log: Path) -> None:
    """The first segment is pruned and, for whatever reason, still there."""
    cut = chosen(log, 6)
    assert cut is not None
    write_pruned(Unflushed(), str(log), proof_of(cut))
    following = chosen(log, 99)
    assert following is not None
    assert (following.first_seq, following.last_seq) == (6, 8)
    assert [*following.paths] == [str(files_in_order(log)[1])]


def test_a_segment_behind_a_missing_one_is_not_removed(log: Path) -> None:
    """What is not there cannot be compared with a checkpoint."""
    files_in_order(log)[0].unlink()
    with pytest.raises(InputRefusedError, match="seq 1 to 5 are missing"):
        chosen(log, 99)


def test_a_file_that_others_have_rotated_is_not_removed(log: Path) -> None:
    """Whatever they call it; only what was sealed is."""
    files_in_order(log)[0].rename(log.parent / "decision.ndjson.1")
    with pytest.raises(InputRefusedError, match="no sealed segment"):
        chosen(log, 99)


HEADS: dict[str, tuple[bytes, bytes]] = {
    "of other seqs": (b'"last_seq":8', b'"last_seq":7'),
    "of other lines": (
        b'"segment":{"complete":true,"digest":"sha256:',
        b'"segment":{"complete":true,"digest":"sha256:f',
    ),
    "that is none": (b'"kind":"checkpoint"', b'"kind":"decision"'),
    "that cannot be read": (b'"state":"STOPPED"', b'"state":"BLESSED"'),
    "that is damaged": (b'{"actor"', b'{actor"'),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_segment_goes_only_where_the_head_behind_it_vouches_for_it(name: str, log: Path) -> None:
    """Else the runs would be forgotten with it; a blank line before the head is nothing."""
    whole = log.read_bytes()
    log.write_bytes(b"\n" + whole)
    assert chosen(log, 99) is not None
    old, new = HEADS[name]
    changed = whole.replace(old, new, 1)
    assert changed != whole
    log.write_bytes(changed)
    with pytest.raises(InputRefusedError, match="has no head"):
        chosen(log, 99)
    cut = chosen(log, 6)
    assert cut is not None
    assert cut.last_seq == 5, "what is before a sound head may go"


@pytest.mark.parametrize("live", [None, b"", "torn"])
def test_a_segment_without_anything_behind_it_stays(live: bytes | str | None, log: Path) -> None:
    """The live file is gone, empty, or its head was never finished."""
    if live is None:
        log.unlink()
    else:
        log.write_bytes(log.read_bytes().split(b"\n")[0] if live == "torn" else b"")
    with pytest.raises(InputRefusedError, match="no head"):
        chosen(log, 99)


def test_the_proof_is_on_the_device_before_the_first_line_goes(log: Path) -> None:
    """Under the lock; and each removal is before the next, so that no part in the middle is ever missing."""
    cut = chosen(log, 99)
    assert cut is not None
    ops = FaultyOps().arm()
    remove(ops, str(log), cut, proof_of(cut))
    steps = {"lock", "write", "flush", "replace", "flush_directory", "remove"}
    assert [name for name in ops.log if name in steps] == [
        *("lock", "write", "flush", "replace", "flush_directory"),
        *("remove", "flush_directory") * 2,
    ]
    assert files_in_order(log) == [log]
    assert read_pruned(Unflushed(), str(log)) == proof_of(cut)


def test_a_file_that_is_gone_already_is_no_trouble(log: Path) -> None:
    """Two people pruned at once."""
    cut = chosen(log, 99)
    assert cut is not None
    files_in_order(log)[0].unlink()
    remove(Unflushed(), str(log), cut, proof_of(cut))
    assert files_in_order(log) == [log]


def prune(path: Path, ops: FaultyOps) -> None:
    """Both segments."""
    cut = chosen(path, 99)
    assert cut is not None
    remove(ops.arm(), str(path), cut, proof_of(cut))


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fails_with(errno.EIO), killed_before, killed_within, killed_after])
def test_a_prune_cut_short_anywhere_keeps_its_proof_and_is_finished_later(
    fault: Any, log: Path, tmp_path: Path
) -> None:
    """Without the proof nothing is gone; with it the oldest is, and the next call removes the rest."""
    ops = FaultyOps()
    shutil.copytree(log.parent, tmp_path / "count")
    prune(tmp_path / "count" / log.name, ops)
    names = [file.name for file in files_in_order(log)]
    for at in range(1, len(ops.log) + 1):
        path = tmp_path / str(at) / log.name
        shutil.copytree(log.parent, path.parent)

        def body(path: Path = path, at: int = at) -> None:
            with contextlib.suppress(LogError):
                prune(path, FaultyOps(at, fault))

        in_killed_process(body)
        where, left = f"call {at} ({ops.log[at - 1]})", [file.name for file in files_in_order(path)]
        kept = read_pruned(Unflushed(), str(path))
        assert left in ([names] if kept is None else [names, names[1:], names[2:]]), where
        if kept is not None:
            assert kept.last_seq == 8, where
            assert finish(Unflushed(), str(path)) == [str(path.parent / name) for name in left[:-1]], where
            assert files_in_order(path) == [path], where


def test_what_a_prune_did_not_remove_is_never_finished_off(log: Path) -> None:
    """A segment behind the pruned part, a file of others, and a log that was never pruned stay."""
    assert finish(Unflushed(), str(log)) == []
    cut = chosen(log, 6)
    assert cut is not None
    (log.parent / "decision.ndjson.1").write_bytes(b"{}\n")
    write_pruned(Unflushed(), str(log), proof_of(cut))
    assert finish(Unflushed(), str(log)) == [cut.paths[0]]
    assert [file.name for file in files_in_order(log)] == [
        "decision.ndjson.000000000006-000000000008",
        "decision.ndjson",
    ]
    assert (log.parent / "decision.ndjson.1").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"first_seq": 2},
        {"last_seq": 0},
        {"last_seq": "8"},
        {"last_seq": True},
        {"last_seq": 11},  # the note covers 10 lines
        {"digest": "sha256:" + "0" * 63},
        {"digest": 7},
        {"pruned_at": "yesterday"},
        {"pruned_at": None},
        {"checkpoint": "none"},
        {"checkpoint": NOTE.replace("\n10\n", "\nten\n")},
        {"checkpoint": None},
        {"subtrees": ["00"]},
        {"subtrees": [7]},
        {"subtrees": None},
    ],
    ids=str,
)
def test_a_proof_that_somebody_has_mended_by_hand_is_none(change: dict[str, Any], log: Path) -> None:
    """It is named, with what to do about it; nobody goes on as if nothing had been pruned."""
    cut = chosen(log, 99)
    assert cut is not None
    write_pruned(Unflushed(), str(log), proof_of(cut))
    place = log.parent / "decision.ndjson.pruned"
    whole = json.loads(place.read_bytes())
    place.write_text(json.dumps(whole))
    assert read_pruned(Unflushed(), str(log)) == proof_of(cut), "how it is written does not matter"
    place.write_text(json.dumps({**whole, **change}))
    with pytest.raises(LogDamagedError, match="not as it was written") as caught:
        read_pruned(Unflushed(), str(log))
    assert "bring a copy of it back" in caught.value.remedy


def test_people_are_told_what_was_pruned_in_one_sentence() -> None:
    """How much, when, and by how much it is covered; one line is no lines."""
    digest = "sha256:" + "0" * 64
    assert str(Pruned(8, digest, "2026-02-18T01:00:10.000000Z", NOTE, ())) == (
        "seq 1 to 8 were pruned on 2026-02-18, under a signed checkpoint of 10 lines"
    )
    one = Pruned(1, digest, "2026-02-18T01:00:10.000000Z", NOTE.replace("\n10\n", "\n1\n"), ())
    assert str(one) == "seq 1 was pruned on 2026-02-18, under a signed checkpoint of 1 line"
