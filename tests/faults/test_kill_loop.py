"""SIGKILL at random moments of a process that appends without end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.kill_loop import KillLoop
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision

_WRITER = """
import sys
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision
from pathlib import Path
path, name = Path(sys.argv[1]), sys.argv[2]
ledger = ledger_at(path)
for number in range(1, 1000000):
    if number % 3 == 0:
        ledger.view()
    event = ledger.append([decision(name, number=number, pad="x" * 3000)], expect=None, actor="t").events[0]
    sys.stdout.write(event["event_id"] + "\\n")
    sys.stdout.flush()
"""


@pytest.mark.slow
def test_what_was_told_before_a_kill_is_in_the_log(tmp_path: Path) -> None:
    """Ten writers one after the other, each killed somewhere: no told event is lost, no line torn for good."""
    path = tmp_path / "logs" / "decision.ndjson"
    loop = KillLoop([sys.executable, "-c", _WRITER], longest_seconds=1.0)
    root = Path(__file__).parents[2]
    for number in range(10):
        assert loop.round(str(path), f"run{number}", cwd=root)
    ledger = ledger_at(path)
    ledger.append([decision("last")], expect=None, actor="t")
    ledger.close()
    loop.assert_kept(path)
    assert_whole(path)
    assert_state_follows(path)
    assert len(loop.promised) > 10
    assert len(events_of(path)) >= len(loop.promised) + 1
