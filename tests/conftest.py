"""What holds for all tests: nothing of the caller's environment reaches them."""

from __future__ import annotations

import gc
import os
import signal
import threading

import pytest
from hypothesis import settings

pytest_plugins = ["tests.lab.fixtures", "tests.ledger.postgres_logs"]

# A CI system states actors and files there, a developer may have defaults: tests set what they need.
for _name in list(os.environ):
    if _name.startswith(("GATEKEEPER_", "_GATEKEEPER_", "GITHUB_", "GITLAB_")) or _name in {
        "COLUMNS",
        "POSIXLY_CORRECT",
    }:
        del os.environ[_name]

# Started in the background of a script, a process ignores Ctrl-C and hands that on to its children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Time limits of single examples are noise on a shared machine; pytest-timeout watches the whole test.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: the garbage collector need not walk through them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _threads_of_other_tests_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of collections leave threads behind that wait for nothing; a process with threads forks no workers."""
    real, others = threading.active_count, threading.active_count() - 1
    monkeypatch.setattr(threading, "active_count", lambda: real() - others)
