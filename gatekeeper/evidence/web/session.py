"""HTTP sessions that do only what the collection file says, for every source that is asked over HTTP.

Nothing of the machine's own configuration is used: no `.netrc`, no proxy of the environment, no other trust store
than the stated one. No redirect is followed, no request is repeated: whoever asks decides that, and can say so.
"""

from __future__ import annotations

import os
import re
import ssl
from base64 import b64decode
from typing import TYPE_CHECKING

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from gatekeeper.errors import CollectionError, UsageError
from gatekeeper.evidence.web.endpoint import endpoint_of
from gatekeeper.model.document import escape_pointer
from gatekeeper.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import HttpSource, PrometheusSource
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.secrets import Secrets
    from gatekeeper.evidence.web.endpoint import Endpoint


_PARTS = re.compile(r"[\s,;=\"']+")  # `session=abc; theme=dark`: a server may echo any of it alone
_SENDABLE = re.compile(r"(?:[!-~\xa1-\xff](?:[\t -~\xa0-\xff]*[!-~\xa1-\xff])?)?")


class _Session(requests.Session):
    """A session that hands every redirect to its caller, whatever `allow_redirects` says."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002
        """Nowhere."""
        return None


def open_session(
    name: str, source: PrometheusSource | HttpSource, endpoint: Endpoint, shared: Round, *, pool_size: int
) -> requests.Session:
    """The session in which the source *name* is asked; nothing is sent yet.

    Every request carries the headers, the parameters of *endpoint*, and its credentials where no `Authorization` is
    stated.

    Args:
        pool_size: how many connections are kept.

    Raises:
        UsageError: an environment variable is not set, or holds what no header can carry (64).
        CollectionError: a certificate or key cannot be used, a proxy's address is none (65).
    """
    where, secrets = f"/sources/{escape_pointer(name)}", shared.secrets
    session = _Session()
    session.trust_env = False
    adapter = HTTPAdapter(pool_connections=1, pool_maxsize=pool_size, max_retries=Retry(total=0, read=False))
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    session.headers["User-Agent"] = f"gatekeeper/{__version__}"
    session.headers.update(_headers(source.headers, secrets, f"{where}/headers"))
    session.params = {parameter: list(values) for parameter, values in endpoint.parameters.items()}
    if endpoint.credentials is not None and "Authorization" not in session.headers:
        user, password = endpoint.credentials
        session.auth = requests.auth.HTTPBasicAuth(user.encode(), password.encode())
    _trust(session, source, where, os.path.dirname(shared.loaded.path))
    if source.proxy_url is not None:
        proxy = _proxy(source.proxy_url, secrets, f"{where}/proxy_url")
        session.proxies = {"http": proxy, "https": proxy}
    return session


def _headers(stated: Mapping[str, str], secrets: Secrets, where: str) -> dict[str, str]:
    """The headers with what the environment says; every value is hidden from now on."""
    headers = {}
    for name, text in stated.items():
        value = secrets.expand(text, where=f"{where}/{escape_pointer(name)}")
        secrets.hide(value, *_PARTS.split(value))
        scheme, _, login = value.partition(" ")
        if scheme.lower() == "basic":
            _hide_basic(login, secrets)
        if not _SENDABLE.fullmatch(value):
            raise UsageError(
                f"{where}/{escape_pointer(name)}: the value (not shown) cannot be sent: a header is one line of Latin-1"
                " text without spaces at its ends",
                remedy="look for a line break at the end of the environment variable: printf, not echo, writes none",
            )
        headers[name] = value
    return headers


def _hide_basic(login: str, secrets: Secrets) -> None:
    try:
        user, _, password = b64decode(login).decode().partition(":")
    except ValueError:  # not base64, or not UTF-8: it stays hidden as it is written
        return
    secrets.hide_login(user, password)


def _trust(session: requests.Session, source: PrometheusSource | HttpSource, where: str, folder: str) -> None:
    """Whom to believe, and who we are. Files are tried at once: one that cannot be used is no outage of the server."""
    if source.ca_file is None and source.cert_file is None:
        return  # the first context of a process takes a millisecond
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if source.ca_file is not None:
        session.verify = ca_file = os.path.join(folder, source.ca_file)
        with _Usable(f"{where}/ca_file", source.ca_file):
            context.load_verify_locations(ca_file)
    if source.cert_file is not None:
        cert_file = os.path.join(folder, source.cert_file)
        key_file = None if source.key_file is None else os.path.join(folder, source.key_file)
        with _Usable(f"{where}/cert_file", source.cert_file):
            context.load_cert_chain(cert_file, key_file, password="")  # without, a locked key would ask the terminal
        session.cert = cert_file if key_file is None else (cert_file, key_file)


class _Usable:
    """Turns the failure of a file into the mistake that it is."""

    def __init__(self, where: str, path: str) -> None:
        self._where, self._path = where, path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, (OSError, ValueError)):
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "no reason given"
            raise CollectionError(
                f"{self._where}: {self._path!r} cannot be used: {reason}",
                remedy="name PEM files, relative to the collection file; a key has no passphrase",
            ) from None


def _proxy(text: str, secrets: Secrets, where: str) -> str:
    address = secrets.expand(text, where=where, is_address=True).strip()
    proxy = endpoint_of(address, secrets, where=where)
    if proxy.credentials is None:
        return proxy.base
    if any(not _SENDABLE.fullmatch(part) for part in proxy.credentials):
        raise UsageError(f"{where}: user and password (not shown) cannot be sent", remedy="give the proxy another user")
    userinfo = address.partition("://")[2].rpartition("@")[0]  # requests takes it from there
    return proxy.base.replace("://", f"://{userinfo}@", 1)
