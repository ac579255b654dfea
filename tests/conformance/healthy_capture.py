# SPDX-License-Identifier: BSD-2-Clause
"""Small healthy captures for the checker's tests, and tools to corrupt them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    Bth,
    CnpReserved,
    Deth,
    Extension,
    ImmDt,
    Reth,
)
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.conformance.wire.opcodes import OPCODES, Position

SENDER, RECEIVER = bytes((192, 168, 1, 1)), bytes((192, 168, 1, 2))
PATH_MTU = 256
UC = 0x20

SEND, SEND_IMM, WRITE, WRITE_IMM = (
    (0x00, 0x01, 0x02, 0x04),
    (0x00, 0x01, 0x03, 0x05),
    (0x06, 0x07, 0x08, 0x0A),
    (0x06, 0x07, 0x09, 0x0B),
)


@dataclass
class Sender:
    """A correct requester of one QP, written for the tests."""

    service: int = 0
    psn: int = 100
    qpn: int = 0x11
    ident: int = field(default=7)

    def packet(self, opcode: int, payload: bytes = b"", *extensions: Extension) -> Packet:
        row = OPCODES[opcode]
        packet = Packet(
            dst_mac=bytes.fromhex("020000000002"),
            src_mac=bytes.fromhex("020000000001"),
            ip=Ipv4(SENDER, RECEIVER, tos=0x6A, ident=self.ident),
            udp_sport=0xC0DE,
            bth=Bth(
                opcode,
                self.qpn,
                self.psn,
                ack_req=opcode < UC and bool(row.position & Position.LAST),
            ),
            extensions=extensions,
            payload=payload,
        )
        self.psn = (self.psn + 1) % (1 << 24)
        self.ident += 1
        return packet

    def message(self, opcodes: Sequence[int], length: int, imm: int = 0xCAFEBABE) -> list[Packet]:
        payload = bytes((i * 7 + 1) % 255 + 1 for i in range(length))
        first, middle, last, only = (opcode | self.service for opcode in opcodes)
        chunks = [payload[i : i + PATH_MTU] for i in range(0, length, PATH_MTU)] or [b""]
        packets = []
        for i, chunk in enumerate(chunks):
            ends = i == len(chunks) - 1
            opcode = (only if ends else first) if i == 0 else (last if ends else middle)
            headers = [
                Reth(0x7F00_1234_5600, 0xABCD, length) if kind is Reth else ImmDt(imm)
                for kind in OPCODES[opcode].headers
            ]
            packets.append(self.packet(opcode, chunk, *headers))
        return packets

    def read(self, length: int, address: int = 0x1000) -> Packet:
        """A READ REQUEST; the PSNs of its responses are passed over."""
        packet = self.packet(0x0C, b"", Reth(address, 0xABCD, length))
        self.psn = (packet.bth.psn + max(1, -(-length // PATH_MTU))) % (1 << 24)
        return packet

    def fetch_add(self) -> Packet:
        return self.packet(0x14, b"", AtomicEth(0x1000, 0xABCD, 1, 0))


def answer(opcode: int, psn: int, msn: int, size: int = 0) -> Packet:
    """A READ response or ATOMIC ACK."""
    extensions: tuple[Extension, ...] = () if opcode == 0x0E else (Aeth(0x1F, msn),)
    extensions += (AtomicAckEth(7),) if opcode == 0x12 else ()
    return replace(ack(psn, msn, opcode=opcode), extensions=extensions, payload=bytes(size))


def ack(psn: int, msn: int, *, syndrome: int = 0x1F, opcode: int = 0x11) -> Packet:
    return Packet(
        dst_mac=bytes.fromhex("020000000001"),
        src_mac=bytes.fromhex("020000000002"),
        ip=Ipv4(RECEIVER, SENDER),
        udp_sport=0xC001,
        bth=Bth(opcode, 0x21, psn),
        extensions=(Aeth(syndrome, msn),),
    )


def frames_of(packets: Sequence[Packet]) -> list[bytes]:
    return [build(packet) for packet in packets]


def with_ip_checksum(frame: bytes) -> bytes:
    blank = frame[:24] + b"\0\0" + frame[26:]
    end = 14 + 4 * (frame[14] & 15)
    return frame[:24] + checksum(blank[14:end]).to_bytes(2, "big") + frame[26:]


def poke(frame: bytes, offset: int, data: bytes, *, seal: bool = True) -> bytes:
    """Overwrite bytes of an untagged IPv4 frame and make the rest right again."""
    bent = with_ip_checksum(frame[:offset] + data + frame[offset + len(data) :])
    return icrc.reseal(bent) if seal else bent


def body(frame: bytes, change: Callable[[bytes], bytes], *, seal: bool = True) -> bytes:
    """Replace BTH to pad, and make lengths and ICRC right again."""
    packet = parse(frame)
    assert packet is not None
    end = len(frame) - len(packet.trailer) - 4
    middle = change(frame[42:end])
    udp_length = 8 + len(middle) + 4
    bent = frame[:42] + middle + bytes(4)
    bent = bent[:16] + (20 + udp_length).to_bytes(2, "big") + bent[18:]
    bent = bent[:38] + udp_length.to_bytes(2, "big") + bent[40:]
    bent = with_ip_checksum(bent)
    return (icrc.reseal(bent) if seal else bent).ljust(60, b"\0")


def with_bth(packet: Packet, **changes: object) -> Packet:
    return replace(packet, bth=replace(packet.bth, **changes))  # type: ignore[arg-type]


def one_send(length: int = 8) -> bytes:
    return frames_of(Sender().message(SEND, length))[0]


def one_write(length: int = 8) -> bytes:
    return frames_of(Sender().message(WRITE, length))[0]


def datagram(length: int, *, qpn: int = 0x11, qkey: int = 0x1234, source: int = 0x21) -> Packet:
    packet = Sender(qpn=qpn).packet(0x64, bytes(length), Deth(qkey, source))
    return with_bth(packet, ack_req=False)


def cnp(**changes: object) -> Packet:
    """A CNP for the QP that `ack` goes to."""
    packet = Sender(qpn=0x11, psn=0).packet(0x81, b"", CnpReserved())
    return with_bth(packet, **{"ack_req": False, "becn": True, "migreq": False, **changes})
