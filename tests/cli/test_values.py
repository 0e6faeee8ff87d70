"""What a handler reads, and how texts become values."""

from __future__ import annotations

import importlib
import inspect

import pytest

from gatekeeper.cli.failures import mask
from gatekeeper.cli.kinds import KINDS, BadValueError
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.values import Values
from gatekeeper.errors import UsageError
from tests.cli.support import CHECK, command, run_with

NOON = 1_771_416_000_000_000  # 2026-02-18T12:00:00Z in microseconds
DAY = 86_400_000_000


def values_of(argv: list[str]) -> Values:
    """The values that the handler of *argv* gets."""
    found: list[Values] = []

    def handler(values: Values) -> Outcome:
        found.append(values)
        return Outcome()

    assert run_with(handler, argv) == 0
    return found[0]


def test_units_are_not_mixed_up() -> None:
    """Durations are milliseconds, times microseconds, as the model has them."""
    values = values_of([*CHECK, "--wait", "30m", "--interval", "60s"])
    assert values.milliseconds("wait") == 1_800_000
    assert values.milliseconds("interval") == 60_000
    assert values.moment("as_of") is None
    assert values_of([*CHECK, "--as-of", "2026-02-18T12:00:00Z"]).moment("as_of") == NOON
    assert values_of([*CHECK, "--as-of", "snapshot"]).moment("as_of") == "snapshot"


def test_a_distance_counts_back_from_now_and_a_time_does_not() -> None:
    """`--since 7d` and `--since T` are told apart whatever their size."""
    assert values_of(["replay", "--since", "7d"]).since("since", now=NOON) == NOON - 7 * DAY
    assert values_of(["replay", "--since", "2026-02-18T12:00:00Z"]).since("since", now=0) == NOON
    assert values_of(["replay"]).since("since", now=NOON) is None


@pytest.mark.parametrize("command", [["replay"], ["policy", "backtest", "p.json"]])
def test_a_time_range_turned_round_is_a_typing_mistake_and_no_empty_answer(command: list[str]) -> None:
    """Nothing found would be taken for nothing happened."""
    turned = values_of([*command, "--since", "2026-02-18T12:00:01Z", "--until", "2026-02-18T12:00:00Z"])
    with pytest.raises(UsageError, match=r"--since 2026-02-18T12:00:01.000000Z is later than --until") as caught:
        turned.time_range(now=0)
    assert caught.value.exit_code == 64
    one_moment = values_of([*command, "--since", "2026-02-18T12:00:00Z", "--until", "2026-02-18T12:00:00Z"])
    assert one_moment.time_range(now=0) == (NOON, NOON)


@pytest.mark.parametrize("module", ["gatekeeper.cli.replay", "gatekeeper.cli.policy_backtest"])
def test_both_commands_that_take_a_range_look_at_it_as_one(module: str) -> None:
    """Neither reads the two ends apart."""
    source = inspect.getsource(importlib.import_module(module))
    assert "values.time_range(" in source
    assert "values.since(" not in source


def test_what_was_not_given_is_none_empty_or_false() -> None:
    """And `given` tells it from what was."""
    values = values_of(["replay", "--limit", "5", "--verdict", "reject", "--group-by", "verdict, reason"])
    assert (values.integer("limit"), values.texts("verdict")) == (5, ("REJECT",))
    assert values.texts("group_by") == ("verdict", "reason")
    assert (values.flag("follow"), values.texts("kind"), values.optional_text("run")) == (False, (), None)
    assert [name for name in command("replay").names() if values.given(name)] == [
        "verdict",
        "group_by",
        "limit",
        "log",
        "output",
    ]


def test_a_list_that_was_not_given_reads_as_an_empty_one() -> None:
    """Also where the option does not repeat but is split at commas."""
    assert values_of(["replay"]).texts("group_by") == ()


def test_the_last_of_an_option_counts_and_all_of_a_repeated_one() -> None:
    """As in every other program."""
    values = values_of([*CHECK, "--stage", "A", "--stage", "B", "--evidence", "a=1", "--evidence", "b=2"])
    assert values.text("stage") == "B"
    assert values.texts("evidence") == ("a=1", "b=2")


def test_a_misspelt_name_in_a_handler_is_a_bug_and_not_an_absent_value() -> None:
    """None for an undeclared name would switch an option off without a sound."""
    values = values_of(CHECK)
    with pytest.raises(KeyError):
        values.optional_text("snapshots")
    with pytest.raises(TypeError):
        values.flag("policy")
    with pytest.raises(TypeError):
        values.integer("policy")
    with pytest.raises(TypeError):
        values.texts("policy")
    with pytest.raises(TypeError):
        values.text("stage")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("name", ""),
        ("name", "a b"),
        ("name", "ä"),
        ("name", "a:b"),
        ("name", "x" * 129),
        ("run_id", "a b"),
        ("count", "0"),
        ("count", "-1"),
        ("count", "1.5"),
        ("count", "٣"),
        ("count", "9" * 16),
        ("duration", "30"),
        ("duration", "0s"),
        ("duration", "-5m"),
        ("time", "2026-02-18"),
        ("time", "2026-02-18T12:00:00"),
        ("moment", "now"),
        ("since", "yesterday"),
        ("since", "2026-02-18T01:00:00"),
        ("since", "7 d"),
        ("since", "0s"),
        ("since", "-7d"),
        ("names", "a,,b"),
        ("names", ""),
        ("path", ""),
        ("path", "a\0b"),
        ("sentence", " \t"),
    ],
)
def test_a_value_of_the_wrong_form_is_refused(kind: str, text: str) -> None:
    """Nothing is rounded, clamped or guessed."""
    with pytest.raises(BadValueError):
        KINDS[kind](text)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://bot:pw@prom.example/x", "https://***@prom.example/x"),
        ("postgresql://u:p@db/x", "postgresql://***@db/x"),
        ("{'Authorization': 'Bearer abc.def'}", "{'Authorization': ***}"),
        ("Authorization: Basic dXNlcg==", "Authorization: Basic ***"),
        ("GET /q?token=abc&x=1", "GET /q?token=***&x=1"),
        ('{"password": "a b"}', '{"password": ***}'),
        ("api_key=xyz, retry", "api_key=***, retry"),
        ("the token was refused", "the token was refused"),
    ],
)
def test_credentials_do_not_reach_a_message(text: str, masked: str) -> None:
    """The place stays readable, the secret does not."""
    assert mask(text) == masked
