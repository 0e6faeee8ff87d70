"""`python -m gatekeeper`, the same as the console script."""

from __future__ import annotations

from gatekeeper.cli.app import main

if __name__ == "__main__":
    main()
