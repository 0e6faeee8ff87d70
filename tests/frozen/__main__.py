"""Cut the contract of a release: `make contract`, which is `python -m tests.frozen`.

Rewrites docs/contract from the code. Refuses, and writes nothing, when something that the last release promised is
broken and the version of its format has not risen. `python -m tests.frozen FOLDER` does it elsewhere.
"""

from __future__ import annotations

import sys

from gatekeeper.version import __version__
from tests.frozen.cutting import cut

if __name__ == "__main__":
    code, text = cut(__version__, *sys.argv[1:2])
    sys.stdout.write(text + "\n")
    sys.exit(code)
