"""The program ``synth``, which is included in the package."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command of the command line, and exit with its exit code."""
    from . import _core

    # Ctrl-C is handled by the program, as in a shell. If there are no results yet, it ends immediately.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.main(sys.argv[1:]))
