"""HO-13 with the installed command: nothing goes forward unrecorded, going back is always possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.disks import SITUATIONS, Situation, file_limit, folder_in_place, under_a_file
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY

pytestmark = pytest.mark.slow  # many processes


@pytest.mark.parametrize("situation", SITUATIONS)
def test_ho_13_nothing_goes_forward_unrecorded_and_going_back_is_possible(situation: Situation, desk: Desk) -> None:
    """(a) ACCEPT 74, (c) DEGRADE 74, (b) REJECT 1 with a loud line; afterwards the next call needs no repair."""
    desk.begin_at("CANARY_10")
    before = desk.log.read_bytes()
    healthy, blind, harmful = (desk.asking(metrics) for metrics in (HEALTHY, BLIND, HARMFUL))
    with situation(desk) as ask:
        for argv, verdict in ((healthy, "ACCEPT"), (blind, "DEGRADE")):
            done = ask(argv)
            assert (done.code, done.out) == (74, b""), done
            if situation not in {folder_in_place, under_a_file}:  # there not even the run's state can be read
                assert f"{verdict} was reached and is not given" in done.err
            assert "remedy: " in done.err
            assert "Traceback" not in done.err
        done = ask(harmful)
        assert done.code == 1, done
        assert "REJECT IS NOT RECORDED" in done.err
        assert "gatekeeper stop r-41 --reason TEXT" in done.err
        assert b"[STOP] r-41" in done.out
    assert desk.log.read_bytes() == before
    if situation in {file_limit, folder_in_place}:
        assert desk.gate(*healthy).code == 1  # the marker beside the log has become the REJECT
        assert desk.events()[-1]["from_marker"] is True
    else:
        assert desk.gate(*healthy).code == 0  # no marker could be left: people were told
    assert not Path(f"{desk.log}.unrecorded").exists()
    assert desk.log.read_bytes().startswith(before)
    desk.assert_verifies()


def test_ho_13_a_marker_becomes_the_reject_with_the_next_call_of_any_kind(desk: Desk) -> None:
    """Whoever looks at the run next finds it stopped; it is recorded once."""
    desk.begin_at("CANARY_10")
    with file_limit(desk) as ask:
        assert ask(desk.asking(HARMFUL)).code == 1
    assert Path(f"{desk.log}.unrecorded").exists()
    status = desk.gate("status", "r-41", "-o", "json")
    assert status.document["state"] == "STOPPED"
    assert "recorded from" in status.err
    assert [event["decision"]["verdict"] for event in desk.events() if "decision" in event] == ["ACCEPT", "REJECT"]
    assert desk.check(HEALTHY).code == 1
    assert len(desk.events()) == 4
    desk.assert_verifies()
