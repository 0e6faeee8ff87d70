"""Addresses of servers, taken apart: what is asked, what logs in, and what a record may show.

An address has been expanded from the environment, so it may hold credentials; no message here quotes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from gatekeeper.errors import CollectionError
from gatekeeper.model.masking import MASK
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from gatekeeper.evidence.secrets import Secrets

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Endpoint:
    """One address.

    Attributes:
        url: scheme, host, port and path as written, and nothing else.
        parameters: the query part, decoded; a name may have several values.
        credentials: user and password, decoded; None without userinfo.
        shown: the address for records: userinfo and query part masked.
        origin: `scheme://host:port` in lower case, the port always stated: two addresses of one server are equal in it.
    """

    url: str
    parameters: Mapping[str, tuple[str, ...]]
    credentials: tuple[str, str] | None
    shown: str
    origin: str

    @property
    def base(self) -> str:
        """`url` without a slash at its end, for paths to be appended to."""
        return self.url.rstrip("/")

    @property
    def address(self) -> str:
        """`host:port`, for messages."""
        return self.origin.partition("://")[2]


def endpoint_of(text: str, secrets: Secrets, *, where: str = "url") -> Endpoint:
    """Take the expanded address *text* apart; its userinfo and the values in its query part are hidden from now on.

    Args:
        where: JSON Pointer of the address, for the message.

    Raises:
        CollectionError: no `http` or `https` address of a host; the message does not quote it.
    """
    address = text.strip()
    if any(character.isspace() or not character.isprintable() for character in address):
        raise _refused(where, "white space or control characters in it")
    try:
        split = urlsplit(address)
        origin = _origin(split)
    except ValueError:  # urlsplit's own text quotes the address
        raise _refused(where, "its host or port cannot be read") from None
    if split.scheme not in _PORTS:
        raise _refused(where, "it begins with neither http:// nor https://")
    if not split.hostname:
        raise _refused(where, "no host in it")
    if split.port == 0:
        raise _refused(where, "no server has the port 0")
    if "@" in split.path and "@" not in split.netloc:  # what precedes it is rather a password with a slash in it
        raise _refused(where, "an @ behind the host")
    credentials = _credentials(split.netloc, secrets)
    parameters = _parameters(split.query, secrets)
    host = split.netloc.rpartition("@")[2]
    url = f"{split.scheme}://{host}{split.path}"
    login = f"{MASK}@" if "@" in split.netloc else ""
    shown = f"{split.scheme}://{login}{secrets.mask_host(host)}{secrets.mask(split.path)}"
    return Endpoint(url, parameters, credentials, shown + (f"?{MASK}" if split.query else ""), origin)


def _origin(split: SplitResult) -> str:
    host = split.hostname or ""
    port = _PORTS.get(split.scheme, 0) if split.port is None else split.port
    return f"{split.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _credentials(netloc: str, secrets: Secrets) -> tuple[str, str] | None:
    userinfo = netloc.rpartition("@")[0]
    if not userinfo:
        return None
    user, _, password = userinfo.partition(":")
    secrets.hide(userinfo, password or user)  # as written, be it half encoded, and decoded
    user, password = unquote(user), unquote(password)
    secrets.hide_login(user, password)
    return user, password


def _parameters(query: str, secrets: Secrets) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in query.split("&"):
        name, stated, value = pair.partition("=")
        secrets.hide(value if stated else name)  # as written, be it half encoded
    for name, value in parse_qsl(query, keep_blank_values=True):
        secrets.hide(value or name)
        found[name] = (*found.get(name, ()), value)
    return found


def _refused(where: str, problem: str) -> CollectionError:
    return CollectionError(
        f"{where}: no usable address (not shown): {problem}",
        remedy="state https://HOST[:PORT][/PATH]; / ? # @ : % in a user name or password are %2F %3F %23 %40 %3A %25",
    )
