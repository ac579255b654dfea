# SPDX-License-Identifier: BSD-2-Clause
"""Receivers with faults in how they read the BTH and the ICRC of requests."""

from dataclasses import replace

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.ingress import Admitted, Drop, Ingress, QueuePairView
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.responder.policy import ReservedOpcode, ResponderPolicy
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.mutants.faulty import faulty_ingress
from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, model_mutant, wire_mutant
from roceproof.conformance.wire.codec import Packet, parse, parse_at
from roceproof.conformance.wire.frame_edits import resize
from roceproof.conformance.wire.framing import Fault, Layout
from roceproof.conformance.wire.icrc import compute_at
from roceproof.conformance.wire.opcodes import OPCODES


@faulty_ingress("rx-service-bits-ignored", expected=["BTH-12"])
class ServiceBitsIgnored(Ingress):
    """Requests are decoded from five bits of the opcode."""

    def is_service_right(self, queue_pair: QueuePairView, packet: Packet) -> bool:
        return True


@model_mutant("rx-reserved-opcodes-dropped", expected=["BTH-13"])
def reserved_opcodes_dropped() -> Components:
    """A reserved opcode has no entry in the table, and so nothing happens."""
    return Components(responder_policy=ResponderPolicy(reserved_opcode=ReservedOpcode.DROPPED))


@wire_mutant("rx-request-headers-filled-up", expected=["BTH-16"])
class RequestHeadersFilledUp(WireFault):
    """A request that ends inside its headers is read on in a buffer of zeros."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or packet.fault is not Fault.HEADERS:
            return [frame]
        have = packet.udp_length - 24
        wanted = sum(kind.SIZE for kind in OPCODES[packet.bth.opcode].headers)
        return [edited(frame, resize(wanted - have))]


@faulty_ingress("rx-icrc-without-pad", expected=["ICRC-07"])
class IcrcWithoutPad(Ingress):
    """The receiver stops its CRC at the pad."""

    def is_icrc_right(self, frame: bytes, layout: Layout, packet: Packet) -> bool:
        cleared = bytearray(frame)
        start = layout.end - 4 - len(packet.pad)
        cleared[start : layout.end - 4] = bytes(len(packet.pad))
        return packet.icrc == compute_at(bytes(cleared), layout)


class CutThrough(Ingress):
    """Acts on a packet before the verdict on its ICRC is there."""

    def examine(self, frame: bytes) -> Admitted | Drop:
        """Drop it all the same, but too late."""
        admitted = super().examine(frame)
        layout = self.locate(frame)
        packet = parse_at(frame, layout) if admitted is Drop.ICRC and layout else None
        queue_pair = self.find(packet) if packet else None
        if packet and isinstance(queue_pair, QueuePair):
            self.act(packet, queue_pair)
        return admitted

    def act(self, packet: Packet, queue_pair: QueuePair) -> None:
        """What is done too early."""


@faulty_ingress("rx-psn-before-icrc", expected=["ICRC-14"], explained_as=[])
class PsnBeforeIcrc(CutThrough):
    """The expected PSN moves on before the ICRC's verdict arrives."""

    def act(self, packet: Packet, queue_pair: QueuePair) -> None:
        responder = queue_pair.responder
        if isinstance(responder, RcResponder) and packet.bth.psn == responder.expected_psn:
            responder.expected_psn = ahead(responder.expected_psn, 1)


@faulty_ingress("rx-data-before-icrc", expected=["ICRC-15"])
class DataBeforeIcrc(CutThrough):
    """The payload of a WRITE is in memory before the ICRC's verdict arrives."""

    def act(self, packet: Packet, queue_pair: QueuePair) -> None:
        reth = packet.reth
        region = queue_pair.responder.memory.region(reth.rkey) if reth else None
        if reth and region and region.holds(reth.address, len(packet.payload)):
            region.write(reth.address - region.addr, packet.payload)


@faulty_ingress("rx-pad-beyond-payload", expected=["PAD-06"])
class PadBeyondPayload(Ingress):
    """A pad count beyond the payload is taken for a payload of no bytes."""

    def check_shape(self, packet: Packet) -> Drop | None:
        return None if packet.fault is Fault.PAD_COUNT else super().check_shape(packet)

    def admit(self, frame: bytes, layout: Layout, packet: Packet) -> Admitted:
        admitted = super().admit(frame, layout, packet)
        if packet.fault is not Fault.PAD_COUNT:
            return admitted
        bth = replace(packet.bth, pad_count=0)
        return admitted._replace(segment=Segment(bth, packet.extensions, b""))


@faulty_ingress("rx-pad-compared-with-zero", expected=["PAD-08"])
class PadComparedWithZero(Ingress):
    """A packet whose pad is not zero is dropped."""

    def check_shape(self, packet: Packet) -> Drop | None:
        return Drop.PAD if any(packet.pad) else super().check_shape(packet)
