# SPDX-License-Identifier: BSD-2-Clause
"""How a request names memory of the device."""

from __future__ import annotations

from roceproof.verbs.work import Region


def at(region: Region, offset: int = 0) -> dict[str, int]:
    """The address and key of a place in a region: `WRITE_ONLY(psn=0, **at(region, 8))`."""
    return {"va": (region.addr + offset) % (1 << 64), "rkey": region.rkey}
