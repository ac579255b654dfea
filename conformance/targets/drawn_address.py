# SPDX-License-Identifier: BSD-2-Clause
"""The own MAC and IPv4 address of a device that lets the bench choose: another in every case.

A device that has its address wired in, compares only some of its bits or takes others' prefixes
for its own is wrong wherever the address is not the usual one.
"""

from random import Random

from roceproof.verbs.addresses import Host

USUAL = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
"""Of a device whose address does not matter."""

PEERS_LAST_BYTES = tuple(range(102, 107))
"""Of the hosts that the suite plays, in whatever network."""

_TOP = 0x80  # what `ping` changes of an address to ask for somebody else's
_TAKEN = {last ^ flip for last in PEERS_LAST_BYTES for flip in (0, _TOP)} | {0, 0x80, 0x7F, 0xFF}
_NETWORKS = (
    lambda draw: (192, 168, draw.randrange(256)),
    lambda draw: (172, draw.randrange(16, 32), draw.randrange(256)),
    lambda draw: (10, draw.randrange(256), draw.randrange(256)),
    lambda draw: (draw.randrange(128, 224), draw.randrange(256), draw.randrange(256)),
)
_GROUP = 0x01  # of a MAC's first byte
_GLOBAL = bytes.fromhex("20010db8")  # in front of IPv6 addresses in examples (RFC 3849)


def drawn_address(seed: int) -> Host:
    draw = Random(f"own address {seed}")
    mac = bytes([draw.randrange(256) & ~_GROUP]) + draw.randbytes(5)
    last = draw.choice([last for last in range(1, 255) if last not in _TAKEN])
    return Host(mac, bytes((*draw.choice(_NETWORKS)(draw), last)))


def drawn_peer(device: Host, index: int, seed: int) -> Host:
    """A host of the suite: in the device's network or, as often, in another one.

    Routers lie between them then, and of those a device only knows the next hop's MAC.
    """
    draw = Random(f"peer {index} {device.ip.hex()} {seed}")
    mac = bytes([draw.randrange(256) & ~_GROUP]) + draw.randbytes(4) + bytes([0xB0 + index])
    last = PEERS_LAST_BYTES[index]
    if draw.random() < 0.5:
        return Host(mac, device.ip[:-1] + bytes([last]))
    if len(device.ip) == 16:
        return Host(mac, _GLOBAL + draw.randbytes(11) + bytes([last]))
    return Host(mac, bytes((*draw.choice(_NETWORKS)(draw), last)))
