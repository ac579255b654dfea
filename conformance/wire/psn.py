# SPDX-License-Identifier: BSD-2-Clause
"""Packet sequence numbers: 24 bits, one per packet of a message, and their order."""

PSN_MODULUS = 1 << 24


def packet_count(length: int, path_mtu: int) -> int:
    """Packets, and so PSNs, of a message; an empty message takes one, too."""
    return max(1, -(-length // path_mtu))


def distance(psn: int, base: int) -> int:
    """`psn - base` modulo 2^24 as a signed number, -2^23 to 2^23 - 1."""
    return ((psn - base + (PSN_MODULUS >> 1)) % PSN_MODULUS) - (PSN_MODULUS >> 1)
