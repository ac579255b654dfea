# SPDX-License-Identifier: BSD-2-Clause
"""Everything that passes between a case and its device, and how a case fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Protocol

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.intent import NOTHING, Rules, meant_by
from roceproof.conformance.suite.limits.outstanding_window import Room
from roceproof.conformance.suite.memory import otherwise
from roceproof.conformance.suite.notation import BEGINNING, got
from roceproof.conformance.suite.packets import whole_frames
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Stop
from roceproof.conformance.suite.reporting.frame_timeline import Clock, story
from roceproof.conformance.suite.reporting.transcript import DAMAGED, Entry, Transcript
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.drawn_address import PEERS_LAST_BYTES, drawn_peer
from roceproof.conformance.targets.interface import Arrival, Claims, Target
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.dpi.contract.fields import contract_field
from roceproof.verbs.addresses import Host, parse_mac
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Region, Work

if TYPE_CHECKING:
    from scapy.packet import Packet as ScapyPacket

_NUMBERS = 0x9E3779B97F4A7C15
_WR_ID_BITS = 62  # where the verbs agent carries it


class End(Protocol):
    """The other end of a queue pair of the device, which gets the packets that it sends."""

    qp: Qp
    from_device: FlowCodec

    @property
    def spec(self) -> QpSpec:
        """What the device was told of it."""

    def take(self, packet: Packet) -> None:
        """Take a packet of the device."""


class Taking:
    """How a device takes what it was sent: until it has, nothing is late."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._left = target.untaken()
        self._is_at_it = False

    def goes_on(self) -> bool:
        """Whether it has taken more since it was last asked, and had not taken all until then.

        What is taken at once is not waited for twice.
        """
        before, self._left = self._left, self._target.untaken()
        self._is_at_it = self._left < before and (self._left > 0 or self._is_at_it)
        return self._is_at_it


class Exchange:
    """The device, the case's own random numbers and the transcript of all frames.

    A second peer's host is `peers[1]`. On the wall's clock each is in the device's subnet;
    elsewhere hosts are where the seed puts them.
    """

    def __init__(self, target: Target, claims: Claims, *, seed: int) -> None:
        self.target = target
        self.claims = claims
        self._seed = seed
        self.random = Random(seed)
        self.transcript = Transcript()
        self._ends: list[End] = []
        self.strays: list[Packet] = []
        self.rules: frozenset[str] | None = None
        """What the case decides, where somebody judges at its end."""
        self.peers = [self.peer(index) for index in range(len(PEERS_LAST_BYTES))]
        self._arrived: dict[int, tuple[Packet, Entry]] = {}
        self.numbers = Random(seed ^ _NUMBERS)
        """Draws what things are called; what happens to them does not depend on it."""
        self._wr_ids: set[int] = set()
        self.aside: CaseFailed | None = None
        """What is wrong in fields of all packets, and told at the end: the case goes on with it."""
        self.room = Room(claims)
        self.turns: dict[int, int] = {}
        """The place of each piece of work, by its number, among all that was posted."""
        self.beginnings: dict[bytes, int] = {}
        """The number of each piece of work, by the first bytes that it has to send."""

    def remember(self, work: Work) -> None:
        """Know it by its bytes, if it has enough of them."""
        if len(work.data) >= BEGINNING:
            self.beginnings[work.data[:BEGINNING]] = work.wr_id

    def next_wr_id(self) -> int:
        """A number that no work of this case has."""
        while (drawn := self._drawn_wr_id()) in self._wr_ids:
            pass
        self._wr_ids.add(drawn)
        return drawn

    @property
    def wr_id_bits(self) -> int:
        """How many bits the number of a piece of work may have."""
        return 64 if Capability.LOCKSTEP in self.claims.capabilities else _WR_ID_BITS

    def _drawn_wr_id(self) -> int:
        if Capability.LOCKSTEP in self.claims.capabilities:
            return contract_field("work_request_t", "wr_id").draw(self.numbers)
        return self.numbers.getrandbits(_WR_ID_BITS)

    def peer(self, index: int = 0, *, ipv6: bool = False, vlan: int | None = None) -> Host:
        """A host that the device can reach, of an IP version and on a VLAN."""
        blank = Host(bytes(6), bytes(16 if ipv6 else 4))
        asking = QpSpec(service=Service.RC, remote=blank, remote_qpn=0, vlan=vlan)
        device = self.target.host_for(asking)
        is_drawn = Capability.LOCKSTEP in self.claims.capabilities
        host = drawn_peer(device, index, self._seed) if is_drawn else _peer(device, index)
        self.target.plays(host)
        return host

    def reopen(
        self, qp: Qp, spec: QpSpec, *, straight: bool = False, is_sending: bool = False
    ) -> Qp:
        """Take a queue pair to another spec: through RESET, or not if `straight`.

        What one that `is_sending` had begun belongs to its former life.
        """
        if straight:
            fresh = self.target.restart(qp, spec)
            self.comes_true(lambda: not self.target.commands_waiting)
            if is_sending:
                self.settle()
        else:
            fresh = self.target.reopen(qp, spec)
        self.transcript.know(fresh, self.target.host_for(spec))
        return fresh

    def send(
        self,
        packet: bytes | ScapyPacket,
        *,
        flow: FlowCodec | None = None,
        comment: str = "",
        is_void: bool = False,
        breaks: Rules = NOTHING,
        is_marked: bool = False,
    ) -> None:
        """Send any frame to the device, which may break these rules and those that it says.

        The observer does not see one that is void. The MAC marks one before its end if
        `is_marked`, which says nothing.
        """
        breaks |= meant_by(packet)
        for frame in self._frames(packet):
            now = self.target.now_ns
            entry = Entry(now, False, frame, comment, is_void, flow, breaks=breaks)
            self.transcript.add(entry)
            (self.target.send_marked_early if is_marked else self.target.send)(frame)

    def send_damaged(self, packet: bytes | ScapyPacket, *, flow: FlowCodec | None = None) -> None:
        """Send a frame that the MAC finds damaged; needs DAMAGE."""
        for frame in self._frames(packet):
            now = self.target.now_ns
            self.transcript.add(Entry(now, False, frame, DAMAGED, is_void=True, flow=flow))
            self.target.send_damaged(frame)

    def pump(self, timeout_ns: int, until: Callable[[], bool] = lambda: False) -> None:
        """Take in what the device sends until the condition holds or time is over."""
        deadline = self.target.now_ns + timeout_ns
        while not until():
            arrival = self.target.receive(max(0, deadline - self.target.now_ns))
            if arrival is None:
                return
            self._take(arrival)

    def settle(self) -> None:
        """Let everything under way arrive, until the wire is quiet."""
        patience = self.target.patience
        deadline = self.target.now_ns + patience.answer_ns
        while self.target.now_ns < deadline:
            arrival = self.target.more()
            if arrival is None:
                return
            self._take(arrival)

    def drain(self) -> None:
        """Until the device has taken all that it was sent, or takes no more."""
        while self.target.takes_on():
            self._look_on()

    def comes_true(self, condition: Callable[[], bool]) -> bool:
        """Whether something that the device does on its own happens in time.

        That time begins when the device has taken all that it was sent.
        """
        patience, taking = self.target.patience, Taking(self.target)
        deadline = self.target.now_ns + patience.answer_ns
        while not condition():
            if self.target.now_ns >= deadline:
                if not taking.goes_on():
                    return False
                deadline = self.target.now_ns + patience.answer_ns
            self._look_on()
        return True

    def _look_on(self) -> None:
        """Take in what comes in a part of the time behind which a wire is quiet."""
        self.pump(max(1, self.target.patience.quiet_ns // 16))

    def holds(self, region: Region, want: bytes, *, what: str) -> None:
        """Fail unless a region begins with these bytes, once what was asked has had its time."""
        if not self.comes_true(lambda: region.read(0, len(want)) == want):
            raise self.failed(f"{what}: {otherwise(want, region.read(0, len(want)), b'')}")

    def frames_sent(self) -> list[bytes]:
        """What the device has put on the wire so far."""
        return [entry.frame for entry in self.transcript.entries() if entry.is_sent]

    def completions(
        self, end: End, count: int = 1, *, within_ns: int | None = None
    ) -> list[Outcome]:
        """The next completions of a queue pair, none when none come in time."""
        timeout_ns = self.target.patience.answer_ns if within_ns is None else within_ns
        taking = Taking(self.target)
        found = self.target.completions(end.qp, count=count, timeout_ns=timeout_ns)
        while within_ns is None and len(found) < count and taking.goes_on():
            found += self.target.completions(end.qp, count=count, timeout_ns=timeout_ns)
        self.pump(0)
        return found

    def all_completions(self, end: End, count: int) -> list[Outcome]:
        """So many completions of a queue pair, and those that come besides."""
        found = self.completions(end, count=count)
        self.settle()
        return found + self.completions(end, count=0, within_ns=0)

    def failed(
        self,
        text: str,
        *,
        rules: Iterable[str] = (),
        got: Packet | None = None,
        example: Callable[[], bytes | None] | None = None,
        stop: Stop | None = None,
    ) -> CaseFailed:
        """The failure to raise, with every frame seen so far, and how a device stands still."""
        entries = [] if got is None else [self.entry_of(got)]
        told = [text, self.story()]
        if stop is not None and stop.stands_still:
            told += self.target.streams()
        return CaseFailed("\n".join(told), rules=rules, entries=entries, example=example, stop=stop)

    def arrived(self) -> Iterator[tuple[Packet, Entry]]:
        """Every packet that came from the device, in order."""
        yield from self._arrived.values()

    def entry_of(self, packet: Packet) -> Entry:
        """The frame, and its time, in which a packet came from the device."""
        return self._arrived[id(packet)][1]

    def story(self) -> str:
        """The frames seen, in notation."""
        clock = Clock(self.target.taken_ns(), self.target.clock_ps)
        return story(list(self.transcript.entries()), self._told, clock)

    def _told(self, entry: Entry) -> str:
        packet, flow = parse(entry.frame), entry.flow
        if packet is None:
            return f"{len(entry.frame)} bytes, no RoCEv2"
        if flow is None:
            return f"qpn={packet.bth.dest_qpn:#x} {got(packet, self._no_flow())}"
        if len(self._ends) < 2:
            return got(packet, flow)
        qpns = [(end.spec.remote_qpn, end.qp.qpn) for end in self._ends]
        number = next((i for i, both in enumerate(qpns) if flow.dest_qpn in both), None)
        return got(packet, flow) if number is None else f"qp{number} {got(packet, flow)}"

    def _no_flow(self) -> FlowCodec:
        return FlowCodec(src=self.target.host, dst=self.peers[0], dest_qpn=0)

    def _frames(self, packet: bytes | ScapyPacket) -> list[bytes]:
        return list(whole_frames(packet, self.peers[0], self.target.host, self.random))

    def _take(self, arrival: Arrival) -> None:
        packet = parse(arrival.frame)
        owner = self._owner(packet) if packet is not None else None
        flow = owner.from_device if owner is not None else None
        entry = Entry(arrival.time_ns, True, arrival.frame, flow=flow, fcs=arrival.fcs)
        self.transcript.add(entry)
        if packet is None:
            return
        self._arrived[id(packet)] = packet, entry
        if owner is None:
            self.strays.append(packet)
            return
        owner.take(packet)

    def _owner(self, packet: Packet) -> End | None:
        qpn = packet.bth.dest_qpn
        return next((end for end in self._ends if end.spec.remote_qpn == qpn), None)


def _peer(device: Host, index: int) -> Host:
    mac = parse_mac(f"02:00:00:00:0b:{index + 2:02x}")
    return Host(mac, device.ip[:-1] + bytes([PEERS_LAST_BYTES[index]]))
