# SPDX-License-Identifier: BSD-2-Clause
"""The classes that a model device is made of, so that one can be exchanged for a faulty one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import Ingress
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.notification_point import NotificationPoint
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.receive_queue import ReceiveQueue
from roceproof.conformance.model.requester.base import Requester
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.conformance.model.requester.ud import UdRequester
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.responder.policy import ResponderPolicy
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.model.responder.uc import UcResponder
from roceproof.conformance.model.responder.ud import UdResponder
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

REQUESTERS: Mapping[Service, type[Requester]] = {
    Service.RC: RcRequester,
    Service.UC: UcRequester,
    Service.UD: UdRequester,
}
RESPONDERS: Mapping[Service, type[Responder]] = {
    Service.RC: RcResponder,
    Service.UC: UcResponder,
    Service.UD: UdResponder,
}


@dataclass(frozen=True, kw_only=True)
class Components:
    """The classes and policies of a device."""

    requesters: Mapping[Service, type[Requester]] = field(default_factory=lambda: REQUESTERS)
    responders: Mapping[Service, type[Responder]] = field(default_factory=lambda: RESPONDERS)
    ingress: type[Ingress] = Ingress
    egress: type[Egress] = Egress
    memory: type[Memory] = Memory
    connection_manager: type[ConnectionManager] = ConnectionManager
    notification_point: type[NotificationPoint] = NotificationPoint
    requester_policy: RequesterPolicy = field(default_factory=RequesterPolicy)
    responder_policy: ResponderPolicy = field(default_factory=ResponderPolicy)
    resolves_addresses: bool = False
    """Whether it asks for its peers by ARP or ND before it sends to them."""
    is_migrated: bool = True
    """What MigReq says in its packets (BTH-03)."""
    executes: Mapping[Service, Collection[Op]] | None = None
    """What its responders have, of each service; everything where nothing is said."""

    def queue_pair(
        self, spec: QpSpec, *, host: Host, memory: Memory, receives: ReceiveQueue
    ) -> QueuePair:
        """A queue pair of these, at an address of the device."""
        egress = self.egress(host, spec)
        egress.is_migrated = self.is_migrated
        return QueuePair(
            spec,
            requester=self.requesters[spec.service](spec, self.requester_policy),
            responder=self.responders[spec.service](
                spec,
                memory=memory,
                receives=receives,
                policy=self.responder_policy,
                executes=None if self.executes is None else self.executes.get(spec.service, ()),
            ),
            notification_point=self.notification_point(),
            egress=egress,
            receives=receives,
        )
