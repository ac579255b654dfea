# SPDX-License-Identifier: BSD-2-Clause
"""What the mutants are tried with on the receive side: responses, failures, other stations.

Where a response must not count, the mark behind it tells whether it did before the right one came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from zlib import crc32

from endpoint_bench import PEER_IPV4, PEER_MAC, PORT_IPV4, qp
from mutant_device import Device

from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.ip import checksum
from roceproof.dpi import Flow
from roceproof.dpi.contract.records import Operation, QpConfig
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

FATAL = (0x60, 0x61, 0x62, 0x63, 0x20, 0x3F)
RESERVED = (0x40, 0x5F, 0x64, 0x7F, 0x80, 0x9F)
OWN_IPV4, ITS_IPV4 = (parse_gid(address)[-4:] for address in (PORT_IPV4, PEER_IPV4))
ITS_MAC = parse_mac(PEER_MAC)
MASKED = (15, 22, 24, 25, 40, 41, 46)


def patched(frame: bytes, *, masked: tuple[int, ...] = MASKED, **places: int) -> bytes:
    """An ACK with other bytes at places p0, p1, ... and checksum and ICRC made to fit."""
    bent = bytearray(frame)
    for name, value in places.items():
        bent[int(name[1:])] = value
    bent[24:26] = bytes(2)
    bent[24:26] = checksum(bytes(bent[14:34])).to_bytes(2, "big")
    covered = bytearray(b"\xff" * 8 + bent[14:58])
    for place in masked:
        covered[place - 6] = 0xFF
    return bytes(bent[:58]) + crc32(covered).to_bytes(4, "little") + bytes(bent[62:])


def corrupted(ack: bytes) -> Iterator[bytes]:
    """One ACK in many forms; some count, most do not."""
    bad_checksum = bytearray(ack)
    bad_checksum[24] ^= 0x55
    yield bytes(bad_checksum)
    yield ack[:-1] + bytes((ack[-1] ^ 0x80,))
    yield patched(ack, p22=1)  # TTL
    yield patched(ack, p15=0x03)  # TOS
    yield patched(ack, p46=0xC0)  # FECN and BECN
    yield patched(ack, p46=0x3F)  # the bits beside them
    yield patched(ack, p50=0x7F)  # the bits beside AckReq
    yield patched(ack, p43=0x00)  # MigReq
    yield patched(ack, p43=0x41)  # TVer
    yield patched(ack, p44=0x7F)  # P_Key
    yield patched(ack, p44=0x12, p45=0x34)
    yield patched(ack, p34=0x10)  # source port
    yield patched(ack, p37=0xB8)  # destination port
    yield patched(ack, masked=())
    yield patched(ack, p16=0, p17=60)  # IP length
    yield patched(ack, p20=0x20)  # More Fragments
    yield patched(ack, p21=0x01)  # fragment offset
    yield patched(ack, p33=99)  # to another address
    yield patched(ack, p29=99)  # from another host
    yield patched(ack, p48=0x01)  # to a QPN with the same context
    yield patched(ack, p42=0x31)  # ACKNOWLEDGE of UC, if there were one
    yield patched(ack, p42=0x04)  # SEND ONLY of four bytes
    yield patched(ack, p42=0x10)  # READ RESPONSE ONLY of no bytes
    yield ack + b"behind the packet"


def foreign_responses(device: Device) -> None:
    """One corrupted ACK after the other, each followed by the right one."""
    config = qp(0)
    device.activate(config)
    for index in range(len(list(corrupted(bytes(62))))):
        device.post(config, Operation.WRITE, 4)
        device.run(128, answering=False)
        ack = device.peer.response(config, config.sq_psn + index)
        device.receive(list(corrupted(ack))[index], ack)
    device.post(config, Operation.WRITE, 4)
    device.run(128, answering=False)
    ack = device.peer.response(config, config.sq_psn + index + 1)
    device.receive(ack, discard=True)
    device.receive(ack)


def with_msn(packet: Packet, msn: int) -> Packet:
    """The response with another message sequence number."""
    (aeth,) = packet.extensions
    assert isinstance(aeth, Aeth)
    return replace(packet, extensions=(Aeth(aeth.syndrome, msn),))


def acknowledgements(device: Device) -> None:
    """ACKs for parts, for several messages, for the past and for the future, with any MSN."""
    for index, start in enumerate((0x123456, 0xFFFFFD, 0x7FFFFD)):
        config = qp(index, sq_psn=start)
        device.activate(config)

        def ack(offset: int, config: QpConfig = config, **fields: int) -> Packet:
            return device.peer.packet(config, config.sq_psn + offset, **fields)

        for length in (10, 700, 0, 20, 30):  # PSNs 0; 1, 2, 3; 4; 5; 6
            device.post(config, Operation.WRITE, length)
        device.run(700, answering=False)
        device.receive(ack(-1), ack(7), ack(1000), with_msn(ack(1), 3), ack(2), ack(4))
        device.receive(ack(3), with_msn(ack(5), 0), with_msn(ack(6), 5))
        for number, code in enumerate((0x00, 0x01, 0x1E)):
            device.post(config, Operation.SEND, 5)
            device.run(128, answering=False)
            device.receive(ack(7 + number, syndrome=code))
    for number, syndrome in enumerate(RESERVED):
        device.post(config, Operation.SEND, 5)
        device.run(128, answering=False)
        device.receive(ack(10 + number, syndrome=syndrome), ack(10 + number))


def negative_acknowledgements(device: Device) -> None:
    """Every NAK in the middle of a message, and what its queue pair does then and afterwards."""
    for index, syndrome in enumerate(FATAL):
        config = qp(index)
        device.activate(config)
        for length in (10, 700, 600, 20):  # PSNs 0; 1, 2, 3; 4, 5, 6; 7
            device.post(config, Operation.WRITE, length)
        device.run(700, answering=False)
        for offset in (-1, 8, 1000, 4):
            device.receive(device.peer.packet(config, config.sq_psn + offset, syndrome=syndrome))
        device.post(config, Operation.SEND, 300)
        device.run(400)
        again = qp(index, sq_psn=0x100 * index)
        device.activate(again)
        device.post(again, Operation.SEND, 300)
        device.run(600)


def neighbours(device: Device) -> None:
    """Queue pairs fail and start while another one's long message is being sent."""
    busy, failing, fresh = qp(0, Service.UC, path_mtu=PathMtu.MTU_4096), qp(1), qp(2)
    device.activate(busy, failing)
    device.post(failing, Operation.WRITE, 20)
    device.run(128, answering=False)
    device.post(busy, Operation.WRITE, 30_000)
    device.run(128, answering=False)
    device.activate(fresh)
    device.receive(device.peer.packet(failing, failing.sq_psn, syndrome=0x62))
    device.run(4_500, answering=False)
    device.post(busy, Operation.WRITE, 30_000)
    device.run(64, answering=False)
    device.activate(qp(3))
    device.run(4_500, answering=False)


def hasty_acknowledgements(device: Device) -> None:
    """ACKs that come while completions in front of them keep the accounts waiting."""
    unreliable, reliable = qp(0, Service.UC), qp(1)
    device.activate(unreliable, reliable)
    device.port.flow(Flow(cpl_stall=99))
    for _ in range(12):
        device.post(unreliable, Operation.SEND, 0)
    device.post(reliable, Operation.SEND, 0)
    device.run(256, answering=False)
    device.receive(device.peer.packet(reliable, reliable.sq_psn))
    device.port.flow(Flow())
    device.run(500, answering=False)


def crowded_completions(device: Device) -> None:
    """RC and UC messages that are done at the same time, and nobody who takes their completions."""
    unreliable, reliable = qp(0, Service.UC), qp(1)
    device.activate(unreliable, reliable)
    for _ in range(6):
        device.post(reliable, Operation.SEND, 4)
    device.run(300, answering=False)
    device.port.flow(Flow(cpl_stall=99))
    device.run(128)
    for _ in range(6):
        device.post(unreliable, Operation.SEND, 4)
    device.run(2_500)


def timeouts(device: Device) -> None:
    """Missing ACKs: alone, under load, behind another one, and with the timer off."""
    period = 4 * 4.096
    for index, code in enumerate((2, 0, 2, 2, 2)):
        device.activate(qp(index, ack_timeout=code))
    alone, off, loaded, second, refreshed = (qp(index, ack_timeout=2) for index in range(5))
    for config in (alone, off, second, second, refreshed, refreshed):
        device.post(config, Operation.WRITE, 4)
    device.wait(0.8 * period)
    device.mark("too early")
    device.receive(*(device.peer.packet(config, config.sq_psn) for config in (second, refreshed)))
    device.wait(0.75 * period)
    device.mark("one is over, two go on")
    device.wait(3 * period)
    device.mark("all are over but the one without a timer")
    for _ in range(20):
        device.post(loaded, Operation.WRITE, 4)
        device.wait(0.25 * period)
    device.mark("over under load")


def congestion(device: Device) -> None:
    """CNPs, right and damaged, while PSN 0 is outstanding."""
    config = qp(0, sq_psn=0)
    device.activate(config)
    device.post(config, Operation.WRITE, 4)
    device.run(128, answering=False)
    ack = device.peer.packet(config, 0)
    notification = build(
        replace(
            ack,
            bth=replace(ack.bth, opcode=0x81, becn=True, migreq=False),
            extensions=(),
            payload=bytes(16),
        )
    )
    device.receive(notification[:-1] + b"\0", notification, ack)
    device.post(config, Operation.WRITE, 4)
    device.run(500)


def station(device: Device) -> None:
    """ARP and ping, while sending and behind what the endpoint does not understand."""
    config = qp(0, Service.UC, path_mtu=PathMtu.MTU_4096)
    device.activate(config)
    ask: Callable[[bytes], bytes] = lambda target: device.peer.arp_request(  # noqa: E731
        sender_mac=ITS_MAC, sender_ipv4=ITS_IPV4, target=target
    )
    ping = device.peer.echo(b"ping", sender_mac=ITS_MAC, sender_ipv4=ITS_IPV4)
    device.receive(ask(OWN_IPV4), ask(ITS_IPV4), ping, ask(OWN_IPV4), ping)
    device.port.flow(Flow(tx_stall=80))
    device.post(config, Operation.WRITE, 4096)
    device.run(64)
    device.receive(ask(OWN_IPV4))
    device.port.flow(Flow())
    device.run(1_000)
    device.receive(bytes(9000))
    device.run(1_200)
    device.receive(ping)
    request = parse(
        next(event for event in device.seen if isinstance(event, bytes) and parse(event))
    )
    assert request is not None
    foreign = build(
        replace(device.peer.packet(config, 0), bth=replace(request.bth, opcode=0x04), extensions=())
    )
    for _ in range(20):
        device.port.inject(foreign)
    device.run(600)
    device.receive(ping, ask(OWN_IPV4))


RESPONSES = (
    foreign_responses,
    acknowledgements,
    negative_acknowledgements,
    neighbours,
    hasty_acknowledgements,
    crowded_completions,
    timeouts,
    congestion,
    station,
)
