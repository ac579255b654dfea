# SPDX-License-Identifier: BSD-2-Clause
"""Faults of connection management: each is one line of the passive side written wrongly."""

from __future__ import annotations

from dataclasses import replace

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.cm.messages import MAD_BYTES, CmMessage, Reason
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.wire import model_mutant
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import PathMtu


@model_mutant("cm-psn-swapped", expected=["CM-04"])
def starts_the_wrong_way() -> Components:
    """Each direction starts at the other's PSN.

    PSNs of REQ and REP are mixed up.
    """

    class Faulty(ConnectionManager):
        def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
            spec = super().agreed(request, peer)
            return replace(spec, sq_psn=spec.rq_psn)

    return Components(connection_manager=Faulty)


@model_mutant("cm-constant-mtu", expected=["CM-05"])
def has_a_constant_path_mtu() -> Components:
    """The path MTU of the REQ is not looked at.

    Every connection has the same path MTU.
    """

    class Faulty(ConnectionManager):
        def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
            return replace(super().agreed(request, peer), path_mtu=1024)

    return Components(connection_manager=Faulty)


@model_mutant("cm-constant-depth", expected=["CM-05"])
def has_constant_depths() -> Components:
    """Depths of the REQ are not looked at.

    As many READs as the device itself can do.
    """

    class Faulty(ConnectionManager):
        def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
            spec = super().agreed(request, peer)
            return replace(spec, max_rd_atomic=16, max_dest_rd_atomic=16)

    return Components(connection_manager=Faulty)


@model_mutant("cm-new-id-per-req", expected=["CM-03"])
def opens_a_queue_pair_for_each_req() -> Components:
    """A repeated REQ opens another QP.

    A REQ is never recognised.
    """

    class Faulty(ConnectionManager):
        def asked(self, request: CmMessage, peer: Host) -> CmMessage:
            self._connections = {
                own: replace(known, request=replace(known.request, transaction=-1))
                for own, known in self._connections.items()
            }
            return super().asked(request, peer)

    return Components(connection_manager=Faulty)


@model_mutant("cm-waits-for-rtu", expected=["CM-06"])
def waits_for_the_rtu() -> Components:
    """Data do not stand for a lost RTU.

    Only an RTU lets the device send.
    """

    class Faulty(ConnectionManager):
        def data_came(self, queue_pair: QueuePair) -> None:
            pass

    return Components(connection_manager=Faulty)


@model_mutant("cm-alive-after-dreq", expected=["CM-07"])
def lives_on_after_dreq() -> Components:
    """The QP lives on behind DREP.

    A DREQ is answered, and nothing else.
    """

    class Faulty(ConnectionManager):
        def ended(self, message: CmMessage) -> CmMessage | None:
            connection = self.named(message)
            if connection is not None:
                connection.is_closed = True
            return super().ended(message)

    return Components(connection_manager=Faulty)


@model_mutant("cm-silent-rejection", expected=["CM-08"])
def rejects_without_a_word() -> Components:
    """What cannot be met is not answered."""

    class Faulty(ConnectionManager):
        def answer(self, message: CmMessage, peer: Host) -> CmMessage | None:
            answer = super().answer(message, peer)
            return None if answer is not None and "reason" in answer.fields else answer

    return Components(connection_manager=Faulty)


@model_mutant("cm-any-service", expected=["CM-08"])
def accepts_any_service() -> Components:
    """REQs for any service are accepted.

    The service id is not looked up.
    """

    class Faulty(ConnectionManager):
        def objection(self, request: CmMessage) -> Reason | None:
            (own,) = self._listeners.values()
            self._listeners.setdefault(request["service_id"], own)
            return super().objection(request)

    return Components(connection_manager=Faulty)


@model_mutant("cm-any-path-mtu", expected=["CM-08"])
def accepts_any_path_mtu() -> Components:
    """Any path MTU but 0 is accepted.

    One beyond the longest is taken for that.
    """

    class Faulty(ConnectionManager):
        def asked(self, request: CmMessage, peer: Host) -> CmMessage:
            mtu = min(request["path_mtu"], int(PathMtu.MTU_4096))
            return super().asked(replace(request, fields={**request.fields, "path_mtu": mtu}), peer)

    return Components(connection_manager=Faulty)


@model_mutant("cm-hangs-on-short-mad", expected=["CM-10"])
def hangs_on_a_short_mad() -> Components:
    """A short MAD hangs QP1.

    Behind a MAD that is cut short nothing is understood any more.
    """

    class Faulty(ConnectionManager):
        hangs = False

        def receive(self, packet: Packet) -> Segment | None:
            self.hangs = self.hangs or len(packet.payload) != MAD_BYTES
            return None if self.hangs else super().receive(packet)

    return Components(connection_manager=Faulty)
