"""The review of collection files: `collect --lint`, and `policy check` where it is given one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gatekeeper.cli.collecting import expect_file
from gatekeeper.cli.compose import SystemClock
from gatekeeper.cli.outcome import FOUND, Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.documents.load import read_file
from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import PrometheusMetric
from gatekeeper.evidence.lint.lint import lint
from gatekeeper.render import load
from gatekeeper.render.diagnostics import collection_page
from gatekeeper.review.load import load_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.cli.values import Values
    from gatekeeper.evidence.collection import Collection
    from gatekeeper.model.policy import Policy
    from gatekeeper.render.page import Page


def lint_outcome(path: str, values: Values) -> Outcome:
    """65 when the file does not load, 10 when it has a defect, else 0; warnings change no exit code."""
    stated = values.optional_text("policy")
    page = lint_page(path, () if stated is None else (load_policy(stated),), ask=values.flag("ask"))
    output = values.text("output")
    text = load(output).page(page, layout_of_output())
    if output == "github":
        from gatekeeper.cli.github_files import write_summary
        from gatekeeper.render.github import diagnostic_lines

        complaints = write_summary(text)
        return Outcome(text + diagnostic_lines(path, page.document["diagnostics"]), lint_code(page), complaints)
    return Outcome(text, lint_code(page))


def lint_page(path: str, policies: Sequence[Policy], *, ask: bool) -> Page:
    """What is to say about one collection file, held against the policies that it feeds. Raises UsageError for `-`."""
    return lint_file(path, policies, ask=ask)[0]


def lint_file(path: str, policies: Sequence[Policy], *, ask: bool) -> tuple[Page, float | None]:
    """The same, with the length of its window in seconds: the stated one, else the longest that a query looks back."""
    expect_file(path)
    buckets = None
    if ask:
        from gatekeeper.evidence.prometheus.buckets import bucket_asker

        buckets = bucket_asker(os.environ, SystemClock())
    try:
        data = read_file(path, what="collection file", error=CollectionError, remedy="give the path of a file")
    except CollectionError as error:
        problem = {"code": error.code, "severity": "error", "pointer": "", "line": None, "column": None}
        return collection_page(path, [{**problem, "message": error.message, "remedy": error.remedy}]), None
    loaded, diagnostics = lint(data, path, policies=policies, ask_buckets=buckets)
    facts = None
    if loaded is not None:
        facts = {
            "sources": ", ".join(loaded.collection.sources),
            "metrics": len(loaded.collection.metrics),
            "collector_digest": loaded.digest,
        }
    page = collection_page(path, [dict(one.to_dict()) for one in diagnostics], collection=facts)
    return page, None if loaded is None else _window_seconds(loaded.collection)


def _window_seconds(collection: Collection) -> float | None:
    from gatekeeper.model.times import parse_duration

    stated = parse_duration(collection.window)
    if stated is not None:
        return stated / 1000
    if not any(isinstance(metric, PrometheusMetric) for metric in collection.metrics.values()):
        return None
    from gatekeeper.evidence.lint.windows import longest_look_seconds  # it loads a parser

    return longest_look_seconds(collection) or None


def lint_code(page: Page) -> int:
    """The exit code that a page of `lint_page` stands for."""
    if not page.document["loads"]:
        return CollectionError.exit_code
    return FOUND if any(one["severity"] == "error" for one in page.document["diagnostics"]) else 0
