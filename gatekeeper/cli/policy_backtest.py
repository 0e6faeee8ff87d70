"""`gatekeeper policy backtest`: what would a changed policy have answered to all that was recorded?"""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock
from gatekeeper.cli.damaged import as_words
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.outcome import FOUND
from gatekeeper.cli.present import page_outcome
from gatekeeper.cli.pruned import known_pruned, last_seq_of, pruned_words
from gatekeeper.model.times import format_time
from gatekeeper.render.backtest import backtest_page
from gatekeeper.replay.backtest import Asked
from gatekeeper.replay.backtest import backtest as run_backtest
from gatekeeper.review.load import load_policy_document, read_policy_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.replay.backtest_report import BacktestReport

_FLIPS = {"accept-to-reject": ("ACCEPT", "REJECT"), "reject-to-accept": ("REJECT", "ACCEPT"), "any": None}
_MOST_IDS = 10


def backtest(values: Values) -> Outcome:
    """0, or 10 where a verdict flips that `--fail-on` names."""
    path = values.text("new")
    given = load_policy_document(read_policy_file(path), path)
    since, until = values.time_range(now=SystemClock().now())
    policy_ids = tuple(dict.fromkeys(values.texts("policy_id"))) or (given.policy.policy_id,)
    pruned = known_pruned(values.texts("log"))
    with opened_log(values.texts("log")) as sources, watched("backtesting") as progress:
        asked = Asked(
            given,
            policy_ids,
            since,
            until,
            include_simulated=values.flag("simulated"),
            jobs=values.integer("jobs"),
            progress=progress,
            pruned_to=last_seq_of(pruned),
        )
        report = run_backtest(sources, asked)
    failed = [name for name in dict.fromkeys(values.texts("fail_on")) if report.flips(_FLIPS[name])]
    document = {
        "policy": {
            "source": path,
            "policy_id": given.policy.policy_id,
            "policy_version": given.policy.policy_version,
            "policy_digest": given.digest,
        },
        "policy_ids": list(policy_ids),
        "since": None if since is None else format_time(since),
        "until": None if until is None else format_time(until),
        **report.to_dict(),
        "failed": failed,
    }
    removed = () if report.pruned_to is None else pruned_words(pruned)
    words = (*as_words(document["damaged"]), *removed, *_nothing(report, policy_ids), *_why(report, failed))
    return page_outcome(backtest_page(document), values, code=FOUND if failed else 0, stderr=words)


def _nothing(report: BacktestReport, policy_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Words where there was nothing to compare: a mistyped id must not look like a harmless change."""
    if report.tally.decisions:
        return ()
    words = f"gatekeeper: no decision under {' or '.join(policy_ids)} was found, so nothing was compared"
    if report.tally.simulated:
        words += f"; of simulated runs, {report.tally.simulated} were left out (--simulated)"
    others = report.other_ids[:_MOST_IDS]
    return (words + (f"; the log has policies of: {', '.join(others)} (--policy-id)" if others else ""),)


def _why(report: BacktestReport, failed: list[str]) -> tuple[str, ...]:
    return tuple(f"gatekeeper: --fail-on {name}: {report.flips(_FLIPS[name])}" for name in failed)
