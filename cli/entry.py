# SPDX-License-Identifier: BSD-2-Clause
"""Where the console command begins: a Ctrl-C while Python still loads it ends it without a word."""

import gc
import signal

_OBJECTS_BETWEEN_SEARCHES = 50_000
"""A capture becomes many objects and no cycles: the interpreter's own 700 costs a tenth."""


def main() -> None:
    """Load the command and run it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    from roceproof.cli.console.main import main as command

    try:
        command()
    finally:
        gc.freeze()  # what is left is not searched for garbage once more
