# SPDX-License-Identifier: BSD-2-Clause
"""`sampled(every=n)`: of a sweep, every n-th item belongs in `make test`; the others are slow.

Items count in the order of collection within their test, so the sample is the same everywhere.
Choose an n that shares no factor with the inner dimension of a sweep in several, so that every
value of each comes up; or the size of the inner one, to keep one item of every outer value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark what `make test-whole` runs, and of sweeps all that no sample takes."""
    seen: Counter[str] = Counter()
    for item in items:
        marks = {mark.name: mark for mark in item.iter_markers()}
        is_slow = "whole" in marks
        if sampled := marks.get("sampled"):
            sweep = item.nodeid.partition("[")[0]
            is_slow |= seen[sweep] % sampled.kwargs["every"] != 0
            seen[sweep] += 1
        if is_slow:
            item.add_marker(pytest.mark.slow)
