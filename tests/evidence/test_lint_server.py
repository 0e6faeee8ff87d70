"""What the review says of queries is what the real server does with them."""

from __future__ import annotations

from math import inf, isnan

import pytest

from tests.evidence.lint_files import one, told
from tests.lab.fixtures import Labs
from tests.lab.series import T0
from tests.lab.servers import Lab

pytestmark = pytest.mark.server

BUCKETS = 'rate(http_request_duration_seconds_bucket{variant="canary"}[5m])'

EMPTY = [
    ("filters_at_top", "sum(up) > 100", 0),
    ("filters_at_top", "absent(up)", 0),
    ("filters_inside", "count(up == 0)", 0),
    ("quantile_without_le", f"histogram_quantile(0.9, sum({BUCKETS}))", 0),
    # scrapes lie 3.875 s and 18.875 s before T0: four seconds earlier only one is less than 29 s old
    ("window_too_short", 'sum(rate(http_requests_total{variant="canary"}[29s]))', 4),
]


@pytest.mark.parametrize(("code", "query", "earlier"), EMPTY)
def test_a_query_that_is_told_to_answer_nothing_does_so(lab: Labs[Lab], code: str, query: str, earlier: int) -> None:
    """On a healthy source, where the check would hold."""
    assert told(one(query), []) == [(code, "/metrics/m/query")]
    assert lab("healthy").value(query, T0 - earlier) is None


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("sum(up == bool 0)", 0),
        ("sum(up) > bool 100", 0),
        ("sum(no_such_series) or vector(0)", 0),
        ("scalar(sum(no_such_series)) > bool 3", 0),
        (f"histogram_quantile(95, sum by (le) ({BUCKETS}))", inf),
        ("timestamp(sum(up))", T0),
    ],
)
def test_what_stands_in_a_remark_is_what_the_server_answers(lab: Labs[Lab], query: str, value: float) -> None:
    """The advice, the silent zeros, the infinite quantile and the time that is no sample's."""
    assert lab("healthy").value(query, T0) == value


def test_a_scalar_of_missing_series_is_no_value(lab: Labs[Lab]) -> None:
    """NaN is invalid evidence anyway."""
    value = lab("healthy").value("scalar(sum(no_such_series))", T0)
    assert value is not None
    assert isnan(value)
    assert told(one("scalar(sum(no_such_series))"), []) == []
