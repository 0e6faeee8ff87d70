"""A policy for people who do not read JSON: what it says in sentences, and a table per stage."""

from __future__ import annotations

from gatekeeper.render.page import Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.sentences import NONE, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_VERDICTS = {"REJECT": "stop", "DEGRADE": "hold"}
_SIDES = {"<=": "at most {0}", "<": "below {0}", ">=": "at least {0}", ">": "above {0}"}
_CATEGORIES = {
    "observation_missing": "metric missing",
    "observation_invalid": "metric not believable",
    "observation_stale": "evidence too old",
    "evidence_missing": "reference or approval missing",
    "precondition_unknown": "statistics, waits or history not ready",
}
_PARTS = {
    "sample_size": "a sample of at least {0}",
    "assignment_stable": "users stay on their side",
    "ci_bound": "its confidence interval above {0}",
    "min_lift": "a gain of at least {0}",
}

_RULE_COLUMNS = (Column("rule", code=True), Column("asks for", plain=True), Column("if not"), Column("if missing"))
_HOLD_COLUMNS = (
    Column("because"),
    Column("owners"),
    Column("due after"),
    Column("escalated after"),
    Column("ends after"),
)


def explain_page(explained: Mapping[str, Any]) -> Page:
    """The page of `policy explain`.

    Args:
        explained: what `review.explain.explanation` states.
    """
    told = sentences(explained)
    blocks: list[Block] = [
        Fields([("policy digest", [str(explained["policy_digest"])])], code=True),
        Lines(told, title="in short"),
        *_stage_tables(explained["stages"]),
        _hold_table(explained["holds"]),
    ]
    suppressed = [
        f"{one['code']}{' of ' + one['rule'] if one['rule'] else ''}: {one['reason']}"
        for one in explained["suppressions"]
    ]
    blocks.append(Lines(suppressed, title="remarks of the review that are meant"))
    headline = f"{explained['policy_id']}, version {explained['policy_version']}"
    return Page(headline, blocks, document={**explained, "sentences": told})


def sentences(explained: Mapping[str, Any]) -> list[str]:
    """What the policy says, the most important first; each a sentence."""
    stages = explained["stages"]
    told = [_stages_sentence(stages)]
    rows: dict[tuple[str, str], Mapping[str, Any]] = {}  # a metric may have two limits, each at its stages
    where: dict[tuple[str, str], list[str]] = {}
    for stage in stages:
        for row in stage["rules"]:
            key = (row["rule"], f"{row['op']} {value_text(row['limit'])}")
            rows[key] = row
            where.setdefault(key, []).append(stage["stage"])
    for key, row in rows.items():
        only = "" if len(where[key]) == len(stages) else f", asked at {', '.join(where[key])}"
        told += _safety_sentences(row, only)
    told += [_goal_sentence(goal) for goal in explained["goals"]]
    by_name = {row["rule"]: row for row in rows.values()}
    told += _promotion_sentences(by_name, {rule: names for (rule, _), names in where.items()})
    told += _evidence_sentences(by_name, explained["precedence"])
    if explained["baseline_age"] is not None:
        limit, verdict = explained["baseline_age"]["limit_seconds"], explained["baseline_age"]["on_failure"]
        does = "stops" if verdict == "REJECT" else "holds"
        told.append(
            f"A baseline older than {seconds_text(limit)} {does} the rollout where a metric is held against it."
        )
    told += [
        f"About {one['metric']}: {' '.join(filter(None, (one['description'], one['runbook'])))}"
        for one in explained["words"]
    ]
    return told


def asked(row: Mapping[str, Any]) -> str:
    """What a rule asks for: `at most 0.01`."""
    kind, _, rest = row["rule"].partition(":")
    limit = value_text(row["limit"])
    if kind == "promotion":
        return _PARTS[rest.rpartition(":")[2]].format(limit)
    if kind in {"freshness", "skew"}:
        return f"at most {seconds_text(row['limit'])} {'old' if kind == 'freshness' else 'apart'}"
    if kind == "stage_wait":
        return f"{seconds_text(row['limit'])} in the stage before"
    if kind == "evidence":
        return "an approval of this run" if rest == "approval" else "a reference"
    if kind in {"window", "required", "constraint"}:
        return {"window": "evidence of the stage before", "required": "a value", "constraint": f"exactly {limit}"}[kind]
    if kind == "guardrail":
        return _SIDES[row["op"]].format(limit)
    much = f"{_percent_text(row['limit'])} %" if kind == "budget_ratio" else limit
    return f"at most {much} {'above' if row['op'] in {'<=', '<'} else 'below'} its baseline"


def _percent_text(ratio: float) -> str:
    from decimal import Decimal

    return format((Decimal(repr(ratio)) * 100).normalize(), "f")


def seconds_text(seconds: float) -> str:
    """A length of time as people say it: `30 minutes`, `1 day 12 hours`."""
    if seconds != int(seconds) or not seconds:
        return f"{value_text(seconds)} seconds"
    left, words = int(seconds), []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(words)


def _safety_sentences(row: Mapping[str, Any], only: str) -> list[str]:
    kind = row["rule"].partition(":")[0]
    if kind == "constraint":
        return [f"{row['metric']} must be {value_text(row['limit'])}{only}: anything else stops the rollout."]
    if kind in {"guardrail", "budget", "budget_ratio"}:
        end = "it is watched and decides nothing" if row["is_observed"] else "otherwise the rollout stops"
        return [f"{row['metric']} must be {asked(row)}{only}; {end}.{_range_sentence(row)}"]
    return []


def _range_sentence(row: Mapping[str, Any]) -> str:
    if row["range"] is None or not row["rule"].startswith("guardrail:"):
        return ""
    low, high = map(value_text, row["range"])
    return f" A value outside of {low} to {high} is not believed."


def _stages_sentence(stages: Sequence[Mapping[str, Any]]) -> str:
    steps = [f"{one['stage']} ({_share(one['percent'])})" for one in stages]
    return f"A rollout goes through {len(steps)} stages: {', '.join(steps)}."


def _share(percent: float) -> str:
    if not percent:
        return "no user meets the change"
    return "all users" if percent == 100 else f"{value_text(percent)} % of users"


def _goal_sentence(goal: Mapping[str, Any]) -> str:
    by = "" if goal["min_lift"] is None else f" by {value_text(goal['min_lift'])} or more"
    return f"The change is made so that {goal['metric']} goes {goal['direction']}{by}."


def _promotion_sentences(rows: Mapping[str, Mapping[str, Any]], where: Mapping[str, Sequence[str]]) -> list[str]:
    parts: dict[str, list[str]] = {}
    for rule, row in rows.items():
        if rule.startswith("promotion:"):
            parts.setdefault(row["metric"], []).append(rule)
    told = []
    for metric, rules in parts.items():
        wants = ", ".join(asked(rows[rule]) for rule in rules)
        end = "stops" if rows[rules[0]]["on_failure"] == "REJECT" else "waits"
        told.append(f"Before {', '.join(where[rules[0]])}, {metric} needs: {wants}; until then the rollout {end}.")
    return told or ["Nothing has to be won: no statistics are asked, at no stage."]


def _evidence_sentences(rows: Mapping[str, Mapping[str, Any]], precedence: str) -> list[str]:
    told = []
    if "stage_wait" in rows:
        told.append(f"A stage lasts {seconds_text(rows['stage_wait']['limit'])} at least before the next is entered.")
    if "freshness" in rows:
        row = rows["freshness"]
        does = "stops" if row["on_failure"] == "REJECT" else "holds"
        told.append(f"Evidence older than {seconds_text(row['limit'])} {does} the rollout.")
    else:
        told.append("Evidence of any age is taken.")
    lost = {
        verdict: [
            row["metric"]
            for row in rows.values()
            if row["rule"].startswith(("required", "constraint", "guardrail")) and row["on_missing"] == verdict
        ]
        for verdict in _VERDICTS
    }
    for verdict, metrics in lost.items():
        if metrics:
            does = "stops" if verdict == "REJECT" else "holds"
            told.append(f"The rollout {does} while one of these is missing: {', '.join(dict.fromkeys(metrics))}.")
    if any(
        row["rule"].startswith("budget") and row["on_missing"] is None and not row["is_observed"]
        for row in rows.values()
    ):
        told.append("Without any baseline, nothing asks whether a metric has worsened.")
    names = [rule.removeprefix("evidence:") for rule in rows if rule.startswith("evidence:")]
    if names:
        told.append(f"A run must bring: {', '.join(names)}.")
    if precedence == "evidence_first":
        told.append("While evidence is missing, a violated constraint holds the rollout and does not stop it.")
    return told


def _stage_tables(stages: Sequence[Mapping[str, Any]]) -> list[Block]:
    """One table for each stage, and one more for what is asked on entering it; stages that ask the same share one."""
    tables: list[Block] = []
    for is_entering, title in ((False, "asked at {0}"), (True, "besides, on entering {0}")):
        groups: list[tuple[list[str], list[Mapping[str, Any]]]] = []
        for stage in stages:
            rules = [row for row in stage["rules"] if row["is_asked_on_entering"] is is_entering]
            if groups and groups[-1][1] == rules:
                groups[-1][0].append(stage["stage"])
            else:
                groups.append(([stage["stage"]], rules))
        for names, rules in groups:
            if rules or not is_entering:
                rows = [_rule_row(row) for row in rules]
                tables.append(Table(_RULE_COLUMNS, rows, title=title.format(", ".join(names)), empty="nothing"))
    return tables


def _rule_row(row: Mapping[str, Any]) -> Row:
    failed = "watched only" if row["is_observed"] else _VERDICTS.get(row["on_failure"], NONE)
    return Row(row["rule"], asked(row), failed, _VERDICTS.get(row["on_missing"], NONE))


def _hold_table(holds: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for one in holds:
        ends = NONE
        if one["deadline_seconds"] is not None:
            then = "stopped" if one["on_deadline"] == "REJECT" else "still held"
            ends = f"{seconds_text(one['deadline_seconds'])}: {then}"
        owners = ", ".join(one["owners"]) + ("" if one["is_named"] else " (default)")
        retry, call = seconds_text(one["retry_after_seconds"]), seconds_text(one["escalate_after_seconds"])
        rows.append(Row(_CATEGORIES.get(one["category"], one["category"]), owners, retry, call, ends))
    return Table(_HOLD_COLUMNS, rows, title="when a rollout is held")
