"""A word without quotes is read as JSON's value or refused; never as one reader's guess.

Two oracles that share nothing with the reader: PyYAML's own resolver (YAML 1.1), and the core schema's table as
YAML 1.2.2 prints it in section 10.3.2.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.documents.yaml_scalars import DoubtfulScalarError, plain_value
from gatekeeper.model.document import NotADouble

CORE = [
    (r"null|Null|NULL|~|", None),
    (r"true|True|TRUE", True),
    (r"false|False|FALSE", False),
    (r"[-+]?[0-9]+", int),
    (r"0o[0-7]+", lambda text: int(text, 0)),
    (r"0x[0-9a-fA-F]+", lambda text: int(text, 0)),
    (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
    (r"[-+]?(\.inf|\.Inf|\.INF)", lambda text: float(text.replace(".", ""))),
    (r"\.nan|\.NaN|\.NAN", lambda _: float("nan")),
]
"""The core schema: pattern, and what it means."""


def core_value(text: str) -> Any:
    """What YAML 1.2 takes a plain scalar for."""
    for pattern, meaning in CORE:
        if re.fullmatch(pattern, text, re.ASCII):
            return meaning(text) if callable(meaning) else meaning
    return text


def version_1_1_value(text: str) -> Any:
    """What PyYAML takes it for."""
    loader = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    return loader.construct_object(yaml.ScalarNode(tag, text))


_WORDS = "yes No on OFF y n true False null nan inf 2026-02-18 T01:00:00Z 1e3 a ms"
PARTS = st.sampled_from([*"0123456789.eE+-_:~=<xob ", *_WORDS.split()])
WORDS = (st.lists(PARTS, max_size=6).map("".join) | st.text(max_size=6)).filter(
    lambda text: text not in {"!", "&", "*"}  # begin no plain scalar, and PyYAML has a tag for them that it cannot read
)


@given(WORDS)
@example("0x_")
@example("1.0e+3")
@example("-0.0")
def test_what_is_accepted_is_the_same_to_every_reader_of_yaml(text: str) -> None:
    """A policy that means 10 here and 12 in the tool beside it is reviewed by nobody."""
    try:
        value = plain_value(text)
    except DoubtfulScalarError:
        return
    if isinstance(value, NotADouble):
        return  # refused by every document: no number to agree on
    assert [value, type(value) is bool] == [version_1_1_value(text), type(version_1_1_value(text)) is bool], text
    assert [value, type(value) is bool] == [core_value(text), type(core_value(text)) is bool], text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("0", 0),
        ("-12", -12),
        ("0.5", 0.5),
        ("400.0", 400),
        ("1.0e+3", 1000),
        ("2.5E-1", 0.25),
        ("error_rate_5m", "error_rate_5m"),
        ("5m", "5m"),
        ("1h30m", "1h30m"),
        ("<=", "<="),
        ("1.2.3", "1.2.3"),
        ("v1", "v1"),
        ("CANARY_0.5", "CANARY_0.5"),
        ("https://runbooks.example.com/a", "https://runbooks.example.com/a"),
        ("no traffic", "no traffic"),
        ("${PROMETHEUS_URL}", "${PROMETHEUS_URL}"),
    ],
)
def test_what_people_write_without_quotes_is_read(text: str, value: Any) -> None:
    """Quotes are asked for only where readers differ."""
    read = plain_value(text)
    assert read == value
    assert type(read) is type(value)


DOUBTFUL = {
    "null to some": ["~", "Null", "NULL"],
    "true to some": ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE"],
    "false to some": ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "False", "FALSE"],
    "no value here": [""],
    "merges": ["<<"],
    "a type of its own": ["="],
    "no finite number": [".nan", ".NaN", ".inf", "-.inf", "+.INF", "NaN", "Infinity", "-Infinity"],
    "exponent": ["1e3", "1E3", "1e-3", "-2e+3", "1.5e3"],
    "JSON does not have": ["012", "0o14", "0x1F", "0b101", "1_000", "+1", ".5", "5.", "-.5", "089", "1_0.5", "00"],
    "base 60": ["1:30", "-1:30", "12:30:45", "1:30.5"],
    "a date": ["2026-02-18", "2026-2-8", "2026-02-18T01:00:00Z", "2026-02-18 01:00:00"],
}


@pytest.mark.parametrize(("text", "meaning"), [(text, why) for why, texts in DOUBTFUL.items() for text in texts])
def test_what_readers_of_yaml_differ_on_is_refused_with_its_meaning(text: str, meaning: str) -> None:
    """Each says what it could be, and what to write."""
    with pytest.raises(DoubtfulScalarError) as caught:
        plain_value(text)
    assert meaning in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["08154711", "2026-02-18", "9e99", "1_000", "12:34"])
def test_a_number_that_may_be_a_secret_is_not_repeated(text: str) -> None:
    """A token of digits stands in a header, too; the place is enough."""
    with pytest.raises(DoubtfulScalarError) as caught:
        plain_value(text)
    assert text not in caught.value.message + caught.value.remedy
