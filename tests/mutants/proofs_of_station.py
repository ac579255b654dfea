# SPDX-License-Identifier: BSD-2-Clause
"""What shows faults of the answers to ARP and ping."""

from __future__ import annotations

from itertools import count

from endpoint_bench import PEER_IPV4, PEER_MAC, PORT_IPV4
from mutant_device import Device
from proofs import proves

from roceproof.conformance.wire.ip import checksum
from roceproof.dpi import Flow
from roceproof.verbs.addresses import parse_gid, parse_mac

OWN_IPV4, ITS_IPV4 = (parse_gid(address)[-4:] for address in (PORT_IPV4, PEER_IPV4))
ITS_MAC = parse_mac(PEER_MAC)


def echo_with(device: Device, data: bytes, *, ttl: int = 64, ident: int = 0x4242) -> bytes:
    """A ping of that TTL."""
    frame = bytearray(device.peer.echo(data, sender_mac=ITS_MAC, sender_ipv4=ITS_IPV4, ident=ident))
    frame[22] = ttl
    frame[24:26] = bytes(2)
    frame[24:26] = checksum(bytes(frame[14:34])).to_bytes(2, "big")
    return bytes(frame)


@proves(
    "residue-echo-of-whole-beats",
    "value-ping-ttl-above-64",
    "value-ping-checksum-carry",
    "depth-ping-buffer",
    "moment-echo-of-half-a-frame",
)
@proves("width-512-echo-keep", width=512)
def pings(device: Device) -> None:
    """Pings of all sizes, from near and far, with every kind of checksum, and two in a row."""
    for data in (bytes(22), bytes(32), bytes(86), device.random.randbytes(9000)):
        device.receive(echo_with(device, data))
        device.run(2_500)
    device.receive(echo_with(device, b"far", ttl=128))
    high = next(
        frame
        for ident in count()
        if (frame := echo_with(device, b"carry", ident=ident))[36] >= 0xF8
    )
    device.receive(high)
    device.port.inject(echo_with(device, b"one"))
    device.port.inject(echo_with(device, device.random.randbytes(2000)))
    device.run(2_000)
    device.mark("one answer")


@proves("width-64-window-of-7-beats")
def pings_with_gaps(device: Device) -> None:
    """Pings whose beats come with gaps."""
    device.port.flow(Flow(rx_gap=50))
    for _ in range(4):
        device.receive(echo_with(device, device.random.randbytes(30)))


@proves("identity-arp-for-net", "identity-arp-from-elsewhere", "life-128-arp-requests")
def arp_requests(device: Device) -> None:
    """ARP for others, from elsewhere, and often."""
    other = bytes((10, 9)) + OWN_IPV4[2:]
    for sender, target in ((ITS_IPV4, other), (bytes((10, 1, 1, 1)), OWN_IPV4)):
        device.receive(
            device.peer.arp_request(sender_mac=ITS_MAC, sender_ipv4=sender, target=target)
        )
    for _ in range(130):
        device.port.inject(
            device.peer.arp_request(sender_mac=ITS_MAC, sender_ipv4=ITS_IPV4, target=OWN_IPV4)
        )
        device.run(64, answering=False)


@proves("moment-arp-asker-overwritten", "width-64-arp-last-beat")
def hasty_arp(device: Device) -> None:
    """ARP requests of two stations while the answers have to wait."""
    device.port.flow(Flow(tx_stall=60))
    for number in range(20):
        for byte in (2, 3):
            device.port.inject(
                device.peer.arp_request(
                    sender_mac=ITS_MAC[:-1] + bytes((byte,)), sender_ipv4=ITS_IPV4, target=OWN_IPV4
                )
            )
        device.run(200 + number, answering=False)
