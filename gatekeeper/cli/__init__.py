"""The command line: parse, one call, render, leave with the code that SPEC 8 gives it.

`tables/` declares every command and option once. `parse` (no typer) and `typer_app` (help, errors,
completion) both read that declaration; `app` is the one boundary that owns exit codes.
"""
