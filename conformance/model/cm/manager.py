# SPDX-License-Identifier: BSD-2-Clause
"""Connection management on QP1: messages in, messages out.

A message that is not understood is ignored.
"""

from roceproof.conformance.model.cm.active import ActiveSide
from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage
from roceproof.conformance.model.cm.passive import PassiveSide
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Bth, Deth
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

_UD_SEND_ONLY = 0x64


class ConnectionManager(PassiveSide, ActiveSide):
    """QP1 of a device."""

    spec = QpSpec(
        service=Service.UD,
        remote=Host(bytes(6), bytes(4)),
        remote_qpn=GSI_QPN,
        local_qpn=GSI_QPN,
        qkey=GSI_QKEY,
        path_mtu=MAD_BYTES,
    )
    state = State.RTS
    _psn = 0

    def receive(self, packet: Packet) -> Segment | None:
        """Take a datagram to QP1; the answer, if there is one."""
        message = CmMessage.unpack(packet.payload)
        if message is None:
            return None
        answer = self.answer(message, Host(packet.src_mac, packet.ip.src))
        return None if answer is None else self.datagram(answer)

    def answer(self, message: CmMessage, peer: Host) -> CmMessage | None:
        """Sort by attribute; answers to what was never asked are ignored."""
        match message.attribute:
            case Attribute.REQ:
                return self.asked(message, peer)
            case Attribute.REP:
                return self.replied(message)
            case Attribute.RTU:
                self.established(message)
            case Attribute.REJ:
                self.rejected(message)
            case Attribute.DREQ:
                return self.ended(message)
            case Attribute.DREP:
                self.answered(message)
        return None

    def expire(self, now_ns: int) -> list[tuple[Host, Segment]]:
        """Let timers act; what leaves, and to whom."""
        return [(each.peer, self.datagram(each.message)) for each in self.due(now_ns)]

    def datagram(self, message: CmMessage) -> Segment:
        """The next packet of QP1."""
        bth = Bth(opcode=_UD_SEND_ONLY, dest_qpn=GSI_QPN, psn=self._psn)
        self._psn = ahead(self._psn, 1)
        return Segment(bth, (Deth(GSI_QKEY, GSI_QPN),), message.pack())
