"""Whether the evidence can be judged at all: required metrics, freshness, skew, window.

Each of these is one finding over all metrics asked; what it means for a single metric stands in that
metric's reading.
"""

from __future__ import annotations

from gatekeeper.evaluator.check import observed_of
from gatekeeper.evaluator.findings import finding_of, measured
from gatekeeper.evaluator.numbers import difference
from gatekeeper.evaluator.preconditions import wait_until
from gatekeeper.evaluator.times import time_text
from gatekeeper.model.decision import Action, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.findings import Hindrance
    from gatekeeper.evaluator.rules import Rule
    from gatekeeper.evaluator.times import MetricTimes

    Named = list[tuple[str, Hindrance]]
    Asked = list[tuple[str, MetricTimes]]

_RANK = {Outcome.INVALID: 0, Outcome.MISSING: 1, Outcome.STALE: 2}


def ask_required(check: Check) -> None:
    """Ask that every required metric is there and is of the kind that its rules take."""
    for required in check.plan.required:
        reading = check.readings[required.metric]
        hindrance, value = reading.hindrance, reading.value
        if hindrance is None:
            if required.kind == "number":
                is_valid = reading.is_number
            elif required.kind == "boolean":
                is_valid = value is True or value is False or (reading.is_number and value in {0, 1})
            else:
                is_valid = reading.is_number or isinstance(value, bool)
            if is_valid:
                check.findings.append(required.passed)
                continue
            hindrance = required.invalid
        check.hinder(
            required.rule,
            hindrance,
            observed=observed_of(value, reading.observation),
            source=reading.source,
        )


def ask_times(check: Check) -> None:
    """Ask freshness, skew and window, each over the metrics asked at this stage that have no `problem`.

    A problem decides its metric alone: a source that was down states no watermark either, and must not
    become old evidence, which a policy may reject.
    """
    plan, readings = check.plan, check.readings
    asked = [(name, reading.times) for name in plan.asked_metrics if (reading := readings[name]).problem is None]
    if not asked:
        if plan.asked_metrics:
            check.findings += (plan.freshness.not_asked, plan.skew.not_asked, plan.window.not_asked)
            return
        asked = [("", check.times.of(None, {}))]  # what counts for all metrics must still be admissible
    oldest, age, lag, is_hindered = asked[0][1], -1.0, 0.0, False
    last = None
    for _, times in asked:
        if times is last:  # metrics of one source, most often side by side
            continue
        last = times
        if times.hindrance is not None:
            is_hindered = True
        if times.age_seconds is not None and times.age_seconds > age:
            oldest, age = times, times.age_seconds
        lag = max(lag, times.lag_seconds)
    hindered = _Hindered(check, asked) if is_hindered else None
    if hindered is None or not hindered.ask_freshness():
        _pass_freshness(check, age, oldest.source)
    if hindered is None or not hindered.ask_skew():
        _pass_skew(check, lag)
    if check.times.entered_at is None:
        check.findings.append(plan.window.not_asked)
    else:
        _ask_window(check, asked, check.times.entered_at)


def _pass_freshness(check: Check, age: float, source: str | None) -> None:
    rule, limit = check.plan.freshness, check.plan.max_freshness_seconds
    if limit is None:
        check.findings.append(rule.not_asked)
    else:
        check.findings.append(measured(rule.passed, age, difference(limit, age), source))


def _pass_skew(check: Check, lag: float) -> None:
    rule, limit = check.plan.skew, check.plan.max_skew_seconds
    if limit is None or not check.times.sources:
        check.findings.append(rule.not_asked)
    else:
        check.findings.append(measured(rule.passed, lag, difference(limit, lag)))


class _Hindered:
    """The times of the metrics asked, where those of at least one cannot be admitted."""

    def __init__(self, check: Check, named: Asked) -> None:
        self.check = check
        self.named = named

    def ask_freshness(self) -> bool:
        """Add the finding of what is wrong, if anything is: invalid, else missing, else too old."""
        found = [(name, times.freshness) for name, times in self.named if times.freshness is not None]
        if not found:
            return False
        hindrance = _most_urgent(found)
        if self.check.plan.max_freshness_seconds is None and hindrance.outcome is not Outcome.INVALID:
            return False
        _charge(self.check, self.check.plan.freshness, hindrance, found)
        return True

    def ask_skew(self) -> bool:
        """Add the finding of a source without watermark or of the worst laggard, where a limit is stated."""
        if self.check.plan.max_skew_seconds is None:
            return False
        found = [(name, times.undated) for name, times in self.named if times.undated is not None]
        found = found or [(name, times.skew) for name, times in self.named if times.skew is not None]
        if not found:
            return False
        _charge(self.check, self.check.plan.skew, _most_urgent(found), found)
        return True


def _ask_window(check: Check, asked: Asked, entered_at: int) -> None:
    rule, named = check.plan.window, asked
    if check.plan.asked_metrics:  # statistics have no window
        by_name = dict(asked)
        named = [(name, by_name[name]) for name in check.plan.window_metrics if name in by_name]
    found = [(name, times.window) for name, times in named if times.window is not None]
    starts = [times.window_start for _, times in named if times.window_start is not None]
    if found:
        hindrance = _most_urgent(found)
        fits_at = check.times.window_fits_at
        waits = (wait_until(fits_at),) if fits_at is not None and hindrance.outcome is Outcome.STALE else ()
        _charge(check, rule, hindrance, found, waits)
    elif not starts or len(starts) < len(named):  # nothing has a window, or times are invalid, as freshness says
        check.findings.append(rule.not_asked)
    else:
        start, entered = time_text(min(starts)), time_text(entered_at)
        check.findings.append(finding_of(rule.passed, observed=start, limit=entered))


def _most_urgent(found: Named) -> Hindrance:
    """Invalid before missing before stale; among the stale the worst age or lag."""

    def urgency(hindrance: Hindrance) -> tuple[int, float]:
        seconds = hindrance.observed if isinstance(hindrance.observed, (int, float)) else 0.0
        return _RANK[hindrance.outcome], -seconds

    return min((hindrance for _, hindrance in found), key=urgency)


def _charge(check: Check, rule: Rule, hindrance: Hindrance, found: Named, actions: tuple[Action, ...] = ()) -> None:
    """Add the finding of a time rule, charged to the metrics *found*."""
    observed, limit = hindrance.observed, hindrance.limit
    margin = None
    if isinstance(observed, (int, float)) and isinstance(limit, (int, float)):
        margin = difference(limit, observed)
    names = [name for name, _ in found if name]
    finding = finding_of(
        rule.violated,
        outcome=hindrance.outcome,
        code=hindrance.code,
        metric=names[0] if len(names) == 1 else None,
        observed=observed,
        limit=rule.violated["limit"] if limit is None else limit,
        margin=margin,
        source=hindrance.source,
    )
    collect = tuple(Action("collect_metric", {"metric": name}) for name in names)
    check.add_trouble(rule, finding, missing=hindrance.missing, actions=collect + actions)
