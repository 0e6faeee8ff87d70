"""The contract itself is frozen: what the last release promised, the code keeps."""

from __future__ import annotations

import re

from gatekeeper.version import __version__
from tests.docs.console import read
from tests.frozen import cutting, kept
from tests.frozen.judgement import release_troubles, report
from tests.frozen.subjects import OPEN_WORDS, SUBJECTS, VERSIONS

PAGE = "docs/contract/README.md"


def test_nothing_that_was_promised_is_broken() -> None:
    """Schemas, exit codes, reason codes, outcomes, remarks, options, names: as kept in docs/contract."""
    breaks = report(cutting.judgements())
    assert not breaks, f"\n{breaks}"


def test_every_subject_is_kept() -> None:
    """A contract that stands nowhere can be broken by anybody."""
    assert sorted(kept.read()) == sorted(SUBJECTS)


def test_what_is_kept_is_of_the_last_release() -> None:
    """A release without its contract would leave the next one nothing to be held against."""
    troubles = release_troubles(read("CHANGELOG.md"), __version__, kept.read_release(), cutting.judgements())
    assert not troubles, "\n".join(troubles)


def test_what_is_kept_is_laid_out_as_it_is_written() -> None:
    """An edit by hand shows when the next release is cut, in lines that nobody has changed."""
    for subject, contract in kept.read().items():
        assert read(f"docs/contract/{subject}.json") == contract.text()


def test_each_subject_states_its_version_in_one_place() -> None:
    """Of a printed schema it is the end of `$id`; a second number would never be raised."""
    assert set(VERSIONS) == {name for name in SUBJECTS if not name.startswith("schema-")} | {"schema-golden-case"}


def test_the_page_names_every_subject_with_its_direction() -> None:
    """Whoever breaks one looks there first."""
    rows = dict(re.findall(r"^\| \[`([a-z-]+)`\]\(\1\.json\) \| (\w+) \|", read(PAGE), re.MULTILINE))
    assert rows == {name: str(subject.direction) for name, subject in SUBJECTS.items()}


def test_the_page_names_every_place_whose_words_may_become_more() -> None:
    """Readers must know where to expect a word that they have never seen."""
    rows = re.findall(r"^\| `(schema-[a-z]+)` \| `(/[^`]+)` \|", read(PAGE), re.MULTILINE)
    assert sorted(rows) == sorted((name, place) for name, places in OPEN_WORDS.items() for place in places)


def test_a_place_whose_words_may_become_more_has_words() -> None:
    """A place that is gone would close its vocabulary without a word."""
    for name, places in OPEN_WORDS.items():
        schema = SUBJECTS[name].now().content
        for place in places:
            part = schema
            for step in place.split("/")[1:]:
                part = part[int(step)] if isinstance(part, list) else part[step]
            assert {"enum", "const"} & part.keys(), (name, place)
