# SPDX-License-Identifier: BSD-2-Clause
"""Where the console command begins: a Ctrl-C while Python still loads it ends it without a word."""

from __future__ import annotations

import gc
import signal


def main() -> None:
    """Load the command and run it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from roceproof.main import main as command

    try:
        command()
    finally:
        gc.freeze()  # what is left is not searched for garbage once more
