"""Every reason code in words: what it says of a finding, and what to do next. One table (SPEC 5).

A key ending in `:*` stands for all details of its category that have no line of their own. In a sentence
`{subject}` is the metric (or what else the rule is about); the other names are phrases that
`sentences` makes of the finding's fields, empty where a field is. `CONFIRMS_NOTHING` has the sentences of
codes about age where the rule judges a value: the observed number is then the value, not the age.
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "constraint_violation:*": (
        "{subject} is {observed}, and it must be {healthy}",
        "roll back; find what broke the constraint, and start a new run with a new revision",
    ),
    "guardrail_violation:*": (
        "{subject} is {observed}, {beyond} its limit of {limit}{margin}",
        "roll back; look at the metric's dashboard and runbook, and start a new run with a new revision",
    ),
    "budget_violation:*": (
        "{subject} is {observed} against a baseline of {baseline}, worse by more than its budget of {budget}{margin}",
        "roll back; compare variant and baseline over the same window, and start a new run with a new revision",
    ),
    "change_refused:unsafe_for_experiment": (
        "the change class is unsafe_for_experiment: it must not be tried on users",
        "take the change out of the experiment, or make it reversible and start a new run with its true class",
    ),
    "change_refused:deadline_passed": (
        "the hold has passed its deadline{of_limit}, and its policy says REJECT",
        "roll back; start a new run once the evidence that the hold waited for can be had",
    ),
    "change_refused:stopped": (
        "the run was stopped",
        "read who stopped it and why with `gatekeeper status RUN`; going on needs a new run",
    ),
    "change_refused:superseded": (
        "the run was superseded by another one",
        "ask for the newer run; this one never goes on",
    ),
    "change_refused:*": (
        "the change was refused{for_rule}",
        "read the finding and clear its cause; going on needs a new run",
    ),
    "observation_missing:required_metric": (
        "{subject} is required and was not observed{source}",
        "collect the metric and resume",
    ),
    "observation_missing:constraint_metric": (
        "{subject} is needed by a constraint and was not observed{source}",
        "collect the metric and resume; zero counts only when it is stated",
    ),
    "observation_missing:guardrail_metric": (
        "{subject} is needed by a guardrail and was not observed{source}",
        "collect the metric and resume",
    ),
    "observation_missing:empty_result": (
        "the query for {subject} found no data{source}",
        "check that the variant has traffic and that the query's labels match it, then collect again",
    ),
    "observation_missing:baseline_metric": (
        "{subject} has no baseline value to be compared with{source}",
        "collect the same metric for the baseline over the same window, then resume",
    ),
    "observation_missing:freshness_seconds": (
        "the age of {subject} is not known: neither freshness_seconds nor a watermark is stated{source}",
        "state freshness_seconds or watermark_event_time in the snapshot's _meta",
    ),
    "observation_missing:watermark_event_time": (
        "{subject} lacks a watermark_event_time{source}",
        "state watermark_event_time of the source that the finding names",
    ),
    "observation_missing:window": (
        "{subject} states no window, so nobody can tell whether it began before this stage{source}",
        "state window in the snapshot's _meta, for example 5m",
    ),
    "observation_missing:source_unavailable": (
        "the source of {subject} could not be asked{source}",
        "wait for the source to come back or mend its address and credentials, then collect again",
    ),
    "observation_missing:delayed_pipeline": (
        "the data behind {subject} has not arrived yet{source}",
        "wait for the data pipeline to catch up, then collect again",
    ),
    "observation_missing:broken_dashboard_ref": (
        "the dashboard that {subject} is read from does not exist{source}",
        "mend the reference to the dashboard, then collect again",
    ),
    "observation_missing:*": ("{subject} was not observed{source}", "collect the metric and resume"),
    "observation_invalid:constraint_value": (
        "{subject} has a value that its constraint cannot judge{given}{source}",
        "write a number for must_be_zero, or false, true, 0 or 1 for must_be_false",
    ),
    "observation_invalid:guardrail_value": (
        "{subject} has a value that is no number{given}{source}",
        "write a finite number; look at how the metric is collected",
    ),
    "observation_invalid:baseline_value": (
        "the baseline of {subject} cannot be used{baseline_given}{source}",
        "write a finite number within the metric's range; a baseline of 0 cannot carry a budget_ratio",
    ),
    "observation_invalid:promotion_value": (
        "a promotion statistic of {subject} is no number{given}{source}",
        "mend the statistics in the snapshot's promotion part",
    ),
    "observation_invalid:freshness_seconds": (
        "freshness_seconds of {subject} is no age{given}{source}",
        "write freshness_seconds as a number of seconds, 0 or more",
    ),
    "observation_invalid:collected_at": (
        "collected_at of {subject} is no time that can be used{given}{source}",
        "write RFC 3339 with a zone, and compare the clocks of collector and gate: it must not lie in the future",
    ),
    "observation_invalid:watermark_event_time": (
        "watermark_event_time of {subject} is no time that can be used{given}{source}",
        "write RFC 3339 with a zone, and compare the clocks of source and gate: it must not lie in the future",
    ),
    "observation_invalid:multiple_series": (
        "the query for {subject} found several series where one number is needed{source}",
        "aggregate in the query, for example with sum() or max()",
    ),
    "observation_invalid:out_of_range": (
        "{subject} has a value outside the range that it can have{given}{source}",
        "check the unit (percent for a ratio?) and the query; the value is never clamped",
    ),
    "observation_invalid:bad_response": (
        "the answer for {subject} cannot be read{given}{source}",
        "look at what the source answered, and mend the query or the snapshot",
    ),
    "observation_invalid:query_failed": (
        "the query for {subject} failed{source}",
        "run the query by hand, mend it, then collect again",
    ),
    "observation_invalid:*": (
        "the observation of {subject} cannot be used{given}{source}",
        "look at how the metric is collected, then collect again",
    ),
    "observation_stale:over_freshness_budget": (
        "{subject} is {observed_seconds} old, over the limit of {limit_seconds}{source}",
        "collect again; where the data stays old, look at the source that the finding names",
    ),
    "observation_stale:watermark_skew": (
        "{laggard} lags {observed_seconds} behind the newest source, over the limit of {limit_seconds}",
        "wait until the source that the finding names has caught up, then collect again",
    ),
    "observation_stale:window_before_stage": (
        "the window of {subject} began{at_observed} before the run entered its stage{of_limit}{source}",
        "wait until one whole window lies within the stage, then collect again",
    ),
    "observation_stale:window_coverage": (
        "the window of {subject} is covered by too few samples{source}",
        "wait until the window is covered, or look for gaps in scraping, then collect again",
    ),
    "observation_stale:baseline_age": (
        "the baseline of {subject} is older than the policy allows{source}",
        "collect the baseline again",
    ),
    "observation_stale:*": ("the observation of {subject} is too old{source}", "collect again"),
    "evidence_missing:change_id": (
        "evidence change_id is missing",
        "attach it: --evidence change_id=VALUE",
    ),
    "evidence_missing:ticket_link": (
        "evidence ticket_link is missing",
        "attach it: --evidence ticket_link=VALUE",
    ),
    "evidence_missing:approval": (
        "nobody has approved that this run enters the stage",
        "ask an owner to approve exactly this run, stage and revision",
    ),
    "evidence_missing:partial_response": (
        "the source answered for {subject} only in part{source}",
        "look at the source's warnings, and collect again when it answers in full",
    ),
    "evidence_missing:*": ("evidence {name} is missing", "attach it: --evidence {name}=VALUE"),
    "precondition_unknown:sample_size_not_reached": (
        "{subject} has {sample}, and {limit_number} is needed",
        "wait for more traffic, then collect the statistics again",
    ),
    "precondition_unknown:significance_not_ready": (
        "{statistic} of {subject} is {observed}, and {limit} is needed: nothing is proven yet",
        "wait for more traffic; where the effect stays small, the change may simply not be worth it",
    ),
    "precondition_unknown:assignment_not_stable": (
        "users changed sides while {subject} was measured",
        "mend the assignment of users to variants, and measure anew",
    ),
    "precondition_unknown:variant_mapping_ambiguous": (
        "{subject} cannot be told apart by variant{source}",
        "bind the query to one variant by its label, then collect again",
    ),
    "precondition_unknown:stage_wait_not_elapsed": (
        "the run has been in its stage for {observed_seconds}, and {limit_seconds} are needed",
        "ask again when the hold is due",
    ),
    "precondition_unknown:baseline_window_mismatch": (
        "{subject} and its baseline were measured over windows of different length",
        "collect variant and baseline over the same window",
    ),
    "precondition_unknown:policy_changed": (
        "the policy given is not the one that the run was started under",
        "check with the run's policy, or take the new one over with --adopt-policy REASON",
    ),
    "precondition_unknown:history_incomplete": (
        "the run's history crosses a damaged or missing part of the log",
        "bring the missing part back, or accept the gap with `gatekeeper log rebuild --accept-gap REASON`",
    ),
    "precondition_unknown:*": (
        "a precondition is not known to hold{for_rule}",
        "read the finding, clear its cause and resume",
    ),
}

LATER = {
    "change_refused:outside_change_window": "wait for the change window, then start a new run",
    "change_refused:frozen": "wait for the end of the freeze, then start a new run",
    "precondition_unknown:exposure_budget_exhausted": "wait until the exposure budget is refilled, then resume",
}
"""Codes that SPEC reserves; logs of a newer version may hold them. What to do is known already."""

_CONFIRMS_NOTHING = "{subject}{is_observed} %s, so it confirms nothing{source}"
CONFIRMS_NOTHING = {
    "observation_stale:over_freshness_budget": _CONFIRMS_NOTHING % "is older than the freshness limit",
    "observation_stale:watermark_skew": _CONFIRMS_NOTHING % "comes from a source that lags behind the others",
    "observation_stale:window_before_stage": _CONFIRMS_NOTHING % "covers time before the run entered its stage",
    "observation_stale:window_coverage": _CONFIRMS_NOTHING % "covers its window with too few samples",
}
"""Sentences of age for rules that judge a value (`guardrail:`, `budget:`, …)."""

UNKNOWN = ("{rule} is {outcome} ({code})", "read the documentation of the version that wrote this event")


def line_of(code: str) -> tuple[str, str]:
    """Sentence template and remedy of a reason code; total, since a log may hold codes of a newer version."""
    line = CODES.get(code)
    if line is None:
        category, _, _ = code.partition(":")
        line = CODES.get(f"{category}:*", UNKNOWN)
    return line
