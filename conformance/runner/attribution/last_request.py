# SPDX-License-Identifier: BSD-2-Clause
"""What the last request was: a duplicate, or one of no bytes or no receive that was refused."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.headers import ImmDt
from roceproof.conformance.wire.opcodes import OPCODES, Family
from roceproof.conformance.wire.psn import PSN_MODULUS

_REFUSES, _RNR_NAKS = range(0x61, 0x64), range(0x20, 0x40)
_HALF = PSN_MODULUS // 2


def asks_again(bench: Bench) -> bool:
    """Whether the last request to a queue pair has the PSN of one before it, or lies behind it."""
    highest: dict[int, int] = {}
    is_behind = False
    for entry, packet, _ in bench.transcript.epochs[-1].requests():
        flow, psn = id(entry.flow), packet.bth.psn
        before = highest.setdefault(flow, (psn - 1) % PSN_MODULUS)
        is_behind = (before - psn) % PSN_MODULUS < _HALF
        if not is_behind:
            highest[flow] = psn
    return is_behind


def refuses_no_bytes(bench: Bench) -> bool:
    """Whether the last fatal NAK is of a request whose RETH says that it has no bytes."""
    packet = _refused(bench, _REFUSES)
    return packet is not None and packet.reth is not None and packet.reth.length == 0


def needs_no_receive(bench: Bench) -> bool:
    """Whether the last RNR NAK is of a request for which no receive has to be there."""
    packet = _refused(bench, _RNR_NAKS)
    row = None if packet is None else OPCODES.get(packet.bth.opcode)
    return row is not None and row.family is not Family.SEND and ImmDt not in row.headers


def _refused(bench: Bench, syndromes: range) -> Packet | None:
    """The request of which the device's last NAK with one of these syndromes is."""
    refused: int | None = None
    for entry in reversed(bench.transcript.epochs[-1].entries):
        packet = parse(entry.frame)
        if packet is None:
            continue
        if entry.is_sent:
            if refused is None and packet.aeth and packet.aeth.syndrome in syndromes:
                refused = packet.bth.psn
        elif packet.bth.psn == refused:
            return packet
    return None
