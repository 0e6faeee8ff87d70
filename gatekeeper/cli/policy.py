"""`gatekeeper policy check`: do these policies load, and what should a reviewer know?"""

from __future__ import annotations

from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.errors import PolicyError
from gatekeeper.render import load
from gatekeeper.render.diagnostics import policy_page
from gatekeeper.render.page import Page
from gatekeeper.review.load import check_policy_document, read_policy_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values
    from gatekeeper.model.policy import LoadedPolicy


def check(values: Values) -> Outcome:
    """65 when a file does not load, else 10 when the collection has a defect; warnings change no exit code."""
    reviewed = [_review(path) for path in values.texts("files")]
    policies = [page for page, _ in reviewed]
    code = 0 if all(page.document["loads"] for page in policies) else PolicyError.exit_code
    collections: list[Page] = []
    path = values.optional_text("collection")
    if path is not None:
        from gatekeeper.cli.lint import lint_code, lint_page  # it loads the evidence room

        feeds = [loaded.policy for _, loaded in reviewed if loaded is not None]
        collections.append(lint_page(path, feeds, ask=values.flag("ask")))
        code = max(code, lint_code(collections[0]))
    pages = [*policies, *collections]
    output, layout = values.text("output"), layout_of_output()
    if output == "json":
        document = {
            "ok": code == 0,
            "policies": [page.document for page in policies],
            "collections": [page.document for page in collections],
        }
        return Outcome(load(output).page(Page("", [], document=document), layout), code)
    text = "".join(load(output).page(page, layout) for page in pages)
    if output == "github":
        from gatekeeper.cli.github_files import write_summary
        from gatekeeper.render.github import diagnostic_lines

        complaints = write_summary(text)
        text += "".join(diagnostic_lines(page.document["source"], page.document["diagnostics"]) for page in pages)
        return Outcome(text, code, complaints)
    return Outcome(text, code)


def _review(path: str) -> tuple[Page, LoadedPolicy | None]:
    try:
        data = read_policy_file(path)
    except PolicyError as error:
        problem = {"code": error.code, "severity": "error", "pointer": "", "line": None, "column": None}
        return policy_page(path, [{**problem, "message": error.message, "remedy": error.remedy}]), None
    loaded, diagnostics = check_policy_document(data, path)
    facts = None
    if loaded is not None:
        facts = {
            "policy_id": loaded.policy.policy_id,
            "policy_version": loaded.policy.policy_version,
            "policy_digest": loaded.digest,
        }
    return policy_page(path, [dict(diagnostic.to_dict()) for diagnostic in diagnostics], policy=facts), loaded
