# SPDX-License-Identifier: BSD-2-Clause
"""Arithmetic on packet sequence numbers, and the path MTUs that there are."""

PSN_MODULUS = 1 << 24
PATH_MTUS = (256, 512, 1024, 2048, 4096)
LARGEST_PATH_MTU = PATH_MTUS[-1]
_HALF = PSN_MODULUS // 2


def distance(psn: int, origin: int) -> int:
    """How far a PSN lies ahead of another, as a signed number of 24 bits."""
    return (psn - origin + _HALF) % PSN_MODULUS - _HALF


def ahead(psn: int, steps: int) -> int:
    """The PSN that many steps ahead."""
    return (psn + steps) % PSN_MODULUS


def reversed_bytes(value: int) -> int:
    """A 24-bit value whose bytes have changed places."""
    return int.from_bytes(value.to_bytes(3, "little"), "big")


def packets_of(length: int | None, path_mtu: int | None) -> int | None:
    """How many packets carry a message; None if its length or the path MTU must be known."""
    if length is None:
        return None
    if length <= PATH_MTUS[0]:
        return 1
    return -(-length // path_mtu) if path_mtu else None
