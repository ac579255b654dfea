# SPDX-License-Identifier: BSD-2-Clause
"""One line for one packet of a story, short enough to stand on an arrow."""

from roceproof.conformance.review.story import Kind, Step
from roceproof.conformance.wire.headers import AtomicAckEth, AtomicEth, Deth, ImmDt
from roceproof.conformance.wire.opcodes import name_of

_NAK = {
    0: "sequence error",
    1: "invalid request",
    2: "remote access error",
    3: "remote operational error",
    4: "invalid RD request",
}


def caption(step: Step) -> str:
    """Opcode, relative PSN and what else tells this packet from its neighbours."""
    packet = step.packet
    aeth = packet.aeth
    words = [packet_name(packet.bth.opcode, aeth.syndrome if aeth else None), _psn(step)]
    if step.message is not None and step.place == 0:
        words.append(f"message {step.message}")
    if packet.reth is not None:
        words.append(f"dmalen={packet.reth.length}")
    if (immediate := packet.extension(ImmDt)) is not None:
        words.append(f"imm={immediate.value:#010x}")
    if aeth is not None:
        words.append(f"msn={aeth.msn}")
    if (datagram := packet.extension(Deth)) is not None:
        words.append(f"from QP {datagram.source_word & 0xFFFFFF:#x}")
    if (atomic := packet.extension(AtomicEth)) is not None:
        words.append(f"va={atomic.address:#x}")
    if (original := packet.extension(AtomicAckEth)) is not None:
        words.append(f"was={original.original:#x}")
    if packet.payload:
        words.append(f"{len(packet.payload)} B")
    if step.copy:
        words.append("(again)")
    if step.icrc_ok is False:
        words.append("BAD ICRC")
    return " ".join(word for word in words if word)


def packet_name(opcode: int, syndrome: int | None) -> str:
    """What a packet is called: its opcode, or what kind of acknowledgement it is."""
    name = name_of(opcode).removeprefix("RC ")
    if name != "ACKNOWLEDGE" or syndrome is None:
        return name
    kind, value = syndrome >> 5, syndrome & 31
    match kind:
        case 0:
            return "ACK"
        case 1:
            return f"RNR NAK timer={value}"
        case 3:
            return f"NAK {_NAK.get(value, value)}"
        case _:
            return f"ACKNOWLEDGE syndrome={syndrome:#04x}"


def _psn(step: Step) -> str:
    if step.kind is Kind.CNP:
        return ""
    if step.psn is None:
        return f"psn={step.packet.bth.psn:#08x}"
    return f"psn{step.psn:+d}"
