# SPDX-License-Identifier: BSD-2-Clause
"""An active peer of connection management, which sends the REQ to the device's QP1."""

from dataclasses import replace

from roceproof.conformance.model.cm.connection import gid_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage, Reason
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.management import SERVICE_ID, ManagementEnd
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import fixed_values
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import PathMtu, Service

_ACK_TIMEOUT_CODE = 20  # four seconds: nothing that a case does waits for it
_RESPONSE_TIMEOUT_CODE = 20
_NO_LID = 0xFFFF
_OF_THE_QUEUE_PAIR = ("ack_timeout", "retry_count", "rnr_retry", "hop_limit", "traffic_class")
"""What a REQ tells the device to do, and others configure."""


class Caller(ManagementEnd):
    """Somebody who wants to be connected to `SERVICE_ID`, on which the device listens."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench, bench.peers[0])
        bench.target.listen(SERVICE_ID, self.spec(Service.RC, 0, max_rd_atomic=16))

    def request(self, **fields: int) -> CmMessage:
        """A REQ; what is not said is drawn from the case's seed, or usual."""
        draw = self.bench.random
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
            "path_mtu": int(PathMtu.from_size(min(self.bench.claims.path_mtus))),
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
        fixed = fixed_values(self.bench.claims, fields)
        usual |= {name: fixed[name] for name in _OF_THE_QUEUE_PAIR if name in fixed}
        return CmMessage(Attribute.REQ, draw.getrandbits(64), usual | fields)

    def rejected(self, message: CmMessage) -> Reason | int:
        """The reason of the REJ that the message draws."""
        return self.ask(message, Attribute.REJ)["reason"]

    def established(self, request: CmMessage, reply: CmMessage) -> Connection:
        """The queue pair that REQ and REP describe, from the other end."""
        spec = self.spec(
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
        return self.accepted(reply["qpn"], spec)

    def connect(self, *, says_ready: bool = True, **fields: int) -> Connection:
        """REQ, REP and RTU; the connection."""
        request = self.request(**fields)
        reply = self.ask(request, Attribute.REP)
        return self.ready(request, reply) if says_ready else self.established(request, reply)

    def ready(self, request: CmMessage, reply: CmMessage) -> Connection:
        """RTU behind a REP; the connection."""
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
