"""A lake that is not the log: rows lost or doubled, days in the wrong directory, another log's events among its own."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.export.lake.writer import Sizes
from tests.doubles import MemoryLedger
from tests.export.logs import NOON, ask, chain, founding, into_lake, lines_in, names_in, write
from tests.ledger.segments import content_of, files_in_order, rotated_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Five events on two days."""
    times = ["2026-02-18T09:00:00Z"] * 3 + ["2026-02-19T09:00:00Z"] * 2
    return write(tmp_path / "decision.ndjson", chain(*times))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Where the lake will be."""
    return tmp_path / "lake"


def test_every_event_is_one_row_that_leads_back_to_its_line(log: Path, lake: Path) -> None:
    """`seq`, the line's bytes, and their digest, computed by DuckDB and by hashlib, and chained to each other."""
    into_lake(log, lake)
    lines = log.read_bytes().splitlines()
    assert lines_in(lake) == lines
    digests = ["sha256:" + hashlib.sha256(line).hexdigest() for line in lines]
    rows = ask(lake, "seq, digest, 'sha256:' || sha256(line), prev", "ORDER BY seq")
    assert rows == [
        (number, digest, digest, before)
        for number, digest, before in zip(range(1, 6), digests, ["sha256:" + "0" * 64, *digests], strict=False)
    ]


def test_files_are_named_by_day_and_seq(log: Path, lake: Path) -> None:
    """A query for one day opens that day's files only, and whoever looks sees what is there."""
    into_lake(log, lake)
    assert names_in(lake) == [
        "date=2026-02-18/events-000000000001-000000000003.parquet",
        "date=2026-02-19/events-000000000004-000000000005.parquet",
    ]
    assert [str(date) for (date,) in ask(lake, "DISTINCT date", "ORDER BY 1")] == ["2026-02-18", "2026-02-19"]


def test_a_day_ends_at_midnight_utc_wherever_the_export_runs(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One microsecond before and midnight itself; a line of others with its own zone counts by its UTC day."""
    monkeypatch.setenv("TZ", "America/New_York")
    before, at = chain("2026-02-18T23:59:59.999999Z", "2026-02-19T00:00:00Z")
    late = founding("old", ts="2026-02-18T20:30:00-05:00")
    early = founding("old", ts="2026-02-19T05:29:59+05:30")
    into_lake(write(tmp_path / "log", [before, at, late, early]), lake)
    rows = ask(lake, "date::VARCHAR, strftime(ts, '%Y-%m-%dT%H:%M:%S.%f'), line", "ORDER BY ts")
    assert rows == [
        ("2026-02-18", "2026-02-18T23:59:59.000000", early.decode()),
        ("2026-02-18", "2026-02-18T23:59:59.999999", before.decode()),
        ("2026-02-19", "2026-02-19T00:00:00.000000", at.decode()),
        ("2026-02-19", "2026-02-19T01:30:00.000000", late.decode()),
    ]


@pytest.mark.parametrize("known", range(6))
def test_exported_again_only_what_is_new_is_added(known: int, log: Path, lake: Path) -> None:
    """And nothing twice, nothing rewritten: what others have copied from the lake stays as it is."""
    lines = log.read_bytes().splitlines()
    write(log, lines[:known])
    into_lake(log, lake)
    before = {name: (lake / name).read_bytes() for name in names_in(lake)}
    write(log, lines)
    done = into_lake(log, lake)
    assert sum(file.rows for file in done.files) == 5 - known
    assert lines_in(lake) == lines
    assert {name: (lake / name).read_bytes() for name in before} == before


def test_an_export_without_news_changes_nothing(log: Path, lake: Path) -> None:
    """No file is touched, none is added."""
    into_lake(log, lake)
    before = {path: path.stat().st_mtime_ns for path in lake.rglob("*")}
    assert into_lake(log, lake).files == []
    assert {path: path.stat().st_mtime_ns for path in lake.rglob("*")} == before


def test_news_of_one_day_touch_no_other_day(lake: Path, tmp_path: Path) -> None:
    """The directory of the day before has the files it had."""
    ledger = MemoryLedger()
    chain("2026-02-18T09:00:00Z", "2026-02-19T09:00:00Z", ledger=ledger)
    log = write(tmp_path / "log", ledger.lines)
    into_lake(log, lake)
    chain("2026-02-19T10:00:00Z", ledger=ledger)
    (new,) = into_lake(write(log, ledger.lines), lake).files
    assert new.path.endswith("date=2026-02-19/events-000000000003-000000000003.parquet")
    assert len(names_in(lake)) == 3


def test_lines_of_a_founding_driver_are_rows_without_a_seq(lake: Path, tmp_path: Path) -> None:
    """In front of the first event, between two and behind the last, with and without a time: each once.

    One without a time counts to the day of the line before it, also where that was exported earlier.
    """
    a, b = chain("2026-02-18T09:00:00Z", "2026-02-18T09:00:00Z")
    first = [founding("f1", ts="2026-01-05T10:00:00Z"), founding("f2")]
    between = [founding("f3", ts="2026-02-18T10:00:00Z"), founding("f4", ts="2026-02-18T10:00:00Z")]
    last = [founding("f5", "REJECT", reason_codes=["guardrail_violation:errors"], ts="2026-02-18T11:00:00Z")]
    lines = [founding("f0"), *first, a, *between, b, *last, founding("f6")]
    log = tmp_path / "log"
    for known in range(1, len(lines) + 1):
        into_lake(write(log, lines[:known]), lake)
        assert sorted(lines_in(lake)) == sorted(lines[:known])
    rows = ask(lake, "line, date::VARCHAR", "WHERE seq IS NULL")
    assert {line.encode(): date for line, date in rows} == {
        founding("f0"): "1970-01-01",
        first[0]: "2026-01-05",
        first[1]: "2026-01-05",
        between[0]: "2026-02-18",
        between[1]: "2026-02-18",
        last[0]: "2026-02-18",
        founding("f6"): "2026-02-18",
    }
    found = ask(lake, "kind, run_id, stage, verdict, reason_codes, findings", "WHERE line LIKE '%\"f5\"%'")
    assert found == [("decision", "f5", "CANARY_10", "REJECT", ["guardrail_violation:errors"], [])]
    assert into_lake(log, lake).files == []
    everything = tmp_path / "at once"
    into_lake(log, everything)
    assert sorted(lines_in(everything)) == sorted(lines)
    assert names_in(everything) == [
        "date=1970-01-01/lines-000000000000-000001-000001.parquet",
        "date=2026-01-05/lines-000000000000-000002-000003.parquet",
        "date=2026-02-18/events-000000000001-000000000002.parquet",
    ]


def test_a_damaged_line_has_no_row_and_stops_nothing(log: Path, lake: Path) -> None:
    """Names show that its seq is missing, in the middle of a day as well; the next export goes on behind it."""
    lines = log.read_bytes().splitlines()
    write(log, [lines[0], lines[1][:50], *lines[2:], b"garbage"])
    into_lake(log, lake)
    assert lines_in(lake) == [lines[0], *lines[2:]]
    assert names_in(lake)[:2] == [
        "date=2026-02-18/events-000000000001-000000000001.parquet",
        "date=2026-02-18/events-000000000003-000000000003.parquet",
    ]
    assert into_lake(log, lake).files == []
    write(log, [lines[0], lines[1][:50], *lines[2:], b"garbage", founding("f"), b"more"])
    assert [file.rows for file in into_lake(log, lake).files] == [1]
    assert into_lake(log, lake).files == []


def test_an_unfinished_last_line_waits_for_its_end(log: Path, lake: Path) -> None:
    """It was never promised; once it is whole, it has its row."""
    whole = log.read_bytes()
    log.write_bytes(whole[:-1])
    into_lake(log, lake)
    assert len(lines_in(lake)) == 4
    log.write_bytes(whole)
    into_lake(log, lake)
    assert lines_in(lake) == whole.splitlines()


def test_a_line_out_of_its_place_has_no_row(log: Path, lake: Path) -> None:
    """A seq that was there before: the lake would have it twice."""
    lines = log.read_bytes().splitlines()
    write(log, [*lines[:3], lines[1], lines[2], *lines[3:]])
    done = into_lake(log, lake)
    assert (done.out_of_place_count, done.out_of_place) == (2, [f"{log}:4", f"{log}:5"])
    assert lines_in(lake) == lines
    assert into_lake(log, lake).files == []


@pytest.mark.parametrize("known", range(11))
def test_segments_are_one_log(known: int, lake: Path, tmp_path: Path) -> None:
    """Whatever was exported before the rest was sealed."""
    log = tmp_path / "logs" / "decision.ndjson"
    log.parent.mkdir()
    rotated_log(log)
    lines = b"".join(content_of(file) for file in files_in_order(log)).splitlines()
    into_lake(write(tmp_path / "early", lines[:known]), lake)
    into_lake(log, lake)
    assert lines_in(lake) == lines


def test_a_pruned_log_goes_on_in_the_lake_that_has_the_rest(lake: Path, tmp_path: Path) -> None:
    """Where events were pruned before they were exported, it is refused: nobody could see the gap later."""
    lines = chain(*[NOON] * 4)
    short = tmp_path / "short"
    into_lake(write(tmp_path / "one", lines[:1]), short)
    into_lake(write(tmp_path / "two", lines[:2]), lake)
    log = write(tmp_path / "log", lines[2:])
    into_lake(log, lake)
    assert lines_in(lake) == lines
    with pytest.raises(InputRefusedError, match=r"ends at seq 1, .* goes on with seq 3"):
        into_lake(log, short)
    assert lines_in(short) == lines[:1]


@pytest.mark.parametrize("length", [3, 5, 8])
def test_another_log_is_refused(length: int, log: Path, lake: Path, tmp_path: Path) -> None:
    """Exit code 65: its events would stand among the others for ever."""
    into_lake(log, lake)
    before = names_in(lake)
    with pytest.raises(InputRefusedError) as caught:
        into_lake(write(tmp_path / "other", chain(*[NOON] * length)), lake)
    assert caught.value.exit_code == 65
    assert names_in(lake) == before


def test_a_last_file_that_is_not_ours_any_more_is_named(log: Path, lake: Path) -> None:
    """Cut by a copy that failed: with it removed, its rows are exported again."""
    into_lake(log, lake)
    last = lake / names_in(lake)[-1]
    last.write_bytes(last.read_bytes()[:-100])
    with pytest.raises(InputRefusedError, match="is not as it was written") as caught:
        into_lake(log, lake)
    assert last.name in caught.value.message
    last.unlink()
    into_lake(log, lake)
    assert lines_in(lake) == log.read_bytes().splitlines()


def test_a_file_of_another_version_is_not_gone_on_with(log: Path, lake: Path) -> None:
    """Columns of two versions in one lake would be a riddle for every query."""
    into_lake(log, lake)
    last = lake / names_in(lake)[-1]
    table = pq.read_table(last)
    pq.write_table(table.replace_schema_metadata({b"gatekeeper.lake": b'{"version":2,"seq":5}'}), last)
    with pytest.raises(InputRefusedError, match="another version"):
        into_lake(log, lake)


def test_long_logs_make_several_row_groups_and_files(log: Path, lake: Path) -> None:
    """Sizes count bytes of lines; every row is there, in order, whatever they are."""
    into_lake(log, lake, sizes=Sizes(batch=1, group=1, file=1))
    assert [Path(name).name for name in names_in(lake)] == [f"events-{n:012d}-{n:012d}.parquet" for n in range(1, 6)]
    shutil.rmtree(lake)
    into_lake(log, lake, sizes=Sizes(batch=1, group=1))
    first = pq.ParquetFile(lake / names_in(lake)[0])
    assert first.metadata.num_row_groups == 3
    assert lines_in(lake) == log.read_bytes().splitlines()


def test_pyarrow_reads_the_lake_as_one_data_set(log: Path, lake: Path) -> None:
    """The other way in: by directory, with `date` from its names; the lock beside it is no data."""
    into_lake(log, lake)
    table = ds.dataset(lake, partitioning="hive").to_table().sort_by("seq")
    assert table["line"].to_pylist() == [line.decode() for line in log.read_bytes().splitlines()]
    assert table["date"].to_pylist() == ["2026-02-18"] * 3 + ["2026-02-19"] * 2
