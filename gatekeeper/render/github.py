"""Output `github`: annotations on stdout, step outputs and the job summary as texts. Writing the files is the CLI's.

Escaping follows the runner: in the data of a command `%`, CR and LF; in its properties `:` and `,` as well.
Source: docs.github.com, "Workflow commands for GitHub Actions", and actions/toolkit, packages/core/src/command.ts.
"""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.model.masking import mask_text
from gatekeeper.render import markdown
from gatekeeper.render.actions import next_percent
from gatekeeper.render.answer import Standing, decision_of, list_of, mapping_of, why_of
from gatekeeper.render.as_json import dumps
from gatekeeper.render.decision import decision_page, headline, is_trouble, movement, resume_words, sorted_findings
from gatekeeper.render.page import Layout
from gatekeeper.render.plain import printable
from gatekeeper.render.sentences import sentence, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Page

MOST_ANNOTATIONS = 10
"""The runner shows this many annotations of a level per step and drops the rest."""

_LEVELS = {"REJECT": "error", "DEGRADE": "warning"}
_SEVERITY_LEVELS = {"error": "error", "info": "notice"}


def decision(answer: Answer, layout: Layout) -> str:
    """What stdout gets: the headline for the job's log, then the annotations."""
    return printable(headline(answer.event), unicode=layout.unicode) + "\n" + annotation_lines(answer)


def page(page: Page, layout: Layout) -> str:
    """Any other result has no annotations: the log and the summary both get its markdown."""
    return markdown.page(page, layout)


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - the runner breaks lines
    """An error as an annotation."""
    text = f"{error.get('message')}\nto do: {error.get('remedy')}"
    return _command("error", f"gatekeeper {error.get('code')}", mask_text(text))


def annotation_lines(answer: Answer) -> str:
    """One annotation for the verdict and one per trouble; notes and watched rules as notices."""
    decision = decision_of(answer.event)
    verdict = str(decision.get("verdict"))
    reasons = [str(code) for code in list_of(decision.get("reason_codes"))]
    level = _LEVELS.get(verdict, "notice")
    lines = [(level, f"gatekeeper {verdict}", _verdict_text(answer, reasons))]
    for finding in sorted_findings(decision):
        if not is_trouble(finding):
            continue
        decides = finding.get("code") in reasons
        weaker = "notice" if finding.get("outcome") == "OBSERVED" else "warning"
        text = sentence(finding, *why_of(answer.event, finding))  # each stands alone: nothing is above it
        lines.append((level if decides else weaker, value_text(finding.get("rule")), text))
    lines += [("notice", "gatekeeper note", mask_text(value_text(note))) for note in list_of(decision.get("notes"))]
    return "".join(_command(*line) for line in _most(lines))


def diagnostic_lines(source: str, diagnostics: Sequence[Mapping[str, Any]]) -> str:
    """One annotation per diagnostic of the file *source*, where it was found; none for a suppressed one."""
    lines: list[str] = []
    for one in diagnostics:
        if one.get("suppressed") is not None:
            continue
        place = {"file": source, "line": one.get("line"), "col": one.get("column")}
        text = str(one.get("message")) + (f" ({one['remedy']})" if one.get("remedy") else "")
        level = _SEVERITY_LEVELS.get(value_text(one.get("severity")), "warning")
        lines.append(_command(level, value_text(one.get("code")), mask_text(text), place))
    return "".join(lines)


def annotation(level: str, title: str, text: str, place: Mapping[str, Any]) -> str:
    """One annotation at a place (`file`, `line`, `col`; None where it is not known)."""
    return _command(level, title, mask_text(text), place)


def step_outputs(answer: Answer) -> str:
    """What is appended to the file that `GITHUB_OUTPUT` names.

    `verdict`, `proceed` (`true` only for an ACCEPT that is in the log), `reason_codes` and `missing` (JSON arrays),
    `resume_token`, `event_id`, `percent`, `run_state`, `stage` (the stage asked), `recorded`; empty where a field
    does not apply.
    """
    event = answer.event
    decision = decision_of(event)
    run = answer.run or {}
    logged = answer.standing in {Standing.APPENDED, Standing.ANSWERED_BEFORE}
    percent = next_percent(decision) if answer.standing is not Standing.DRY_RUN else None
    if percent is None:
        percent = run.get("percent")
    values = {
        "verdict": decision.get("verdict"),
        "proceed": decision.get("verdict") == "ACCEPT" and logged,
        "reason_codes": list_of(decision.get("reason_codes")),
        "missing": list_of(decision.get("missing")),
        "resume_token": mapping_of(event.get("resume")).get("resume_token") if logged else None,
        "event_id": event.get("event_id") if logged else None,
        "percent": percent,
        "run_state": run.get("state"),
        "stage": event.get("stage"),
        "recorded": answer.recorded,
    }
    return "".join(output(name, _output_text(value)) for name, value in values.items())


def output(name: str, value: str) -> str:
    """One step output; several lines stand between delimiters that *value* cannot hold."""
    if not any(mark in value for mark in "\r\n"):
        return f"{name}={value}\n"
    delimiter = "gatekeeper_" + sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    while delimiter in value:
        delimiter = "gatekeeper_" + sha256(delimiter.encode()).hexdigest()
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def job_summary(answer: Answer) -> str:
    """What is appended to the file that `GITHUB_STEP_SUMMARY` names."""
    return markdown.page(decision_page(answer), Layout()) + "\n"


def escape_data(text: str) -> str:
    """The message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A property of a workflow command, such as `title`."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(level: str, title: str, message: str, place: Mapping[str, Any] | None = None) -> str:
    lines = "\n".join(printable(line) for line in message.split("\n"))
    properties = [
        f"{name}={escape_property(printable(str(value)))}"
        for name, value in {**(place or {}), "title": title}.items()
        if value is not None
    ]
    return f"::{level} {','.join(properties)}::{escape_data(lines)}\n"


def _most(lines: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """At most as many of each level as the runner shows; the last of a level says how many are left out."""
    kept: list[tuple[str, str, str]] = []
    for level in ("error", "warning", "notice"):
        mine = [line for line in lines if line[0] == level]
        if len(mine) > MOST_ANNOTATIONS:
            left = len(mine) - MOST_ANNOTATIONS + 1
            mine[MOST_ANNOTATIONS - 1 :] = [(level, "gatekeeper", f"{left} more: see the job summary")]
        kept += mine
    return kept


def _verdict_text(answer: Answer, reasons: list[str]) -> str:
    event = answer.event
    text = f"{value_text(event.get('run_id'))}: {movement(event)}"
    if reasons:
        text += f": {', '.join(reasons)}"
    said = {
        Standing.ANSWERED_BEFORE: f"answered before: event {value_text(event.get('event_id'))}, nothing appended",
        Standing.DRY_RUN: "dry run: not recorded",
        Standing.NOT_RECORDED: "NOT RECORDED: this REJECT counts, but it could not be written to the log",
    }.get(answer.standing)
    resume = mapping_of(event.get("resume"))
    if resume.get("resume_token") and answer.standing is not Standing.DRY_RUN:
        text += f"\n{' '.join(resume_words(resume))}"
    return f"{text}\n{said}" if said else text


def _output_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return dumps({"": value})[len('{"":') : -len("}\n")]
    return value_text(value)
