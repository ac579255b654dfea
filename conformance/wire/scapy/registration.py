# SPDX-License-Identifier: BSD-2-Clause
"""Switch these layers on and off in Scapy's dissection, and make packets anew.

Only what Scapy makes of received bytes depends on this. Our bindings go in front
of others, Scapy's own RoCE layers and any that go by source port, and removing
them leaves Scapy as it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scapy.contrib import roce
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Padding

from roceproof.conformance.wire.framing import ROCE_UDP_PORT
from roceproof.conformance.wire.scapy.bth import BTH
from roceproof.conformance.wire.scapy.grh import ETHER_ROCE_V1, GRH

ETHER_OLD_QINQ = 0x9100

_BINDINGS: tuple[tuple[type[Packet], dict[str, int], type[Packet]], ...] = (
    (Ether, {"type": ETHER_ROCE_V1}, GRH),
    (Dot1Q, {"type": ETHER_ROCE_V1}, GRH),
    (Dot1AD, {"type": ETHER_ROCE_V1}, GRH),
    (Ether, {"type": ETHER_OLD_QINQ}, Dot1Q),
    (Dot1Q, {"type": ETHER_OLD_QINQ}, Dot1Q),
    (UDP, {"dport": ROCE_UDP_PORT}, BTH),
)

_DERIVED: tuple[tuple[type[Packet], tuple[str, ...]], ...] = (
    (IP, ("ihl", "len", "chksum")),
    (IPv6, ("plen",)),
    (GRH, ("paylen",)),
    (UDP, ("len", "chksum")),
    (roce.BTH, ("padcount", "pad", "icrc")),
)


def register() -> None:
    """Let Scapy dissect RoCE with these layers; a second call changes nothing."""
    unregister()
    for lower, condition, upper in _BINDINGS:
        lower.payload_guess.insert(0, (condition, upper))


def unregister() -> None:
    """Undo `register`; without one, change nothing."""
    for lower, condition, upper in _BINDINGS:
        # In place, because Scapy shares the list between a class and its layers.
        lower.payload_guess[:] = [
            guess for guess in lower.payload_guess if not _is(guess, condition, upper)
        ]


def _is(guess: tuple[Any, Any], condition: dict[str, int], upper: type[Packet]) -> bool:
    return guess[0] is condition and guess[1] is upper


@contextmanager
def registered() -> Iterator[None]:
    """Register for the length of a block."""
    register()
    try:
        yield
    finally:
        unregister()


def refresh(packet: Packet) -> Packet:
    """A copy in which lengths, checksums, pads and ICRC follow from the rest again."""
    copy: Packet = packet.copy()
    if Padding in copy:
        copy[Padding].underlayer.remove_payload()
    for layer in copy.iterpayloads():
        for kind, fields in _DERIVED:
            if isinstance(layer, kind):
                for field in fields:
                    layer.delfieldval(field)
    return copy
