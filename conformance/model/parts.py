# SPDX-License-Identifier: BSD-2-Clause
"""What a model device is made of, so that one part can be exchanged for a faulty one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roceproof.conformance.model.cm import ConnectionManager
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import Ingress
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.notification_point import NotificationPoint
from roceproof.conformance.model.rc_requester import RcRequester
from roceproof.conformance.model.rc_responder import RcResponder
from roceproof.conformance.model.requester import Requester
from roceproof.conformance.model.requester_policy import RequesterPolicy
from roceproof.conformance.model.responder import Responder
from roceproof.conformance.model.responder_policy import ResponderPolicy
from roceproof.conformance.model.uc_requester import UcRequester
from roceproof.conformance.model.uc_responder import UcResponder
from roceproof.conformance.model.ud_requester import UdRequester
from roceproof.conformance.model.ud_responder import UdResponder
from roceproof.dpi.records import Service

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
class Parts:
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
