# SPDX-License-Identifier: BSD-2-Clause
"""What a capture says of where it was taken: at the port of a simulated device, or not.

The bridge and the suite write it into the section comment: a line `roceproof VERSION` and, of a
simulated device, a line `dut NAME`.
"""

from collections.abc import Collection
from enum import Enum
from pathlib import Path

from roceproof.conformance.capture import STDIN
from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow, Record

SIMULATED = "dut "
_OURS = "roceproof "


class Origin(Enum):
    UNKNOWN = "unknown"
    SENT = "sent"
    """Driven by a simulated device into the port that captured them."""
    GIVEN = "given"
    """Given to a simulated device."""


def origin_of(record: Record) -> Origin:
    """What the capture says of one packet."""
    if not _is_simulated(record):
        return Origin.UNKNOWN
    return {Flow.OUTBOUND: Origin.SENT, Flow.INBOUND: Origin.GIVEN}.get(record.flow, Origin.UNKNOWN)


def common_origin(path: Path | str, numbers: Collection[int]) -> Origin:
    """Where all the numbered packets of a file stem from; unknown if that differs, or of a pipe."""
    if str(path) == STDIN or not Path(path).is_file() or not numbers:
        return Origin.UNKNOWN
    wanted = set(numbers)
    last = max(numbers)
    origins = set()
    for record in read(path):
        if record.number in wanted or not _is_simulated(record):
            origins.add(origin_of(record))
        if len(origins) > 1 or Origin.UNKNOWN in origins or record.number >= last:
            break
    return origins.pop() if len(origins) == 1 else Origin.UNKNOWN


def _is_simulated(record: Record) -> bool:
    first, *lines = record.section.splitlines() or [""]
    return first.startswith(_OURS) and any(line.startswith(SIMULATED) for line in lines)
