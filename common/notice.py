# SPDX-License-Identifier: BSD-2-Clause
"""One line on stderr about something that was noticed and does not stop the command."""

import sys

from roceproof.common.printable import printable_lines


def notice(text: str) -> None:
    """Say it, also when quiet: results would puzzle, or time pass, without it."""
    print(printable_lines(f"roceproof: {text}"), file=sys.stderr, flush=True)
