from __future__ import annotations

import re

import pytest

from gatekeeper.model.stages import DEFAULT_STAGES, NAME_PATTERN, RUN_ID_PATTERN, is_exposed, stage_percent


@pytest.mark.parametrize(
    ("stage", "percent"),
    [
        ("DRY_RUN", 0),
        ("SHADOW", 0),
        ("CANARY_10", 10),
        ("CANARY_0.5", 0.5),
        ("CANARY_99.99", 99.99),
        ("CANARY_1.0", 1),
        ("ROLLOUT_100", 100),
    ],
)
def test_the_share_of_traffic_of_a_stage(stage: str, percent: float) -> None:
    """DRY_RUN and SHADOW answer nobody; whole percents are integers."""
    assert stage_percent(stage) == percent
    assert isinstance(stage_percent(stage), int) == (percent == int(percent))


@pytest.mark.parametrize(
    "stage",
    [
        "",
        "canary_10",
        "CANARY_",
        "CANARY_0",
        "CANARY_0.0",
        "CANARY_100",
        "CANARY_010",
        "CANARY_-5",
        "CANARY_1e1",
        "CANARY_10%",
        "CANARY_10 ",
        "CANARY_.5",
        "CANARY_5.",
        "ROLLOUT_50",
        "CANARY_\uff11\uff10",
        "CANARY_" + "1." + "0" * 40,
    ],
)
def test_what_is_no_stage(stage: str) -> None:
    """Nothing between the lines: below 100, above 0, no leading zeros, no exponent."""
    assert stage_percent(stage) is None


def test_users_meet_the_change_from_the_first_canary_on() -> None:
    """DRY_RUN and SHADOW are before exposure, all else is exposed, 100 percent included."""
    assert [stage for stage in DEFAULT_STAGES if is_exposed(stage)] == [
        "CANARY_10",
        "CANARY_25",
        "CANARY_50",
        "ROLLOUT_100",
    ]


def test_three_long_names_make_a_run_id() -> None:
    """`experiment:variant:policy_version` of 128 characters each is one."""
    name = "a" * 128
    assert re.fullmatch(NAME_PATTERN, name)
    assert not re.fullmatch(NAME_PATTERN, name + "a")
    assert re.fullmatch(RUN_ID_PATTERN, f"{name}:{name}:{name}")
    assert not re.fullmatch(RUN_ID_PATTERN, "a#1")
