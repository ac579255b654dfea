# SPDX-License-Identifier: BSD-2-Clause
"""One line of text for one frame, and what differs between two."""

from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.opcodes import name_of


def describe(frame: bytes) -> str:
    """The frame in the notation that all messages use."""
    packet = parse(frame)
    if packet is None:
        return f"{len(frame)} bytes that are no RoCEv2 packet: {frame[:64].hex()}"
    return " ".join((*_transport_words(packet), f"icrc={packet.icrc.hex()}"))


def first_difference(expected: bytes, got: bytes) -> int:
    """The first byte in which two frames differ; where one begins with the other, its length."""
    pairs = enumerate(zip(expected, got, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(expected), len(got)))


def difference(expected: bytes, got: bytes) -> str:
    """Both frames in notation and the first byte in which they differ."""
    if expected == got:
        return "no difference"
    at = first_difference(expected, got)
    return (
        f"expected {describe(expected)}\n"
        f"got      {describe(got)}\n"
        f"{len(expected)} and {len(got)} bytes, first difference at byte {at}: "
        f"expected ..{expected[at : at + 16].hex()}, got ..{got[at : at + 16].hex()}"
    )


def _transport_words(packet: Packet) -> list[str]:
    bth = packet.bth
    words = [name_of(bth.opcode), f"qpn={bth.dest_qpn:#x}", f"psn={bth.psn:#08x}"]
    words += [word for word, on in (("ackreq", bth.ack_req), ("se", bth.solicited)) if on]
    if packet.reth is not None:
        reth = packet.reth
        words.append(f"va={reth.address:#x} rkey={reth.rkey:#x} dmalen={reth.length}")
    if packet.immediate is not None:
        words.append(f"imm={packet.immediate:#010x}")
    if packet.aeth is not None:
        words.append(f"syndrome={packet.aeth.syndrome:#04x} msn={packet.aeth.msn}")
    if packet.payload:
        words.append(f"payload={len(packet.payload)} pad={bth.pad_count}")
    if packet.fault is not None:
        words.append(f"({packet.fault})")
    return words
