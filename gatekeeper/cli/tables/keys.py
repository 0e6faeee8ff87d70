"""Options of commands that check a signed checkpoint."""

from __future__ import annotations

from gatekeeper.cli.spec import Option


def public_key(*, requires: tuple[str, ...] = (), required: bool = False) -> Option:
    """`--public-key`: whose signature counts."""
    return Option(
        "public_key",
        "--public-key",
        kind="sentence",
        metavar="FILE|KEY",
        repeat=True,
        required=required,
        requires=requires,
        help="The key whose signature counts: a .pub file, a PEM file, or text like NAME+ID+BASE64.",
    )


def origin(*, requires: tuple[str, ...] = ()) -> Option:
    """`--origin`: of which log."""
    return Option(
        "origin",
        "--origin",
        kind="sentence",
        metavar="NAME",
        requires=requires,
        help="The log that was signed; an SSH key has no name, so without this it counts for whatever log is stated.",
    )
