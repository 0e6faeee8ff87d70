"""Hello world, as the documentation of typer has it: what a modern command line costs at least."""

from __future__ import annotations

import typer

app = typer.Typer(add_completion=False)


@app.command()
def hello(name: str = "world") -> None:
    """Greet somebody."""
    print(f"Hello {name}")


app()
