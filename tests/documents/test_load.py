"""One file is one document or one refusal of the caller's own kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatekeeper.documents.load import diagnose, load_document, read_file
from gatekeeper.documents.problem import Problem
from gatekeeper.documents.structure import structural_problems
from gatekeeper.errors import SnapshotError
from tests.documents.sample import FULL, Sample


def problems_of(document: Any) -> list[Problem]:
    """What keeps a document from being a Sample."""
    return structural_problems(Sample, document, kind="sample")


def load(data: bytes) -> dict[str, Any]:
    """The document, as a caller would load it whose error is SnapshotError."""
    return load_document(data, "s.json", problems_of, error=SnapshotError, remedy="mend it")


@pytest.mark.parametrize("name", ["none.json", "a\0b", "directory"])
def test_a_file_that_cannot_be_read_is_an_error_of_the_callers_kind(tmp_path: Path, name: str) -> None:
    """A caller that catches its own error must not meet OSError or ValueError."""
    (tmp_path / "directory").mkdir()
    with pytest.raises(SnapshotError) as caught:
        read_file(tmp_path / name, what="sample", error=SnapshotError, remedy="give a path")
    assert caught.value.message.startswith(f"{tmp_path / name}: the sample cannot be read: ")
    assert caught.value.remedy == "give a path"


def test_all_problems_are_one_error_with_a_line_for_each() -> None:
    """A file is mended once, and not once for each problem."""
    with pytest.raises(SnapshotError) as caught:
        load(b'{"title": 1,\n "numbr": 2}')
    assert caught.value.message.splitlines() == [
        "s.json:1:1: /number: the key is missing; allowed: a number",
        "s.json:1:11: /title: found a number 1; allowed: text",
        's.json:2:2: /numbr: unknown key; did you mean "number"? allowed: ' + ", ".join(FULL),
    ]
    assert caught.value.remedy == "mend it"


def test_a_problem_of_the_whole_file_is_called_after_its_kind() -> None:
    """Nobody looks for a policy in a file that is none."""
    with pytest.raises(SnapshotError) as caught:
        load(b"[]")
    assert caught.value.message == "s.json:1:1: (whole sample): a sample is one JSON object, found a list"


def test_bytes_that_are_no_strict_json_are_an_error_of_the_callers_kind() -> None:
    """The place is in the message, since the caller's error has no line of its own."""
    with pytest.raises(SnapshotError, match=r"s\.json:1:15: duplicate key 'title'"):
        load(b'{"title": "", "title": ""}')


def test_a_sound_document_is_what_the_file_says() -> None:
    """Nothing is filled in: the digest is of the document as written."""
    data = b'{"title": "t", "number": 1}'
    assert load(data) == {"title": "t", "number": 1}
    assert diagnose(data, "s.json", problems_of) == ({"title": "t", "number": 1}, [])
