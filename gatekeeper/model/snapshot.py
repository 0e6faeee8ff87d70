"""The evidence of one check, in the one form that is logged and judged (SPEC 4).

A flat file (`{"error_rate_5m": 0.008, …}`) and a wrapped one (`{"metrics": {…}}`) become the same
wrapped document, so that equal content has an equal digest. Times and unknown keys stay as written.
"""

from __future__ import annotations

from functools import cached_property

from gatekeeper.errors import SnapshotError
from gatekeeper.model.canonical import digest, is_number
from gatekeeper.model.document import NotADouble, parse_json
from gatekeeper.model.masking import mask_addresses
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RESERVED = ("_meta", "baseline", "promotion", "observations")
"""Names that are no metrics in a flat snapshot."""

META_FIELDS = (
    "collected_at",
    "window",
    "watermark_event_time",
    "freshness_seconds",
    "sources",
    "snapshot_id",
)
"""Fields of `_meta` that count where they stand beside `metrics` and `_meta` lacks them."""

STATISTICS = (
    "sample_size",
    "effect_estimate",
    "ci_low",
    "ci_high",
    "p_value",
    "sequential_test_state",
    "assignment_stable",
)
"""What `promotion.<metric>` may state; a flat promotion part is told by these from one part for each metric."""

_VALUE_PROBLEM = "observation_invalid:bad_response"
_BASELINE_PROBLEM = "observation_invalid:baseline_value"


@dataclass(frozen=True)
class Snapshot:
    """Evidence in wrapped form.

    Attributes:
        document: what the log holds as `metrics_snapshot`; never changed.
    """

    document: Mapping[str, Any]

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Metric name -> value as read; null is missing."""
        return _mapping(self.document.get("metrics"))

    @cached_property
    def digest(self) -> str:
        """`snapshot_digest`: digest of the document."""
        return digest(self.document)

    @property
    def collected_at(self) -> Any:
        """`collected_at` as written, from `_meta` or beside `metrics`."""
        return meta_of(self.document).get("collected_at")


def meta_of(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """`_meta` of a snapshot or of its baseline, completed from the fields beside `metrics`."""
    meta = dict(_mapping(part.get("_meta")))
    for name in META_FIELDS:
        if meta.get(name) is None and part.get(name) is not None:
            meta[name] = part[name]
    return meta


def snapshot_from_document(document: Mapping[str, Any]) -> Snapshot:
    """Bring a parsed JSON object into wrapped form.

    A metric's value that is no finite double becomes null with a problem that says so; elsewhere such a
    number stays as its text. Credentials in the addresses (`endpoint`, `url`) of sources and observations are
    masked before anything is digested or logged. Doing it twice changes nothing. *document* itself is not changed.
    """
    wrapped = _wrapped(document, _VALUE_PROBLEM)
    baseline = wrapped.get("baseline")
    if isinstance(baseline, dict):
        wrapped["baseline"] = _wrapped(baseline, _BASELINE_PROBLEM)
    return Snapshot(wrapped)


def logged_snapshot(document: Any) -> Snapshot:
    """The evidence that a log line holds: in wrapped form already, unless another writer wrote the line.

    It is judged as `snapshot_from_document` would have it; addresses, which no rule reads, are not masked again.
    """
    if _is_judged_as_written(document):
        baseline = document.get("baseline")
        if not isinstance(baseline, dict) or _is_judged_as_written(baseline):
            return Snapshot(document)
    return snapshot_from_document(document)


def _is_judged_as_written(part: Any) -> bool:
    metrics = part.get("metrics") if isinstance(part, dict) else None
    return isinstance(metrics, dict) and not any(map(_is_no_double, metrics.values()))


def read_snapshot(data: bytes, *, source: str = "-") -> Snapshot:
    """Parse and wrap the bytes of a snapshot file.

    Raises:
        DocumentError, SnapshotError: not strict JSON, or not one object.
        CanonicalError: text that has no canonical form.
    """
    document = parse_json(data, source=source)
    if not isinstance(document, dict):
        raise SnapshotError(
            f"{source}: a snapshot is one JSON object, found {json_type(document)}",
            remedy='write {"metrics": {"<name>": <value>, …}, "_meta": {…}}',
        )
    return snapshot_from_document(document)


def with_baseline(snapshot: Snapshot, baseline: Snapshot) -> Snapshot:
    """*snapshot* with the content of a baseline file as its baseline part."""
    return snapshot_from_document({**snapshot.document, "baseline": dict(baseline.document)})


def json_type(value: object) -> str:
    """What JSON calls the type of *value*, with its article, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, NotADouble)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, (list, tuple)) else "an object"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _wrapped(document: Mapping[str, Any], problem_code: str) -> dict[str, Any]:
    if isinstance(document.get("metrics"), dict):
        wrapped = dict(document)
    else:
        metrics = {name: value for name, value in document.items() if name not in RESERVED}
        wrapped = {"metrics": metrics, **{name: document[name] for name in RESERVED if name in document}}
    odd = {name: value for name, value in wrapped["metrics"].items() if _is_no_double(value)}
    for part in ("_meta", "observations"):  # sources state their addresses there, credentials and all
        if isinstance(wrapped.get(part), dict):
            wrapped[part] = mask_addresses(wrapped[part])
    observations = wrapped.get("observations")
    if odd and (observations is None or isinstance(observations, dict)):
        wrapped["metrics"] = {name: None if name in odd else value for name, value in wrapped["metrics"].items()}
        wrapped["observations"] = dict(observations or {})
        for name, text in odd.items():
            wrapped["observations"][name] = _with_problem(
                wrapped["observations"].get(name), _number_words(text), problem_code
            )
    return wrapped


def _is_no_double(value: object) -> bool:
    if isinstance(value, (int, float)):  # only where a program built the document: a file has none
        return not isinstance(value, bool) and not is_number(value)
    return isinstance(value, NotADouble)


def _number_words(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to write integers without end
        return f"an integer of {value.bit_length()} bits"
    return str(value)


def _with_problem(observation: object, text: str, problem_code: str) -> dict[str, Any]:
    noted = dict(_mapping(observation))
    noted["value_text"] = text  # what its writer left there is of another reading
    if noted.get("problem") is None:
        noted["problem"] = {"code": problem_code, "detail": f"not a finite number: {text[:64]}"}
    return noted
