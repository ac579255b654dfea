# SPDX-License-Identifier: BSD-2-Clause
"""Faults of connection management that show where the device asks, hangs up or hears nonsense."""

from dataclasses import replace

from roceproof.conformance.model.cm.connection import MAX_RETRIES, Connection, Repeat
from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.mutants.faulty import faulty_connection_manager
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec

_MAPPED = 0xFFFF << 32


@faulty_connection_manager("cm-caller-psn-swapped", expected=["CM-04"])
class StartsTheOtherWay(ConnectionManager):
    """The REP's PSN is taken for that of what we get."""

    def concluded(self, spec: QpSpec, reply: CmMessage) -> QpSpec:
        concluded = super().concluded(spec, reply)
        return replace(concluded, sq_psn=concluded.rq_psn, rq_psn=concluded.sq_psn)


@faulty_connection_manager("cm-caller-keeps-depth", expected=["CM-05"])
class KeepsItsDepth(ConnectionManager):
    """READs leave as deep as we asked for."""

    def concluded(self, spec: QpSpec, reply: CmMessage) -> QpSpec:
        return replace(super().concluded(spec, reply), max_rd_atomic=spec.max_rd_atomic)


@faulty_connection_manager("cm-req-retries-constant", expected=["CM-05"])
class AsksForConstantRetries(ConnectionManager):
    """A REQ asks for seven retries, whatever the queue pair has."""

    def asking(self, own_id: int, service_id: int, spec: QpSpec, own: Host) -> CmMessage:
        return super().asking(own_id, service_id, replace(spec, retry_count=7, rnr_retry=7), own)


@faulty_connection_manager("cm-rnr-retry-constant", expected=["CM-05"])
class RnrRetriesAreConstant(ConnectionManager):
    """The RNR retry count is what firmware was built with."""

    def concluded(self, spec: QpSpec, reply: CmMessage) -> QpSpec:
        return replace(super().concluded(spec, reply), rnr_retry=3)

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        return replace(super().agreed(request, peer), rnr_retry=3)


@faulty_connection_manager("cm-retries-constant", expected=["CM-05"])
class RetriesAreConstant(ConnectionManager):
    """Timeouts and retries are our own."""

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        return replace(super().agreed(request, peer), retry_count=3)


@faulty_connection_manager("cm-flow-control-assumed", expected=["CM-05"])
class AlwaysCountsCredits(ConnectionManager):
    """Credits count, whatever was agreed on."""

    def agreed(self, request: CmMessage, peer: Host) -> QpSpec:
        return replace(super().agreed(request, peer), flow_control=True)


@faulty_connection_manager("cm-new-id-per-retry", expected=["CM-03"])
class NewIdPerRetry(ConnectionManager):
    """Each REQ that goes out again has a new id."""

    def due(self, now_ns: int) -> list[Repeat]:
        found = super().due(now_ns)
        return [replace(each, message=self.renumbered(each)) for each in found]

    def renumbered(self, repeat: Repeat) -> CmMessage:
        message = repeat.message
        if message.attribute is not Attribute.REQ or repeat.left == MAX_RETRIES:
            return message
        return replace(message, fields={**message.fields, "local_id": next(self._ids)})


@faulty_connection_manager("cm-gid-unmapped", expected=["GID-01"])
class GidsAreNotMapped(ConnectionManager):
    """An IPv4 address stands in a GID without ten zeros and FFFF."""

    def asking(self, own_id: int, service_id: int, spec: QpSpec, own: Host) -> CmMessage:
        request = super().asking(own_id, service_id, spec, own)
        gids = {name: request[name] & ~_MAPPED for name in ("local_gid", "remote_gid")}
        return replace(request, fields={**request.fields, **gids})


@faulty_connection_manager("cm-port-swapped", expected=["CM-09"])
class SwapsThePort(ConnectionManager):
    """The service id holds the port in host order."""

    def asking(self, own_id: int, service_id: int, spec: QpSpec, own: Host) -> CmMessage:
        port = (service_id & 0xFF) << 8 | service_id >> 8 & 0xFF
        return super().asking(own_id, service_id & ~0xFFFF | port, spec, own)


@faulty_connection_manager("cm-silent-goodbye", expected=["CM-07"])
class HangsUpSilently(ConnectionManager):
    """A connection is closed without a DREQ."""

    def hang_up(self, qpn: int) -> None:
        super().hang_up(qpn)
        self._repeats.clear()


@faulty_connection_manager("cm-qpn-reused", expected=["CM-07"])
class ReusesQueuePairs(ConnectionManager):
    """The next connection gets the queue pair that was just closed."""

    def connect(self, request: CmMessage, peer: Host) -> CmMessage:
        closed = [each for each in self._connections.values() if each.is_closed]
        usual = self._open
        if closed:
            self._open = lambda spec: self._reset(closed[0].queue_pair.spec.local_qpn, spec)
        try:
            return super().connect(request, peer)
        finally:
            self._open = usual


@faulty_connection_manager("cm-rej-unheard", expected=["CM-08"])
class DoesNotHearRejections(ConnectionManager):
    """A REJ is counted and forgotten."""

    def rejected(self, message: CmMessage) -> None:
        pass


@faulty_connection_manager("cm-rep-for-anybody", expected=["CM-10"])
class TakesAnyReply(ConnectionManager):
    """The REP's ids are not compared with the REQ's."""

    def asked_by(self, message: CmMessage) -> Connection | None:
        return next((each for each in self._connections.values() if each.is_ours), None)


@faulty_connection_manager("cm-short-mad-executed", expected=["CM-10"])
class ExecutesShortMads(ConnectionManager):
    """What a short MAD lacks is what the buffer holds."""

    def receive(self, packet: Packet) -> Segment | None:
        return super().receive(replace(packet, payload=packet.payload.ljust(MAD_BYTES, b"\0")))


@faulty_connection_manager("cm-parser-hangs", expected=["FUZZ-18"])
class HangsOnUnknownAttributes(ConnectionManager):
    """An unknown attribute is waited on until it becomes known."""

    hangs = False

    def receive(self, packet: Packet) -> Segment | None:
        is_known = CmMessage.unpack(packet.payload) is not None
        self.hangs = self.hangs or not is_known
        return None if self.hangs else super().receive(packet)
