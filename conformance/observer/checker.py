# SPDX-License-Identifier: BSD-2-Clause
"""The passive judge: feeds frames in capture order, yields broken rules.

Knows nothing but the frames and the facts it is told, so the same checker reads
a live simulation, a stored capture or somebody else's. `docs/observer.md` is
what it does; every paragraph there has its module in `observer/`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

from roceproof.conformance.observer import (
    bth_rules,
    datagram_rules,
    icrc_rules,
    link_rules,
    response_rules,
)
from roceproof.conformance.observer.congestion import Congestion
from roceproof.conformance.observer.connections import Connections
from roceproof.conformance.observer.extension_headers import extension_headers
from roceproof.conformance.observer.facts import Facts
from roceproof.conformance.observer.flow import Flow
from roceproof.conformance.observer.flows import Flows
from roceproof.conformance.observer.gaps import Place
from roceproof.conformance.observer.messages import Unfinished
from roceproof.conformance.observer.observed import IcrcVerdict, Observed, has_bth
from roceproof.conformance.observer.reads import Unanswered
from roceproof.conformance.rules.findings import Direction, Finding, FlowKey, Violation
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.wire.framing import Layout, locate, locate_v1
from roceproof.conformance.wire.opcodes import Opcode, Transport

_FCS_BYTES = 4
_SPECIAL_QPNS = (0, 1, 0xFFFFFF)


@dataclass
class Counts:
    """Frames seen, and what became of the ICRCs of those that are RoCE."""

    frames: int = 0
    roce_frames: int = 0
    icrc_ok: int = 0
    icrc_bad: int = 0

    @property
    def icrc_unchecked(self) -> int:
        """Packets that are broken or cut."""
        return self.roce_frames - self.icrc_ok - self.icrc_bad


class Checker:
    """Applies every rule of role O to a sequence of frames."""

    def __init__(
        self, facts: Facts | None = None, *, path_mtu: int | None = None, ip_mtu: int | None = None
    ) -> None:
        self._facts = facts or Facts()
        self._ip_mtu = self._facts.ip_mtu if ip_mtu is None else ip_mtu
        self._flows = Flows(self._facts, path_mtu)
        self._connections = Connections(self._flows)
        self._congestion = Congestion()
        self._last_right_icrc: dict[int, bytes] = {}
        self.counts = Counts()

    def feed(
        self,
        frame: bytes,
        direction: Direction = Direction.SENT,
        *,
        full_size: int | None = None,
        interface: int = 0,
        fcs_bytes: int = 0,
    ) -> list[Finding]:
        """Judge the next frame.

        `full_size` is its length on the wire if the capture has cut it, `fcs_bytes`
        the part of that which the capture declares to be the FCS. Findings may
        concern earlier frames, of which only later ones tell that they are wrong.
        """
        self.counts.frames += 1
        place = Place(self.counts.frames, direction)
        size = max(len(frame), full_size or 0)
        if fcs_bytes:
            size = max(0, size - fcs_bytes)
            frame = frame[:size]
        layout = locate(frame, full_size=size) or locate_v1(frame, full_size=size)
        if layout is None:
            headers = extension_headers(frame)
            if not headers:
                return _placed(place, None, link_rules.outsiders(frame))
            self.counts.roce_frames += 1
            got = f"extension headers {headers}"
            return _placed(place, None, [Violation("IP-14", "UDP directly behind IPv6", got)])
        self.counts.roce_frames += 1
        key, violations = self._judge(frame, layout, size, interface, place)
        findings = _placed(place, key, violations)
        return self._overdue() + findings if self._flows.overdue else findings

    def finish(self) -> list[Finding]:
        """The capture has ended: what was left open is reported."""
        self._flows.give_up()
        return self._overdue()

    def unfinished(self) -> list[tuple[FlowKey, Unfinished]]:
        """Messages whose LAST has not been seen, with their flows; no findings."""
        return list(self._flows.unfinished())

    def unanswered(self) -> list[tuple[FlowKey, Unanswered]]:
        """READs and ATOMICs whose answer the capture does not show whole; no findings."""
        return list(self._flows.unanswered())

    def _overdue(self) -> list[Finding]:
        findings = [
            finding
            for late in self._flows.overdue
            for finding in _placed(late.place, late.key, [late.violation])
        ]
        self._flows.overdue.clear()
        return sorted(findings, key=lambda finding: finding.frame)

    # one packet

    def _judge(
        self, frame: bytes, layout: Layout, size: int, interface: int, place: Place
    ) -> tuple[FlowKey | None, list[Violation]]:
        if not has_bth(frame, layout):
            if layout.fault is not None:
                return None, [link_rules.broken(frame, layout, size)]
            return None, list(link_rules.ip(frame, layout))
        packet = Observed(frame, layout, size)
        key = FlowKey(interface, packet.src, packet.dst, packet.dest_qpn)
        if layout.fault is not None:
            flow = self._flows.known(key)
            if flow is not None:
                _resync(flow, packet)
            found = [link_rules.broken(frame, layout, size)]
        else:
            _take_off_fcs(packet)
            found = list(self._check(packet, self._flows.of(key), place))
        if packet.ce_marked:
            self._congestion.note_mark(packet.src, packet.dst)
        return key, found

    def _check(self, packet: Observed, flow: Flow, place: Place) -> Iterator[Violation]:
        size = link_rules.ip_size(packet)
        if self._ip_mtu is not None and size > self._ip_mtu:
            yield Violation("MTU-09", f"at most {self._ip_mtu} bytes of IP", str(size))
        yield from link_rules.ethernet(packet)
        if packet.vlan_tag is not None and link_rules.has_odd_tags(packet):
            yield from flow.odd_tags()
        yield from link_rules.ip(packet.frame, packet.layout)
        yield from link_rules.udp(packet)
        if not packet.is_foreign:
            yield from bth_rules.fields(packet, is_configured=flow.facts.is_own)
        previous, right = self._check_icrc(packet, flow.key.interface)
        is_trusted = flow.trusts(packet)
        if packet.icrc is IcrcVerdict.BAD:
            if icrc_rules.lacks_icrc(packet):
                yield Violation("ICRC-01", "four bytes of ICRC behind the packet", "none")
                _resync(flow, packet)
                return
            yield from icrc_rules.wrong(
                packet, right, previous=previous, first_sport=flow.first_sport
            )
        if packet.is_foreign:
            return
        if packet.row is None:
            _resync(flow, packet)
            return
        yield from self._check_transport(packet, packet.row, flow, place, is_trusted=is_trusted)

    def _check_icrc(self, packet: Observed, interface: int) -> tuple[bytes | None, bytes]:
        """Judge the ICRC; the right one of the packet before, and of this."""
        if packet.cut:
            return None, b""
        right = icrc_rules.right_icrc(packet)
        if right == packet.found_icrc:
            packet.icrc = IcrcVerdict.OK
            self.counts.icrc_ok += 1
        else:
            packet.icrc = IcrcVerdict.BAD
            self.counts.icrc_bad += 1
        previous = self._last_right_icrc.get(interface)
        self._last_right_icrc[interface] = right
        return previous, right

    def _check_transport(
        self, packet: Observed, row: Opcode, flow: Flow, place: Place, *, is_trusted: bool
    ) -> Iterator[Violation]:
        misplaced = list(bth_rules.misplaced(packet, row))
        if misplaced:
            yield from misplaced
            _resync(flow, packet)
            return
        if packet.pad_count:
            yield from bth_rules.pads(packet, row)
            if packet.pad_count != packet.pad_size:
                _resync(flow, packet)
                return
        yield from response_rules.bare(packet, row)
        if row.is_response:
            yield from response_rules.response(packet, row, flow.path_mtu)
        elif packet.is_cnp:
            yield from datagram_rules.notification(packet)
        elif row.transport is Transport.UD:
            yield from datagram_rules.datagram(packet, flow.path_mtu)
        if packet.dest_qpn == datagram_rules.CM_QPN:
            yield from datagram_rules.management(packet)
        if is_trusted:
            yield from self._check_flow(packet, row, flow, place)
        elif not (row.is_response or packet.is_cnp):
            flow.requests.lost += 1

    def _check_flow(
        self, packet: Observed, row: Opcode, flow: Flow, place: Place
    ) -> Iterator[Violation]:
        if packet.dest_qpn not in _SPECIAL_QPNS:
            rule = self._facts.stranger(packet.src, packet.dst, packet.dest_qpn)
            if rule is not None:
                yield Violation(rule, "a QPN of this address", f"{packet.dest_qpn:#x}")
        if row.is_response:
            yield from flow.take_response(packet, row, place, self._flows.find_counterpart)
        elif packet.is_cnp:
            yield from flow.take_cnp(packet)
            yield from self._congestion.take(packet)
        else:
            yield from flow.take_request(packet, row, place)
            yield from self._connections.take(packet, flow.key.interface)


def _resync(flow: Flow, packet: Observed) -> None:
    """Let a flow pick up behind a packet that cannot be judged; responses are no part of that."""
    if not (packet.is_response or packet.is_cnp or packet.is_foreign):
        flow.requests.resync()


def _take_off_fcs(packet: Observed) -> None:
    """An FCS that the capture does not declare, but that is right for the frame."""
    frame = packet.frame
    whole = len(frame) == packet.size
    if whole and packet.size - packet.end >= _FCS_BYTES:
        fcs = crc32(frame[:-_FCS_BYTES]).to_bytes(_FCS_BYTES, "little")
        if frame.endswith(fcs):
            packet.frame = frame[:-_FCS_BYTES]
            packet.size -= _FCS_BYTES


def _placed(place: Place, key: FlowKey | None, violations: Iterable[Violation]) -> list[Finding]:
    return [
        Finding(
            rule := RULES[broken.rule],
            place.frame,
            place.direction,
            broken.expected,
            broken.got,
            broken.severity or rule.severity,
            key,
        )
        for broken in violations
    ]
