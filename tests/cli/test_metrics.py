"""`log metrics` as a collector reads it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HARMFUL

LOG = str(Path(__file__).parents[2] / "logs" / "decision.ndjson")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A directory with a run that is rejected, and one that is held."""
    made = Desk(tmp_path)
    made.begin_at("CANARY_10")
    assert made.check(HARMFUL).code == 1
    assert made.check(BLIND, run="r-42").code == 2
    return made


@pytest.mark.server
def test_prometheus_own_linter_finds_nothing_to_say(desk: Desk) -> None:
    """`promtool check metrics` refuses wrong names, missing HELP and mixed types, and so would a Pushgateway."""
    assert shutil.which("promtool")
    text = desk.gate("log", "metrics").out

    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    assert b"gatekeeper_decisions_total{" in text


def test_the_file_of_a_collector_is_replaced_as_a_whole_and_readable(desk: Desk) -> None:
    """node_exporter runs as another user and reads whenever it likes."""
    place = desk.place / "gatekeeper.prom"
    place.write_text("old")
    before = place.stat().st_ino

    done = desk.gate("log", "metrics", "--out", "gatekeeper.prom")

    assert (done.code, done.out) == (0, b"")
    assert place.read_bytes() == desk.gate("log", "metrics").out
    assert place.stat().st_ino != before
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    assert [path.name for path in desk.place.glob("gatekeeper.prom*")] == ["gatekeeper.prom"]


def test_a_place_that_cannot_be_written_is_told(desk: Desk) -> None:
    """Silence would look like a gate that decides nothing."""
    done = desk.gate("log", "metrics", "--out", os.path.join("absent", "gatekeeper.prom"))

    assert done.code == 74
    assert "absent/gatekeeper.prom" in done.err


def test_a_failed_write_leaves_nothing_behind(desk: Desk) -> None:
    """A cron job would fill the collector's directory, one file a minute."""
    (desk.place / "taken").mkdir()
    before = sorted(path.name for path in desk.place.iterdir())

    assert desk.gate("log", "metrics", "--out", "taken").code == 74

    assert sorted(path.name for path in desk.place.iterdir()) == before


def test_the_totals_are_those_of_the_queries(desk: Desk) -> None:
    """Two ways to count must agree."""
    text = desk.gate("log", "metrics").out.decode()

    rejects = desk.gate("replay", "--verdict", "REJECT", "-o", "ndjson").out.count(b"\n")
    assert f'gatekeeper_decisions_total{{stage="CANARY_25",decision="REJECT"}} {rejects}' in text.splitlines()
