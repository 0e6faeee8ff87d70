"""A name that leads nowhere without help."""

from __future__ import annotations

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.replay.history import find_event
from tests.replay.builder import HEALTHY, OTHER_RUN, RUN, LogBuilder, parsed, rollout


@pytest.mark.parametrize(
    ("wanted", "seq"),
    [
        (f"{RUN}:CANARY_10", 4),
        (f"{RUN}:CANARY_10#2", 5),
        ("policy#8", 8),
        (7, 7),
        ("7", 7),
        (f"{OTHER_RUN}:action#1", 10),
    ],
)
def test_an_event_is_found_by_its_id_or_its_seq(wanted: str | int, seq: int) -> None:
    """Any kind of event; digits are a seq."""
    line = find_event(parsed([b"rubbish", *rollout()]), wanted)
    assert line.event is not None
    assert line.event["seq"] == seq


def test_the_first_of_two_events_with_one_id_is_found_without_reading_on() -> None:
    """A long log is not read to its end for an event at its beginning."""

    def lines() -> object:
        yield from parsed(rollout())[:2]
        raise AssertionError("read on behind the event")

    assert find_event(lines(), f"{RUN}:DRY_RUN").number == 2  # type: ignore[arg-type]


def test_an_unknown_event_is_refused_with_the_nearest_ids() -> None:
    """One letter wrong is the usual case."""
    with pytest.raises(InputRefusedError) as caught:
        find_event(parsed(rollout()), f"{RUN}:CANARY_52")
    assert caught.value.exit_code == 65
    assert f"{RUN}:CANARY_52" in caught.value.message
    assert f"did you mean {RUN}:CANARY_25 or " in caught.value.remedy


def test_the_nearest_id_is_found_among_thousands() -> None:
    """Ids are thinned out while they are read, and the near ones must survive that."""
    log = LogBuilder()
    loaded = log.policy()
    log.decision(loaded, "DRY_RUN", HEALTHY)
    line = parsed(log.lines)[1]
    assert line.event is not None
    names = [f"run-{number}:DRY_RUN" for number in range(5000)]
    lines = [type(line)(line.source, line.number, b"x", {**line.event, "event_id": name}) for name in names]
    with pytest.raises(InputRefusedError) as caught:
        find_event(lines, "run-2718:DRYRUN")
    assert "run-2718:DRY_RUN" in caught.value.remedy


def test_a_run_id_in_place_of_an_event_id_is_said_to_be_one() -> None:
    """`explain` takes events; the run's own command is named."""
    with pytest.raises(InputRefusedError) as caught:
        find_event(parsed(rollout()), RUN)
    assert caught.value.remedy == f"that is a run: its events are in gatekeeper status {RUN}"


def test_a_seq_behind_the_end_is_refused_with_the_last_one() -> None:
    """No letters to compare there."""
    with pytest.raises(InputRefusedError) as caught:
        find_event(parsed(rollout()), "11")
    assert caught.value.message == "no event has seq 11"
    assert "10" in caught.value.remedy


def test_an_id_like_nothing_in_the_log_leads_to_the_list() -> None:
    """Also in an empty log."""
    for lines in ([], rollout()):
        with pytest.raises(InputRefusedError) as caught:
            find_event(parsed(lines), "?")
        assert caught.value.remedy == "list events with: gatekeeper replay"
