"""What `--log` names: a file, a PostgreSQL database, or a branch of a git repository.

What has no `://` is a file, whatever it is called. A file ledger never asks for more than `is_remote`.
"""

from __future__ import annotations

import os

from gatekeeper.errors import UsageError
from gatekeeper.model.masking import mask_url
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE, POSTGRESQL, GIT = "file", "postgresql", "git"

DEFAULT_BRANCH = "gatekeeper-log"
"""The branch of a git ledger whose address names none."""

_POSTGRESQL_SCHEMES = ("postgresql", "postgres")
_GIT_TRANSPORTS = ("file", "ssh", "https", "http")
_KNOWN = "a path, postgresql://HOST/DATABASE, git+file:///PATH#BRANCH, git+ssh://HOST/PATH#BRANCH, git+https://HOST/PATH#BRANCH"

_BRANCH = (
    r"(?!-)(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))"
    r"[^\x00-\x20\x7f~^:?*\[\\/.](?:[^\x00-\x20\x7f~^:?*\[\\]*[^\x00-\x20\x7f~^:?*\[\\/.])?"
)
"""As `git check-ref-format --branch` has it."""

_SECRETS = frozenset({"password", "sslpassword", "passfile", "oauth_client_secret"})
_PLACES = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE")
"""Variables by which libpq completes an address that does not name them."""

_DIGITS = 16


@dataclass(frozen=True)
class Address:
    """A log's address.

    Attributes:
        kind: `file`, `postgresql` or `git`.
        text: as given; it may hold credentials and is never shown.
        shown: for people and events: credentials masked.
        target: the path; for PostgreSQL the address as libpq takes it; for git the repository's address as git
            takes it, without branch. It may hold credentials.
        branch: of a git ledger, else empty.
    """

    kind: str
    text: str
    shown: str
    target: str
    branch: str = ""


def is_remote(log: str) -> bool:
    """Whether `--log` names something else than a file."""
    return "://" in log


def address_of(log: str) -> Address:
    """Read what `--log` names.

    Raises:
        UsageError: its scheme is unknown, or what stands behind `#` can be no branch (64).
    """
    if not is_remote(log):
        return Address(FILE, log, log, log)
    scheme, _, rest = log.partition("://")
    name = scheme.lower()
    if name in _POSTGRESQL_SCHEMES:
        target = f"postgresql://{rest}"
        return Address(POSTGRESQL, log, mask_url(target), target)
    program, _, transport = name.partition("+")
    if program != GIT or transport not in _GIT_TRANSPORTS:
        raise UsageError(f"{mask_url(log)}: no ledger is known by {scheme}://", remedy=f"give --log as {_KNOWN}")
    place, _, fragment = rest.partition("#")
    branch = fragment or DEFAULT_BRANCH
    _check_branch(branch, shown=mask_url(log))
    target = f"{transport}://{place}"
    if not place.partition("?")[0].partition("/")[2].strip("/"):  # nor has one with a bare # in its password
        raise UsageError(f"{mask_url(log)} names no repository", remedy=f"give --log as {_KNOWN}")
    return Address(GIT, log, mask_url(f"git+{target}#{branch}"), target, branch)


def shown_log(log: str) -> str:
    """`--log` for people and machines: credentials masked."""
    return address_of(log).shown if is_remote(log) else log


def only_remote(logs: Sequence[str]) -> str | None:
    """The address that `--log` is, None where it names files.

    Raises:
        UsageError: several were given, and one of them is an address (64).
    """
    for log in logs:
        if is_remote(log):
            if len(logs) == 1:
                return log
            raise UsageError(
                f"{shown_log(log)} cannot be read together with other logs",
                remedy="give one --log; gatekeeper log import brings the lines of another log into it",
            )
    return None


def refuse_remote(log: str, *, what: str, instead: str) -> None:
    """For what only a file knows. Raises UsageError for an address (64)."""
    if is_remote(log):
        raise UsageError(f"{shown_log(log)} is no file: {what}", remedy=instead)


def state_path(address: Address, environ: Mapping[str, str] = os.environ) -> str:
    """Where this machine keeps what a remote log must still be told: the pseudo path for `ledger.markers`."""
    return os.path.join(_base(environ, "XDG_STATE_HOME", ".local/state"), _name(address, environ))


def cache_path(address: Address, environ: Mapping[str, str] = os.environ) -> str:
    """Where this machine keeps a copy of a remote log; it may be removed at any time."""
    return os.path.join(_base(environ, "XDG_CACHE_HOME", ".cache"), _name(address, environ))


def _check_branch(branch: str, *, shown: str) -> None:
    import re

    if re.fullmatch(_BRANCH, branch) is None:
        raise UsageError(
            f"{shown}: what stands behind # is no name of a branch",
            remedy=f"give one as `git branch` takes it, such as #{DEFAULT_BRANCH}",
        )


def _base(environ: Mapping[str, str], variable: str, default: str) -> str:
    stated = environ.get(variable, "")
    # the XDG base directory specification: a relative path is to be ignored
    home = stated if os.path.isabs(stated) else os.path.join(environ.get("HOME") or os.path.expanduser("~"), default)
    return os.path.join(home, "gatekeeper")


def _name(address: Address, environ: Mapping[str, str]) -> str:
    """A name that stays when a password or a job's token changes, and differs where the log is another."""
    import hashlib

    text = _identity(address, environ)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def _identity(address: Address, environ: Mapping[str, str]) -> str:
    if address.kind == FILE:
        return os.path.abspath(address.target)
    scheme, _, rest = address.target.partition("://")
    before, mark, query = rest.partition("?")
    authority, slash, path = before.partition("/")
    user, at, host = authority.rpartition("@")
    if address.kind == GIT:
        # an access token may stand where the user does; ssh needs the user, but one repository has one log
        return f"git+{scheme}://{host}{slash}{path}{mark}{query}#{address.branch}"
    options = sorted(item for item in query.split("&") if item and item.partition("=")[0] not in _SECRETS)
    places = [f"{name}={environ[name]}" for name in _PLACES if environ.get(name)]
    return "\n".join([f"{scheme}://{user.partition(':')[0]}{at}{host}{slash}{path}", *options, *places])
