# SPDX-License-Identifier: BSD-2-Clause
"""Packet sequence numbers: 24 bits, one per packet of a message."""

PSN_MODULUS = 1 << 24


def packet_count(length: int, path_mtu: int) -> int:
    """Packets, and so PSNs, of a message; an empty message takes one, too."""
    return max(1, -(-length // path_mtu))
