"""A log that is no file, for commands that are called in this process."""

from __future__ import annotations

from pathlib import Path

from gatekeeper.cli.remote import Teller
from gatekeeper.ledger.address import Address
from gatekeeper.ports import Clock, LedgerView
from tests.ledger.shared_file import SharedFile

SECRET = "s3cret-Pa55"
ADDRESS = f"postgresql://ci:{SECRET}@db.example/gate?sslpassword={SECRET}"
SHOWN = "postgresql://***@db.example/gate?***"


class TellingFile(SharedFile):
    """As commands open a ledger: it tells what it noticed."""

    def __init__(self, address: Address, path: Path, *, clock: Clock) -> None:
        super().__init__(address, path, clock=clock)
        self._teller = Teller()

    def view(self) -> LedgerView:
        """As `SharedFile.view`."""
        return self._teller.view(super().view)


class Elsewhere:
    """The double behind every address; what was opened, and whether it is reached."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.opened: list[SharedFile] = []
        place.mkdir()

    @property
    def path(self) -> Path:
        """Where its lines stand."""
        return self.place / "log"

    def connect(self, address: Address, clock: Clock) -> SharedFile:
        """In the place of `remote.connect`."""
        self.opened.append(TellingFile(address, self.path, clock=clock))
        return self.opened[-1]

    def go(self, sign: str) -> None:
        """`down`, `readonly` or `unindexed`, until `back`."""
        (self.place / sign).touch()

    def back(self) -> None:
        """All is well again."""
        for sign in ("down", "readonly", "unindexed"):
            (self.place / sign).unlink(missing_ok=True)
