"""What each exit code of the process means (SPEC 8): for `--help`, and for the contract that is kept of it."""

from __future__ import annotations

MEANINGS = {
    0: "ACCEPT, or success",
    1: "REJECT",
    2: "DEGRADE (hold)",
    3: "evaluated and not recorded (--dry-run), any verdict",
    10: "a review found what it was told to find",
    64: "wrong usage",
    65: "input refused (policy, snapshot, log, token, stage)",
    69: "a service cannot be reached",
    70: "a bug in gatekeeper",
    74: "the log could not be written or read",
    130: "Ctrl-C",
    143: "SIGTERM",
}
"""Each code means one thing; 0, 1 and 2 are verdicts and nothing else."""


def listed() -> str:
    """One line a code, as `gatekeeper --help` ends."""
    return "\n".join(f"  {code:<3} {meaning}" for code, meaning in MEANINGS.items())
