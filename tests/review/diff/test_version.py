"""The version that a change calls for: never the one that already names another content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.review.diff.effects import Meaning
from gatekeeper.review.diff.version import Standing, next_version, version_step
from tests.review.diff.policies import Document, loaded

POLICY: Document = {
    "policy_id": "p",
    "policy_version": "1.4.2",
    "guardrails": [{"metric": "p95", "op": "<=", "threshold": 400}],
}


@pytest.mark.parametrize(
    ("version", "loosened", "tightened", "neutral"),
    [
        ("1.4.2", "2.0.0", "1.5.0", "1.4.3"),
        ("v1.4.2", "v2.0.0", "v1.5.0", "v1.4.3"),
        ("1.4", "2.0", "1.5", "1.5"),
        ("7", "8", "8", "8"),
        ("2026-02-18", "2026-02-18.1", "2026-02-18.1", "2026-02-18.1"),
        ("2026-02-18.9", "2026-02-18.10", "2026-02-18.10", "2026-02-18.10"),
        ("spring", "spring.1", "spring.1", "spring.1"),
        ("spring.1", "spring.2", "spring.2", "spring.2"),
        ("1.2.3.4", "1.2.3.5", "1.2.3.5", "1.2.3.5"),
        ("9" * 40, "9" * 40 + ".1", "9" * 40 + ".1", "9" * 40 + ".1"),
    ],
)
def test_each_scheme_goes_on_in_its_own_way(version: str, loosened: str, tightened: str, neutral: str) -> None:
    """What loosens is the big step; what goes both ways loosens, too."""
    meanings = (Meaning.LOOSENED, Meaning.BOTH, Meaning.TIGHTENED, Meaning.NEUTRAL)
    assert [next_version(version, meaning) for meaning in meanings] == [loosened, loosened, tightened, neutral]


@given(st.text(min_size=1), st.sampled_from(Meaning))
def test_no_version_is_called_for_again(version: str, meaning: Meaning) -> None:
    """Whatever people call their versions."""
    assert next_version(version, meaning) != version


@pytest.mark.parametrize(
    ("version", "threshold", "standing"),
    [
        ("1.4.2", 400, Standing.SAME_CONTENT),
        ("1.4.2", 401, Standing.UNCHANGED),
        ("1.4.2", 399, Standing.UNCHANGED),
        ("1.4.3", 401, Standing.TOO_SMALL),
        ("1.5.0", 399, Standing.FITS),
        ("1.10.0", 399, Standing.FITS),  # numbers, not text
        ("2.0.0", 401, Standing.FITS),
        ("1.4.1", 399, Standing.GOES_BACK),
        ("2026-02-19", 401, Standing.FITS),  # another scheme: nobody can say which is later
    ],
)
def test_a_version_is_held_against_the_change(version: str, threshold: int, standing: Standing) -> None:
    """A limit of 401 loosens, one of 399 tightens."""
    new = {**POLICY, "policy_version": version, "guardrails": [{**POLICY["guardrails"][0], "threshold": threshold}]}
    meaning = Meaning.LOOSENED if threshold == 401 else Meaning.TIGHTENED
    assert version_step(loaded(POLICY), loaded(new), meaning).standing is standing


@pytest.mark.parametrize(
    ("old", "new", "standing"),
    [
        ("2026-02-18", "2026-03-01", Standing.FITS),
        ("2026-02-18", "2026-02-18.1", Standing.FITS),
        ("2026-02-18.2", "2026-02-18.10", Standing.FITS),
        ("2026-02-18.2", "2026-02-18.1", Standing.GOES_BACK),
        ("2026-02-18", "2026-02-17", Standing.GOES_BACK),
    ],
)
def test_a_date_with_a_count_comes_after_the_date(old: str, new: str, standing: Standing) -> None:
    """Any later date serves as well as the count."""
    before, after = ({**POLICY, "policy_version": version} for version in (old, new))
    assert version_step(loaded(before), loaded(after), Meaning.NEUTRAL).standing is standing


def test_two_policies_may_have_the_same_version() -> None:
    """A version counts within its policy."""
    step = version_step(loaded(POLICY), loaded({**POLICY, "policy_id": "q"}), Meaning.NEUTRAL)
    assert step.standing is Standing.ANOTHER_POLICY
