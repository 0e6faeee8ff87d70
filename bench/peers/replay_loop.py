"""Every decision of a log judged again by a loop that somebody writes in an afternoon: the verdict, nothing else.

usage: replay_loop.py LOG    ends with 1 unless every verdict is the recorded one

orjson decodes a line, a function over plain dicts judges it; no chain, no digests, no findings, no canonical form.
"""

import sys
from datetime import datetime
from typing import Any

import orjson


def evaluate(policy: dict[str, Any], event: dict[str, Any]) -> str:
    """ACCEPT, DEGRADE or REJECT."""
    snapshot, doubt = event["metrics_snapshot"], False
    metrics, baseline, about = snapshot["metrics"], snapshot["baseline"]["metrics"], snapshot["_meta"]
    for rule in policy["constraints"]:
        if metrics.get(rule["metric"]):
            return "REJECT"
    for rule in policy["guardrails"]:
        value, usual = metrics.get(rule["metric"]), baseline.get(rule["metric"])
        if value is None or usual is None:
            doubt = True
        if value is not None and value > rule["threshold"]:
            return "REJECT"
        if value is not None and usual is not None and value - usual > rule["budget_delta"]:
            return "REJECT"
    needs = policy["missing_data_policy"]
    if doubt or any(metrics.get(name) is None for name in needs["required_metrics"]):
        return "DEGRADE"
    if about["freshness_seconds"] > needs["max_freshness_seconds"]:
        return "DEGRADE"
    marks = [datetime.fromisoformat(source["watermark_event_time"]) for source in about["sources"]]
    if (max(marks) - min(marks)).total_seconds() > needs["max_watermark_skew_seconds"]:
        return "DEGRADE"
    gate = policy["promotion_gate"]
    if event["stage"] in gate["required_for_stages"]:
        for statistics in snapshot["promotion"].values():
            if statistics["sample_size"] < gate["min_sample_size"] or statistics["ci_low"] <= gate["require_ci_low_gt"]:
                return "DEGRADE"
    return "ACCEPT"


def main() -> None:
    policies, judged, same = dict[str, Any](), 0, 0
    with open(sys.argv[1], "rb") as file:
        for line in file:
            event = orjson.loads(line)
            if event["kind"] == "decision":
                judged += 1
                same += evaluate(policies[event["policy_digest"]], event) == event["decision"]["verdict"]
            elif event["kind"] == "policy":
                policies[event["policy_digest"]] = event["policy"]
    print(judged, same)
    sys.exit(judged != same)


main()
