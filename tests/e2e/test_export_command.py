"""`gatekeeper log export` as people and cron call it: other bytes, a wrong exit code, a gate that hangs on memory."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.desk import COMMAND, ROOT, Desk
from tests.e2e.documents import HEALTHY
from tests.e2e.retention import checkpointed, prune, segmented
from tests.e2e.site import site
from tests.export.logs import NOON, ask, chain, founding, lines_in, long_log, names_in, write
from tests.ledger.segments import content_of, files_in_order

MIB = 1024  # of ru_maxrss, which counts KiB


def whole(desk: Desk) -> list[bytes]:
    """All lines of the log's files, decompressed by somebody else."""
    return b"".join(content_of(file) for file in files_in_order(desk.log)).splitlines()


def unfinished(desk: Desk) -> list[str]:
    """What an export has left in the lake that is no data."""
    return [path.name for path in desk.place.joinpath("lake").rglob("*") if path.suffix == ".unfinished"]


@pytest.mark.slow
def test_a_log_in_segments_comes_out_as_it_was_recorded(desk: Desk, key: str) -> None:
    """Sealed, archived, pruned; printed, into a file and a lake that go on: one chain, each line once."""
    segmented(desk)
    lines = whole(desk)
    assert desk.gate("log", "export", "--to", "copy").code == 0
    assert desk.gate("log", "export", "--parquet", "lake").code == 0
    assert desk.gate("log", "archive").code == 0
    done = desk.gate("log", "export")
    assert (done.code, done.out.splitlines(), done.err) == (0, lines, "")
    assert desk.gate("verify", "--log", "copy").code == 0
    checkpointed(desk, key)
    assert prune(desk, "9999").code == 0
    assert desk.check(HEALTHY).code == 0
    left = whole(desk)
    pruned = desk.gate("log", "export")
    assert (pruned.code, pruned.out.splitlines()) == (0, left)
    assert "were pruned on" in pruned.err
    assert "lacks" not in pruned.err
    all_lines = [*lines, *left[left.index(lines[-1]) + 1 :]]
    for _ in range(2):
        assert desk.gate("log", "export", "--to", "copy").code == 0
        assert desk.gate("log", "export", "--parquet", "lake").code == 0
    assert (desk.place / "copy").read_bytes().splitlines() == all_lines
    assert lines_in(desk.place / "lake") == all_lines


def test_what_cannot_be_read_is_named_and_the_rest_is_exported(desk: Desk) -> None:
    """Damaged, missing and unfinished lines on standard error; in json too, and what the lake lacks."""
    lines = chain(*[NOON] * 5)
    write(desk.log, [lines[0], b"{damaged", *lines[2:3], founding("f"), *lines[4:]])
    with desk.log.open("ab") as log:
        log.write(b'{"unfinished')
    log_name = "logs/decision.ndjson"
    words = f"gatekeeper: {log_name}:2: damaged line, passed over\ngatekeeper: {log_name}:6: torn line, passed over\n"
    done = desk.gate("log", "export")
    assert (done.code, done.out) == (0, desk.log.read_bytes()[: -len(b'{"unfinished')])
    assert done.err == words
    document = desk.gate("log", "export", "--parquet", "lake", "-o", "json").document
    assert document["rows"] == 4
    assert document["damaged"] == [
        {"source": log_name, "line": 2, "problem": "damaged"},
        {"source": log_name, "line": 6, "problem": "torn"},
    ]
    assert document["missing"] == [{"from_seq": 2, "to_seq": 2}, {"from_seq": 4, "to_seq": 4}]
    assert lines_in(desk.place / "lake") == [founding("f"), lines[0], lines[2], lines[4]]
    write(desk.log, [*lines[:2], lines[4]])
    assert desk.gate("log", "export", "--to", "copy").err == "gatekeeper: the log lacks seq 3 to 4\n"


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["-o", "json"], 64, "json is one document"),
        (["--to", "logs/decision.ndjson"], 64, "is the log itself"),
        (["--to", "a", "--parquet", "b"], 64, "--parquet"),
        (["--to", "copy.zst"], 64, "named as if compressed"),
        (["--to", "other"], 65, "is not the event that other has"),
        (["--to", "none/copy"], 74, "none/copy cannot be written: No such file or directory"),
        (["--parquet", "policy.json"], 74, "policy.json cannot be written: Not a directory"),
        (["--parquet", "lake", "--log", "nowhere"], 74, "nowhere cannot be read"),
    ],
)
def test_what_cannot_be_done_says_why_and_changes_nothing(argv: list[str], code: int, says: str, desk: Desk) -> None:
    """Exit codes as everywhere: 64 the call, 65 what it met, 74 the disk."""
    write(desk.log, chain(NOON, NOON))
    write(desk.place / "other", chain(NOON, NOON))
    before = {path: path.read_bytes() for path in desk.place.rglob("*") if path.is_file()}
    done = desk.gate("log", "export", *argv)
    assert done.code == code
    assert says in done.err
    assert "remedy: " in done.err
    after = {path: path.read_bytes() for path in desk.place.rglob("*") if path.is_file()}
    after.pop(desk.place / "lake" / "_gatekeeper.lock", None)
    assert after == before


def test_without_the_extra_it_says_what_to_install(desk: Desk) -> None:
    """Exit code 64; lines need no library."""
    write(desk.log, chain(NOON))
    blocked = site(desk, "import sys\nsys.modules['pyarrow'] = None\n")
    done = desk.gate("log", "export", "--parquet", "lake", PYTHONPATH=blocked)
    assert done.code == 64
    assert "remedy: python -m pip install 'pyarrow>=17'\n" in done.err
    assert not (desk.place / "lake").exists()
    assert desk.gate("log", "export", PYTHONPATH=blocked).out == desk.log.read_bytes()


def test_lines_are_exported_without_the_library_for_parquet(desk: Desk) -> None:
    """It costs time and much memory: only `--parquet` pays for it."""
    write(desk.log, chain(NOON))
    script = (
        "import sys\nfrom gatekeeper.cli.app import run\n"
        "assert run(['log', 'export']) == run(['log', 'export', '--to', 'copy']) == 0\n"
        "assert not {'pyarrow', 'numpy', 'pydantic', 'typer'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=desk.place, env=desk.env(), capture_output=True, check=True)


def test_a_reader_that_has_enough_is_no_failure(desk: Desk) -> None:
    """`log export | head`, which nobody should have to write an exception for."""
    lines = long_log(desk.log, 3000, every_seconds=1).read_bytes().splitlines()
    done = desk.shell("gatekeeper log export | head -n 1; echo ${PIPESTATUS[0]}")
    assert (done.out.splitlines(), done.err) == ([lines[0], b"0"], "")


def test_standard_output_may_be_asked_for_by_name(desk: Desk) -> None:
    """`--to -`, and no file of that name."""
    write(desk.log, chain(NOON))
    assert desk.gate("log", "export", "--to", "-").out == desk.log.read_bytes()
    assert not (desk.place / "-").exists()


@pytest.mark.slow
def test_an_export_that_is_killed_again_and_again_comes_to_its_end(desk: Desk) -> None:
    """With SIGKILL as soon as it has got on by a few files, in the middle of the next: each line is there once."""
    lines = long_log(desk.log, 4000, every_seconds=600).read_bytes().splitlines()  # 28 days
    lake, kills = desk.place / "lake", 0
    for goal in range(1, 28, 4):
        with desk.start("log", "export", "--parquet", "lake") as process:
            while process.poll() is None and len(names_in(lake)) < goal:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.005)
            kills += process.poll() is None
            process.kill()
            process.communicate()
        assert lines_in(lake) == lines[: len(lines_in(lake))]
    assert kills >= 2
    done = desk.gate("log", "export", "--parquet", "lake", "-o", "json")
    assert done.code == 0
    assert lines_in(desk.place / "lake") == lines
    assert len(names_in(desk.place / "lake")) == 28
    assert unfinished(desk) == []
    assert ask(desk.place / "lake", "count(*), count(DISTINCT seq)", "") == [(4000, 4000)]


_MEASURE = (
    "import resource, subprocess, sys\n"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
"""Run by a small process in between: what a child has at most counts from the fork on, with its parent's memory."""


def peak(*argv: str, cwd: Path) -> int:
    """How many KiB a process of the command had at most."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, *COMMAND, "log", "export", *argv],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("argv", [[], ["--to", "copy"], ["--parquet", "lake"]])
def test_memory_does_not_grow_with_the_log(argv: list[str], tmp_path: Path) -> None:
    """192 MiB of log against 48, both of one day and more than several row groups: less than a tenth of it more."""
    peaks = []
    for number, events in enumerate((2_000, 8_000)):
        place = tmp_path / str(number)
        log = long_log(place / "logs" / "decision.ndjson", events, every_seconds=1, line_bytes=24_000)
        assert log.stat().st_size > events * 24_000
        peaks.append(peak(*argv, cwd=place))
    assert peaks[1] - peaks[0] < 14 * MIB
