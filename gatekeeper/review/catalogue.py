"""Every code with which `policy check` speaks of a policy: severity, meaning, remedy.

`docs/formats/policy-check.md` has the same table with an example for each; a test holds the two equal.
"""

from __future__ import annotations

from gatekeeper.documents.diagnostics import Severity
from gatekeeper.documents.problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Entry:
    """What a code means in general.

    Attributes:
        severity: a warning is worth a second look by whoever changes the policy, an info by whoever reads it first.
        summary: what is doubtful, one sentence without its full stop.
        remedy: what to do, the same.
        is_mended: whether `--fix` mends it.
    """

    __slots__ = ("is_mended", "remedy", "severity", "summary")

    def __init__(self, severity: Severity, summary: str, remedy: str, *, is_mended: bool = False) -> None:
        self.severity: Final = severity
        self.summary: Final = summary
        self.remedy: Final = remedy
        self.is_mended: Final = is_mended


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

REFUSALS: dict[str, Entry] = {
    "document.invalid": Entry(
        _ERROR,
        "the file is not strict JSON: broken, not UTF-8, a key twice in one object, or nested without end",
        "write one JSON document in UTF-8, each key once",
    ),
    "policy.bad_range": Entry(
        _ERROR, "a range is not `[low, high]` with low below high", "write the lower bound first", is_mended=True
    ),
    "policy.bad_text": Entry(_ERROR, "a text holds half of a surrogate pair", "write the whole character"),
    "policy.bad_url": Entry(
        _ERROR, "a runbook is no http(s) URL, or carries credentials", "give a URL that anybody may read in the log"
    ),
    "policy.deadline_missing": Entry(
        _ERROR, "`on_deadline` without `deadline_seconds` would never come to pass", "add `deadline_seconds`"
    ),
    "policy.duplicate_primary": Entry(_ERROR, "two primaries name one metric", "keep one of the two"),
    "policy.empty_list": Entry(_ERROR, "a list of stages or owners is empty", "name one, or leave the key out"),
    "policy.empty_text": Entry(_ERROR, "a name or a reason is empty", "say it in a word"),
    "policy.gate_without_primary": Entry(
        _ERROR, "a promotion gate has no primary to ask about", "add a primary, or take the gate out"
    ),
    "policy.guardrail_without_limit": Entry(
        _ERROR, "a guardrail limits nothing", "add `threshold`, `budget_delta` or `budget_ratio`"
    ),
    "policy.invalid": Entry(_ERROR, "the file cannot be read", "give the path of a policy file"),
    "policy.missing_key": Entry(_ERROR, "a mandatory key is missing", "add it"),
    "policy.no_rule": Entry(
        _ERROR, "no enforced guardrail and no constraint: it would accept everything", "add a guardrail or a constraint"
    ),
    "policy.not_a_number": Entry(
        _ERROR,
        "a number that no reader of JSON keeps: NaN, Infinity, 1e400, an integer beyond 2^53-1",
        "write it finite",
    ),
    "policy.null": Entry(_ERROR, "null is neither a value nor an absent key", "write a value, or leave the key out"),
    "policy.out_of_bounds": Entry(_ERROR, "a number lies below 0, or beyond 100 years", "write one that can be meant"),
    "policy.stage_order": Entry(
        _ERROR,
        "stages are not `DRY_RUN`, `SHADOW`, canary steps rising, `ROLLOUT_100`",
        "put them in order, with a canary step and `ROLLOUT_100` last",
    ),
    "policy.too_deep": Entry(_ERROR, "lists and objects stand too deep in one another", "flatten them"),
    "policy.unknown_key": Entry(
        _ERROR,
        "a key that nobody reads is a rule that nobody asks",
        "correct its spelling, or take it out",
        is_mended=True,
    ),
    "policy.unknown_stage": Entry(
        _ERROR, "a name that is no stage, or no stage of this policy", "correct it, or add it to `stages`"
    ),
    "policy.unknown_value": Entry(
        _ERROR, "an operator, verdict, kind or direction that does not exist", "use one of those named", is_mended=True
    ),
    "policy.wrong_length": Entry(_ERROR, "a range has not two numbers", "write `[low, high]`"),
    "policy.wrong_type": Entry(_ERROR, "a value of another type than its key has", "write the type that is named"),
}
"""What keeps a file from loading (exit 65), in the order of the alphabet."""

CATALOGUE: dict[str, Entry] = {
    "policy.budget_beyond_threshold": Entry(
        _WARNING,
        "a budget can only be exceeded where the threshold is violated already",
        "lower `budget_delta`, or take it out",
    ),
    "policy.budget_of_zero": Entry(
        _INFO,
        "a budget of 0 rejects at the smallest difference to the baseline, noise included",
        "state how much worse is too little to matter",
    ),
    "policy.budget_ratio_above_one": Entry(
        _WARNING,
        "a metric may worsen by more than its baseline: 1 is 100 %",
        "state the budget as a ratio: 0.02 is 2 %",
    ),
    "policy.budget_without_baseline_rule": Entry(
        _WARNING,
        "nothing checks the budgets of a snapshot without baseline",
        'add `"on_missing_baseline": "DEGRADE"` to `missing_data_policy`',
        is_mended=True,
    ),
    "policy.canary_jump": Entry(
        _WARNING,
        "a step multiplies the share of users by more than five",
        "put a step between the two",
    ),
    "policy.constraint_covers_guardrail": Entry(
        _WARNING,
        "a guardrail allows what the constraint of the same metric forbids: it never decides",
        "take the guardrail out, or the constraint",
    ),
    "policy.contradicting_rules": Entry(
        _WARNING,
        "no value satisfies both rules: every check is a REJECT",
        "correct the operator or the limit of one of the two",
    ),
    "policy.deadline_before_retry": Entry(
        _WARNING,
        "a hold's deadline passes before it is due for the first time",
        "make `deadline_seconds` longer than `retry_after_seconds`, with room for several attempts",
    ),
    "policy.duplicate_constraint": Entry(_WARNING, "the same constraint stands twice", "keep one", is_mended=True),
    "policy.duplicate_entry": Entry(
        _WARNING, "a list of stages, references or owners has an entry twice", "keep one", is_mended=True
    ),
    "policy.duplicate_guardrail": Entry(_WARNING, "the same guardrail stands twice", "keep one", is_mended=True),
    "policy.duplicate_required_metric": Entry(_WARNING, "a metric is required twice", "keep one", is_mended=True),
    "policy.escalation_after_deadline": Entry(
        _WARNING,
        "a hold ends before its owners call somebody",
        "make `escalate_after_seconds` shorter than `deadline_seconds`",
    ),
    "policy.escalation_before_retry": Entry(
        _INFO,
        "somebody is called before the hold was asked a second time",
        "make `escalate_after_seconds` longer than `retry_after_seconds`",
    ),
    "policy.evidence_first": Entry(
        _WARNING,
        "while a metric is missing, a violated constraint holds the run and does not stop it",
        "use `violations_first` unless an older gate must be matched",
    ),
    "policy.freshness_exceeds_window": Entry(
        _WARNING,
        "evidence may be older than the window that it describes (with `--collection`)",
        "lower `max_freshness_seconds` to the window's length or below",
    ),
    "policy.guardrail_without_range": Entry(
        _WARNING,
        "a value in the wrong unit is judged as it stands",
        'add `"range": [low, high]`, the values that the metric can have at all',
    ),
    "policy.hold_category_unnamed": Entry(
        _INFO,
        "`holds` leaves a category out: such a hold is due at once, escalates after 1800 s and belongs to `owner`",
        "name the category in `holds`, with owners",
    ),
    "policy.hold_without_owner": Entry(
        _WARNING,
        "a category of holds has no owners: it belongs to `owner`, whoever that is",
        'add `"owners": [...]`',
    ),
    "policy.limit_always_fires": Entry(
        _WARNING,
        "every value within the range violates the limit: every check is a REJECT",
        "check the unit of both and the operator: percent or ratio, seconds or milliseconds",
    ),
    "policy.limit_never_fires": Entry(
        _WARNING,
        "no value within the range violates the limit",
        "check the unit of both and the operator: percent or ratio, seconds or milliseconds",
    ),
    "policy.metric_in_case_only": Entry(
        _WARNING,
        "a golden case states a metric that no rule of its policy names",
        "correct the name in the case, or add the rule that the case is about",
    ),
    "policy.no_freshness_limit": Entry(
        _WARNING,
        "yesterday's snapshot is accepted today",
        "add `max_freshness_seconds` to `missing_data_policy`",
    ),
    "policy.no_promotion_at_100": Entry(
        _WARNING,
        "the promotion gate is not asked before 100 percent",
        "add `ROLLOUT_100` to `required_for_stages`",
    ),
    "policy.no_promotion_gate": Entry(
        _WARNING,
        "statistics are not asked, not even at 100 percent",
        "add `promotion_gate`, or suppress this where nothing is to be won",
    ),
    "policy.no_stage_wait": Entry(
        _INFO,
        "a run may go through all stages on one snapshot, within seconds",
        "add `stage_policy` with `min_stage_seconds`",
    ),
    "policy.number_and_truth_value": Entry(
        _WARNING,
        "one rule takes a metric for a number and another for a truth value: only 0 and 1 are valid for both",
        "give the two their own metrics",
    ),
    "policy.outage_rejects": Entry(
        _INFO,
        "an outage of the monitoring that outlasts the deadline stops the run",
        "use `ESCALATE` where a person should look first",
    ),
    "policy.overlapping_guardrails": Entry(
        _WARNING,
        "another guardrail of the same metric is stricter wherever this one is asked: its threshold never decides",
        "keep the stricter one, or give each its `stages`",
    ),
    "policy.primary_against_guardrail": Entry(
        _WARNING,
        "the goal of a metric is worse in the eyes of its guardrail",
        "correct `direction` or `op`",
    ),
    "policy.primary_is_guardrail": Entry(
        _INFO,
        "a metric is a goal and a guardrail: it decides twice",
        "watch another metric, or say in `description` why both are meant",
    ),
    "policy.promotion_gate_asks_nothing": Entry(
        _WARNING,
        "the promotion gate asks for no sample, no bound and no lift",
        "add `min_sample_size` and `require_ci_low_gt`, or `min_lift` to a primary",
    ),
    "policy.promotion_without_exposure": Entry(
        _WARNING,
        "the promotion gate is asked on entering a stage before which no user has met the change",
        "ask it from the second canary step on",
    ),
    "policy.required_but_unjudged": Entry(
        _INFO,
        "a metric is required that no rule judges: it can hold a run and never stop one",
        "add a rule, correct the name, or take it out",
    ),
    "policy.rule_without_exposure": Entry(
        _WARNING,
        "a rule is asked only where no user meets the change",
        "add canary stages to its `stages`, or take `stages` out",
    ),
    "policy.sample_of_zero": Entry(
        _WARNING, "`min_sample_size` is 0: any sample is large enough", "state how many users the decision needs"
    ),
    "policy.skew_limit_never_fires": Entry(
        _WARNING,
        "a source that lags this much is older than `max_freshness_seconds` already",
        "lower `max_watermark_skew_seconds` below it, or take it out",
    ),
    "policy.stage_without_rule": Entry(
        _WARNING,
        "no enforced guardrail and no constraint is asked at a stage",
        "add the stage to the `stages` of a rule, or take `stages` out of it",
    ),
    "policy.unused_suppression": Entry(_WARNING, "a suppression matches nothing", "take it out", is_mended=True),
    "policy.version_not_a_name": Entry(
        _WARNING,
        "the version cannot be part of a run's name, and a run is named after it by default",
        "use letters, digits and `. _ - : / @` only, or give every run a `--run-id`",
    ),
}
"""What is said of a policy that loads, in the order of the alphabet."""


def remark(code: str, pointer: str, message: str, *, rule: str = "", remedy: str = "") -> Problem:
    """A problem of one of the codes; its remedy is that of the catalogue unless a closer one is given.

    Args:
        code: a key of the catalogue.
        pointer: JSON Pointer of what is meant.
        message: what was found, one line.
        rule: what it is about, as `Problem.rule`; by it and the code a policy may suppress it.
        remedy: what to do in this very case.
    """
    return Problem(code, pointer, message, remedy or CATALOGUE[code].remedy.replace("`", ""), rule=rule)


def severity_of(code: str) -> Severity:
    """The severity of a code of the catalogue."""
    return CATALOGUE[code].severity
