# SPDX-License-Identifier: BSD-2-Clause
"""Faults in what a UD queue pair sends."""

from dataclasses import replace

from roceproof.conformance.model.requester.ud import UdRequester
from roceproof.conformance.mutants.families.messages import RequestPacket
from roceproof.conformance.mutants.faulty import faulty_ud_requester
from roceproof.conformance.mutants.frames import edited, with_bth
from roceproof.conformance.mutants.wire import wire_mutant
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.frame_edits import set_udp
from roceproof.conformance.wire.headers import Deth, ImmDt
from roceproof.verbs.work import Work

_BEHIND_BTH = 20  # from the UDP header
_QKEY_OF_QP = 1 << 31


class Datagram(RequestPacket):
    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        raise NotImplementedError

    def changed(self, frame: bytes, packet: Packet) -> list[bytes]:
        deth = packet.extension(Deth)
        return [frame if deth is None else self.datagram(frame, packet, deth)]


@wire_mutant("ud-source-is-destination", expected=["UD-01"])
class SourceIsDestination(Datagram):
    """The DETH says the number of the queue pair that is written to."""

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        wrong = Deth(deth.qkey, packet.bth.dest_qpn)
        return edited(frame, set_udp(_BEHIND_BTH, wrong.pack()))


@wire_mutant("ud-reserved-byte-of-register", expected=["UD-01"])
class ReservedByteOfRegister(Datagram):
    """The upper byte of the register with the own number is not cut off."""

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        return edited(frame, set_udp(_BEHIND_BTH + 4, b"\x80"))


@faulty_ud_requester("ud-q-key-as-given", expected=["UD-03"])
class QKeyAsGiven(UdRequester):
    """The Q_Key of the work request leaves as it is."""

    def enqueue(self, work: Work) -> None:
        if work.datagram_qkey & _QKEY_OF_QP:
            self.spec = replace(self.spec, qkey=work.datagram_qkey)
        super().enqueue(work)


@faulty_ud_requester("ud-deth-counts-as-payload", expected=["UD-04"])
class DethCountsAsPayload(UdRequester):
    """A datagram with a full payload is refused, since the DETH is counted in."""

    def enqueue(self, work: Work) -> None:
        if work.size + Deth.SIZE > self.spec.path_mtu:
            self.complete(work, "loc_len_err")
        else:
            super().enqueue(work)


@faulty_ud_requester("ud-too-long-is-cut", expected=["MTU-11"])
class TooLongIsCut(UdRequester):
    """A datagram beyond the path MTU is sent as far as it fits."""

    def enqueue(self, work: Work) -> None:
        super().enqueue(replace(work, data=work.data[: self.spec.path_mtu]))


@wire_mutant("ud-asks-for-acks", expected=["UD-06"])
class AsksForAcks(Datagram):
    """AckReq is set on the last packet of a message, whatever the service."""

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        return with_bth(frame, ack_req=True)


@wire_mutant("ud-full-datagram-is-first", expected=["OPC-12"])
class FullDatagramIsFirst(Datagram):
    """A full packet is taken for the first of several."""

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        is_full = len(packet.payload) >= 4096
        return with_bth(frame, opcode=packet.bth.opcode & ~0x1F) if is_full else frame


@wire_mutant("ud-immediate-in-front", expected=["IMM-01"])
class ImmediateInFront(Datagram):
    """Immediate data stand behind the BTH, in front of the DETH."""

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        immediate = packet.extension(ImmDt)
        if immediate is None:
            return frame
        return edited(frame, set_udp(_BEHIND_BTH, immediate.pack() + deth.pack()))


@wire_mutant("ud-psn-stands-still", expected=["PSN-17"])
class PsnStandsStill(Datagram):
    """Nobody looks at the PSN of a datagram, and so it is not counted."""

    _first: int | None = None

    def datagram(self, frame: bytes, packet: Packet, deth: Deth) -> bytes:
        self._first = packet.bth.psn if self._first is None else self._first
        return with_bth(frame, psn=self._first)
