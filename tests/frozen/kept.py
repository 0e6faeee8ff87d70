"""The contract as it is kept in docs/contract: one sorted JSON file a subject, and the release that it is of."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "docs", "contract")

_RELEASE = "release.json"
_WIDTH = 116


@dataclass(frozen=True)
class Contract:
    """What is promised about one subject, at one moment.

    Attributes:
        subject: its name, and that of its file.
        version: the format's version; a break raises it.
        content: the promise, as JSON.
    """

    subject: str
    version: int
    content: Any

    def text(self) -> str:
        """As its file has it."""
        return _text({"subject": self.subject, "format_version": self.version, "contract": self.content})


def read(folder: str = FOLDER) -> dict[str, Contract]:
    """Subject -> its kept contract. Raises OSError or ValueError where the folder cannot be read."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json") and name != _RELEASE:
            document = _load(os.path.join(folder, name))
            found[document["subject"]] = Contract(document["subject"], document["format_version"], document["contract"])
    return found


def read_release(folder: str = FOLDER) -> str:
    """The release whose contract is kept."""
    release: str = _load(os.path.join(folder, _RELEASE))["release"]
    return release


def write(contracts: dict[str, Contract], release: str, folder: str = FOLDER) -> list[str]:
    """Keep these; the names of the files that have changed."""
    texts = {f"{subject}.json": contract.text() for subject, contract in contracts.items()}
    texts[_RELEASE] = _text({"release": release})
    return sorted(name for name, text in texts.items() if _write(os.path.join(folder, name), text))


def _write(path: str, text: str) -> bool:
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def _load(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _text(document: dict[str, Any]) -> str:
    """The head of the file first, the rest in order."""
    members = (f"  {json.dumps(key)}: {_laid_out(value, 2)}" for key, value in document.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def _laid_out(value: Any, indent: int) -> str:
    """JSON with its keys in order; what fits into one line stands in one, so that a change is one line, too."""
    flat = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if len(flat) <= _WIDTH - indent or not isinstance(value, (dict, list)):
        return flat
    inner, end = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(value, dict):
        members = (
            f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value[key], indent + 2)}" for key in sorted(value)
        )
        return "{" + inner + f",{inner}".join(members) + end + "}"
    return "[" + inner + f",{inner}".join(_laid_out(one, indent + 2) for one in value) + end + "]"
