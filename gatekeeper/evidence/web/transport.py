"""What kept an answer from coming, in the words of a snapshot: for every source that is asked over HTTP.

The libraries' own texts quote addresses with all that is in them, so nearly nothing of them is passed on.
"""

from __future__ import annotations

import socket
import ssl
from http.client import BadStatusLine, HTTPException, IncompleteRead, LineTooLong
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import ConnectTimeoutError, LocationValueError, NewConnectionError, ReadTimeoutError

from gatekeeper.evidence.reading import BAD_RESPONSE, ReadingProblem, Unavailable, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.evidence.secrets import Secrets

_LONGEST_TEXT = 200

_NO_ADDRESS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    requests.exceptions.TooManyRedirects,
    LocationValueError,
)
_TIMEOUTS = (requests.Timeout, ConnectTimeoutError, ReadTimeoutError, TimeoutError)
_CUT = (
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.InvalidJSONError,
)


def transport_problem(error: Exception, secrets: Secrets) -> ReadingProblem:
    """What an exception of requests, urllib3 or the operating system means.

    No connection, no name, no TLS and a connection that ends before the answer are `unreachable`, time-outs `timeout`;
    an answer that breaks off is `observation_invalid:bad_response`.
    """
    causes = list(_causes(error))
    server = secrets.mask_host(_server(causes))

    def found(*types: type[BaseException]) -> BaseException | None:
        return next((cause for cause in causes if isinstance(cause, types)), None)

    timeout = found(*_TIMEOUTS)
    if timeout and not isinstance(timeout, NewConnectionError):  # which urllib3 1.26 takes for a time-out
        lacking = "connection to" if found(ConnectTimeoutError) else "answer from"
        return unavailable(Unavailable.TIMEOUT, f"no {lacking} {server} in time")
    if found(*_NO_ADDRESS):
        return unavailable(Unavailable.BAD_ENDPOINT, f"{server} is no address that can be asked")
    if found(*_CUT):
        return ReadingProblem(BAD_RESPONSE, f"the answer of {server} broke off, or its encoding is broken")
    unreadable = found(HTTPException)
    if unreadable is not None and not isinstance(unreadable, (BadStatusLine, IncompleteRead)):
        what = (
            "headers are too long"
            if isinstance(unreadable, LineTooLong) or "headers" in str(unreadable)
            else ("headers cannot be read")
        )
        return ReadingProblem(BAD_RESPONSE, f"{server} answered, and its {what}")
    through = " (by way of the proxy)" if found(requests.exceptions.ProxyError) else ""
    return unavailable(Unavailable.UNREACHABLE, _unreachable(causes, server, secrets) + through)


def was_dropped(error: Exception) -> bool:
    """Whether the connection was made and ended before any part of an answer came.

    A kept connection that the server has closed meanwhile looks just like this.
    """
    causes = list(_causes(error))
    return not any(
        isinstance(cause, (requests.exceptions.SSLError, requests.Timeout, *_CUT)) for cause in causes
    ) and any(isinstance(cause, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)) for cause in causes)


def status_problem(status: int, text: str, secrets: Secrets) -> ReadingProblem | None:
    """What a status other than 200 means; None for 200. 400 and 422 mean different things to different sources.

    Args:
        text: what the server says of it, whole: a secret that is cut in two is masked in no half.
    """
    if status == 200:
        return None
    words = secrets.mask(text)[:_LONGEST_TEXT]
    detail = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    if 200 < status < 300:
        return ReadingProblem(BAD_RESPONSE, detail)
    if status in {401, 403, 407}:
        return unavailable(Unavailable.UNAUTHORIZED, detail)
    if status == 408:
        return unavailable(Unavailable.TIMEOUT, detail)
    if status == 429 or status >= 500:
        return unavailable(Unavailable.OVERLOADED, detail)
    return unavailable(Unavailable.BAD_ENDPOINT, detail)


def _unreachable(causes: list[BaseException], server: str, secrets: Secrets) -> str:
    """Host and port stay readable, whatever is hidden; only the reason is a text of others."""
    for cause in reversed(causes):  # the operating system's own is the innermost
        if isinstance(cause, socket.gaierror):
            return f"no address is known for {server}"
        if isinstance(cause, ssl.SSLError):
            reason = (
                getattr(cause, "verify_message", None) or (cause.reason or "no reason given").replace("_", " ").lower()
            )
            return f"no TLS with {server}: {secrets.mask(reason)}"
        if isinstance(cause, ConnectionRefusedError):
            return f"connection refused by {server}"
        if isinstance(cause, ConnectionError):  # reset, aborted, closed without an answer
            return f"{server} closed the connection without an answer"
        if isinstance(cause, BadStatusLine):
            return f"{server} does not speak HTTP"
        if isinstance(cause, OSError) and cause.strerror:
            return f"no connection to {server}: {secrets.mask(cause.strerror)}"
    return f"no connection to {server}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what is wrapped in it, outermost first: libraries hand causes on in three different ways."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        wrapped = [*cause.args, getattr(cause, "reason", None), cause.__cause__]
        waiting.extend(part for part in wrapped if isinstance(part, BaseException))


def _server(causes: list[BaseException]) -> str:
    """`host:port` of whom the innermost error is about: the proxy's, where that is where it failed."""
    for cause in reversed(causes):
        asked = getattr(cause, "conn", None) or getattr(cause, "pool", None)
        host, port = str(getattr(asked, "host", "")).strip("[]"), getattr(asked, "port", None)
        if host:
            return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    for cause in causes:
        url = getattr(getattr(cause, "request", None), "url", None)
        if isinstance(url, str):
            split = urlsplit(url)
            return f"{split.hostname}:{split.port or (443 if split.scheme == 'https' else 80)}"
    return "the server"
