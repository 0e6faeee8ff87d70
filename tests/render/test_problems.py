"""Why a source could not be asked stands with the findings that rest on it, wherever people read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.render import github, markdown, text
from gatekeeper.render.answer import Answer, why_of
from gatekeeper.render.as_json import check_document
from gatekeeper.render.decision import is_trouble
from gatekeeper.render.explain import explain_page
from gatekeeper.render.page import Layout
from gatekeeper.render.runs import reasons_row_text
from gatekeeper.render.sentences import sentence
from tests.render.events import HELD, HIDDEN, decision, event, finding
from tests.render.test_sentence_values import FIELD, JSON

WIDE = Layout(400)
DOWN = "observation_missing:source_unavailable"
WHY = "HTTP 503 from 127.0.0.1:9090: upstream connect error"
OVERLOADED = {"code": DOWN, "kind": "overloaded", "detail": WHY}


def observing(problems: dict[str, Any], *findings: dict[str, Any], baseline: dict[str, Any] | None = None) -> Any:
    """A held check whose observations state these problems."""
    held = event(decision("DEGRADE", reason_codes=[DOWN], findings=list(findings)))
    held["metrics_snapshot"]["observations"] = {name: {"problem": problem} for name, problem in problems.items()}
    if baseline is not None:
        observations = {name: {"problem": problem} for name, problem in baseline.items()}
        held["metrics_snapshot"]["baseline"] = {"metrics": {}, "observations": observations}
    return held


def absent(rule: str, code: str = DOWN, **fields: Any) -> dict[str, Any]:
    """What a rule of a metric says whose source was down."""
    return finding(rule, "MISSING", code=code, metric=rule.split(":")[1], **fields)


OUTAGE = observing({"errors": OVERLOADED}, absent("guardrail:errors"))
SAID = f"the source of errors could not be asked (overloaded): {WHY}"


@pytest.mark.parametrize(
    "shown",
    [
        lambda: text.decision(Answer(OUTAGE), WIDE),
        lambda: text.page(explain_page(OUTAGE), WIDE),
        lambda: markdown.decision(Answer(OUTAGE), WIDE),
        lambda: markdown.page(explain_page(OUTAGE), WIDE),
        lambda: github.annotation_lines(Answer(OUTAGE)),
        lambda: github.job_summary(Answer(OUTAGE)),
    ],
    ids=["text", "explain", "markdown", "explain as markdown", "annotation", "job summary"],
)
def test_a_person_need_not_look_for_standard_error_to_see_why_a_source_failed(shown: Any) -> None:
    """Of a check in CI, standard error is gone when somebody looks; status and words of the source are in the log."""
    assert SAID in shown()


def test_the_source_and_the_kind_stand_together() -> None:
    """Which one, and whether to wait or to mend it."""
    said = sentence(absent("guardrail:errors", source="prom"), "unauthorized", "HTTP 401")
    assert said == "the source of errors could not be asked (source prom, unauthorized): HTTP 401"


def test_a_source_that_is_down_says_why_once_for_all_its_metrics() -> None:
    """Later rows name the row that said it, so that two outages are not mixed up."""
    names = ("errors", "latency", "leaks")
    other = {**OVERLOADED, "kind": "timeout", "detail": "no answer within 5 s"}
    problems = {**dict.fromkeys(names, OVERLOADED), "queue": other}
    rules = ("required:errors", "required:queue", "guardrail:errors", "guardrail:latency", "constraint:leaks")
    held = observing(problems, *map(absent, rules))
    lines = [line.strip() for line in text.decision(Answer(held), WIDE).splitlines() if "could not be" in line]
    assert lines == [
        f"the source of errors could not be asked (overloaded): {WHY}",
        "the source of queue could not be asked (timeout): no answer within 5 s",
        "the source of errors could not be asked (overloaded): see required:errors",
        "the source of latency could not be asked (overloaded): see required:errors",
        "the source of leaks could not be asked (overloaded): see required:errors",
    ]


def test_an_annotation_does_not_refer_to_another_one() -> None:
    """Each stands alone on its page: the runner shows ten of a level."""
    held = observing(dict.fromkeys(("a", "b"), OVERLOADED), absent("guardrail:a"), absent("guardrail:b"))
    assert github.annotation_lines(Answer(held)).count(WHY) == 2


def test_a_budget_says_what_is_wrong_with_its_baseline() -> None:
    """The variant's side is sound; a guardrail without baseline must not borrow the reason."""
    held = observing({"errors": None}, baseline={"errors": OVERLOADED})
    assert why_of(held, absent("budget:errors")) == ("overloaded", WHY)
    assert why_of(held, absent("budget_ratio:errors")) == ("overloaded", WHY)
    assert why_of(held, absent("guardrail:errors")) == ("", "")


def test_a_finding_of_something_else_is_not_explained_by_a_problem() -> None:
    """The metric has a problem, and the finding is about the policy's limit of its age."""
    held = observing({"errors": OVERLOADED})
    assert why_of(held, absent("freshness:errors", code="observation_stale:over_freshness_budget")) == ("", "")
    assert why_of(held, {**absent("guardrail:errors"), "metric": None}) == ("", "")


def test_a_metric_that_is_only_watched_says_why_it_was_not_seen() -> None:
    """Its code stands in would_be."""
    watched = finding("guardrail:errors", "OBSERVED", metric="errors", would_be=DOWN)
    held = observing({"errors": OVERLOADED}, watched)
    assert f"{SAID}; only watched, it decides nothing" in text.decision(Answer(held), WIDE)


def test_what_the_value_would_have_been_stays_behind_the_reason() -> None:
    """A partly covered window that was over the limit."""
    code = "observation_stale:window_coverage"
    stale = finding(
        "guardrail:errors", "STALE", code=code, metric="errors", observed=0.5, would_be="guardrail_violation:errors"
    )
    held = observing({"errors": {"code": code, "detail": "samples cover 0.3 of the window"}}, stale)
    assert sentence(stale, *why_of(held, stale)) == (
        "errors is 0.5 and covers its window with too few samples, so it confirms nothing: "
        "samples cover 0.3 of the window; the value would have been guardrail_violation:errors"
    )


def test_a_page_of_html_does_not_stand_in_front_of_the_verdict() -> None:
    """200 characters on one line, for a proxy's error page."""
    held = observing({"errors": {**OVERLOADED, "detail": "<html>\n" + 300 * "x"}})
    assert why_of(held, absent("guardrail:errors"))[1] == "<html> " + 193 * "x" + "..."


def test_a_password_is_masked_before_the_text_is_cut() -> None:
    """The cut lies within the password: without its end nothing would show that it is one."""
    detail = 150 * "x" + f" https://gate:{HIDDEN * 20}@prom.example/ refused"
    held = observing({"errors": {**OVERLOADED, "detail": detail}}, absent("guardrail:errors"))
    assert why_of(held, absent("guardrail:errors"))[1] == 150 * "x" + " https://***@prom.example/ refused"
    assert HIDDEN not in text.decision(Answer(held), WIDE)


def test_the_message_of_json_is_rendered_from_the_finding_alone() -> None:
    """The same finding, the same message; the detail stands in the snapshot of the same document."""
    document = check_document(Answer(OUTAGE))
    assert document["decision"]["findings"][0]["message"] == "the source of errors could not be asked"
    assert document["metrics_snapshot"]["observations"]["errors"]["problem"] == OVERLOADED


def test_a_list_of_holds_says_shortly_why_each_still_holds() -> None:
    """The first outage with what it hit; where there is another one, who tells more."""
    held = observing(
        {"errors": OVERLOADED, "latency": OVERLOADED},
        absent("required:errors"),
        absent("guardrail:errors"),
        absent("guardrail:latency"),
    )
    assert reasons_row_text(held) == f"{DOWN}; errors and 1 more (overloaded): {WHY}"
    held["metrics_snapshot"]["observations"]["latency"] = {"problem": {**OVERLOADED, "detail": "x" * 500}}
    assert reasons_row_text(held) == f"{DOWN}; errors (overloaded): {WHY}; more: gatekeeper explain {held['event_id']}"
    held["metrics_snapshot"]["observations"]["errors"] = {"problem": {"code": DOWN, "detail": "x" * 500}}
    assert reasons_row_text(held).startswith(f"{DOWN}; errors: {80 * 'x'}...; more: ")
    assert reasons_row_text(event(decision("ACCEPT"))) == ""
    assert reasons_row_text(HELD) == "observation_missing:required_metric", "no source said anything of it"


@pytest.mark.parametrize(
    "snapshot",
    [
        None,
        "gone",
        {"observations": ["errors"]},
        {"observations": {"errors": "down"}},
        {"observations": {"errors": {"problem": "down"}}},
        {"observations": {"errors": {"problem": [DOWN]}}},
        {"observations": {}, "baseline": 7},
        {"baseline": {"observations": {"errors": {"problem": True}}}},
        {"observations": {"errors": {"problem": {"code": DOWN, "kind": None, "detail": None}}}},
        {"observations": {"errors": {"problem": {"code": DOWN, "kind": 7, "detail": {"status": 503}}}}},
    ],
)
def test_an_observation_of_another_shape_leaves_its_finding_as_it_is(snapshot: Any) -> None:
    """Snapshots are written by anybody, and logged as they were."""
    held = event(decision("DEGRADE", findings=[absent("budget:errors")]), metrics_snapshot=snapshot)
    assert why_of(held, absent("budget:errors")) == ("", "")
    (line,) = [line for line in text.decision(Answer(held), WIDE).splitlines() if "could not be" in line]
    assert line.strip() == "the source of errors could not be asked"


PROBLEM = st.fixed_dictionaries({"code": st.just(DOWN) | JSON}, optional={"kind": JSON, "detail": JSON})
OBSERVED = st.dictionaries(st.just("errors"), st.fixed_dictionaries({"problem": PROBLEM | JSON}) | JSON)
PART = st.fixed_dictionaries({}, optional={"observations": OBSERVED | JSON})
FINDING = st.dictionaries(FIELD, JSON | st.sampled_from(["errors", "budget:errors", "OBSERVED", DOWN]))


@given(
    st.fixed_dictionaries({}, optional={"observations": OBSERVED | JSON, "baseline": PART | JSON}) | JSON,
    FINDING.map(lambda fields: {"rule": "budget:errors", "metric": "errors", "code": DOWN, **fields}),
)
def test_no_observation_of_an_old_or_forged_log_breaks_the_output(snapshot: Any, forged: dict[str, Any]) -> None:
    """Every output says something of any JSON, and an annotation stays one line."""
    held = event(decision("DEGRADE", reason_codes=[DOWN], findings=[forged]), metrics_snapshot=snapshot)
    assert text.decision(Answer(held), WIDE)
    assert markdown.decision(Answer(held), WIDE)
    assert reasons_row_text(held)
    annotations = github.annotation_lines(Answer(held))
    assert annotations.count("\n") == 1 + is_trouble(forged)
