"""A file of evidence that cannot be read is refused with its path; what it holds is kept whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.errors import DocumentError, SnapshotError
from gatekeeper.evidence.file import load_snapshot, read_snapshot_file


@pytest.mark.parametrize("name", ["none.json", "a\0b", "directory"])
def test_a_file_that_cannot_be_read_is_refused_with_its_path(tmp_path: Path, name: str) -> None:
    """A missing file is no evidence and no crash."""
    (tmp_path / "directory").mkdir()
    with pytest.raises(SnapshotError) as caught:
        read_snapshot_file(tmp_path / name)
    assert caught.value.exit_code == 65
    assert caught.value.message.startswith(f"{tmp_path / name}: the snapshot cannot be read: ")
    assert caught.value.remedy


def test_a_file_path_and_bytes_give_the_same_snapshot(tmp_path: Path) -> None:
    """`load_snapshot` takes both, in flat and in wrapped form."""
    file = tmp_path / "s.json"
    file.write_bytes(b'{"error_rate": 0.1}')
    wrapped = {"metrics": {"error_rate": 0.1}}
    assert load_snapshot(file).document == wrapped
    assert load_snapshot(str(file)).document == wrapped
    assert load_snapshot(b'{"metrics": {"error_rate": 0.1}}').document == wrapped


def test_a_bare_nan_in_a_file_is_kept_as_a_problem(tmp_path: Path) -> None:
    """HO-01 c: the reading shows in the log as what it was, and is no number."""
    file = tmp_path / "s.json"
    file.write_bytes(b'{"metrics": {"error_rate": NaN}}')
    document = read_snapshot_file(file).document
    assert document["metrics"] == {"error_rate": None}
    assert document["observations"]["error_rate"]["value_text"] == "NaN"


def test_a_duplicate_key_is_refused_with_file_and_line(tmp_path: Path) -> None:
    """The second value would silently win."""
    file = tmp_path / "s.json"
    file.write_bytes(b'{"error_rate": 0.19,\n "error_rate": 0.0}')
    with pytest.raises(DocumentError, match=r"s\.json:2:2: duplicate key 'error_rate'") as caught:
        load_snapshot(file)
    assert caught.value.exit_code == 65


@pytest.mark.parametrize("data", [b"[]", b"7", b"null"])
def test_a_file_that_is_no_object_is_refused_with_its_path(tmp_path: Path, data: bytes) -> None:
    """A list of numbers names no metric."""
    file = tmp_path / "s.json"
    file.write_bytes(data)
    with pytest.raises(SnapshotError, match=r"s\.json: a snapshot is one JSON object"):
        read_snapshot_file(file)
