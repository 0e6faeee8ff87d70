"""`replay`: which lines of a log are meant."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gatekeeper.model.line import is_chained
from gatekeeper.model.reasons import Category
from gatekeeper.model.times import parse_time
from gatekeeper.replay.lines import (
    is_blank,
    is_simulated,
    kind_of,
    reasons_of,
    seq_of,
    stage_of,
    text_of,
    verdict_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from gatekeeper.model.exchange import LogLine
    from gatekeeper.replay.holes import Holes

    Test = Callable[[Mapping[str, Any]], bool]

_SHORTEST_DIGEST = len("sha256:") + 8
"""From so many characters on a digest may be cut short, as with git."""


@dataclass(frozen=True)
class Filter:
    """What must hold of a line; what is None or empty is not asked. All that is asked must hold.

    Attributes:
        run, experiment, stage: equal to the event's.
        verdicts: any of them.
        reason: a reason code, a glob over reason codes (`guardrail_violation:*`), or a category alone.
        policy: `policy_id`, `policy_version`, `id@version`, or the digest (also its first 8 digits or more).
        policy_ids: `policy_id` is any of them.
        since, until: microseconds since 1970; both ends belong to the range.
        kinds: any of them; empty means `decision`.
        limit: the first so many in the order of the log.
        include_simulated: whether events of simulated runs (`as_of`) count.
    """

    run: str | None = None
    experiment: str | None = None
    verdicts: Collection[str] = ()
    stage: str | None = None
    reason: str | None = None
    policy: str | None = None
    policy_ids: Collection[str] = ()
    since: int | None = None
    until: int | None = None
    kinds: Collection[str] = ("decision",)
    limit: int | None = None
    include_simulated: bool = True


def select(lines: Iterable[LogLine], wanted: Filter, *, holes: Holes | None = None) -> Iterator[LogLine]:
    """The lines that *wanted* means, in the order of the log, each as soon as it is read.

    Reading stops at `limit`, and where a chained line lies behind `until`: `ts` never runs back in one log.

    Args:
        lines: in chain order.
        holes: where lines that hold no event are noted, as far as was read.
    """
    is_meant = matcher(wanted)
    left = wanted.limit
    if left is not None and left < 1:
        return
    for line in lines:
        event = line.event
        if event is None:
            if holes is not None and not is_blank(line):
                holes.take_damaged(line)
            continue
        if holes is not None:
            holes.take_event(event)
        if is_meant(event):
            yield line
            if left is not None:
                left -= 1
                if left == 0:
                    return
        elif wanted.until is not None and is_behind(event, wanted.until):
            return


def matcher(wanted: Filter) -> Test:
    """The test that *wanted* puts to an event; never raises on any JSON object."""
    tests: list[Test] = [_kind_test(wanted)]
    for name, value in (("run_id", wanted.run), ("experiment_id", wanted.experiment)):
        if value is not None:
            tests.append(lambda event, name=name, value=value: event.get(name) == value)  # type: ignore[misc]
    if wanted.verdicts:
        verdicts = frozenset(wanted.verdicts)
        tests.append(lambda event: verdict_of(event) in verdicts)
    if wanted.stage is not None:
        tests.append(lambda event: stage_of(event) == wanted.stage)
    if wanted.reason is not None:
        is_reason = _reason_test(wanted.reason)
        tests.append(lambda event: any(map(is_reason, reasons_of(event))))
    if wanted.policy is not None:
        tests.append(_policy_test(wanted.policy))
    if wanted.policy_ids:
        policy_ids = frozenset(wanted.policy_ids)
        tests.append(lambda event: text_of(event, "policy_id") in policy_ids)
    if not wanted.include_simulated:
        tests.append(lambda event: not is_simulated(event))
    if wanted.since is not None or wanted.until is not None:
        tests.append(_time_test(wanted.since, wanted.until))
    first, *others = tests
    if not others:
        return first
    if len(others) == 1:  # the usual case, and every line pays for the general one
        (second,) = others
        return lambda event: first(event) and second(event)
    return lambda event: all(test(event) for test in tests)


def _kind_test(wanted: Filter) -> Test:
    kinds = frozenset(wanted.kinds or ("decision",))
    return lambda event: kind_of(event) in kinds


def _reason_test(reason: str) -> Callable[[str], bool]:
    pattern = f"{reason}:*" if reason in set(Category) else reason
    # equality too: a metric's name may hold what a glob takes for its own signs
    return lambda code: code == reason or fnmatchcase(code, pattern)


def _policy_test(policy: str) -> Test:
    is_digest = policy.startswith("sha256:") and len(policy) >= _SHORTEST_DIGEST

    def test(event: Mapping[str, Any]) -> bool:
        policy_id, version = text_of(event, "policy_id"), text_of(event, "policy_version")
        if policy in {policy_id, version, f"{policy_id}@{version}"}:
            return True
        return is_digest and (text_of(event, "policy_digest") or "").startswith(policy)

    return test


def _time_test(since: int | None, until: int | None) -> Test:
    def test(event: Mapping[str, Any]) -> bool:
        moment = parse_time(event.get("ts"))
        if moment is None:
            return False
        return (since is None or since <= moment) and (until is None or moment <= until)

    return test


def is_behind(event: Mapping[str, Any], until: int) -> bool:
    """Whether no line behind this one can lie before *until*: it is chained, and later itself."""
    if not is_chained(event) or seq_of(event) is None or text_of(event, "prev") is None:
        return False
    moment = parse_time(event.get("ts"))
    return moment is not None and moment > until
