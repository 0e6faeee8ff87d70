"""`policy backtest`: what another policy would have answered to all that was recorded.

The log is read once for its policies and once for its decisions, in ranges, on all cores. What is kept are counts and
the first examples of each kind; how often each run diverged first lies in files. So memory does not grow with the log,
and the report does not depend on the number of processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.replay.backtest_range import BacktestRange
from gatekeeper.replay.backtest_report import BacktestReport
from gatekeeper.replay.backtest_tally import BacktestTally
from gatekeeper.replay.blocks import ranges_of
from gatekeeper.replay.lines import text_of
from gatekeeper.replay.parallel import Workers, cores, may_fork
from gatekeeper.replay.pile import Pile
from gatekeeper.replay.query import Filter
from gatekeeper.replay.reevaluate import PolicyShelf
from gatekeeper.replay.scan import RANGE_BYTES, Pace, Scan
from gatekeeper.replay.survey import policies_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.model.policy import LoadedPolicy, Policy
    from gatekeeper.replay.blocks import Range, Source


@dataclass(frozen=True)
class Asked:
    """What is compared, and how.

    Attributes:
        given: the other policy.
        policy_ids: decisions under any of these are compared.
        since, until: microseconds since 1970; both ends belong to the range, None is open.
        include_simulated: whether decisions of simulated runs are compared, too.
        jobs: how many processes at most; None: one for each core.
        range_bytes: how much of a log one of them takes at a time.
        progress: told after each range how many bytes were read, of how many.
        pruned_to: last seq of what was removed from the log on purpose, which is not missing; 0: nothing.
    """

    given: LoadedPolicy
    policy_ids: tuple[str, ...]
    since: int | None = None
    until: int | None = None
    include_simulated: bool = False
    jobs: int | None = None
    range_bytes: int = RANGE_BYTES // 4
    progress: Callable[[int, int], None] | None = None
    pruned_to: int = 0


def backtest(sources: Sequence[Source], asked: Asked) -> BacktestReport:
    """Judge the recorded decisions under another policy and compare.

    Args:
        sources: the log's files, in chain order.

    Raises:
        LogError: a file cannot be read, or a process that read a part of it has died.
    """
    policies, other_ids = _policies(sources, asked)
    wanted = Filter(policy_ids=asked.policy_ids, since=asked.since, until=asked.until)
    pace = Pace(asked.jobs, asked.range_bytes, asked.progress)
    scan = Scan(sources, wanted, pace, pruned_to=asked.pruned_to)
    total, runs = BacktestTally(), Pile(2)
    try:
        for tally in scan.taken(
            lambda: BacktestRange(asked.given, policies, include_simulated=asked.include_simulated)
        ):
            total.adopt(tally)
            for run, flip in tally.runs.items():
                runs.add(run, flip)
        compared, diverging = _first_flips(runs)
    finally:
        runs.close()
    holes = scan.holes
    return BacktestReport(
        total,
        compared,
        diverging,
        tuple(holes.damaged),
        tuple(holes.gaps),
        asked.pruned_to if holes.reaches_pruned else None,
        tuple(sorted(other_ids)),
    )


def _first_flips(runs: Pile) -> tuple[int, dict[int, int]]:
    """How many runs were compared, and number of a flip -> runs that diverged first by it."""
    compared, diverging = 0, dict[int, int]()
    for rows in runs.buckets():
        first: dict[int, int] = {}
        for at in range(0, len(rows), 2):
            first[rows[at]] = first.get(rows[at]) or rows[at + 1]
        compared += len(first)
        for flip in first.values():
            if flip:
                diverging[flip] = diverging.get(flip, 0) + 1
    return compared, diverging


def _policies(sources: Sequence[Source], asked: Asked) -> tuple[dict[str, Policy], set[str]]:
    """The recorded policies that are meant, by digest, and the ids of the others."""
    shelf, digests, others = PolicyShelf(), set[str](), set[str]()
    for event in _policy_events(sources, asked):
        policy_id, digest = text_of(event, "policy_id"), text_of(event, "policy_digest")
        if policy_id not in asked.policy_ids:
            others |= {policy_id} if policy_id else set()
        elif digest is not None and shelf.add(event) is None:
            digests.add(digest)
    found = {}
    for digest in digests:
        try:
            policy = shelf.policy(digest)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue  # whoever wrote it, it judged nothing; `verify` names it
        if policy is not None:
            found[digest] = policy
    return found, others


def _policy_events(sources: Sequence[Source], asked: Asked) -> Iterator[Mapping[str, Any]]:
    parts = ranges_of(sources, RANGE_BYTES)
    jobs = min(cores() if asked.jobs is None else asked.jobs, len(parts))
    if jobs < 2 or not may_fork():
        for part in parts:
            yield from policies_in(part)
        return
    with Workers(jobs, parts, _policies_of) as workers:
        for answers in workers.answers():
            yield from answers


def _policies_of(part: Range) -> Iterable[Mapping[str, Any]]:
    return policies_in(part)
