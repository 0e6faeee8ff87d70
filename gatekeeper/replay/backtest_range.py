"""Judge recorded decisions under another policy: each with its recorded evidence and context.

Of the context, three things belong to a policy and stay as they were recorded: the digests that tell whether the run
was asked under another policy than its own, the approvals that name one, and the deadline of an open hold. What was
recorded is the verdict in the log; the recorded policy is asked once more, so that a verdict which the evaluator of
today does not repeat is not taken for a difference between two policies.
"""

from __future__ import annotations

from gatekeeper.evaluator import assess
from gatekeeper.model.context import Context
from gatekeeper.model.decision import EVALUATOR
from gatekeeper.model.line import bulk_decoder
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import logged_snapshot
from gatekeeper.model.values import replace
from gatekeeper.replay.backtest_lacks import lacking
from gatekeeper.replay.backtest_tally import FLIPS, BacktestTally, Divergence, note
from gatekeeper.replay.ids import hash_of
from gatekeeper.replay.lines import is_simulated, part_of, seq_of, stage_of, text_of, texts_of, verdict_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.verdict import Judgement
    from gatekeeper.model.policy import LoadedPolicy, Policy
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.replay.backtest_tally import Flip

_STRENGTH = {"ACCEPT": 0, "DEGRADE": 1, "REJECT": 2}
_FLIP_NUMBERS = {flip: number for number, flip in enumerate(FLIPS, 1)}
_OF_TIMES = frozenset({"freshness", "skew", "window"})
_ANY = ("any metric",)  # what no finding states as its metric
_NO_EVALUATOR = "evaluator not stated"
_NO_VERDICT = "verdict not stated"
_UNREADABLE = "context or evidence cannot be read"


class BacktestRange:
    """Takes the decisions of one range after the other; what is found is in its tally.

    Args:
        given: the other policy.
        recorded: policies of the log by digest.
        include_simulated: whether decisions of simulated runs are compared, too.
    """

    def __init__(self, given: LoadedPolicy, recorded: Mapping[str, Policy], *, include_simulated: bool) -> None:
        self._given = given
        self._recorded = recorded
        self._include_simulated = include_simulated
        self._decode = bulk_decoder()
        self._tally = BacktestTally()

    def taken(self) -> BacktestTally:
        """What was found since the last time."""
        tally, self._tally = self._tally, BacktestTally()
        return tally

    def take(self, event: Mapping[str, Any], line: bytes) -> None:
        """A decision; `event` may lack what `slim.without_findings` leaves out."""
        tally = self._tally
        if is_simulated(event) and not self._include_simulated:
            tally.simulated += 1
            return
        tally.decisions += 1
        evaluator = event.get("evaluator")
        if evaluator != EVALUATOR:
            why = f"evaluator {evaluator}" if isinstance(evaluator, str) else _NO_EVALUATOR
        elif verdict_of(event) not in _STRENGTH:
            why = _NO_VERDICT
        else:
            try:
                context = Context.from_dict(event["context"])
                snapshot = logged_snapshot(event["metrics_snapshot"])
                self._compare(event, line, event["decision"], snapshot, context)
            except Exception:  # noqa: BLE001 - whatever somebody wrote into the log is not our crash
                why = _UNREADABLE
            else:
                return
        note(tally.not_comparable, why, _id(event))

    def _compare(
        self, event: Mapping[str, Any], line: bytes, decision: Mapping[str, Any], snapshot: Snapshot, context: Context
    ) -> None:
        tally, digest = self._tally, text_of(event, "policy_digest") or ""
        own = self._recorded.get(digest)
        check: Check | None = None
        if own is not None:
            if context.stage not in own.stages:
                tally.not_repeated.add(_id(event))
                return
            check, judgement = assess(own, snapshot, context)
            if judgement[0] != decision["verdict"] or list(judgement[1]) != decision.get("reason_codes"):
                tally.not_repeated.add(_id(event))
                return
        if context.stage not in self._given.policy.stages:
            self._cannot_answer(event, (f"stage {context.stage}",))
            return
        if check is None or digest != self._given.digest:
            check, judgement = assess(self._given.policy, snapshot, self._asked(context), check)
        recorded = decision["verdict"]
        if judgement[0] is not Verdict.ACCEPT and judgement[2]:
            needs = lacking(check, judgement, self._complete(line))
            if needs:
                self._cannot_answer(event, needs)
                return
        self._count(event, line, recorded, check, judgement)
        if own is None:
            tally.unknown_policy.add(_id(event))

    def _asked(self, context: Context) -> Context:
        """The question as recorded; to a run that lives under the other policy, that one is no foreign policy."""
        digests = context.policy
        if digests is not None and digests.run != digests.given and digests.given == self._given.digest:
            return replace(context, policy=None)
        return context

    def _count(self, event: Mapping[str, Any], line: bytes, recorded: str, check: Check, judgement: Judgement) -> None:
        tally, verdict, event_id = self._tally, judgement[0].value, _id(event)
        run_id = text_of(event, "run_id") or ""
        run, flip = hash_of(run_id), (recorded, verdict)
        if verdict != recorded:
            rules = self._rules(flip, check, judgement, line)
            tally.runs[run] = tally.runs.get(run) or _FLIP_NUMBERS[flip]
            for rule in rules:
                note(tally.rules, (flip, rule), event_id)
            ts, stage = text_of(event, "ts"), stage_of(event)
            tally.diverge(Divergence(run_id, event_id, seq_of(event), ts, stage, flip, rules))
        else:
            tally.runs.setdefault(run, 0)
            if list(judgement[1]) != part_of(event, "decision").get("reason_codes"):
                tally.same_verdict.add(event_id)
        tally.matrix[flip] += 1
        tally.see(text_of(event, "ts"))

    def _rules(self, flip: Flip, check: Check, judgement: Judgement, line: bytes) -> tuple[str, ...]:
        """Those that stop more than before, or those that had stopped more."""
        if _STRENGTH[flip[1]] > _STRENGTH[flip[0]]:
            return _deciding([finding.__dict__ for finding in check.findings], judgement[1])
        decision = self._complete(line)
        return _deciding(decision.get("findings"), texts_of(decision, "reason_codes"))

    def _cannot_answer(self, event: Mapping[str, Any], needs: tuple[str, ...]) -> None:
        event_id = _id(event)
        self._tally.cannot_answer.add(event_id)
        for one in needs:
            note(self._tally.needs, one, event_id)

    def _complete(self, line: bytes) -> Mapping[str, Any]:
        """`decision` of the event, with its findings."""
        return part_of(self._decode(line) or {}, "decision")


def _deciding(findings: Any, reason_codes: Any) -> tuple[str, ...]:
    """The rules that give the reasons; `-` where no finding does.

    Of several that say the same of one metric, the first: a metric that is required and missing leaves its guardrail
    without a value. Evidence that is too old is what `freshness`, `skew` or `window` say, whatever else needs it.
    """
    rules: dict[tuple[str, Any], str] = {}
    for finding in findings if isinstance(findings, list) else ():
        code = finding.get("code") if isinstance(finding, dict) else None
        if code is None or code not in reason_codes or (code, _ANY) in rules:
            continue
        rule = str(finding.get("rule"))
        rules.setdefault((code, _ANY if rule in _OF_TIMES else finding.get("metric")), rule)
    return tuple(dict.fromkeys(rules.values())) or ("-",)


def _id(event: Mapping[str, Any]) -> str:
    return text_of(event, "event_id") or f"seq {event.get('seq')}"
