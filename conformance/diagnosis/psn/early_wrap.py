# SPDX-License-Identifier: BSD-2-Clause
"""PSN counters with fewer than 24 bits, but for those of P04."""

_WIDTHS = range(17, 24)


def wraps_early(before: int, after: int, span: int = 1) -> bool:
    """Whether a step loses the carry out of some bit in the middle of a PSN.

    What is said to span the whole range of such a counter is a READ whose length suffered.
    """
    for bits in _WIDTHS:
        size = 1 << bits
        base, low = before - before % size, before % size + span
        if span < size <= low and after == base + low % size:
            return True
    return False
