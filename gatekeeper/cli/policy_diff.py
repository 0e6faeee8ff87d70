"""`gatekeeper policy diff`: what does this change of a policy let through that was not let through before?"""

from __future__ import annotations

from gatekeeper.cli.outcome import FOUND, Outcome
from gatekeeper.cli.policy_source import load_policy_from
from gatekeeper.cli.present import page_outcome
from gatekeeper.errors import PolicyError
from gatekeeper.render.policy_diff import VERSION_UNCHANGED, diff_page, remarks, version_text
from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import LOOSENS, TIGHTENS
from gatekeeper.review.diff.report import report
from gatekeeper.review.diff.version import Standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values
    from gatekeeper.review.diff.difference import Difference

_FAILS_ON = {"loosened": LOOSENS, "tightened": TIGHTENS, "any": LOOSENS | TIGHTENS}


def diff(values: Values) -> Outcome:
    """65 when a policy does not load or the version names two contents, else 10 as `--fail-on` says, else 0."""
    old, _ = load_policy_from(values.text("old"))
    new, data = load_policy_from(values.text("new"))
    found = difference(old, new)
    document = report(found, data)
    code = _exit_code(found, values.optional_text("fail_on"))
    stderr: tuple[str, ...] = ()
    if found.version.standing is Standing.UNCHANGED:
        code, stderr = PolicyError.exit_code, (f"gatekeeper: {VERSION_UNCHANGED}: {version_text(document)}",)
    outcome = page_outcome(diff_page(document), values, code=code, stderr=stderr)
    if values.text("output") != "github" or not isinstance(outcome.stdout, str):
        return outcome
    from gatekeeper.render.github import annotation

    lines = [annotation(*one) for one in remarks(document)]
    return Outcome(outcome.stdout + "".join(lines), code, outcome.stderr)


def _exit_code(found: Difference, fail_on: str | None) -> int:
    if fail_on is None:
        return 0
    effects = {effect for change in found.changes for effect in change.effects}
    return FOUND if effects & _FAILS_ON[fail_on] else 0
