"""One human sentence per finding, made of its fields; it stands in outputs and never in the log.

A sentence is one line without a full stop, fit for a review comment. It holds names and values as they were
logged: each output makes them harmless in its own way. Addresses are masked here already. Where an output shows
the event as a page, the sentence also says what stands in the problem of the observation that the finding is about.
"""

from __future__ import annotations

from json.encoder import encode_basestring

from gatekeeper.errors import GatekeeperError
from gatekeeper.model.canonical import canonical_bytes, number_text
from gatekeeper.model.masking import mask_text
from gatekeeper.render.codes import CONFIRMS_NOTHING, LATER, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NONE = "-"
"""How an absent value is written in a table."""

_LONGEST_VALUE = 80
_TIME_RULES = ("freshness", "skew", "window")
_VALUE_PARTS = {"ci_bound": "the confidence bound", "min_lift": "the effect"}

_PASSED = {
    "change_class": "the change class allows the experiment",
    "policy": "the policy is the one that the run was started under",
    "history": "the run's history is complete",
    "stage_wait": "the run has been in its stage long enough",
    "required": "{subject} was observed{is_value}",
    "freshness": "{subject} is {observed_seconds} old, within the limit of {limit_seconds}{source}",
    "skew": "the sources lie {observed_seconds} apart, within the limit of {limit_seconds}",
    "window": "the window lies within the stage{spans}",
    "constraint": "{subject} is {observed}, as it must be",
    "guardrail": "{subject} is {observed}, within its limit of {limit}{margin}",
    "budget": "{subject} is {observed} against a baseline of {baseline}, within its budget of {budget}{margin}",
    "budget_ratio": "{subject} is {observed} against a baseline of {baseline}, within its budget of {budget}{margin}",
    "evidence": "evidence {name} is given{is_value}",
    "sample_size": "{subject} has {sample}, and {limit_number} is needed",
    "assignment_stable": "users stayed on their side while {subject} was measured",
    "ci_bound": "the confidence bound of {subject} is {observed}, and {limit} is needed",
    "min_lift": "the effect of {subject} is {observed}, and {limit} is needed",
}

_NOT_ASKED = {
    "stage_wait": "the time in the stage was not asked",
    "freshness": "no limit for the age of the evidence was asked",
    "skew": "no limit for the lag between sources was asked",
    "window": "the window was not evaluated: it is not asked here, or nothing with a window was collected",
    "budget": "the budget of {subject} was not evaluated: it is not asked here, or there is no baseline",
    "budget_ratio": "the budget of {subject} was not evaluated: it is not asked here, or there is no baseline",
    "promotion": "{part} of {subject} was not evaluated: it is not asked here, or safety did not pass",
}

_NOTHING_TO_ASK = {
    "freshness": "the age of the evidence was not evaluated: nothing with an age was collected",
    "skew": "the lag between sources was not evaluated: no source with an age was collected",
}
"""Where a limit is stated, and no metric asked could be held against it: each has a problem, which decides it."""


def sentence(finding: Mapping[str, Any], kind: str = "", detail: str = "", *, told_by: str = "") -> str:
    """What one finding says, by outcome and code: `error_rate_5m is 0.013, above its limit of <= 0.01`.

    Args:
        finding: as logged (SPEC 5); absent fields count as null, and unknown rules and codes get a plain sentence.
        kind, detail: from the problem of the observation that it is about, as `answer.why_of` gives them.
        told_by: the rule whose sentence has said the same detail before: it is not said again.
    """
    outcome, code, would_be = finding.get("outcome"), finding.get("code"), finding.get("would_be")
    why = "" if not detail else f": see {told_by}" if told_by else f": {detail}"
    phrases = _Phrases(finding, kind)
    if outcome == "OBSERVED":
        text = f"{_fill(_template(phrases, would_be), phrases)}{why}" if would_be else _healthy(phrases)
        return f"{text}; only watched, it decides nothing"
    if code:
        text = f"{_fill(_template(phrases, code), phrases)}{why}"
        return f"{text}; the value would have been {would_be}" if would_be else text
    if outcome == "PASS":
        return _healthy(phrases)
    if outcome == "NOT_EVALUATED":
        template = None if finding.get("limit") is None else _NOTHING_TO_ASK.get(phrases.family)
        return _fill(template or _NOT_ASKED.get(phrases.family, "{rule} was not asked at this stage"), phrases)
    return _fill("{rule} is {outcome}", phrases)


def remedy(code: str) -> str:
    """What to do next about a reason code, as one line."""
    later = LATER.get(code)
    if later is not None:
        return later
    return line_of(code)[1].replace("{name}", code.partition(":")[2])


def value_text(value: Any) -> str:
    """A JSON value on the spot where people read it: numbers as JSON writes them, text as it is, `-` for null."""
    if value is None:
        return NONE
    if isinstance(value, str):
        text = mask_text(value)
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif isinstance(value, int):
        return str(value)
    elif isinstance(value, float) and value - value == 0.0:
        return number_text(value)
    else:
        text = _json_text(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."


def place_text(value: Any) -> str:
    """Where something is: a path or an address is of no use when it is cut."""
    return mask_text(value) if isinstance(value, str) else value_text(value)


def time_text(value: Any) -> str:
    """A time as it stands in tables: without a fraction of nothing but zeros, otherwise as logged."""
    text = value_text(value)
    return text.replace(".000000", "", 1) if text.endswith(".000000Z") else text


def second_text(value: Any) -> str:
    """A time cut to its second, for lists that are read and not computed with."""
    text = value_text(value)
    head, dot, _ = text.partition(".")
    return f"{head}Z" if dot and text.endswith("Z") else text


def limit_text(finding: Mapping[str, Any]) -> str:
    """Operator and limit of a finding: `<= 0.01`; `-` without a limit."""
    limit = finding.get("limit")
    if limit is None:
        return NONE
    return f"{finding['op']} {value_text(limit)}" if finding.get("op") else value_text(limit)


def _template(phrases: _Phrases, code: Any) -> str:
    code = str(code)
    if phrases.family not in _TIME_RULES and code in CONFIRMS_NOTHING:
        return CONFIRMS_NOTHING[code]
    return line_of(code)[0]


def _healthy(phrases: _Phrases) -> str:
    template = _PASSED.get(phrases.part if phrases.family == "promotion" else phrases.family, "{rule} passed")
    if phrases.rule == "evidence:approval":
        template = "the stage is approved"
    return _fill(template, phrases)


def _fill(template: str, phrases: _Phrases) -> str:
    return template.format_map(phrases)


class _Phrases(dict[str, str]):
    """Phrases of a finding, each made when a template asks for it."""

    def __init__(self, finding: Mapping[str, Any], kind: str = "") -> None:
        super().__init__()
        self._finding = finding
        self._kind = kind
        self.rule = str(finding.get("rule") or "the rule")
        self.family, _, self._rest = self.rule.partition(":")
        self.part = self._rest.rpartition(":")[2]

    def __missing__(self, name: str) -> str:
        phrase: str = getattr(self, f"_{name}")()
        return phrase

    def _value(self, name: str) -> str:
        value = self._finding.get(name)
        return "unknown" if value is None else value_text(value)

    def _rule(self) -> str:
        return self.rule

    def _outcome(self) -> str:
        return self._value("outcome")

    def _code(self) -> str:
        return str(self._finding.get("code") or self._finding.get("would_be"))

    def _part(self) -> str:
        return self.part

    def _subject(self) -> str:
        metric = self._finding.get("metric")
        if metric is not None:
            return str(metric)
        rest = self._rest.rpartition(":")[0] if self.family == "promotion" else self._rest
        return rest or ("the evidence" if self.family in _TIME_RULES else self.rule)

    def _name(self) -> str:
        return self._rest or self._value("metric")

    def _observed(self) -> str:
        return self._value("observed")

    def _is_observed(self) -> str:
        return "" if self._finding.get("observed") is None else f" is {self._observed()} and"

    def _is_value(self) -> str:
        return "" if self._finding.get("observed") is None else f" ({self._observed()})"

    def _spans(self) -> str:
        if self._finding.get("observed") is None or self._finding.get("limit") is None:
            return ""
        return f": it began at {self._observed()}, and the run entered at {self._value('limit')}"

    def _given(self) -> str:
        return _given(self._finding.get("observed"))

    def _baseline_given(self) -> str:
        return _given(self._finding.get("baseline"))

    def _observed_seconds(self) -> str:
        return _seconds(self._finding.get("observed"))

    def _limit_seconds(self) -> str:
        return _seconds(self._finding.get("limit"))

    def _limit(self) -> str:
        return "unknown" if self._finding.get("limit") is None else limit_text(self._finding)

    def _limit_number(self) -> str:
        return self._value("limit")

    def _of_limit(self) -> str:
        return "" if self._finding.get("limit") is None else f" ({self._value('limit')})"

    def _at_observed(self) -> str:
        return "" if self._finding.get("observed") is None else f" at {self._observed()},"

    def _sample(self) -> str:
        return "no sample size" if self._finding.get("observed") is None else f"a sample of {self._observed()}"

    def _statistic(self) -> str:
        return _VALUE_PARTS.get(self.part, "the statistic")

    def _healthy(self) -> str:
        limit = self._finding.get("limit")
        return "false" if limit is False else "zero" if limit == 0 and limit is not None else "clear"

    def _beyond(self) -> str:
        observed, limit = self._finding.get("observed"), self._finding.get("limit")
        if observed == limit:
            return "at"
        return "below" if str(self._finding.get("op")).startswith(">") else "above"

    def _baseline(self) -> str:
        return self._value("baseline")

    def _budget(self) -> str:
        limit = self._value("limit")
        return f"{limit} of the baseline" if self.family == "budget_ratio" else limit

    def _margin(self) -> str:
        return "" if self._finding.get("margin") is None else f" (margin {self._value('margin')})"

    def _source(self) -> str:
        source = "" if self._finding.get("source") is None else f"source {self._value('source')}"
        told = ", ".join(part for part in (source, self._kind) if part)
        return f" ({told})" if told else ""

    def _laggard(self) -> str:
        source = self._finding.get("source")
        return "a source" if source is None else f"source {value_text(source)}"

    def _for_rule(self) -> str:
        return f" ({self._code()})"


def _given(value: Any) -> str:
    if value is None:
        return ""
    return f": {encode_basestring(value_text(value))}" if isinstance(value, str) else f": {value_text(value)}"


def _seconds(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value_text(value)} s"
    return value_text(value) if value is not None else "of unknown length"


def _json_text(value: Any) -> str:
    try:
        return canonical_bytes(value).decode("utf-8")
    except GatekeeperError:
        return repr(value)
