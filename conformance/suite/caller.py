# SPDX-License-Identifier: BSD-2-Clause
"""The active side of connection management, against the device's QP1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from roceproof.conformance.codec import Packet
from roceproof.conformance.model.cm import gid_of
from roceproof.conformance.model.cm_messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import UD_SEND_ONLY
from roceproof.conformance.targets.interface import Qp, QpSpec, State
from roceproof.dpi.records import PathMtu, Service

SERVICE_ID = 0x0000_0000_0106_4791
"""In the port space of TCP, as the RDMA IP CM numbers services."""

_ACK_TIMEOUT_CODE = 8
_RESPONSE_TIMEOUT_CODE = 20
_NO_LID = 0xFFFF


class Caller:
    """Somebody who wants to be connected to `SERVICE_ID`, on which the device listens."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._psn = 0
        self.peer = bench.peers[0]
        self.device = bench.target.host_for(self._spec(Service.UD, 0))
        gsi = self._spec(Service.UD, GSI_QPN, qkey=GSI_QKEY, path_mtu=MAD_BYTES)
        self.management = self._watch(Qp(GSI_QPN, gsi))
        bench.target.listen(SERVICE_ID, self._spec(Service.RC, 0, max_rd_atomic=16))

    def _spec(self, service: Service, qpn: int, **fields: Any) -> QpSpec:
        return QpSpec(service=service, remote=self.peer, remote_qpn=qpn, **fields)

    def _watch(self, qp: Qp) -> Connection:
        connection = Connection(self._bench, qp)
        self._bench.connections.append(connection)
        return connection

    def request(self, **fields: int) -> CmMessage:
        """A REQ; what is not said is drawn from the case's seed, or usual."""
        draw = self._bench.random
        usual = {
            "local_id": draw.getrandbits(32),
            "service_id": SERVICE_ID,
            "qpn": draw.randrange(2, 1 << 24),
            "responder_resources": 4,
            "initiator_depth": 4,
            "transport": int(Service.RC),
            "start_psn": draw.randrange(1 << 24),
            "remote_response_timeout": _RESPONSE_TIMEOUT_CODE,
            "local_response_timeout": _RESPONSE_TIMEOUT_CODE,
            "max_cm_retries": 15,
            "local_lid": _NO_LID,
            "remote_lid": _NO_LID,
            "retry_count": 7,
            "pkey": 0xFFFF,
            "path_mtu": int(PathMtu.MTU_256),
            "rnr_retry": 7,
            "local_gid": gid_of(self.peer.ip),
            "remote_gid": gid_of(self.device.ip),
            "hop_limit": 64,
            "ack_timeout": _ACK_TIMEOUT_CODE,
            "ip_version": 4,
            "source_port": draw.randrange(1 << 16),
            "source_ip": int.from_bytes(self.peer.ip),
            "target_ip": int.from_bytes(self.device.ip),
        }
        return CmMessage(Attribute.REQ, draw.getrandbits(64), usual | fields)

    def send(self, message: CmMessage | bytes) -> None:
        """Send a MAD to QP1."""
        mad = message if isinstance(message, bytes) else message.pack()
        self.management.send(UD_SEND_ONLY(psn=self._psn, payload=mad))
        self._psn += 1

    def ask(self, message: CmMessage, *expected: Attribute) -> CmMessage:
        """Send a message; the answer is one of these."""
        self.send(message)
        packet = self.management.next()
        answer = None if packet is None else CmMessage.unpack(packet.payload)
        if answer is None or answer.attribute not in expected:
            names = " or ".join(one.name for one in expected)
            raise self._bench.failed(f"want  {names}\ngot   {_told(packet, answer)}")
        if answer.transaction != message.transaction:
            raise self._bench.failed("the answer has another transaction id", rules=["CM-03"])
        return answer

    def rejected(self, message: CmMessage) -> Reason | int:
        """The reason of the REJ that the message draws."""
        return self.ask(message, Attribute.REJ)["reason"]

    def established(self, request: CmMessage, reply: CmMessage) -> Connection:
        """The queue pair that REQ and REP describe, from the other end."""
        spec = self._spec(
            Service(request["transport"]),
            request["qpn"],
            local_qpn=reply["qpn"],
            path_mtu=PathMtu(request["path_mtu"]).size,
            sq_psn=request["start_psn"],
            rq_psn=reply["start_psn"],
            ack_timeout=request["ack_timeout"],
            retry_count=request["retry_count"],
            rnr_retry=request["rnr_retry"],
            max_rd_atomic=reply["initiator_depth"],
            max_dest_rd_atomic=reply["responder_resources"],
            hop_limit=request["hop_limit"],
            traffic_class=request["traffic_class"] if "traffic_class" in request.fields else 0,
            state=State.RTR,
        )
        qp = self._bench.target.accepted(reply["qpn"], spec)
        self._bench.transcript.know(qp, self.device)
        return self._watch(qp)

    def connect(self, *, says_ready: bool = True, **fields: int) -> Connection:
        """REQ, REP and RTU; the connection."""
        request = self.request(**fields)
        reply = self.ask(request, Attribute.REP)
        if says_ready:
            self.send(self.follow_up(Attribute.RTU, request, reply))
        return self.established(request, reply)

    def follow_up(
        self, attribute: Attribute, request: CmMessage, reply: CmMessage, **fields: int
    ) -> CmMessage:
        """A later message of the same connection."""
        ids = {"local_id": request["local_id"], "remote_id": reply["local_id"]}
        return CmMessage(attribute, request.transaction, ids | fields)


def changed(request: CmMessage, **fields: int) -> CmMessage:
    """The same message but for these fields."""
    return replace(request, fields={**request.fields, **fields})


def _told(packet: Packet | None, answer: CmMessage | None) -> str:
    if packet is None:
        return "nothing"
    return "no message of connection management" if answer is None else answer.attribute.name
