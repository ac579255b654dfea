# SPDX-License-Identifier: BSD-2-Clause
"""What the codes in AETHs and queue pair attributes stand for: syndromes, credits, times.

Times are in nanoseconds. Tables are those of the InfiniBand Architecture.
"""

from bisect import bisect_right
from enum import IntEnum

NO_CREDITS = 31
"""The credit code that says: no end-to-end flow control."""

_ACK_TIMEOUT_UNIT_NS = 4096
_HUNDREDTH_MS = 10_000

# fmt: off
_RNR_HUNDREDTHS_MS = (
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
)
_CREDITS = (
    0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
)
# fmt: on


class AethType(IntEnum):
    """Bits 7:5 of a syndrome; values above these are reserved, as RESERVED is."""

    ACK = 0
    RNR_NAK = 1
    RESERVED = 2
    NAK = 3


class NakCode(IntEnum):
    """Bits 4:0 of a syndrome of type NAK."""

    PSN_SEQUENCE_ERROR = 0
    INVALID_REQUEST = 1
    REMOTE_ACCESS_ERROR = 2
    REMOTE_OPERATIONAL_ERROR = 3


def syndrome(kind: AethType, value: int) -> int:
    """The byte that says `value` of that type."""
    return kind << 5 | value


def ack_timeout_ns(code: int) -> int | None:
    """T of a local ACK timeout code, None if it disables the timer."""
    return _ACK_TIMEOUT_UNIT_NS << code if code else None


def rnr_wait_ns(code: int) -> int:
    """The least time between an RNR NAK with that timer code and the next attempt."""
    return _RNR_HUNDREDTHS_MS[code] * _HUNDREDTH_MS


def credits_of(code: int) -> int | None:
    """How many messages may follow the one that the MSN names; None for any number."""
    return None if code == NO_CREDITS else _CREDITS[code]


def credit_code(count: int) -> int:
    """The greatest code that promises no more than `count` credits."""
    return bisect_right(_CREDITS, count) - 1
