"""`gatekeeper policy explain`: a policy in plain sentences and a table per stage."""

from __future__ import annotations

from gatekeeper.cli.present import page_outcome
from gatekeeper.render.policy_explain import explain_page
from gatekeeper.review.explain import explanation
from gatekeeper.review.load import load_policy_document, read_policy_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def explain(values: Values) -> Outcome:
    """The page. Raises PolicyError for a file that does not load (65)."""
    path = values.text("file")
    loaded = load_policy_document(read_policy_file(path), source=path)
    return page_outcome(explain_page(explanation(loaded)), values)
