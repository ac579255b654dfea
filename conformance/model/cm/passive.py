# SPDX-License-Identifier: BSD-2-Clause
"""The passive side of connection management: REQ, REP, RTU, and REJ for what is not there.

One that repeats itself has its answer repeated.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from roceproof.conformance.model.cm.connection import Connection, Connections, address_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage, Reason
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.segmentation import ahead
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import PathMtu, Service

_PSN_STEP = 0x5A5A5A  # so that the two directions never start alike
_MESSAGE_REJECTED_REQ = 0


class PassiveSide(Connections):
    """Connects queue pairs to whoever asks for a service that somebody listens to."""

    def __init__(
        self,
        addresses: Collection[bytes],
        open_queue_pair: Callable[[QpSpec], QueuePair],
        reset_queue_pair: Callable[[int, QpSpec], QueuePair],
    ) -> None:
        super().__init__(addresses, open_queue_pair, reset_queue_pair)
        self._listeners: dict[int, QpSpec] = {}
        self.path_mtus: Collection[PathMtu] = tuple(PathMtu)
        """Those that a REQ may ask for."""

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """Accept connections to this service; what a REQ does not say is taken from `spec`."""
        self._listeners[service_id] = spec

    def data_came(self, queue_pair: QueuePair) -> None:
        """A packet for a queue pair that waits for its RTU stands for it."""
        for connection in self._connections.values():
            if connection.queue_pair is queue_pair and queue_pair.state is State.RTR:
                queue_pair.enter(State.RTS)

    def asked(self, request: CmMessage, peer: Host) -> CmMessage:
        """REQ: connect or say why not."""
        for known in self._connections.values():
            is_same = known.request["local_id"] == request["local_id"]
            if is_same and known.transaction == request.transaction and known.reply is not None:
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
        if request["path_mtu"] not in self.path_mtus:
            return Reason.PATH_MTU
        if address_of(request["remote_gid"]) not in self._addresses:
            return Reason.REMOTE_GID
        return None

    def connect(self, request: CmMessage, peer: Host) -> CmMessage:
        """Open a queue pair as both sides want it, ready to receive."""
        spec = self.agreed(request, peer)
        queue_pair = self._open(spec)
        own_id = next(self._ids)
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
        self._connections[own_id] = Connection(request, reply, queue_pair, peer)
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
            flow_control=bool(request["flow_control"]),
            max_rd_atomic=min(own.max_rd_atomic, request["responder_resources"]),
            max_dest_rd_atomic=min(own.max_dest_rd_atomic, request["initiator_depth"]),
            state=State.RTR,
        )

    def established(self, message: CmMessage) -> None:
        connection = self.named(message)
        if connection is not None and connection.queue_pair.state is State.RTR:
            connection.queue_pair.enter(State.RTS)
