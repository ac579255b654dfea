# SPDX-License-Identifier: BSD-2-Clause
"""A passive peer of connection management, for a device that sends the REQ."""

from typing import Any

from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.management import SERVICE_ID, ManagementEnd
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import fixed_values
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import PathMtu, Service


class Callee(ManagementEnd):
    """Somebody whom the device asks for `SERVICE_ID`; `request` is its REQ.

    Of the spec a REQ says the depths, retries and, where the device lets itself be told, more.
    """

    def __init__(self, bench: Bench, *, ipv6: bool = False, **spec: Any) -> None:
        super().__init__(bench, bench.peer(ipv6=ipv6))
        usual = {"rq_psn": bench.random.randrange(1 << 24), "hop_limit": 64}
        said = usual | spec | fixed_values(bench.claims, spec)
        self.asked = bench.target.call(SERVICE_ID, self.spec(Service.RC, 0, **said))
        self.request = self.hear(Attribute.REQ, Attribute.REJ)
        while self.request.attribute is Attribute.REJ:  # of a case before, on a host that is busy
            self.request = self.hear(Attribute.REQ, Attribute.REJ)

    def reply(self, **fields: int) -> CmMessage:
        """A REP; what is not said is drawn from the case's seed, or usual."""
        draw = self.bench.random
        usual = {
            "local_id": draw.getrandbits(32),
            "remote_id": self.request["local_id"],
            "qpn": draw.randrange(2, 1 << 24),
            "start_psn": draw.randrange(1 << 24),
            "responder_resources": self.request["initiator_depth"],
            "initiator_depth": self.request["responder_resources"],
            "rnr_retry": 7,
        }
        return CmMessage(Attribute.REP, self.request.transaction, usual | fields)

    def answer(self, **fields: int) -> Connection:
        """REP and RTU; the connection."""
        reply = self.reply(**fields)
        self.ready(reply)
        return self.established(reply)

    def ready(self, reply: CmMessage) -> CmMessage:
        """The RTU that a REP draws."""
        rtu = self.ask(reply, Attribute.RTU)
        if (rtu["local_id"], rtu["remote_id"]) != (self.request["local_id"], reply["local_id"]):
            raise self.bench.failed("the RTU is another connection's", rules=["CM-03"])
        return rtu

    def established(self, reply: CmMessage) -> Connection:
        """The queue pair that REQ and REP describe, from the other end."""
        spec = self.spec(
            Service.RC,
            reply["qpn"],
            local_qpn=self.request["qpn"],
            path_mtu=PathMtu(self.request["path_mtu"]).size,
            sq_psn=reply["start_psn"],
            rq_psn=self.request["start_psn"],
            max_rd_atomic=reply["responder_resources"],
            max_dest_rd_atomic=reply["initiator_depth"],
            hop_limit=self.request["hop_limit"],
            traffic_class=self.request["traffic_class"],
            state=State.RTS,
        )
        return self.accepted(self.request["qpn"], spec)

    def follow_up(self, attribute: Attribute, reply: CmMessage, **fields: int) -> CmMessage:
        """A later message of the same connection."""
        ids = {"local_id": reply["local_id"], "remote_id": self.request["local_id"]}
        return CmMessage(attribute, self.request.transaction, ids | fields)
