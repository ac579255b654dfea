# SPDX-License-Identifier: BSD-2-Clause
"""The active side of connection management: REQ until REP, then RTU."""

from dataclasses import replace

from roceproof.conformance.model.cm.connection import (
    MAX_RETRIES,
    RESPONSE_CODE,
    Connection,
    Connections,
    Repeat,
    gid_of,
)
from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import PathMtu

_NO_LID = 0xFFFF
_SOURCE_PORT = 0x8000
_TRANSACTIONS = 0x1000
"""Added to a communication id, so that the two are never alike."""


class ActiveSide(Connections):
    """Asks for connections, and makes of REP what both ends want."""

    def call(self, service_id: int, spec: QpSpec, own: Host) -> QueuePair:
        """Ask a service of the spec's remote; the queue pair that waits for the answer."""
        queue_pair = self._open(replace(spec, state=State.INIT))
        own_id = next(self._ids)
        request = self.asking(own_id, service_id, queue_pair.spec, own)
        self._connections[own_id] = Connection(request, None, queue_pair, spec.remote, is_ours=True)
        self._repeats[own_id] = Repeat(request, spec.remote)
        return queue_pair

    def asking(self, own_id: int, service_id: int, spec: QpSpec, own: Host) -> CmMessage:
        """The REQ for a queue pair."""
        fields = {
            "local_id": own_id,
            "service_id": service_id,
            "qpn": spec.local_qpn,
            "responder_resources": spec.max_dest_rd_atomic,
            "initiator_depth": spec.max_rd_atomic,
            "remote_response_timeout": RESPONSE_CODE,
            "transport": int(spec.service),
            "flow_control": int(spec.flow_control),
            "start_psn": spec.rq_psn,
            "local_response_timeout": RESPONSE_CODE,
            "retry_count": spec.retry_count,
            "pkey": 0xFFFF,
            "path_mtu": int(PathMtu.from_size(spec.path_mtu)),
            "rnr_retry": spec.rnr_retry,
            "max_cm_retries": MAX_RETRIES,
            "local_lid": _NO_LID,
            "remote_lid": _NO_LID,
            "local_gid": gid_of(own.ip),
            "remote_gid": gid_of(spec.remote.ip),
            "traffic_class": spec.traffic_class,
            "hop_limit": spec.hop_limit,
            "ack_timeout": spec.ack_timeout,
            "ip_version": 4 if len(own.ip) == 4 else 6,
            "source_port": _SOURCE_PORT,
            "source_ip": int.from_bytes(own.ip),
            "target_ip": int.from_bytes(spec.remote.ip),
        }
        return CmMessage(Attribute.REQ, own_id + _TRANSACTIONS, fields)

    def replied(self, reply: CmMessage) -> CmMessage | None:
        """REP: connect, once, and say so each time."""
        connection = self.asked_by(reply)
        if connection is None or connection.is_closed:
            return None
        if connection.reply is None:
            self.answered(reply)
            connection.reply = reply
            spec = self.concluded(connection.queue_pair.spec, reply)
            connection.queue_pair = self._reset(spec.local_qpn, spec)
        elif connection.their_id != reply["local_id"]:
            return None
        ids = {"local_id": reply["remote_id"], "remote_id": reply["local_id"]}
        return CmMessage(Attribute.RTU, reply.transaction, ids)

    def concluded(self, spec: QpSpec, reply: CmMessage) -> QpSpec:
        """The queue pair as the other end wants it, within what we asked for."""
        return replace(
            spec,
            remote_qpn=reply["qpn"],
            sq_psn=reply["start_psn"],
            rnr_retry=reply["rnr_retry"],
            flow_control=bool(reply["flow_control"]),
            max_rd_atomic=min(spec.max_rd_atomic, reply["responder_resources"]),
            max_dest_rd_atomic=min(spec.max_dest_rd_atomic, reply["initiator_depth"]),
            state=State.RTS,
        )

    def rejected(self, message: CmMessage) -> None:
        """REJ: there will be no connection."""
        connection = self.asked_by(message)
        if connection is not None and connection.reply is None:
            self.answered(message)
            connection.is_closed = True
            connection.queue_pair.fail()

    def asked_by(self, message: CmMessage) -> Connection | None:
        """The connection that we asked for and that this answers."""
        connection = self._connections.get(message["remote_id"])
        if connection is None or not connection.is_ours:
            return None
        return connection if connection.transaction == message.transaction else None
