"""Evidence from an endpoint that answers a GET with one JSON document; all its metrics share the answer."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import requests
from urllib3.exceptions import HTTPError

from gatekeeper.errors import CollectionError, DocumentError
from gatekeeper.evidence.collection import HttpMetric, HttpSource
from gatekeeper.evidence.http.values import readings_of
from gatekeeper.evidence.reading import BAD_RESPONSE, ReadingProblem, Unavailable, unavailable
from gatekeeper.evidence.web.endpoint import endpoint_of
from gatekeeper.evidence.web.session import open_session
from gatekeeper.evidence.web.transport import status_problem, transport_problem, was_dropped
from gatekeeper.evidence.workers import Deadline
from gatekeeper.model.document import escape_pointer, parse_json
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import MetricSpec, SourceSpec
    from gatekeeper.evidence.reading import Reading
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.web.endpoint import Endpoint

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3
_MOST_ERROR_BYTES = 16_384
_CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class _Answer:
    """What came: a document, or what went wrong; `status` is that of the last answer, None where none came."""

    document: Any = None
    problem: ReadingProblem | None = None
    status: int | None = None


class HttpReader:
    """One endpoint in one collection (`round.SourceReader`)."""

    def __init__(self, name: str, source: HttpSource, metrics: Mapping[str, HttpMetric], shared: Round) -> None:
        """Prepare; nothing is sent yet. Raises UsageError and CollectionError as `open_session` does."""
        self._name = name
        self._source = source
        self._metrics = metrics
        self._shared = shared
        where = f"/sources/{escape_pointer(name)}/url"
        address = shared.secrets.expand(source.url, where=where, is_address=True)
        self._endpoint = endpoint_of(address, shared.secrets, where=where)
        self._address = shared.secrets.mask_host(self._endpoint.address)
        self._session = open_session(name, source, self._endpoint, shared, pool_size=1)
        self._session.params = {}  # a redirect states its own
        if not any(header.lower() == "accept" for header in source.headers):
            self._session.headers["Accept"] = "application/json"
        self._answer: _Answer | None = None

    def read(self) -> None:
        """Ask, for as long as the source's time limit and the collection's deadline let us.

        A server that sends a byte now and then keeps every read within its own time-out, so the request has a thread
        that can be abandoned.

        Raises:
            CollectionError: status 400.
        """
        within = Deadline(min(self._source.timeout_seconds, self._shared.deadline.left_seconds))
        outcome: queue.SimpleQueue[_Answer | BaseException] = queue.SimpleQueue()
        thread = threading.Thread(target=self._run, args=(within, outcome), name=f"http-{self._name}", daemon=True)
        thread.start()
        try:
            answer = outcome.get(timeout=within.left_seconds)
        except queue.Empty:
            answer = self._late(within.seconds)
        if isinstance(answer, BaseException):
            raise answer
        self._answer = answer

    def readings(self) -> list[Reading]:
        """As `round.SourceReader`."""
        answer = self._answer or self._late(self._shared.deadline.seconds)
        record: dict[str, Any] = {"endpoint": self._endpoint.shown}
        if answer.status not in {None, 200}:
            record["http_status"] = answer.status
        return [
            reading
            for metric, spec in self._metrics.items()
            for reading in readings_of(
                metric, spec, answer.document, answer.problem, source=self._name, record=record, shared=self._shared
            )
        ]

    @property
    def progress(self) -> tuple[int, int]:
        """As `round.SourceReader`."""
        return int(self._answer is not None), 1

    def _late(self, seconds: float) -> _Answer:
        detail = f"no whole answer from {self._address} within {seconds:.3g} s"
        return _Answer(problem=unavailable(Unavailable.TIMEOUT, detail))

    def _run(self, within: Deadline, outcome: queue.SimpleQueue[_Answer | BaseException]) -> None:
        try:
            with self._session:
                outcome.put(self._ask(within))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
            outcome.put(error)

    def _ask(self, within: Deadline, *, is_again: bool = False) -> _Answer:
        try:
            return self._follow(within)
        except (requests.RequestException, HTTPError, OSError) as error:
            if not is_again and was_dropped(error) and within.left_seconds:
                return self._ask(within, is_again=True)
            return _Answer(problem=transport_problem(error, self._shared.secrets))

    def _follow(self, within: Deadline) -> _Answer:
        """The answer, behind redirects that stay on the server: another one would be sent our credentials."""
        target = self._endpoint
        for _ in range(1 + _MOST_REDIRECTS):
            left = within.left_seconds
            if not left:
                break
            limits = (min(self._source.connect_timeout_seconds, left), left)
            with self._session.get(target.url, params=target.parameters, stream=True, timeout=limits) as response:
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECTS or location is None:
                    return self._judge(response)
                status = response.status_code
            moved = self._moved(target, location, status)
            if isinstance(moved, _Answer):
                return moved
            target = moved
        else:
            return _bad_endpoint(f"more than {_MOST_REDIRECTS} redirects", status)
        return self._late(within.seconds)

    def _moved(self, target: Endpoint, location: str, status: int) -> Endpoint | _Answer:
        try:
            moved = endpoint_of(urljoin(target.url, location), self._shared.secrets)
        except (ValueError, CollectionError):
            return _bad_endpoint("redirected to what is no address", status)
        if moved.origin == target.origin:
            return moved
        return _bad_endpoint(f"redirected to another server: {self._shared.secrets.mask(moved.origin)}", status)

    def _judge(self, response: requests.Response) -> _Answer:
        status, secrets = response.status_code, self._shared.secrets
        if status != 200:
            return self._refused(status, _error_text(response))
        body = bytearray()
        for chunk in response.iter_content(_CHUNK_BYTES):
            body += chunk
            if len(body) > self._source.max_bytes:
                detail = f"the answer is larger than {self._source.max_bytes} bytes"
                return _Answer(problem=ReadingProblem(BAD_RESPONSE, detail), status=status)
        try:
            return _Answer(document=parse_json(bytes(body), source="the answer"), status=status)
        except DocumentError as error:
            return _Answer(problem=ReadingProblem(BAD_RESPONSE, secrets.mask(error.message)), status=status)

    def _refused(self, status: int, text: str) -> _Answer:
        secrets = self._shared.secrets
        words = secrets.mask(text)[:200]
        if status == 400:
            raise CollectionError(
                f"{self._shared.loaded.path}: /sources/{escape_pointer(self._name)}/url: the server calls the request a"
                f" mistake: HTTP 400 from {self._endpoint.shown}: {words}",
                remedy="mend the address or the headers; asking again does not help",
            )
        if status == 422:
            problem = ReadingProblem("observation_invalid:query_failed", f"HTTP 422: {words}")
            return _Answer(problem=problem, status=status)
        return _Answer(problem=status_problem(status, text, secrets), status=status)


def open_reader(name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> HttpReader:
    """As `round.OpensReader`."""
    assert isinstance(source, HttpSource)
    return HttpReader(name, source, {n: m for n, m in metrics.items() if isinstance(m, HttpMetric)}, shared)


def _bad_endpoint(detail: str, status: int) -> _Answer:
    return _Answer(problem=unavailable(Unavailable.BAD_ENDPOINT, f"HTTP {status}: {detail}"), status=status)


def _error_text(response: requests.Response) -> str:
    """What the server says of its refusal, as far as it comes: the status alone already decides."""
    body = bytearray()
    try:
        for chunk in response.iter_content(1024):
            body += chunk
            if len(body) >= _MOST_ERROR_BYTES:
                break
    except (requests.RequestException, HTTPError, OSError):
        pass
    return body.decode("utf-8", "replace")
