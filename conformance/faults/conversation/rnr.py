# SPDX-License-Identifier: BSD-2-Clause
"""The waits that RNR timer codes stand for."""

_HUNDREDTHS_MS = (
    *(65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    *(384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152),
)
_NS_PER_HUNDREDTH_MS = 10_000


def wait_ns(code: int) -> int:
    """The least time between an RNR NAK with that code and the next attempt."""
    return _HUNDREDTHS_MS[code] * _NS_PER_HUNDREDTH_MS
