"""One response of the query API as an answer: the samples it states, or why it states none.

Judged is the response as it came, never what a client library made of it: the library drops warnings, returns
partial data as complete, and reads an error inside a 200 as data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from email.utils import mktime_tz, parsedate_tz
from typing import Any

from gatekeeper.errors import DocumentError
from gatekeeper.evidence.reading import BAD_RESPONSE, ReadingProblem
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.web.transport import status_problem
from gatekeeper.model.canonical import is_number
from gatekeeper.model.document import parse_json
from gatekeeper.model.values import dataclass

PARTIAL = "evidence_missing:partial_response"
QUERY_FAILED = "observation_invalid:query_failed"

_SERIES_SHOWN = 5
_TOLERATED_SECONDS = 1  # some servers cut the time that was asked for to whole seconds
_LONGEST_DETAIL = 200
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]?Inf", re.ASCII)
_INFO_PREFIX = "PromQL info:"  # servers 2.48 to 2.53 put remarks among the warnings
# VictoriaMetrics answers 422 to a mistake in the text and to a failed evaluation alike; its words tell them apart.
_VICTORIA_MISTAKES = ("unparsed data:", "unknown func", "cannot expand WITH", "unexpected number of args")


@dataclass(frozen=True)
class Response:
    """What came over the wire.

    Attributes:
        date: the `Date` header.
        sent, received: our clock around it, unix seconds.
    """

    status: int
    body: bytes
    date: str | None
    sent: float
    received: float


@dataclass(frozen=True)
class Sample:
    """One element of an answer: the series' labels as text, and its value as the server wrote it."""

    labels: str
    text: str


@dataclass(frozen=True)
class Answer:
    """One response, judged; all texts of the server are masked.

    Attributes:
        samples: a scalar is one sample; empty where there is none, or a problem that leaves none.
        problem: what went wrong; a partial answer keeps its samples.
        mistake: the server's words about a query that no waiting mends; None when it is none.
        status: HTTP status; None when no response came.
        server_time: the server's clock by its `Date` header, unix seconds.
        clock_difference_seconds: our clock minus the server's as far as the header proves it, 0 without proof.
        behind_seconds: by how much our clock is proven to be behind the server's.
    """

    samples: tuple[Sample, ...] = ()
    problem: ReadingProblem | None = None
    mistake: str | None = None
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()
    status: int | None = None
    server_time: int | None = None
    clock_difference_seconds: int = 0
    behind_seconds: float = 0.0

    @property
    def series(self) -> str:
        """The labels of the samples, for people."""
        labels = sorted(sample.labels for sample in self.samples)
        more = len(labels) - _SERIES_SHOWN
        return ", ".join(labels[:_SERIES_SHOWN]) + (f" and {more} more" if more > 0 else "")


class _BadShapeError(ValueError):
    """A body that is no answer to an instant query."""


def judge(response: Response, secrets: Secrets, *, at: float) -> Answer:
    """The answer that *response* is to a question about the moment *at*, unix seconds."""
    server_time = _unix_seconds(response.date)
    difference = _clock_difference(response, server_time)
    stated: dict[str, Any] = {
        "status": response.status,
        "server_time": server_time,
        "clock_difference_seconds": round(difference),
        "behind_seconds": max(0.0, -difference),
    }
    if response.status == 200:
        return _judge_success(response.body, secrets, stated, at)
    words = _error_words(response.body)
    text = words[1] if words else response.body.decode("utf-8", "replace")
    if response.status == 400 and words:
        return Answer(mistake=secrets.mask(text), **stated)
    if response.status == 422:
        if words and _is_mistake(*words):
            return Answer(mistake=secrets.mask(text), **stated)
        said = secrets.mask(": ".join(words)) if words else f"HTTP 422: {secrets.mask(text)[:_LONGEST_DETAIL]}"
        return Answer(problem=ReadingProblem(QUERY_FAILED, said), **stated)
    return Answer(problem=status_problem(response.status, ": ".join(words) if words else text, secrets), **stated)


def _judge_success(body: bytes, secrets: Secrets, stated: Mapping[str, Any], at: float) -> Answer:
    document = _object(body)
    if document is None:
        return _bad(f"not one JSON object: {body.decode('utf-8', 'replace')}", secrets, stated)
    warnings, infos = _remarks(document, secrets)
    stated = {**stated, "warnings": warnings, "infos": infos}
    samples: tuple[Sample, ...] = ()
    fault = None
    try:
        samples = _samples(document, secrets.mask, at)
    except _BadShapeError as error:
        fault = str(error)
    if warnings or any(part.get("isPartial") for part in _parts(document)):
        detail = "; ".join(warnings) or "the server marked its answer as partial"
        return Answer(samples=samples, problem=ReadingProblem(PARTIAL, detail), **stated)
    if fault is not None:
        return _bad(fault, secrets, stated)
    return Answer(samples=samples, **stated)


def _bad(detail: str, secrets: Secrets, stated: Mapping[str, Any]) -> Answer:
    """Masked before it is cut: a secret that is cut in two is masked in no half."""
    return Answer(problem=ReadingProblem(BAD_RESPONSE, secrets.mask(detail)[:_LONGEST_DETAIL]), **stated)


def _parts(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Where a server may say that its answer is not whole: beside the data, or among them."""
    data = document.get("data")
    return (document, data) if isinstance(data, dict) else (document,)


def _remarks(document: Mapping[str, Any], secrets: Secrets) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warnings and infos; whatever stands there counts, a warning in a new form is still one."""
    parts = _parts(document)
    warnings = [secrets.mask(text) for part in parts for text in _texts(part.get("warnings"))]
    infos = [secrets.mask(text) for part in parts for text in _texts(part.get("infos"))]
    real = tuple(text for text in warnings if not text.startswith(_INFO_PREFIX))
    return real, tuple(infos + [text for text in warnings if text.startswith(_INFO_PREFIX)])


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value] if value else []
    return [item if isinstance(item, str) else json.dumps(item) for item in items]


def _samples(document: Mapping[str, Any], mask: Callable[[str], str], at: float) -> tuple[Sample, ...]:
    words = _words_of(document)
    if document.get("status") != "success" or words is not None:
        status = json.dumps(document.get("status"), ensure_ascii=False)
        raise _BadShapeError(f"HTTP 200 with status {status}: {': '.join(words or ('no error stated',))}")
    data = document.get("data")
    kind, result = (data.get("resultType"), data.get("result")) if isinstance(data, dict) else (None, None)
    if kind == "scalar":
        return (Sample("{}", _text(result, at)),)
    if kind != "vector":
        raise _BadShapeError(f"the answer is no vector and no scalar but {json.dumps(kind, ensure_ascii=False)}")
    if not isinstance(result, list):
        raise _BadShapeError("a vector without a list of series")
    return tuple(_element(element, mask, at) for element in result)


def _element(element: Any, mask: Callable[[str], str], at: float) -> Sample:
    labels = element.get("metric") if isinstance(element, dict) else None
    if not isinstance(labels, dict):
        raise _BadShapeError("a series without labels")
    shown = mask(
        "{" + ", ".join(f"{name}={json.dumps(labels[name], ensure_ascii=False)}" for name in sorted(labels)) + "}"
    )
    if "value" not in element or "histogram" in element:
        what = "a native histogram" if "histogram" in element else "no value"
        raise _BadShapeError(f"{shown} has {what} instead of one number")
    return Sample(shown, _text(element["value"], at))


def _text(pair: Any, at: float) -> str:
    if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) is not str or not _NUMBER.fullmatch(pair[1]):
        raise _BadShapeError(f"not a time and the text of a number: {json.dumps(pair)}")
    time, text = pair[0], str(pair[1])
    if not is_number(time) or abs(time - at) > _TOLERATED_SECONDS:
        raise _BadShapeError(f"the answer is of the time {json.dumps(time)}, asked was {at:.3f}")
    return text


def _object(body: bytes) -> dict[str, Any] | None:
    """The JSON object that *body* is; None when it is none, or states a key twice and so two things at once."""
    try:
        document = parse_json(body)
    except DocumentError:
        return None
    return document if isinstance(document, dict) else None


def _error_words(body: bytes) -> tuple[str, str] | None:
    """`errorType` and `error` of an error body of the query API; None when it is none."""
    document = _object(body)
    return None if document is None or document.get("status") != "error" else _words_of(document)


def _words_of(document: Mapping[str, Any]) -> tuple[str, str] | None:
    if "error" not in document and "errorType" not in document:
        return None
    return str(document.get("errorType") or "error"), str(document.get("error") or "no reason stated")


def _is_mistake(error_type: str, text: str) -> bool:
    """Whether a 422 is about the text of the query: no waiting mends it."""
    return error_type == "bad_data" or (error_type == "422" and any(sign in text for sign in _VICTORIA_MISTAKES))


def _unix_seconds(date: str | None) -> int | None:
    parsed = None if date is None else parsedate_tz(date)
    try:
        return None if parsed is None else mktime_tz(parsed)
    except (ValueError, OverflowError):
        return None


def _clock_difference(response: Response, server_time: int | None) -> float:
    """Our clock minus the server's, towards 0: the header has whole seconds, and was written while we waited."""
    if server_time is None:
        return 0.0
    least, most = response.sent - (server_time + 1), response.received - server_time
    return least if least > 0 else most if most < 0 else 0.0
