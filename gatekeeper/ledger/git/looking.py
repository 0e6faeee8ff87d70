"""Where the branch stands now: asked by each call, and for the calls at the beginning of a command once, ahead."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.git.remote import Remote
    from gatekeeper.ledger.git.running import Running

_AHEAD_SECONDS = 1.0
"""How long an answer that was asked for ahead counts as an answer of now."""


class Looking:
    """Looks at one branch."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._looking: Running | None = None
        self._ahead: tuple[str | None, float] | None = None  # where the branch stands, and until when that counts

    def begin(self) -> None:
        """Ask, and do not wait: `tip` gives this answer, for a second, until `forget`."""
        self.forget()
        self._looking = self._remote.start_looking()

    def tip(self) -> str | None:
        """The commit at which the branch stands; None where there is no such branch.

        Raises:
            LedgerUnreachableError: the repository cannot be reached, or does not let us in.
        """
        if self._ahead is not None and time.monotonic() < self._ahead[1]:
            return self._ahead[0]
        looking, self._looking, self._ahead = self._looking, None, None
        tip = self._remote.tip(looking)
        if looking is not None:
            self._ahead = (tip, time.monotonic() + _AHEAD_SECONDS)
        return tip

    def forget(self) -> None:
        """What was asked for ahead is not of now any more."""
        self._ahead = None
        if self._looking is not None:
            self._looking.end()
            self._looking = None
