"""Stage names, their order and the share of traffic that each stands for."""

from __future__ import annotations

import re

DRY_RUN = "DRY_RUN"
SHADOW = "SHADOW"
ROLLOUT_100 = "ROLLOUT_100"
DEFAULT_STAGES = (DRY_RUN, SHADOW, "CANARY_10", "CANARY_25", "CANARY_50", ROLLOUT_100)

NAME_PATTERN = r"[A-Za-z0-9._-]{1,128}"
"""What an experiment, a variant and a stage may be called."""

RUN_ID_PATTERN = r"[A-Za-z0-9._:/@-]{1,390}"
"""What a run may be called: names joined by `:`, `/` and `@`; 390 holds three names of 128 and their colons."""

LONGEST_STAGE = 32
"""Letters of a stage's name; more digits than a double has say nothing."""

_CANARY = re.compile(r"CANARY_(0|[1-9]\d*)(\.\d+)?", re.ASCII)


def stage_percent(stage: str) -> float | None:
    """Percent of traffic in *stage*, 0 to 100; None when it is no stage name.

    `DRY_RUN` and `SHADOW` answer no user: 0.
    """
    if stage in {DRY_RUN, SHADOW}:
        return 0
    if stage == ROLLOUT_100:
        return 100
    match = _CANARY.fullmatch(stage)
    if match is None or len(stage) > LONGEST_STAGE:
        return None
    number = float(stage.removeprefix("CANARY_"))
    if not 0 < number < 100:
        return None
    return int(number) if number.is_integer() else number


def is_exposed(stage: str) -> bool:
    """Whether users meet the change at *stage* (every stage from the first canary on)."""
    return stage not in {DRY_RUN, SHADOW}
