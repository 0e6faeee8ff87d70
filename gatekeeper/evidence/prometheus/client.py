"""The adapter around prometheus-api-client: it states what is asked, we own how it travels and judge what came.

Left alone the client waits without limit, asks a failing server four times, follows redirects, obeys `.netrc` and
drops warnings. So it gets a session that does none of this, and what it returns is never looked at.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import requests
from prometheus_api_client import PrometheusConnect
from urllib3.exceptions import DecodeError, HTTPError, ProtocolError

from gatekeeper.evidence.prometheus.answer import Answer, Response, judge
from gatekeeper.evidence.reading import Unavailable, unavailable
from gatekeeper.evidence.web.endpoint import endpoint_of
from gatekeeper.evidence.web.session import open_session
from gatekeeper.evidence.web.transport import transport_problem, was_dropped
from gatekeeper.model.document import escape_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from requests.adapters import BaseAdapter

    from gatekeeper.evidence.collection import PrometheusSource
    from gatekeeper.evidence.round import Round

_CHUNK_BYTES = 65_536
_LONGEST_BODY = 16 * 1024 * 1024  # one number was asked for; thousands of series fit, too, to be told of
_FLAGS = {
    "partial_response": "false",  # Thanos: better no answer than one without a store
    "deny_partial_response": "1",  # VictoriaMetrics cluster: the same
    "nocache": "1",  # VictoriaMetrics: or it moves a recent `time` back by 30 s
}
"""Parameters that other servers pass over."""


class Client:
    """Asks instant queries of one source at one instant; safe to use from several threads."""

    def __init__(self, name: str, source: PrometheusSource, shared: Round) -> None:
        """Prepare; nothing is sent yet.

        Raises:
            UsageError: a variable in address or headers is not set.
            CollectionError: no usable address.
        """
        where = f"/sources/{escape_pointer(name)}/url"
        address = shared.secrets.expand(source.url, where=where, is_address=True)
        endpoint = endpoint_of(address, shared.secrets, where=where)
        self.shown = endpoint.shown
        self._source = source
        self._secrets = shared.secrets
        self._deadline = shared.deadline
        self._at = shared.at / 1000
        self._parameters = {"time": _unix_text(shared.at), **_FLAGS}
        parallelism = shared.loaded.collection.limits.parallelism
        self._transport = _Transport(
            open_session(name, source, endpoint, shared, pool_size=parallelism), f"{endpoint.base}/api/v1/query"
        )
        self._connect = PrometheusConnect(endpoint.base, session=self._transport)

    def ask(self, query: str) -> Answer:
        """The answer to *query*; whatever goes wrong is in it."""
        try:
            try:
                return self._ask(query)
            except requests.ConnectionError as error:
                # a kept connection that the server has closed meanwhile looks just like this
                if not was_dropped(error) or not self._deadline.left_seconds:
                    raise
                return self._ask(query)
        except (requests.RequestException, HTTPError, OSError) as error:
            return Answer(problem=transport_problem(error, self._secrets))

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _ask(self, query: str) -> Answer:
        left = self._deadline.left_seconds
        if left <= 0:
            return Answer(problem=unavailable(Unavailable.TIMEOUT, "the time limit of the collection had passed"))
        read = min(self._source.timeout_seconds, left)
        parameters = {**self._parameters, "timeout": f"{max(1, int(read * 1000))}ms"}
        limits = (min(self._source.connect_timeout_seconds, left), read)
        self._connect.custom_query(query, parameters, timeout=limits)
        return judge(self._transport.take(), self._secrets, at=self._at)


class _Transport(requests.Session):
    """A session of which the client uses `request`, and that goes straight to the connection pool.

    Preparing a request anew for each query is half of what requests costs, and all of it is the same each time. The
    response is kept for the thread that asked; the client is told of an empty one, so that nothing is parsed twice.
    """

    def __init__(self, session: requests.Session, url: str) -> None:
        super().__init__()
        self._session = session
        self._prepared = session.prepare_request(requests.Request("GET", url))
        self._url, mark, own = (self._prepared.url or url).partition("?")
        self._own = f"&{own}" if mark else ""
        self._adapter = session.get_adapter(url)
        self._kept = threading.local()

    def take(self) -> Response:
        """What the last request of this thread brought; only once, so that no answer is taken for another's."""
        kept: Response = self._kept.__dict__.pop("response")
        return kept

    def mount(self, prefix: str | bytes, adapter: BaseAdapter) -> None:
        """The client would put an adapter of its own before ours; ours are those of the given session."""

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def request(self, *, params: Mapping[str, str], timeout: Any, **_: Any) -> Any:  # type: ignore[override]
        """Send one query; the prepared request already has headers, login and the address's parameters."""
        prepared = self._prepared.copy()
        # the address's own last: of a parameter that comes twice, servers take the first
        prepared.url = f"{self._url}?{urlencode(params)}{self._own}"
        session = self._session
        sent = time.time()
        until = time.monotonic() + timeout[1]
        response = self._adapter.send(
            prepared,
            stream=True,
            timeout=timeout,
            verify=True if session.verify is None else session.verify,
            cert=session.cert,
            proxies=session.proxies,
        )
        with response:
            body = _body(response, until)
        date = response.headers.get("Date")
        self._kept.response = Response(response.status_code, body, date, sent, time.time())
        return _NOTHING


def _body(response: requests.Response, until: float) -> bytes:
    """The body, cut off beyond what can be an answer; it is then no JSON any more.

    Read is what is there: whoever sends a byte now and then keeps every single read within its time.

    Raises:
        requests.ReadTimeout: it is not whole at *until*, by the monotonic clock.
    """
    parts, length, raw = [], 0, response.raw
    read: Callable[..., bytes] = getattr(raw, "read1", raw.read)  # urllib3 1.26 has no `read1`
    try:
        while length <= _LONGEST_BODY:
            left = until - time.monotonic()
            if left <= 0:
                raise requests.ReadTimeout(request=response.request)
            _limit_next_read(raw, left)
            part = read(_CHUNK_BYTES, decode_content=True)
            if not part:
                break
            parts.append(part)
            length += len(part)
    except ProtocolError as error:
        raise requests.exceptions.ChunkedEncodingError(error, request=response.request) from None
    except DecodeError as error:
        raise requests.exceptions.ContentDecodingError(error, request=response.request) from None
    return b"".join(parts)


def _limit_next_read(raw: Any, seconds: float) -> None:
    """The socket's own limit is that of the whole answer; where it cannot be reached, that one stays."""
    sock = getattr(getattr(getattr(getattr(raw, "_fp", None), "fp", None), "raw", None), "_sock", None)
    if sock is not None:
        sock.settimeout(seconds)


class _Nothing:
    """An empty answer in the form that the client takes apart."""

    status_code = 200

    def json(self) -> dict[str, Any]:
        return {"data": {"result": []}}


_NOTHING = _Nothing()


def _unix_text(milliseconds: int) -> str:
    """Unix seconds with at most three decimals."""
    whole, rest = divmod(milliseconds, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)
