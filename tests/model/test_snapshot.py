"""The one form in which evidence is digested, judged and logged."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import DocumentError, SnapshotError
from gatekeeper.model.snapshot import logged_snapshot, read_snapshot, snapshot_from_document, with_baseline

FLAT: dict[str, Any] = {"error_rate": 0.004, "kill_switch": False, "_meta": {"window": "5m"}}
WRAPPED: dict[str, Any] = {"metrics": {"error_rate": 0.004, "kill_switch": False}, "_meta": {"window": "5m"}}


def test_flat_and_wrapped_evidence_of_the_same_content_are_one() -> None:
    """The same question, however a writer laid it out."""
    assert snapshot_from_document(FLAT).document == WRAPPED
    assert snapshot_from_document(FLAT).digest == snapshot_from_document(WRAPPED).digest


def test_a_metric_may_be_called_metrics() -> None:
    """Only an object under that name makes the wrapped form."""
    assert snapshot_from_document({"metrics": 3}).metrics == {"metrics": 3}


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "9007199254740992", "-9007199254740992"])
def test_a_reading_that_is_no_number_is_null_with_a_problem(text: str) -> None:
    """Its text is kept, and no reader of the log meets anything but JSON."""
    document = read_snapshot(b'{"metrics": {"error_rate": ' + text.encode() + b"}}").document
    assert document["metrics"] == {"error_rate": None}
    noted = document["observations"]["error_rate"]
    assert noted["value_text"] == text
    assert noted["problem"]["code"].startswith("observation_invalid:")


def test_a_stated_problem_is_not_overwritten() -> None:
    """The collector knows better what went wrong."""
    data = b'{"metrics": {"e": NaN}, "observations": {"e": {"problem": {"code": "observation_missing:empty_result"}}}}'
    noted = read_snapshot(data).document["observations"]["e"]
    assert noted == {"problem": {"code": "observation_missing:empty_result"}, "value_text": "NaN"}


@pytest.mark.parametrize("stated", ['"0.008"', "null", "0.008"])
def test_a_text_stated_beside_such_a_reading_does_not_pass_for_it(stated: str) -> None:
    """The log shows that the reading was not a number, whatever text its writer left there before."""
    data = f'{{"metrics": {{"e": NaN}}, "observations": {{"e": {{"value_text": {stated}, "source": "prom"}}}}}}'
    noted = read_snapshot(data.encode()).document["observations"]["e"]
    assert (noted["value_text"], noted["source"]) == ("NaN", "prom")


@pytest.mark.parametrize("place", ["promotion", "notes"])
def test_such_a_number_elsewhere_stays_as_its_text(place: str) -> None:
    """It can never take part in arithmetic, and the log stays JSON."""
    document = read_snapshot(b'{"metrics": {}, "' + place.encode() + b'": {"x": NaN}}').document
    assert document[place] == {"x": "NaN"}


def test_a_baseline_value_that_is_no_number_is_the_baselines_problem() -> None:
    """The variant's own reading is untouched."""
    document = read_snapshot(b'{"e": 1, "baseline": {"e": NaN}}').document
    assert document["baseline"]["observations"]["e"]["problem"]["code"] == "observation_invalid:baseline_value"
    assert "observations" not in document


@pytest.mark.parametrize("part", ["observations", "_meta"])
def test_credentials_of_a_source_never_reach_digest_or_log(part: str) -> None:
    """The address stays readable, and another token gives the same digest."""

    def snapshot(secret: str) -> dict[str, Any]:
        address = f"https://ci-bot:{secret}@metrics.example.test/prom?token={secret}"
        inside = {"e": {"endpoint": address, "query": 'up{api_key="k"}'}}
        return {"metrics": {"e": 1}, part: inside if part == "observations" else {"sources": [inside["e"]]}}

    one, other = (snapshot_from_document(snapshot(secret)) for secret in ("s3cr3t", "0ther"))
    assert "s3cr3t" not in str(one.document)
    assert "https://***@metrics.example.test/prom?***" in str(one.document)
    assert 'up{api_key="k"}' in str(one.document)
    assert one.digest == other.digest


def test_wrapping_twice_changes_nothing() -> None:
    """What the log holds is judged again as it was."""
    data = (
        b'{"e": NaN, "baseline": {"e": 1e400}, "observations": {"f": {"url": "http://u:p@h/x?y"}}, "promotion": null}'
    )
    once = read_snapshot(data)
    assert snapshot_from_document(once.document) == once


def test_a_baseline_file_fills_the_baseline_part() -> None:
    """Flat or wrapped, as the snapshot itself."""
    assert with_baseline(snapshot_from_document(FLAT), snapshot_from_document({"error_rate": 0.003})).document == {
        **WRAPPED,
        "baseline": {"metrics": {"error_rate": 0.003}},
    }


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"[]", SnapshotError), (b"3", SnapshotError), (b'{"a": 1, "a": 2}', DocumentError), (b"", DocumentError)],
)
def test_what_is_not_one_object_is_refused(data: bytes, kind: type[Exception]) -> None:
    """Not evidence of anything."""
    with pytest.raises(kind, match=r"snap\.json"):
        read_snapshot(data, source="snap.json")


@pytest.mark.parametrize(
    "document",
    [
        {"metrics": {"a": 1, "b": True, "c": "x", "d": None}, "baseline": {"metrics": {"a": 1.5}}},
        {"metrics": {"a": 1}, "baseline": {"a": 2}},
        {"metrics": {"a": 1}, "baseline": {"metrics": {"a": 2**60}}},
        {"metrics": {"a": 2**60}, "observations": {"b": {"source": "s"}}},
        {"metrics": {"a": float("inf")}},
        {"a": 1, "b": 2**60},
        {"metrics": [1]},
    ],
)
def test_the_evidence_of_a_log_line_is_judged_as_if_it_were_read(document: dict[str, Any]) -> None:
    """A line that the ledger wrote is taken as it stands; what another writer left there is brought into form."""
    assert logged_snapshot(document) == snapshot_from_document(document)


def test_addresses_of_a_logged_snapshot_are_not_looked_at_again() -> None:
    """No rule reads them, and a log holds millions."""
    document = {"metrics": {"a": 1}, "observations": {"a": {"endpoint": "http://u:p@h/"}}}
    assert logged_snapshot(document).document is document
