# SPDX-License-Identifier: BSD-2-Clause
"""How long a process could have run and had no processor: what a busy host adds to every wait."""

from contextlib import suppress
from pathlib import Path

_RAN, _WAITED = 0, 1


def held_up_ns(pid: int | str = "self") -> int:
    """Return what all threads of a process have waited so far; 0 where the kernel does not say."""
    return _sum_of(pid, _WAITED)


def ran_ns(pid: int | str = "self") -> int:
    """Return the processor time of all threads of a process; 0 where the kernel does not say."""
    return _sum_of(pid, _RAN)


def _sum_of(pid: int | str, column: int) -> int:
    total = 0
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            total += int((thread / "schedstat").read_text().split()[column])
    return total
