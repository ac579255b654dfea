# SPDX-License-Identifier: BSD-2-Clause
"""The passive side of connection management on QP1: REQ, REP, RTU, and the end by DREQ, DREP.

A message that is not understood is ignored, one that asks for what is not there is
rejected, and one that repeats itself has its answer repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from roceproof.conformance.codec import Packet
from roceproof.conformance.headers import Bth, Deth
from roceproof.conformance.model.cm_messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.targets.interface import Host, QpSpec, State
from roceproof.dpi.records import PathMtu, Service

if TYPE_CHECKING:
    from roceproof.conformance.model.queue_pair import QueuePair

_UD_SEND_ONLY = 0x64
_MAPPED = bytes(10) + b"\xff\xff"
_PSN_STEP = 0x5A5A5A  # so that the two directions never start alike
_MESSAGE_REJECTED_REQ = 0


@dataclass(slots=True)
class Connection:
    """One that a REQ has asked for."""

    request: CmMessage
    reply: CmMessage
    queue_pair: QueuePair
    is_closed: bool = False


class ConnectionManager:
    """QP1: connects queue pairs to whoever asks for a service that somebody listens to."""

    spec = QpSpec(
        service=Service.UD,
        remote=Host(bytes(6), bytes(4)),
        remote_qpn=GSI_QPN,
        local_qpn=GSI_QPN,
        qkey=GSI_QKEY,
        path_mtu=MAD_BYTES,
    )
    state = State.RTS

    def __init__(
        self, addresses: Collection[bytes], open_queue_pair: Callable[[QpSpec], QueuePair]
    ) -> None:
        self._addresses = addresses
        self._open = open_queue_pair
        self._listeners: dict[int, QpSpec] = {}
        self._connections: dict[int, Connection] = {}  # by the own communication id
        self._next_id = 1
        self._psn = 0

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """Accept connections to this service; what a REQ does not say is taken from `spec`."""
        self._listeners[service_id] = spec

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
            case Attribute.RTU:
                self.established(message)
            case Attribute.DREQ:
                return self.ended(message)
        return None

    def data_came(self, queue_pair: QueuePair) -> None:
        """A packet for a queue pair that waits for its RTU stands for it."""
        for connection in self._connections.values():
            if connection.queue_pair is queue_pair and queue_pair.state is State.RTR:
                queue_pair.enter(State.RTS)

    # messages

    def asked(self, request: CmMessage, peer: Host) -> CmMessage:
        """REQ: connect or say why not."""
        for known in self._connections.values():
            is_same = known.request["local_id"] == request["local_id"]
            if is_same and known.request.transaction == request.transaction:
                return known.reply
        reason = self.objection(request)
        if reason is not None:
            return CmMessage(
                Attribute.REJ,
                request.transaction,
                {
                    "remote_id": request["local_id"],
                    "rejected": _MESSAGE_REJECTED_REQ,
                    "reason": reason,
                },
            )
        return self.connect(request, peer)

    def objection(self, request: CmMessage) -> Reason | None:
        """Why the connection cannot be, if it cannot."""
        if request["service_id"] not in self._listeners:
            return Reason.SERVICE_ID
        if request["transport"] not in (Service.RC, Service.UC):
            return Reason.TRANSPORT
        if request["path_mtu"] not in tuple(PathMtu):
            return Reason.PATH_MTU
        if address_of(request["remote_gid"]) not in self._addresses:
            return Reason.REMOTE_GID
        return None

    def connect(self, request: CmMessage, peer: Host) -> CmMessage:
        """Open a queue pair as both sides want it, ready to receive."""
        spec = self.agreed(request, peer)
        queue_pair = self._open(spec)
        own_id, self._next_id = self._next_id, self._next_id + 1
        reply = CmMessage(
            Attribute.REP,
            request.transaction,
            {
                "local_id": own_id,
                "remote_id": request["local_id"],
                "qpn": queue_pair.spec.local_qpn,
                "start_psn": spec.rq_psn,
                "responder_resources": spec.max_dest_rd_atomic,
                "initiator_depth": spec.max_rd_atomic,
                "flow_control": request["flow_control"],
                "rnr_retry": spec.rnr_retry,
            },
        )
        self._connections[own_id] = Connection(request, reply, queue_pair)
        return reply

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        """The queue pair that the REQ describes, within the listener's limits."""
        own = self._listeners[request["service_id"]]
        return replace(
            own,
            service=Service(request["transport"]),
            local_qpn=0,
            remote=Host(peer.mac, address_of(request["local_gid"])),
            remote_qpn=request["qpn"],
            path_mtu=PathMtu(request["path_mtu"]).size,
            sq_psn=request["start_psn"],
            rq_psn=ahead(request["start_psn"], _PSN_STEP),
            traffic_class=request["traffic_class"],
            hop_limit=request["hop_limit"],
            ack_timeout=request["ack_timeout"],
            retry_count=request["retry_count"],
            rnr_retry=request["rnr_retry"],
            max_rd_atomic=min(own.max_rd_atomic, request["responder_resources"]),
            max_dest_rd_atomic=min(own.max_dest_rd_atomic, request["initiator_depth"]),
            state=State.RTR,
        )

    def established(self, message: CmMessage) -> None:
        """RTU: requests may leave."""
        connection = self.named(message)
        if connection is not None and connection.queue_pair.state is State.RTR:
            connection.queue_pair.enter(State.RTS)

    def ended(self, message: CmMessage) -> CmMessage | None:
        """DREQ: the queue pair is dead from now on, and its number is not given to another."""
        connection = self.named(message)
        if connection is None or connection.queue_pair.spec.local_qpn != message["qpn"]:
            return None
        if not connection.is_closed:
            connection.is_closed = True
            connection.queue_pair.fail()
        ids = {"local_id": message["remote_id"], "remote_id": message["local_id"]}
        return CmMessage(Attribute.DREP, message.transaction, ids)

    def named(self, message: CmMessage) -> Connection | None:
        """The connection whose two communication ids the message names."""
        connection = self._connections.get(message["remote_id"])
        if connection is None or connection.request["local_id"] != message["local_id"]:
            return None
        return connection

    def datagram(self, message: CmMessage) -> Segment:
        """The next packet of QP1."""
        bth = Bth(opcode=_UD_SEND_ONLY, dest_qpn=GSI_QPN, psn=self._psn)
        self._psn = ahead(self._psn, 1)
        return Segment(bth, (Deth(GSI_QKEY, GSI_QPN),), message.pack())


def address_of(gid: int) -> bytes:
    """The IP address that a GID stands for."""
    data = gid.to_bytes(16, "big")
    return data[12:] if data.startswith(_MAPPED) else data


def gid_of(address: bytes) -> int:
    """The GID that stands for an IP address."""
    return int.from_bytes(address if len(address) == 16 else _MAPPED + address, "big")
