"""Documents that are almost right: one that loads, with one to three slips as people and programs make them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.review.documents import MISSING

NUMBERS = [
    0, -0.0, 1, -1, 1.0, 1.5, 0.5, 1e-9, 0.001, 0.0009, 2, 15, 16, 17, 100, 600, 600.5, 601, 86400, 86401,
    67_108_864, 67_108_865, 3_153_600_000, 3_153_600_001, 2**53 - 1, 2**53, -(2**53) + 1, -(2**53), 1e17, 1e300, -1e300,
]  # fmt: skip
TEXTS = [
    "", " ", "\t\n", "\x1c", "\x85", "\u2003", "x", "x\n", " x", "\x00", "a\x00b", "é", "\U0001f600", "\ud800", "7",
    "<=", "=<", "DEGRADE", "REJECT", "ESCALATE", "ACCEPT", "degrade", "up", "observe", "enforce", "must_be_zero",
    "evidence_first", "DRY_RUN", "SHADOW", "CANARY_10", "CANARY_10.0", "CANARY_010", "CANARY_0", "CANARY_0.0",
    "CANARY_0.05", "CANARY_100", "CANARY_99.99999999999999999999", "CANARY_1.", "CANARY_\u0661", "CANARY_10\n",
    "ROLLOUT_100", "ROLLOUT", "CANARY_75", "https://a.example.com/x?y#z", "HTTP://a", "http\u017f://a", "http://",
    "https://u@a", "https://u:p@a/x", "https://a b", "https://a\n", "https://a/\u200b", "https://a:0/", "ftp://a",
    "${URL}", "${URL", "${1}", "$${A}{", "https://${HOST}/x", "$x", "postgresql+psycopg://h/d",
    "postgresql://u:p@h/d", "sqlite:///x\n", "sqlite://\x07", "1x://", "Bearer x", "Bearer ${T}", "x ", "a: b", "5m",
    "0m", "1h30m", "30m1h", "100y", "101y", "5", "5M", "\u0665m", "00005m", "9" * 65 + "m", "/a/0", "a", "/~", "/~1",
    "/a\n", "gatekeeper/collection/v1", "gatekeeper/collection/v2", "prometheus", "sql", "http", "file", "count", "-",
    "track", "__name__", "__name__\n", "9x", "x-y", "Authorization", "X Y", "up", "sum(up)", "sum(up", "sum(up @ 5)",
    "up{}[5m]", "victoriametrics", "victoria", "evidence_missing", "observation_stale", "freshness",
]  # fmt: skip
VALUES: list[Any] = [None, True, False, [], {}, [0, 1], [1, 0], [1, 1], [1], [[]], [{}], ["x"], ["x", "x"], {"x": 1}]
JUNK = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from(VALUES))


def other(value: Any) -> st.SearchStrategy[Any]:
    """Another value, more often than not of the same type: it may be just as good."""
    if isinstance(value, bool):
        return st.booleans() | JUNK
    if isinstance(value, (int, float)):
        return st.one_of(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), JUNK)
    return st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS), JUNK) if isinstance(value, str) else JUNK


@st.composite
def spoilt(draw: st.DrawFn, documents: st.SearchStrategy[dict[str, Any]], keys: list[str]) -> dict[str, Any]:
    """A document with none to three slips.

    Args:
        documents: what loads.
        keys: names that may be added somewhere.
    """
    document = draw(documents)
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3]))):
        document = _slipped(draw, document, keys)
    return document


Path = tuple[str | int, ...]


def paths(value: Any, at: Path = ()) -> list[tuple[Path, Any]]:
    """Place and value of all that stands below *value*."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in members for found in [((*at, key), inner), *paths(inner, (*at, key))]]


def put(document: Any, path: Path, value: Any) -> Any:
    """A copy of *document* with the value at *path* set, or taken out (MISSING)."""
    copy = deepcopy(document)
    place = copy
    for step in path[:-1]:
        place = place[step]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copy


def _slipped(draw: st.DrawFn, document: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    there = paths(document)
    if not there:
        return {draw(st.sampled_from(keys)): draw(JUNK)}
    path, value = draw(st.sampled_from(there))
    slip = draw(st.sampled_from(["replace", "replace", "replace", "delete", "add", "move", "bend"]))
    slipped: dict[str, Any]
    if slip == "delete":
        slipped = put(document, path, MISSING)
    elif slip == "move":  # something that stands elsewhere in the file
        slipped = put(document, path, draw(st.sampled_from(there))[1])
    elif slip == "add":
        objects = [(), *(place for place, inner in there if isinstance(inner, dict))]
        name = draw(st.sampled_from(keys) | st.sampled_from(TEXTS))
        content = draw(JUNK | st.sampled_from([inner for _, inner in there]))
        slipped = put(document, (*draw(st.sampled_from(objects)), name), content)
    else:
        slipped = put(document, path, _bent(draw, value) if slip == "bend" else draw(other(value)))
    return slipped


def _bent(draw: st.DrawFn, value: Any) -> Any:
    """The value with something small wrong in it."""
    if isinstance(value, str):
        return draw(
            st.sampled_from(
                [value + "\n", f" {value}", value.upper(), value[:-1], value + "\u2028", f"{value}$" + "{x"]
            )
        )
    if isinstance(value, list):
        return draw(st.sampled_from([[], [*value, *value], value[::-1], value[:1], [*value, None], [*value, 0.5]]))
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return draw(st.sampled_from([[value], 1, {}]))
    return draw(st.sampled_from([-value, value * 1000, value + 1, value / 3, str(value), [value]]))
