# SPDX-License-Identifier: BSD-2-Clause
"""Writes frames as a classic pcap: little endian, Ethernet, nanosecond or microsecond stamps."""

from collections.abc import Iterable
from pathlib import Path
from struct import pack

_NANOSECOND_MAGIC, _MICROSECOND_MAGIC = 0xA1B23C4D, 0xA1B2C3D4
_SNAP_LENGTH, _ETHERNET = 1 << 18, 1
_NS_PER_S = 10**9


def write_pcap(path: Path, frames: Iterable[tuple[int, bytes]], *, ns: bool = True) -> None:
    """Write (time in nanoseconds, frame) pairs in their order; without `ns` times are cut to µs."""
    magic = _NANOSECOND_MAGIC if ns else _MICROSECOND_MAGIC
    tick = 1 if ns else 1000
    with path.open("wb") as file:
        file.write(pack("<IHHiIII", magic, 2, 4, 0, 0, _SNAP_LENGTH, _ETHERNET))
        for time_ns, frame in frames:
            seconds, rest = divmod(time_ns, _NS_PER_S)
            file.write(pack("<IIII", seconds, rest // tick, len(frame), len(frame)) + frame)
