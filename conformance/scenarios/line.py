# SPDX-License-Identifier: BSD-2-Clause
"""What a message takes on the line, by the one measure that all scenarios are judged by.

Each packet is charged with all its line time: 58 bytes of Ethernet, IPv4, UDP, BTH and ICRC, the
FCS, and 20 of preamble and gap; the first of a message carries a RETH, the last an immediate.
"""

AROUND_FRAME = 4 + 20
"""FCS, preamble and gap, which a frame as devices give it lacks."""
PER_PACKET = 14 + 20 + 8 + 12 + 4 + AROUND_FRAME
RETH = 16
IMMEDIATE = 4
DETH = 8


def packets(size: int, mtu: int) -> int:
    """How many packets a message of so many bytes takes."""
    return max(1, -(-size // mtu))


def line_bytes(size: int, mtu: int, *, immediate: bool = False) -> int:
    """The bytes of line time that one RDMA WRITE takes."""
    padded = size + -size % 4
    return padded + packets(size, mtu) * PER_PACKET + RETH + immediate * IMMEDIATE


def efficiency(size: int, mtu: int, *, immediate: bool = False) -> float:
    """Payload per byte of line time."""
    return size / line_bytes(size, mtu, immediate=immediate)


def windowed(rate: float, rtt: float, *, size: int, depth: int, mtu: int) -> float:
    """The goodput of RC in bits a second, where only a message that is acknowledged frees its slot.

    `rate` is the narrowest line's in bits a second, `rtt` the time of an empty round trip in
    seconds.
    """
    full = rate * efficiency(size, mtu)
    return min(full, 8 * size * depth / (rtt + 8 * size / full))
