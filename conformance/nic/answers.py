# SPDX-License-Identifier: BSD-2-Clause
"""Answers of responders in words that are the same for devices that mean the same.

An ACK may cover several requests and says credits, which are the device's own business; what
tells devices apart is which request it answers, how, and with which data.
"""

import zlib

from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import AtomicAckEth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position
from roceproof.conformance.wire.psn import packet_count

_MASK = 0xFFFFFF
_HALF = 1 << 23
_ACKNOWLEDGE = 0x11
_RNR = 1  # bits 6 and 5 of a syndrome
_NAKS = ("sequence error", "invalid request", "remote access error", "operational error")


def last_psn_of(packet: Packet, path_mtu: int) -> int | None:
    """The last PSN with which a READ or an ATOMIC is answered, None of other requests."""
    family = OPCODES[packet.bth.opcode].family
    if family is Family.READ and packet.reth is not None:
        return (packet.bth.psn + packet_count(packet.reth.length, path_mtu) - 1) & _MASK
    return packet.bth.psn if family is Family.ATOMIC else None


def told(
    answer: Packet, request: Packet, *, first_psn: int, path_mtu: int, newest: int
) -> tuple[str, bool]:
    """An answer in words, "" if it is one to an earlier request, and whether it is the last.

    PSNs are counted from the first; `newest` is the highest that has been sent.
    """
    at = (answer.bth.psn - first_psn) & _MASK
    last = last_psn_of(request, path_mtu)
    if answer.aeth is not None and (kind := answer.aeth.syndrome >> 5 & 3) != 0:
        if kind == _RNR:
            return f"RNR NAK of {at}", True
        code = answer.aeth.syndrome & 31
        name = _NAKS[code] if code < len(_NAKS) else f"code {code}"
        return f"NAK of {at}: {name}", True
    if last is None:
        is_old = ((answer.bth.psn - request.bth.psn) & _MASK) >= _HALF
        msn = answer.aeth.msn if answer.aeth else "-"
        if at > newest:
            return f"ACK of {at}, which nobody has sent, message {msn}", True
        return ("", False) if is_old else (f"ACK, message {msn}", True)
    row = OPCODES[answer.bth.opcode]
    if row.family is not Family.RESPONSE or answer.bth.opcode == _ACKNOWLEDGE:
        return "", False
    original = answer.extension(AtomicAckEth)
    data = original.pack() if original else answer.payload
    words = f"response {at}, {len(data)} bytes {zlib.crc32(data):08x}"
    return words, answer.bth.psn == last and bool(row.position & Position.LAST)
