# SPDX-License-Identifier: BSD-2-Clause
"""Plays a script into the responder of rtl/ and holds what it does against the reference model.

The model shares nothing with the RTL. Both get the same queue pairs, regions, receives and
frames; answers, completions and memory must agree, and nothing may be said of bytes that
are not yet in memory.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

from responder_device import Happened, play
from rtl_frames import PEER_IP, PEER_MAC, PORT_IP, PORT_MAC

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.device import Device
from roceproof.conformance.model.memory import FOREIGN_DOMAIN, OWN_DOMAIN, Region
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.policy import (
    Credits,
    Persistence,
    ResponderPolicy,
    UdpChecksum,
)
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.ip import Ipv4
from roceproof.dpi.contract.receive_records import (
    MemoryRegion,
    PostedReceive,
    ReceiveCompletion,
    ReceiveFlags,
    RegionCommand,
)
from roceproof.dpi.contract.records import Access, QpCommand, QpConfig
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, QpSpec, State
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Outcome

PORT, PEER = Host(PORT_MAC, PORT_IP), Host(PEER_MAC, PEER_IP)
RIGHTS = FULL_ACCESS

POLICY = ResponderPolicy(
    credits=Credits.INVALID,
    persistence=Persistence.UNSUPPORTED,
    udp_checksum=UdpChecksum.IGNORED,
)
"""The choices that the responder makes where the specification leaves it one."""

_COMMANDS = {
    State.RTS: QpCommand.ACTIVATE,
    State.RTR: QpCommand.RTR,
    State.INIT: QpCommand.INIT,
    State.RESET: QpCommand.RESET,
    State.ERR: QpCommand.ERROR,
}


def access_of(rights: frozenset[str]) -> Access:
    """The bits of rights in words."""
    return Access(sum(Access[name.upper()] for name in rights))


class Trial:
    """One script, and the model to which the same happens."""

    def __init__(self, bench: tuple[Path, int], directory: Path) -> None:
        self.binary, self.width = bench
        self.model = Device(PORT, Components(responder_policy=POLICY))
        self._directory = directory
        self._script: list[str] = []
        self._wanted: list[tuple[bytes, bytes]] = []  # an answer, and the frame that draws it
        self._outcomes: dict[int, list[Outcome]] = defaultdict(list)
        self._regions: list[tuple[Region, int]] = []
        self._keys = 0
        self._receives = 0

    def open(self, spec: QpSpec, *, settled: bool = True) -> QpSpec:
        """(Re)start a queue pair, by default once the frames before it are settled."""
        self._configure(spec, settled=settled)
        if spec.local_qpn in self.model.queue_pairs:
            self._collect(spec.local_qpn)
            self.model.reset(spec.local_qpn, spec)
        else:
            self.model.open(spec)
        return spec

    def _configure(self, spec: QpSpec, *, settled: bool = True) -> None:
        config = QpConfig(
            local_qpn=spec.local_qpn,
            remote_qpn=spec.remote_qpn,
            command=_COMMANDS[spec.state],
            service=spec.service,
            path_mtu=PathMtu.from_size(spec.path_mtu),
            rq_psn=spec.rq_psn,
            remote_mac=spec.remote.mac.hex(":"),
            remote_gid=str(ip_address(spec.remote.ip)),
            udp_sport=spec.udp_sport,
            traffic_class=spec.traffic_class,
            hop_limit=spec.hop_limit,
            min_rnr_timer=spec.min_rnr_timer,
            access=access_of(spec.access),
            qkey=spec.qkey,
            max_dest_rd_atomic=spec.max_dest_rd_atomic,
        )
        if settled:
            self.settle()
        self._script.append(f"C {config.pack().hex()}")

    def enter(self, qpn: int, state: State) -> None:
        """Move a queue pair to another state."""
        self._collect(qpn)
        self._configure(replace(self.model.queue_pairs[qpn].spec, state=state))
        self.model.enter(qpn, state)

    def register(
        self,
        size: int,
        *,
        access: frozenset[str] = RIGHTS,
        is_foreign: bool = False,
        addr: int | None = None,
    ) -> Region:
        """Memory that both know; each region has a place of its own in the index."""
        self._keys += 1
        rkey = self._keys << 8 | self._keys
        region = self.model.memory.register(
            size,
            access=access,
            domain=FOREIGN_DOMAIN if is_foreign else OWN_DOMAIN,
            addr=addr,
            rkey=rkey,
        )
        base = self._keys << 32
        self._regions.append((region, base))
        self._tell(region, base, RegionCommand.REGISTER)
        return region

    def deregister(self, region: Region, *, settled: bool = True) -> None:
        """Make its keys invalid, by default once the frames before are settled."""
        base = next(base for known, base in self._regions if known is region)
        self._tell(region, base, RegionCommand.FORGET, settled=settled)
        region.deregister()

    def _tell(
        self, region: Region, base: int, command: RegionCommand, *, settled: bool = True
    ) -> None:
        record = MemoryRegion(
            command=command,
            access=access_of(region.access),
            pd=int(region.domain == FOREIGN_DOMAIN),
            lkey=region.rkey ^ 0xA500_0000,
            rkey=region.rkey,
            va=region.addr,
            length=region.size,
            base=base,
        )
        if settled:
            self.settle()
        self._script.append(f"M {record.pack().hex()}")

    def post_receive(
        self, qpn: int, region: Region, *, offset: int = 0, length: int, settled: bool = True
    ) -> int:
        """Post a receive, by default once the frames before it are settled; its number."""
        self._receives += 1
        record = PostedReceive(
            wr_id=self._receives,
            qpn=qpn,
            lkey=region.rkey ^ 0xA500_0000,
            address=region.addr + offset,
            length=length,
        )
        if settled:
            self.settle()
        self._script.append(f"R {record.pack().hex()}")
        receive = Receive(self._receives, region, offset, length)
        self.model.queue_pairs[qpn].post_receive(receive)
        return self._receives

    def settle(self) -> None:
        """Go on when nothing moves any more."""
        if self._script and self._script[-1][0] in "FP":
            self._script.append("I")

    def pause(self, cycles: int) -> None:
        """Go on after so many cycles, whatever is still under way."""
        self._script.append(f"P {cycles}")

    def send(self, frame: bytes) -> None:
        """Play a frame."""
        self._script.append(f"F {len(frame)} {frame.hex(' ')}")
        self.model.receive(frame, 0)
        answers = iter(lambda: self.model.next_frame(0) or b"", b"")
        self._wanted += ((answer, frame) for answer in answers)

    def _collect(self, qpn: int) -> None:
        self._outcomes[qpn] += self.model.queue_pairs[qpn].take_outcomes()

    def run(self, **plusargs: int) -> Happened:
        """Simulate, and fail unless the device did what the model did."""
        happened = self.simulate(**plusargs)
        self._compare_frames([frame for _, frame in happened.frames])
        self._compare_completions([each for _, each in happened.completions])
        self._compare_memory(happened)
        return happened

    def simulate(self, **plusargs: int) -> Happened:
        """What the device did, for where the model's time is another."""
        return play(self.binary, self._script, self._directory, plusargs)

    def _compare_frames(self, frames: list[bytes]) -> None:
        for number, (got, (want, to)) in enumerate(zip(frames, self._wanted, strict=False)):
            assert comparable(got) == comparable(want), f"answer {number}, to {parse(to)}"
        assert len(frames) == len(self._wanted)

    def _compare_completions(self, completions: list[ReceiveCompletion]) -> None:
        found: dict[int, list[Outcome]] = defaultdict(list)
        for record in completions:
            found[record.qpn].append(outcome_of(record))
        for qpn in self.model.queue_pairs:
            self._collect(qpn)
        assert found == {qpn: done for qpn, done in self._outcomes.items() if done}

    def _compare_memory(self, happened: Happened) -> None:
        memory: dict[int, int] = {}
        for _, address, data in happened.writes:
            memory |= {address + at: byte for at, byte in enumerate(data)}
        for region, base in self._regions:
            got = bytes(memory.pop(base + at, 0) for at in range(region.size))
            assert got == region.read(0, region.size), f"region {region.rkey:#x}"
        assert not memory, f"bytes outside of all regions: {sorted(memory)[:8]}"


def comparable(frame: bytes) -> Packet:
    """What counts of an answer: all but the IPv4 identification, which nobody needs."""
    packet = parse(frame)
    assert packet is not None and build(packet) == frame, "lengths, checksum, ICRC or pad are wrong"
    assert isinstance(packet.ip, Ipv4)
    return replace(packet, ip=replace(packet.ip, ident=0, checksum=0), icrc=b"")


def outcome_of(record: ReceiveCompletion) -> Outcome:
    """A completion in the words of the model."""
    has_data = record.status.name == "SUCCESS"
    return Outcome(
        wr_id=record.wr_id,
        status=record.status.name.lower(),
        is_receive=True,
        byte_len=record.byte_len if has_data else None,
        immediate=record.immediate if ReceiveFlags.IMMEDIATE in record.flags else None,
        invalidated=record.immediate if ReceiveFlags.INVALIDATE in record.flags else None,
    )
