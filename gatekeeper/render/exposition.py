"""Metrics in Prometheus' text format, as a textfile collector or a Pushgateway takes them.

Source: the text-based exposition format 0.0.4: `# HELP`, `# TYPE`, one sample a line, no time stamps, a newline at the
end. Label values escape backslash, quote and line feed.
"""

from __future__ import annotations

from gatekeeper.model.canonical import number_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    class Family(Protocol):
        """A metric with its samples."""

        name: str
        type: str
        help: str
        samples: list[tuple[dict[str, str], float]]


def exposition(families: Iterable[Family]) -> str:
    """All families, each with its HELP and TYPE, those without a sample too."""
    lines: list[str] = []
    for family in families:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.type}"]
        lines += [f"{family.name}{_labels(labels)} {number_text(float(value))}" for labels, value in family.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
