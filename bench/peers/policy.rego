# The rules of policies/exp-eval-policy.json as somebody would write them for OPA: the same findings, verdict,
# reason codes and missing entries as gatekeeper's (rule, outcome and code of each finding; no margins).
# The policy is data.policy, prepared once; the input is {"snapshot": …, "context": …}.
package gate

import rego.v1

policy := data.policy

limits := policy.missing_data_policy

snapshot := input.snapshot

context := input.context

meta := snapshot._meta

second := 1000000000

now := time.parse_rfc3339_ns(context.evaluated_at)

found(rule, outcome, code) := {"rule": rule, "outcome": outcome, "code": code}

has(metric) if snapshot.metrics[metric] != null

# --- times: the age of each metric is the worst that is stated for it

source_times := [time.parse_rfc3339_ns(source.watermark_event_time) | some source in meta.sources]

watermarks[metric] := watermark if {
	some metric in limits.required_metrics
	stated := [source_times[i] | some i, source in meta.sources; metric in source.metrics]
	watermark := min(array.concat(stated, [meta_watermark | count(stated) == 0]))
}

meta_watermark := time.parse_rfc3339_ns(meta.watermark_event_time)

collected_at := time.parse_rfc3339_ns(meta.collected_at)

too_old contains metric if {
	some metric, watermark in watermarks
	age := max([meta.freshness_seconds, (now - watermark) / second, (now - collected_at) / second])
	age > limits.max_freshness_seconds
}

newest := max(source_times)

laggards contains metric if {
	some i, source in meta.sources
	newest - source_times[i] > limits.max_watermark_skew_seconds * second
	some metric in source.metrics
}

entering if context.stage != context.from_stage

moving_on if {
	entering
	context.from_stage != null
	context.stage_entered_at != null
}

entered := time.parse_rfc3339_ns(context.stage_entered_at)

early_windows contains metric if {
	moving_on
	some metric, watermark in watermarks
	watermark - time.parse_duration_ns(meta.window) < entered
}

# --- what keeps a metric from being judged, the first that applies

hindrance(metric) := {"outcome": "MISSING", "code": "observation_missing:required_metric"} if {
	not has(metric)
} else := {"outcome": "STALE", "code": "observation_stale:window_before_stage"} if {
	metric in early_windows
} else := {"outcome": "STALE", "code": "observation_stale:over_freshness_budget"} if {
	metric in too_old
} else := {"outcome": "STALE", "code": "observation_stale:watermark_skew"} if {
	metric in laggards
}

hindrances[metric] := hindrance(metric) if some metric in limits.required_metrics

hindered(rule, metric) := found(rule, hindrances[metric].outcome, hindrances[metric].code)

# --- the rules, each with one finding

change_class := found("change_class", "VIOLATED", "change_refused:unsafe_for_experiment") if {
	context.change_class == "unsafe_for_experiment"
} else := found("change_class", "PASS", null)

same_policy := found("policy", "NOT_READY", "precondition_unknown:policy_changed") if {
	context.policy.run != context.policy.given
} else := found("policy", "PASS", null)

history := found("history", "NOT_READY", "precondition_unknown:history_incomplete") if {
	context.history != "complete"
} else := found("history", "PASS", null)

stage_wait := found("stage_wait", "NOT_EVALUATED", null) if {
	not moving_on
} else := found("stage_wait", "NOT_READY", "precondition_unknown:stage_wait_not_elapsed") if {
	now < entered + (policy.stage_policy.min_stage_seconds * second)
} else := found("stage_wait", "PASS", null)

required(metric) := found(concat(":", ["required", metric]), "PASS", null) if has(metric)

required(metric) := hindered(concat(":", ["required", metric]), metric) if not has(metric)

freshness := found("freshness", "STALE", "observation_stale:over_freshness_budget") if {
	some metric in limits.required_metrics
	metric in too_old
} else := found("freshness", "PASS", null)

skew := found("skew", "STALE", "observation_stale:watermark_skew") if {
	count(laggards) > 0
} else := found("skew", "PASS", null)

window := found("window", "NOT_EVALUATED", null) if {
	not moving_on
} else := found("window", "STALE", "observation_stale:window_before_stage") if {
	count(early_windows) > 0
} else := found("window", "PASS", null)

broken("must_be_zero", value) if value != 0

broken("must_be_false", value) if not value in {false, 0}

constraint(rule, item) := hindered(rule, item.metric) if {
	not has(item.metric)
} else := found(rule, "VIOLATED", concat(":", ["constraint_violation", item.metric])) if {
	broken(item.kind, snapshot.metrics[item.metric])
} else := hindered(rule, item.metric) if {
	hindrances[item.metric]
} else := found(rule, "PASS", null)

unhealthy("<=", value, limit) if value > limit

unhealthy("<", value, limit) if value >= limit

unhealthy(">=", value, limit) if value < limit

unhealthy(">", value, limit) if value <= limit

threshold(rule, item) := hindered(rule, item.metric) if {
	hindrances[item.metric]
} else := found(rule, "VIOLATED", concat(":", ["guardrail_violation", item.metric])) if {
	unhealthy(item.op, snapshot.metrics[item.metric], item.threshold)
} else := found(rule, "PASS", null)

worsening(item) := snapshot.metrics[item.metric] - snapshot.baseline.metrics[item.metric] if item.op in {"<=", "<"}

worsening(item) := snapshot.baseline.metrics[item.metric] - snapshot.metrics[item.metric] if item.op in {">=", ">"}

budget(rule, item) := hindered(rule, item.metric) if {
	hindrances[item.metric]
} else := found(rule, "NOT_EVALUATED", null) if {
	not snapshot.baseline
} else := found(rule, "MISSING", "observation_missing:baseline_metric") if {
	not snapshot.baseline.metrics[item.metric]
} else := found(rule, "NOT_READY", "precondition_unknown:baseline_window_mismatch") if {
	snapshot.baseline._meta.window != meta.window
} else := found(rule, "VIOLATED", concat(":", ["budget_violation", item.metric])) if {
	worsening(item) > item.budget_delta
} else := found(rule, "PASS", null)

guardrail(item) := [
	threshold(concat(":", ["guardrail", item.metric]), item),
	budget(concat(":", ["budget", item.metric]), item),
]

reference(name) := found(concat(":", ["evidence", name]), "PASS", null) if {
	context.evidence[name] != ""
} else := found(concat(":", ["evidence", name]), "MISSING", concat(":", ["evidence_missing", name]))

# --- promotion: asked on entering its stages, after safety has passed

asked_now if {
	entering
	context.stage in policy.promotion_gate.required_for_stages
}

unsafe if {
	some finding in safety
	finding.code != null
}

statistics(primary) := snapshot.promotion[primary.metric]

part(primary, name) := found(concat(":", ["promotion", primary.metric, name]), "NOT_EVALUATED", null) if {
	asked_now
	unsafe
} else := found(concat(":", ["promotion", primary.metric, name]), "OBSERVED", null) if {
	not asked_now
	statistics(primary)
} else := found(concat(":", ["promotion", primary.metric, name]), "NOT_EVALUATED", null) if {
	not asked_now
} else := found(concat(":", ["promotion", primary.metric, name]), "PASS", null) if {
	ready(primary, name)
} else := found(concat(":", ["promotion", primary.metric, name]), "NOT_READY", concat(":", ["precondition_unknown", waits_for[name]]))

waits_for := {
	"sample_size": "sample_size_not_reached",
	"assignment_stable": "assignment_not_stable",
	"ci_bound": "significance_not_ready",
	"min_lift": "significance_not_ready",
}

ready(primary, "sample_size") if statistics(primary).sample_size >= policy.promotion_gate.min_sample_size

ready(primary, "assignment_stable") if statistics(primary).assignment_stable == true

ready(primary, "ci_bound") if statistics(primary).ci_low > policy.promotion_gate.require_ci_low_gt

ready(primary, "min_lift") if statistics(primary).effect_estimate >= primary.min_lift

promotion(primary) := [part(primary, name) | some name in ["sample_size", "assignment_stable", "ci_bound", "min_lift"]]

# --- all findings in their order, and the verdict

preconditions := [change_class, same_policy, history, stage_wait]

required_findings := [required(metric) | some metric in limits.required_metrics]

constraints := [constraint(concat(":", ["constraint", item.metric]), item) | some item in policy.constraints]

guardrails := [finding | some item in policy.guardrails; some finding in guardrail(item)]

safety := array.concat(array.concat(required_findings, [freshness, skew, window]), array.concat(constraints, guardrails))

references := [reference(name) | some name in policy.evidence.required]

promotions := [finding | some primary in policy.primary; some finding in promotion(primary)]

findings := array.concat(array.concat(preconditions, safety), array.concat(references, promotions))

codes := [finding.code | some finding in findings; finding.code != null]

rejecting := {"constraint_violation", "guardrail_violation", "budget_violation", "change_refused"}

harm := [code | some code in codes; split(code, ":")[0] in rejecting]

doubt := [code | some code in codes; not split(code, ":")[0] in rejecting]

missing contains metric if {
	some metric in limits.required_metrics
	not has(metric)
}

missing contains split(code, ":")[1] if {
	some code in doubt
	startswith(code, "evidence_missing:")
}

missing contains concat(".", ["baseline", split(finding.rule, ":")[1]]) if {
	some finding in guardrails
	finding.code == "observation_missing:baseline_metric"
}

decision := {"verdict": "REJECT", "codes": harm, "missing": missing, "findings": findings} if {
	count(harm) > 0
} else := {"verdict": "DEGRADE", "codes": doubt, "missing": missing, "findings": findings} if {
	count(doubt) > 0
} else := {"verdict": "ACCEPT", "codes": [], "missing": missing, "findings": findings}
