"""The program ``synth``: the whole command line comes with the package."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    from . import _core

    # Ctrl-C is the program's own, as in a shell: before there is something to tell, it ends at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.main(sys.argv[1:]))
