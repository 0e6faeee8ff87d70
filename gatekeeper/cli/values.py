"""What a handler gets: every declared option and argument by name, with typed getters.

A getter of a name that the command does not declare, or of another type than its kind, is a bug of
ours and raises (exit 70); what a person typed was checked before.
"""

from __future__ import annotations

from gatekeeper.cli.kinds import SNAPSHOT, Ago, Seq
from gatekeeper.errors import UsageError
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final, Literal

    from gatekeeper.cli.spec import Command


class Values:
    """The values of one call of *command*; what was not given and has no default is None or empty."""

    __slots__ = ("_values", "command")

    def __init__(self, command: Command, values: Mapping[str, object]) -> None:
        self.command: Final = command
        self._values: Final = values

    def given(self, name: str) -> bool:
        """Whether there is a value: typed, from the settings, or by default."""
        return self._values[name] not in (None, (), False)

    def text(self, name: str) -> str:
        """The text of a required option or argument, or of one with a default."""
        value = self._values[name]
        if not isinstance(value, str):
            raise TypeError(f"{name} of {self.command.title} is no text: {value!r}")
        return value

    def optional_text(self, name: str) -> str | None:
        """The text, or None where nobody gave one."""
        return None if self._values[name] is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """All texts of an option that may be repeated, or of one that is split at commas."""
        value = self._values[name]
        if not isinstance(value, tuple):
            raise TypeError(f"{name} of {self.command.title} is no list: {value!r}")
        return value

    def flag(self, name: str) -> bool:
        """Whether the flag was given."""
        value = self._values[name]
        if not isinstance(value, bool):
            raise TypeError(f"{name} of {self.command.title} is no flag: {value!r}")
        return value

    def integer(self, name: str) -> int | None:
        """A count from 1 up, or None."""
        return self._integer(name)

    def milliseconds(self, name: str) -> int | None:
        """The length of a duration in milliseconds, or None."""
        return self._integer(name)

    def time(self, name: str) -> int | None:
        """A point in time in microseconds since 1970, or None."""
        return self._integer(name)

    def moment(self, name: str) -> int | Literal["snapshot"] | None:
        """A point in time in microseconds since 1970, the word `snapshot`, or None."""
        return "snapshot" if self._values[name] == SNAPSHOT else self._integer(name)

    def since(self, name: str, *, now: int) -> int | None:
        """A point in time in microseconds since 1970, where a distance counts back from *now*; or None."""
        value = self._integer(name)
        return now - value * 1000 if isinstance(value, Ago) else value

    def time_range(self, *, now: int) -> tuple[int | None, int | None]:
        """`--since` and `--until` in microseconds since 1970, or None.

        Raises:
            UsageError: nothing lies between them (64).
        """
        since, until = self.since("since", now=now), self.time("until")
        if since is not None and until is not None and since > until:
            raise UsageError(
                f"--since {format_time(since)} is later than --until {format_time(until)}: nothing lies between",
                remedy="exchange the two",
            )
        return since, until

    def before(self, name: str, *, now: int) -> tuple[int | None, int | None]:
        """A seq, or a point in time as `since` gives it; the other of the two is None."""
        value = self._values[name]
        return (int(value), None) if isinstance(value, Seq) else (None, self.since(name, now=now))

    def _integer(self, name: str) -> int | None:
        value = self._values[name]
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise TypeError(f"{name} of {self.command.title} is no number: {value!r}")
        return value
