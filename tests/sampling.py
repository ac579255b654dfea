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


def mark_whole_suites(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what `make test-whole` runs."""
    for item in items:
        if item.get_closest_marker("whole"):
            item.add_marker(pytest.mark.slow)


def mark_all_but_samples(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what no sample takes."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is None:
            continue
        sweep = item.nodeid.partition("[")[0]
        if seen[sweep] % marker.kwargs["every"]:
            item.add_marker(pytest.mark.slow)
        seen[sweep] += 1
