"""Texts on which the parser would crash, print a trace or misread are refused before it sees them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatekeeper.evidence.prometheus.promql import PromqlError, bind, parse, selectors, with_window
from gatekeeper.evidence.prometheus.promql_text import DEEPEST, LONGEST, MOST_OPERATORS, duration_text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("rate(x[$window])", "rate(x[5m])"),
        ("x offset $window + max_over_time(y[1h:$window])", "x offset 5m + max_over_time(y[1h:5m])"),
        ("x[$window] # $window", "x[5m]  "),
        ("x", "x"),
        ("x{a='$window'}", "x{a='$window'}"),
        ('f(x, "$window", `$window`)[$window:]', 'f(x, "$window", `$window`)[5m:]'),
        ("x[$windows]", "x[$windows]"),
    ],
)
def test_only_the_word_outside_of_strings_is_the_window(query: str, expected: str) -> None:
    """`$window` in a string may be a group of a pattern."""
    assert with_window(query, "5m") == expected


def test_a_window_that_is_not_stated_or_no_duration_is_refused() -> None:
    """The query would be asked over nothing, or over another time than is shown."""
    with pytest.raises(PromqlError, match="the collection states no `window`"):
        with_window("rate(x[$window])", None)
    assert with_window("x{a='$window'} # $window", None) == "x{a='$window'} # $window"
    for window in ("", "5", "5M", "5m]", "1m1h", "101y"):
        with pytest.raises(PromqlError, match="is no duration such as 5m"):
            with_window("rate(x[$window])", window)


@pytest.mark.parametrize("variable", ["$windows", "${window}", "$__rate_interval", "$", "$Window"])
def test_another_variable_is_named_in_the_refusal(variable: str) -> None:
    """A query copied from a dashboard fails with a reason."""
    with pytest.raises(PromqlError) as caught:
        parse(with_window(f"rate(x[{variable}])", "5m"))
    assert str(caught.value) == f"{variable} stands for nothing here: only $window is replaced"


@pytest.mark.parametrize(
    "string", ["'$a'", '"$a"', "`$a`", r"'\'$a'", r'"\"$a"', "'`$a'", "`'$a`", "'#$a'", '"[0.1]@@"']
)
def test_strings_are_not_taken_for_code(string: str) -> None:
    """What stands in a string is the server's business."""
    assert selectors(parse(f"x{{a={string}}}"))


@pytest.mark.parametrize(
    ("query", "begin"),
    [("x{a='b}", 5), ('x{a="b}', 5), ("x{a=`b}", 5), ('x{a="b\n"}', 5), ("'a", 1), ("x # '\n + '", 10)],
)
def test_a_string_that_does_not_end_is_refused_at_its_place(query: str, begin: int) -> None:
    """Where it begins is what the author needs."""
    with pytest.raises(PromqlError) as caught:
        parse(query)
    assert str(caught.value) == f"the string that begins at character {begin} does not end"


def test_backtick_strings_keep_their_backslashes() -> None:
    r"""The parser refuses `\d` there and the server takes it as it stands."""
    assert bind("x{a=~`\\d\\n\"'\n`}", {}) == r"""x{a=~"\\d\\n\"'\n"}"""


@pytest.mark.parametrize("escape", [r"\xe9", r"\xC3\xa9", r"\303\251", r"\200", r"\\\xff", r"\377"])
def test_bytes_written_as_escapes_are_refused(escape: str) -> None:
    """The server reads bytes of UTF-8, the parser characters: another label value would be asked for."""
    with pytest.raises(PromqlError, match="write the character itself instead of"):
        parse(f'x{{a="{escape}"}}')


@pytest.mark.parametrize(
    ("written", "value"), [(r"\x41\101\u00e9\U0001F600", "AAé😀"), (r"\\xe9\\303", r"\\xe9\\303"), (r"\x7e\176", "~~")]
)
def test_escapes_that_both_read_alike_are_kept(written: str, value: str) -> None:
    """The rest of the language of strings stays usable."""
    assert bind(f'x{{a="{written}"}}', {}) == f'x{{a="{value}"}}'


def nested(count: int) -> str:
    """An expression in so many brackets, with as many operators as one may have."""
    return "(" * count + "+".join(["x"] * (MOST_OPERATORS + 1)) + ")" * count


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("x" * (LONGEST + 1), "longer than 4096 characters"),
        (nested(DEEPEST + 1), "more than 50 brackets inside each other"),
        (")" * 60 + "(" * 51, "more than 50 brackets inside each other"),
        ("abs(" * 51 + "x" + ")" * 51, "more than 50 brackets inside each other"),
        ("-" * (MOST_OPERATORS + 1) + "x", "more than 128 operators and label matchers"),
        (" or ".join(["x"] * 130), "more than 128 operators and label matchers"),
        ("^".join(["x"] * 2000), "more than 128 operators and label matchers"),
    ],
)
def test_a_text_that_could_end_the_process_is_refused(query: str, reason: str) -> None:
    """The parser is recursive: on a text that is nested too deep the program dies without a word."""
    with pytest.raises(PromqlError) as caught:
        parse(query)
    assert str(caught.value) == reason


def test_brackets_in_strings_do_not_count() -> None:
    """They nest nothing."""
    assert selectors(parse("x{a='" + "(" * 100 + "-" * 200 + "'}"))


def test_the_deepest_text_that_is_let_through_needs_little_stack() -> None:
    """Threads have half a megabyte of stack on some systems; a crash there would end the collection."""
    deepest = [nested(DEEPEST), "-" * MOST_OPERATORS + "x", "max_over_time(" * 25 + "x" + "[5m:])" * 25]
    program = f"""
import threading
from gatekeeper.evidence.prometheus.promql import bind, parse, selectors
def work():
    for query in {deepest!r}:
        assert selectors(parse(query)) and bind(query, {{"a": "b"}})
    print("done")
threading.stack_size(512 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


@pytest.mark.parametrize(
    "query",
    [
        *("x[1e30]", "x[99999999999999999999s]", "x[101y]", "x[0s]", "x[0.0001]", "x[300]", "x[5M]", "x[1m1h]"),
        *("x[5m:0.5]", "x[5m:300]", "x[5m:999999999y]", "x[5m", "x[]", "x[5m::]", "x[#c\n5m:x]"),
    ],
)
def test_a_range_that_the_parser_cannot_count_is_refused(query: str) -> None:
    """It panics on a large number, loses a small one, and servers before 3.0 know no bare number of seconds."""
    with pytest.raises(PromqlError, match="a range is a duration"):
        parse(query)


@pytest.mark.parametrize(
    "offset", ["NaN", "Inf", "-inf", "1e300", "300", "-0.5", "0s", "999999999y", "- 1e30", "# c\n NaN"]
)
def test_an_offset_that_the_parser_cannot_count_is_refused(offset: str, capfd: pytest.CaptureFixture[str]) -> None:
    """It panics on these, which prints a trace, and the panic is no `Exception`."""
    with pytest.raises(PromqlError, match="an offset is a duration such as 5m"):
        parse(f"x offset {offset}")
    assert capfd.readouterr() == ("", "")


def test_a_metric_or_label_named_offset_is_none() -> None:
    """The word is no keyword there."""
    assert bind("sum by (offset) (offset{offset='5'} offset 5m)", {}) == (
        'sum by (offset) (offset{offset="5"} offset 5m)'
    )


@pytest.mark.parametrize("time", ["-1", "-1.5", "1e20", "NaN", "+Inf", "1e3", "0x5", "time()", "1234567890123"])
def test_a_fixed_time_that_the_parser_changes_is_refused(time: str) -> None:
    """It reads a negative time as 0."""
    with pytest.raises(PromqlError, match=r"@ takes start\(\), end\(\) or unix seconds"):
        parse(f"x @ {time}")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0s"), (0.001, "1ms"), (90.5, "1m30s500ms"), (-90.5, "-1m30s500ms"), (3600, "1h")),
        *((90061, "1d1h1m1s"), (31_536_000, "365d"), (59.9999, "1m")),
    ],
)
def test_a_duration_is_written_in_units_that_servers_know(seconds: float, text: str) -> None:
    """An offset written wrongly asks about another time."""
    assert duration_text(seconds) == text
