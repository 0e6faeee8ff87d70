"""What monitoring should know of the gate, reckoned from the log: totals over all runs, and the last decision of each.

Only the log knows all runs, so only it can count: a job that pushes a counter of its own forgets what the job before
it had counted. Simulated runs are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gatekeeper.model.times import MICROSECONDS, parse_time
from gatekeeper.replay.lines import (
    is_simulated,
    kind_of,
    part_of,
    reasons_of,
    stage_of,
    text_of,
    verdict_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Labels = dict[str, str]

VERDICTS = ("ACCEPT", "REJECT", "DEGRADE")
_STATES = {"MISSING": "missing", "INVALID": "invalid", "STALE": "stale"}


@dataclass
class Family:
    """One metric: its Prometheus name, type (`counter`, `gauge`), sentence, and samples of labels and value."""

    name: str
    type: str
    help: str
    samples: list[tuple[Labels, float]] = field(default_factory=list)

    def add(self, value: float, **labels: str | None) -> None:
        """One sample; labels without a value are left out."""
        self.samples.append(({name: text for name, text in labels.items() if text is not None}, value))


class Measures:
    """Takes the events of a log in order; what it keeps grows with experiments and reasons, not with the log."""

    def __init__(self) -> None:
        self._decisions: Counter[tuple[str | None, str]] = Counter()
        self._reasons: Counter[str] = Counter()
        self._last: dict[tuple[str | None, str | None], Mapping[str, Any]] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Count a decision; other events and simulated runs are passed over."""
        verdict = verdict_of(event)
        if kind_of(event) != "decision" or verdict is None or is_simulated(event):
            return
        self._decisions[stage_of(event), verdict] += 1
        self._reasons.update(reasons_of(event))
        self._last[text_of(event, "experiment_id"), text_of(event, "variant_id")] = event

    def families(self) -> list[Family]:
        """All metrics, those without a sample too, so that their names are known from the first scrape on."""
        decisions = Family("gatekeeper_decisions_total", "counter", "Decisions in the log.")
        for (stage, verdict), count in sorted(self._decisions.items(), key=repr):
            decisions.add(count, stage=stage, decision=verdict)
        reasons = Family("gatekeeper_decision_reasons_total", "counter", "Reason codes of the decisions in the log.")
        for code, count in sorted(self._reasons.items()):
            reasons.add(count, code=code)
        found = [decisions, reasons, *_LastDecisions().families(self._last)]
        for family in found:
            family.samples.sort(key=lambda sample: sorted(sample[0].items()))
        return found


class _LastDecisions:
    """Gauges of the last decision of each experiment and variant."""

    def __init__(self) -> None:
        self._verdict = _gauge("gatekeeper_last_decision", "1 for the verdict of the last decision, 0 for the others.")
        self._time = _gauge("gatekeeper_last_decision_timestamp_seconds", "When the last decision was made, unix time.")
        self._reason = _gauge("gatekeeper_reason", "1 for each reason code of the last decision.")
        self._policy = _gauge("gatekeeper_policy_info", "1 for the policy of the last decision.")
        self._freshness = _gauge(
            "gatekeeper_observation_freshness_seconds", "Age of each source's newest data at the last decision."
        )
        self._skew = _gauge(
            "gatekeeper_watermark_skew_seconds", "Lag of the last source behind the newest at the last decision."
        )
        self._margin = _gauge(
            "gatekeeper_guardrail_margin_ratio",
            "Margin to a guardrail's limit, as a ratio of it; negative is violated.",
        )
        self._observations = _gauge("gatekeeper_observations", "Metrics of the last decision by what became of them.")

    def families(self, last: Mapping[tuple[str | None, str | None], Mapping[str, Any]]) -> list[Family]:
        """The gauges over the last decision of each experiment and variant."""
        for (experiment, variant), event in last.items():
            run: dict[str, str | None] = {"experiment": experiment, "variant": variant}
            stage = stage_of(event)
            for verdict in VERDICTS:
                self._verdict.add(float(verdict == verdict_of(event)), **run, stage=stage, decision=verdict)
            made = _moment(event)
            if made is not None:
                self._time.add(made / MICROSECONDS, **run, stage=stage)
            for code in reasons_of(event):
                self._reason.add(1, **run, code=code)
            digest = (text_of(event, "policy_digest") or "").removeprefix("sha256:")[:12]
            self._policy.add(
                1, **run, policy_id=text_of(event, "policy_id"), policy_version=text_of(event, "policy_version"),
                policy_digest=digest,
            )  # fmt: skip
            self._take_times(event, run)
            self._take_findings(event, run)
        return [
            self._verdict, self._time, self._reason, self._policy, self._freshness, self._skew, self._margin,
            self._observations,
        ]  # fmt: skip

    def _take_times(self, event: Mapping[str, Any], run: Mapping[str, str | None]) -> None:
        """Age at the moment of evaluation of each source that states a watermark, and the widest lag."""
        evaluated = parse_time(part_of(event, "context").get("evaluated_at"))
        watermarks = dict(_watermarks(part_of(part_of(event, "metrics_snapshot"), "_meta")))
        if evaluated is None or not watermarks:
            return
        for name, watermark in watermarks.items():
            self._freshness.add(max(0, evaluated - watermark) / MICROSECONDS, **run, source=name)
        self._skew.add((max(watermarks.values()) - min(watermarks.values())) / MICROSECONDS, **run)

    def _take_findings(self, event: Mapping[str, Any], run: Mapping[str, str | None]) -> None:
        states: dict[str, str] = {}
        findings = part_of(event, "decision").get("findings")
        for finding in findings if isinstance(findings, list) else ():
            metric = text_of(finding, "metric") if isinstance(finding, dict) else None
            if metric is None or finding.get("outcome") in {"NOT_EVALUATED", "OBSERVED"}:
                continue
            state = _STATES.get(str(finding.get("outcome")), "valid")
            states[metric] = state if states.get(metric, "valid") == "valid" else states[metric]
            margin, limit = finding.get("margin"), finding.get("limit")
            if str(finding.get("rule")).startswith("guardrail:") and _is_number(margin) and _is_number(limit) and limit:
                self._margin.add(margin / abs(limit), **run, metric=metric)
        for state, count in Counter(states.values()).items():
            self._observations.add(count, **run, state=state)


def _gauge(name: str, help_text: str) -> Family:
    return Family(name, "gauge", help_text)


def _moment(event: Mapping[str, Any]) -> int | None:
    return parse_time(part_of(event, "context").get("evaluated_at")) or parse_time(event.get("ts"))


def _watermarks(meta: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Source -> watermark; where no source is listed, that of the snapshot."""
    sources = meta.get("sources")
    listed = [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    for source in listed or [{"name": "snapshot", **meta}]:
        watermark = parse_time(source.get("watermark_event_time"))
        if watermark is not None:
            yield str(source.get("name")), watermark


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
