# SPDX-License-Identifier: BSD-2-Clause
"""The passive judge: feeds frames in capture order, yields broken rules.

Knows nothing but the frames (and the path and IP MTU if told), so the same
checker reads a live simulation, a stored capture or somebody else's. Frames
that are not RoCEv2 pass without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from roceproof.conformance import frame_checks
from roceproof.conformance.codec import Packet, parse_at
from roceproof.conformance.findings import Direction, Finding, Violation
from roceproof.conformance.framing import Layout, locate
from roceproof.conformance.ip import Ipv4
from roceproof.conformance.opcodes import OPCODES, Family, Opcode
from roceproof.conformance.request_flow import RequestFlow
from roceproof.conformance.response_flow import ResponseFlow
from roceproof.conformance.rules import RULES

FlowKey = tuple[bytes, bytes, int]


class Checker:
    """Applies every rule of the table to a sequence of frames."""

    def __init__(self, *, path_mtu: int | None = None, ip_mtu: int | None = None) -> None:
        self._path_mtu = path_mtu
        self._ip_mtu = ip_mtu
        self._frames = 0
        self._requests: dict[FlowKey, RequestFlow] = {}
        self._responses: dict[FlowKey, ResponseFlow] = {}

    def feed(self, frame: bytes, direction: Direction = Direction.SENT) -> list[Finding]:
        """Judge the next frame."""
        index = self._frames
        self._frames += 1
        layout = locate(frame)
        if layout is None:
            violations = frame_checks.misdirected(frame)
        else:
            violations = self._check_packet(frame, layout)
        return [
            Finding(RULES[broken.rule], index, direction, broken.expected, broken.got)
            for broken in violations
        ]

    def _check_packet(self, frame: bytes, layout: Layout) -> Iterator[Violation]:
        packet = parse_at(frame, layout)
        row = OPCODES.get(packet.bth.opcode) if packet else None
        if layout.fault is not None or packet is None:
            yield from frame_checks.lengths(frame, layout)
            if packet is not None and row is not None:
                self._requests_of(packet, row).resync(packet)
            return
        yield from self._check_ip_mtu(packet)
        yield from frame_checks.ethernet(frame, packet)
        yield from frame_checks.ip(frame, layout, packet)
        yield from frame_checks.udp(frame, layout, packet)
        yield from frame_checks.bth(packet, row)
        if row is None:
            yield from frame_checks.icrc_value(frame, layout, packet)
            return
        wrong = list(frame_checks.icrc_value(frame, layout, packet))
        if wrong:
            missing = list(frame_checks.lacks_icrc(packet, row))
            if missing:
                yield from missing
                self._requests_of(packet, row).resync(packet)
                return
        yield from wrong
        yield from self._check_transport(packet, row)

    def _check_transport(self, packet: Packet, row: Opcode) -> Iterator[Violation]:
        misplaced = list(frame_checks.headers(packet, row))
        wrong_pad = list(frame_checks.pads(packet, row))
        yield from misplaced
        yield from wrong_pad
        if misplaced or packet.fault is not None:
            self._requests_of(packet, row).resync(packet)
        elif row.is_response:
            key = (packet.ip.src, packet.ip.dst, packet.bth.dest_qpn)
            flow = self._responses.setdefault(key, ResponseFlow(self._path_mtu))
            yield from flow.check(packet, row)
        elif row.family is not Family.CONGESTION:
            yield from self._requests_of(packet, row).check(packet, row)

    def _check_ip_mtu(self, packet: Packet) -> Iterator[Violation]:
        header = packet.ip
        size = header.total_length if isinstance(header, Ipv4) else 40 + header.payload_length
        if self._ip_mtu is not None and size > self._ip_mtu:
            yield Violation("MTU-09", f"at most {self._ip_mtu} bytes of IP", str(size))

    def _requests_of(self, packet: Packet, row: Opcode) -> RequestFlow:
        """The request flow of a packet; a response belongs to none and gets a fresh one."""
        if row.is_response:
            return RequestFlow()
        key = (packet.ip.src, packet.ip.dst, packet.bth.dest_qpn)
        return self._requests.setdefault(key, RequestFlow(self._path_mtu))


def check_frames(
    frames: Iterable[tuple[bytes, Direction]],
    *,
    path_mtu: int | None = None,
    ip_mtu: int | None = None,
) -> Iterator[Finding]:
    """Judge a whole capture."""
    checker = Checker(path_mtu=path_mtu, ip_mtu=ip_mtu)
    for frame, direction in frames:
        yield from checker.feed(frame, direction)
