# SPDX-License-Identifier: BSD-2-Clause
"""Faults of connection management: each is one line of the passive side written wrongly."""

from dataclasses import replace

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_connection_manager
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import PathMtu


@faulty_connection_manager("cm-psn-swapped", expected=["CM-04"])
class StartsTheWrongWay(ConnectionManager):
    """Each direction starts at the other's PSN.

    PSNs of REQ and REP are mixed up.
    """

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        spec = super().agreed(request, peer)
        return replace(spec, sq_psn=spec.rq_psn)


@faulty_connection_manager("cm-constant-mtu", expected=["CM-05"])
class HasAConstantPathMtu(ConnectionManager):
    """The path MTU of the REQ is not looked at.

    Every connection has the same path MTU.
    """

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        return replace(super().agreed(request, peer), path_mtu=1024)


@faulty_connection_manager("cm-constant-depth", expected=["CM-05"])
class HasConstantDepths(ConnectionManager):
    """Depths of the REQ are not looked at.

    As many READs as the device itself can do.
    """

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        spec = super().agreed(request, peer)
        return replace(spec, max_rd_atomic=16, max_dest_rd_atomic=16)


@faulty_connection_manager("cm-new-id-per-req", expected=["CM-03"])
class OpensAQueuePairForEachReq(ConnectionManager):
    """A repeated REQ opens another QP.

    A REQ is never recognised.
    """

    def asked(self, request: CmMessage, peer: Host) -> CmMessage:
        self._connections = {
            own: replace(known, request=replace(known.request, transaction=-1))
            for own, known in self._connections.items()
        }
        return super().asked(request, peer)


@faulty_connection_manager("cm-waits-for-rtu", expected=["CM-06"])
class WaitsForTheRtu(ConnectionManager):
    """Data do not stand for a lost RTU.

    Only an RTU lets the device send.
    """

    def data_came(self, queue_pair: QueuePair) -> None:
        pass


@faulty_connection_manager("cm-alive-after-dreq", expected=["CM-07"])
class LivesOnAfterDreq(ConnectionManager):
    """The QP lives on behind DREP.

    A DREQ is answered, and nothing else.
    """

    def ended(self, message: CmMessage) -> CmMessage | None:
        connection = self.named(message)
        if connection is not None:
            connection.is_closed = True
        return super().ended(message)


@faulty_connection_manager("cm-silent-rejection", expected=["CM-08"])
class RejectsWithoutAWord(ConnectionManager):
    """What cannot be met is not answered."""

    def answer(self, message: CmMessage, peer: Host) -> CmMessage | None:
        answer = super().answer(message, peer)
        return None if answer is not None and "reason" in answer.fields else answer


@faulty_connection_manager("cm-any-service", expected=["CM-08"])
class AcceptsAnyService(ConnectionManager):
    """REQs for any service are accepted.

    The service id is not looked up.
    """

    def objection(self, request: CmMessage) -> Reason | None:
        (own,) = self._listeners.values()
        self._listeners.setdefault(request["service_id"], own)
        return super().objection(request)


@faulty_connection_manager("cm-any-path-mtu", expected=["CM-08"])
class AcceptsAnyPathMtu(ConnectionManager):
    """Any path MTU but 0 is accepted.

    One beyond the longest is taken for that.
    """

    def asked(self, request: CmMessage, peer: Host) -> CmMessage:
        mtu = min(request["path_mtu"], int(PathMtu.MTU_4096))
        return super().asked(replace(request, fields={**request.fields, "path_mtu": mtu}), peer)


@faulty_connection_manager("cm-hangs-on-short-mad", expected=["CM-10"])
class HangsOnAShortMad(ConnectionManager):
    """A short MAD hangs QP1.

    Behind a MAD that is cut short nothing is understood any more.
    """

    hangs = False

    def receive(self, packet: Packet) -> Segment | None:
        self.hangs = self.hangs or len(packet.payload) != MAD_BYTES
        return None if self.hangs else super().receive(packet)


@faulty_connection_manager("cm-repeats-behind-drep", expected=["CM-07"])
class RepeatsBehindDrep(ConnectionManager):
    """DREQ comes again behind its DREP.

    Only what a REP or RTU answers is taken off the list.
    """

    def answered(self, message: CmMessage) -> None:
        if message.attribute is not Attribute.DREP:
            super().answered(message)
