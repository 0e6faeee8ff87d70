"""Kill a program with SIGKILL at moments that nobody chose, and hold it to what it had promised by then.

Building block: the caller says how the program is started and how its output names what it promised.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.ledger.checking import events_of


@dataclass
class KillLoop:
    """Starts *command* again and again and kills it after a random time.

    Attributes:
        command: writes one line to stdout for each event that it promises: its `event_id`.
        longest_seconds: the latest moment of a kill, from the start of the process.
        random: where the moments come from; seeded, so that a failure can be repeated.
        promised: event ids that were told, in order.
    """

    command: Sequence[str]
    longest_seconds: float
    random: Random = field(default_factory=lambda: Random(20260218))
    promised: list[str] = field(default_factory=list)

    def round(self, *arguments: str, cwd: Path | None = None) -> bool:
        """One start. True when it was killed, False when it came to its end before."""
        with subprocess.Popen([*self.command, *arguments], stdout=subprocess.PIPE, cwd=cwd) as process:
            try:
                out, _ = process.communicate(timeout=self.random.uniform(0, self.longest_seconds))
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
                was_killed = True
            else:
                was_killed = False
                assert process.returncode == 0
        told = out.split(b"\n")[:-1]  # a line that was cut off was not told
        self.promised += [line.decode("utf-8") for line in told]
        return was_killed

    def assert_kept(self, path: Path) -> None:
        """Every promised event is in the log at *path*, once, in the order of the promises."""
        ids = [event["event_id"] for event in events_of(path)]
        places = {event_id: place for place, event_id in enumerate(ids)}
        assert len(places) == len(ids)
        missing = [event_id for event_id in self.promised if event_id not in places]
        assert missing == []
        order = [places[event_id] for event_id in self.promised]
        assert order == sorted(order)
