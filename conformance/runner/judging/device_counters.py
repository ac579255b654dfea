# SPDX-License-Identifier: BSD-2-Clause
"""What a real device has counted while a case ran: why it dropped what it dropped in silence."""

from collections.abc import Mapping

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import TargetError

COUNTERS = "counters"


def counters_of(bench: Bench, *, wanted: bool) -> Mapping[str, int]:
    """The counters now; none of a device that has none, or has died."""
    if not wanted or Capability.COUNTERS not in bench.claims.capabilities:
        return {}
    try:
        return bench.target.counters()
    except TargetError:
        return {}


def note_counters(item: pytest.Item, bench: Bench, before: Mapping[str, int]) -> None:
    """Keep by how much each counter grew as a property of the case."""
    after = counters_of(bench, wanted=bool(before))
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    words = [f"{name}+{by}" for name, by in sorted(grown.items()) if by]
    if words:
        item.user_properties.append((COUNTERS, " ".join(words)))
