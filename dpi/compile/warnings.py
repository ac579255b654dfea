# SPDX-License-Identifier: BSD-2-Clause
"""Picks out of a build's log the warnings after which another circuit may be simulated."""

import re
from collections import Counter
from collections.abc import Collection

from roceproof.dpi.manifest.circuit import MEANINGFUL_WARNINGS

_WARNING = re.compile(rf"^%Warning-({'|'.join(MEANINGFUL_WARNINGS)}): (.*)", re.MULTILINE)


def meaningful_warnings(log: str, accepted: Collection[str] = ()) -> list[str]:
    """A line for each kind that is not accepted: how many, and where the first is."""
    found = [(kind, place) for kind, place in _WARNING.findall(log) if kind not in accepted]
    counts, first = Counter(kind for kind, _ in found), dict(reversed(found))
    return [f"{kind}, {count} times, first: {first[kind]}" for kind, count in counts.items()]
