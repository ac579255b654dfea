# SPDX-License-Identifier: BSD-2-Clause
"""How the values that are compared are read from a packet, relative to where its flow began.

A value that does not apply to a packet is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from roceproof.conformance.review.story import PSN_MODULUS, Step
from roceproof.conformance.wire.headers import AtomicEth, Deth, ImmDt
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import Position, Transport

Value = int | str | bool | None


@dataclass(slots=True)
class Origin:
    """Where PSNs, addresses and the message counter begin; learnt from the first packets."""

    psn: int | None = None
    address: int | None = None
    msn: int | None = None


def ip(step: Step, v4: Callable[[Ipv4], Value], v6: Callable[[Ipv6], Value]) -> Value:
    """Read the header, of whichever version it is."""
    header = step.packet.ip
    return v4(header) if isinstance(header, Ipv4) else v6(header)


def traffic_class(step: Step) -> int:
    header = step.packet.ip
    return header.tos if isinstance(header, Ipv4) else header.traffic_class


def nothing(_: Ipv4 | Ipv6) -> Value:
    """What a header of this version has not."""
    return None


def psn(step: Step, origin: Origin) -> Value:
    """The PSN relative to the first."""
    if step.psn is None:
        return None
    if origin.psn is None:
        origin.psn = step.psn
    return step.psn - origin.psn


def address(step: Step, origin: Origin) -> Value:
    """The RETH address relative to the first."""
    reth = step.packet.reth
    if reth is None:
        return None
    if origin.address is None:
        origin.address = reth.address
    return reth.address - origin.address


def msn(step: Step, origin: Origin) -> Value:
    """The MSN relative to the first."""
    aeth = step.packet.aeth
    if aeth is None:
        return None
    if origin.msn is None:
        origin.msn = aeth.msn
    return (aeth.msn - origin.msn) % PSN_MODULUS


def _ends_message(step: Step) -> bool:
    return step.row is not None and bool(step.row.position & Position.LAST)


def ack_req(*, last: bool) -> Callable[[Step, Origin], Value]:
    """AckReq of RC requests that end their message, or that do not."""

    def read(step: Step, _: Origin) -> Value:
        rc = step.row is not None and step.row.transport is Transport.RC
        if not rc or step.row is None or step.row.is_response or _ends_message(step) is not last:
            return None
        return step.packet.bth.ack_req

    return read


def unreliable_ack_req(step: Step, _: Origin) -> Value:
    """AckReq where no ACK can come."""
    rc = step.row is None or step.row.transport is Transport.RC
    return None if rc else step.packet.bth.ack_req


def response_class(step: Step, _: Origin) -> Value:
    """ACK, RNR NAK, or which NAK."""
    aeth = step.packet.aeth
    if aeth is None:
        return None
    kind = aeth.syndrome >> 5
    return f"NAK {aeth.syndrome:#04x}" if kind == 3 else {0: "ACK", 1: "RNR NAK"}.get(kind, "?")


def low_bits(kind: int) -> Callable[[Step, Origin], Value]:
    """The value of a syndrome of that kind."""

    def read(step: Step, _: Origin) -> Value:
        aeth = step.packet.aeth
        return aeth.syndrome & 31 if aeth and aeth.syndrome >> 5 == kind else None

    return read


def operands(step: Step, _: Origin) -> Value:
    header = step.packet.extension(AtomicEth)
    return f"{header.swap_or_add:#x}, {header.compare:#x}" if header else None


def immediate(step: Step, _: Origin) -> Value:
    header = step.packet.extension(ImmDt)
    return f"{header.value:#010x}" if header else None


def datagram(read: Callable[[Deth], Value]) -> Callable[[Step, Origin], Value]:
    def of(step: Step, _: Origin) -> Value:
        header = step.packet.extension(Deth)
        return read(header) if header else None

    return of


def options(step: Step, _: Origin) -> Value:
    return ip(step, lambda ip: ip.options.hex(), nothing)


def rkey(step: Step, _: Origin) -> Value:
    """The R_Key of the RETH."""
    return step.packet.reth.rkey if step.packet.reth else None


def length(step: Step, _: Origin) -> Value:
    return step.packet.reth.length if step.packet.reth else None


def digest(payload: bytes) -> str:
    return f"{payload[:8].hex()}.. (CRC-32 {crc32(payload):08x})"


def icrc(step: Step, _: Origin) -> Value:
    """Whether the ICRC is right, if all of the packet was captured."""
    return None if step.icrc_ok is None else "right" if step.icrc_ok else "wrong"
