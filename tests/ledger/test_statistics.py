"""What `log stat` says of logs that are not as they should be; counted by index and by lines it is the same."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.ledger.statistics import statistics
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, stop
from tests.ledger.segments import files_in_order, lose_state, put_state_back, rotated_log, state_of


def both(path: Path) -> dict[str, Any]:
    """The document, after it was compared with what reading every line says."""
    ledger_at(path).view()
    found = statistics([str(path)])
    lose_state(path)
    read = statistics([str(path)])
    assert read["counted_by"] == "lines"
    different = {"counted_by", "projection"}
    assert {key: found[key] for key in found.keys() - different} == {key: read[key] for key in read.keys() - different}
    return found


def test_a_sound_log_is_counted_by_its_index(tmp_path: Path) -> None:
    """No line is read: the state knows verdicts, kinds, seqs and times of all segments."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    for file in files_in_order(path)[:-1]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    found = both(path)
    assert found["counted_by"] == "index"
    assert found["events"] == 10
    assert found["verdicts"] == {"ACCEPT": 3, "DEGRADE": 1}, "a stop is no decision"
    assert found["kinds"] == {"action": 1, "checkpoint": 2, "decision": 4, "policy": 3}
    assert found["projection"]["state"] == "current"
    chain = found["chain"]
    assert (chain["first_seq"], chain["last_seq"], chain["gaps"], chain["damaged"]) == (1, 10, [], 0)


def test_damaged_founding_and_torn_lines_are_counted_apart(tmp_path: Path) -> None:
    """Lines that the index does not list are read for it: none of them is an event of the chain."""
    path = tmp_path / "decision.ndjson"
    founding = b'{"run_id":"old","stage":"CANARY_10","decision":"REJECT"}\n'
    path.write_bytes(founding)
    ledger = ledger_at(path)
    ledger.append([decision("a"), stop("a")], expect=None, actor="t")
    ledger.close()
    with path.open("ab") as log:
        log.write(b"{damaged\n\n" + b'{"torn')
    found = both(path)
    assert found["counted_by"] == "lines"
    assert (found["events"], found["chain"]["damaged"], found["chain"]["unchained"]) == (2, 1, 1)
    assert found["chain"]["torn"]
    assert found["verdicts"] == {"ACCEPT": 1, "REJECT": 1}


def test_missing_seqs_are_named(tmp_path: Path) -> None:
    """At the beginning, and between two files."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    files_in_order(path)[1].unlink()
    first = files_in_order(path)[0]
    first.write_bytes(first.read_bytes().split(b"\n", 2)[2])
    lose_state(path)
    assert both(path)["chain"]["gaps"] == [{"from_seq": 1, "to_seq": 2}, {"from_seq": 6, "to_seq": 8}]


def test_a_state_that_lags_is_said_to(tmp_path: Path) -> None:
    """As it was found, before it was brought level for the answer."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    ledger.close()
    state = state_of(path)
    ledger = ledger_at(path)
    ledger.append([stop("a")], expect=None, actor="t")
    ledger.close()
    put_state_back(path, state)
    found_stat = statistics([str(path)])
    assert (found_stat["projection"]["state"], found_stat["events"]) == ("behind", 2)
    assert found_stat["projection"]["size_bytes"] > 0


def test_a_damaged_state_is_said_to_be(tmp_path: Path) -> None:
    """It is left as it is, and the lines are counted."""
    path = tmp_path / "decision.ndjson"
    ledger_at(path).append([decision("a")], expect=None, actor="t")
    lose_state(path)
    (tmp_path / "decision.ndjson.db").write_bytes(b"no database" * 100)
    found = statistics([str(path)])
    assert (found["projection"]["state"], found["counted_by"], found["events"]) == ("unusable", "lines", 1)


def test_a_log_that_is_not_there_has_no_statistics(tmp_path: Path) -> None:
    """An error, no zeros."""
    with pytest.raises(LogError):
        statistics([str(tmp_path / "nowhere")])


def test_segments_that_were_brought_back_are_counted(tmp_path: Path) -> None:
    """The state began from a head, so its index knows nothing of them: they are read."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    lose_state(path)
    sealed = files_in_order(path)[:-1]
    contents = [file.read_bytes() for file in sealed]
    for file in sealed:
        file.unlink()
    ledger_at(path).view()
    assert statistics([str(path)])["counted_by"] == "index"
    for file, content in zip(sealed, contents, strict=True):
        file.write_bytes(content)
    found = statistics([str(path)])
    assert (found["counted_by"], found["events"]) == ("lines", 10)
