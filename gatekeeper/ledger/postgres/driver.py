"""The library that talks to PostgreSQL; without it, what to install."""

from __future__ import annotations

import logging

from gatekeeper.errors import UsageError

try:
    import psycopg
except ImportError as _error:
    raise UsageError(
        f"a postgresql:// log needs the library psycopg, which cannot be imported: {_error}",
        remedy="install it: python -m pip install 'psycopg[binary]'",
    ) from None

# what it tells there of an error is raised as well; without a handler it would be printed, with user and host
logging.getLogger("psycopg").addHandler(logging.NullHandler())

__all__ = ["psycopg"]
