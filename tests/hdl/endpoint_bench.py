# SPDX-License-Identifier: BSD-2-Clause
"""One simulated endpoint, its reference model, and a peer that acknowledges.

Whatever is posted goes to the device and to the model; `settle` runs until all
that the model predicts has happened and compares byte for byte. Simulated
cycles are the only clock, and every wait has its own limit in them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wire_peer import Peer

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.notation import describe, difference
from roceproof.conformance.wire.transmitter import Payload, Requester
from roceproof.dpi import Port, PortOptions, Simulation, Until, load_manifest
from roceproof.dpi.contract.records import Completion, Operation, QpConfig, Status, WorkRequest
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

ROOT = Path(__file__).resolve().parents[2]
PORT_MAC = "02:00:00:00:00:01"
PORT_IPV4 = "192.168.1.1"
PEER_MAC = "02:00:00:00:00:02"
PEER_IPV4 = "192.168.1.2"

START_CYCLES = 200  # the endpoint clears its contexts after reset
QUIET_CYCLES = 600  # long enough for a frame that should not come
SLICE_CYCLES = 192  # between two looks at what the peer has to acknowledge


def qp(index: int = 0, service: Service = Service.RC, **fields: object) -> QpConfig:
    """A queue pair with numbers of its own in every field."""
    values: dict[str, object] = {
        "local_qpn": 0x10 + index,
        "remote_qpn": 0x010203 + 0x1111 * index,
        "service": service,
        "path_mtu": PathMtu.MTU_256,
        "sq_psn": 0x123456 + 0x10101 * index,
        "remote_mac": PEER_MAC,
        "remote_gid": PEER_IPV4,
        "udp_sport": 0xC000 + 37 * index,
        "traffic_class": 0x6A,
        "hop_limit": 64 - index,
        "ip_id": 0x1A00 + 0x100 * index,
    }
    return QpConfig(**(values | fields))  # type: ignore[arg-type]


class Bench:
    """The device on one side, model and peer on the other."""

    def __init__(
        self, simulation: Simulation, width: int, clock_ps: int, *, mac: str, ipv4: str
    ) -> None:
        self.simulation = simulation
        self.clock_ps = clock_ps
        self.port: Port = simulation.port(0)
        self.lanes = width // 8
        self.random = random.Random(width)
        self.peer = Peer(parse_mac(mac), parse_gid(ipv4)[-4:])
        self._checkers: dict[int, Checker] = defaultdict(Checker)
        self.completions: list[Completion] = []
        self.completion_cycles: dict[int, int] = {}
        self.frame_cycles: dict[bytes, int] = {}
        self.other_frames: list[bytes] = []
        self.sent: dict[int, list[bytes]] = defaultdict(list)
        self._expected: dict[int, list[bytes]] = defaultdict(list)
        self._outcomes: dict[int, list[tuple[int, Status]]] = defaultdict(list)
        self._model = Requester(mac=parse_mac(mac), ipv4=parse_gid(ipv4)[-4:])
        self._configs: dict[int, QpConfig] = {}
        self._next_wr_id = 1
        self.cycle = 0

    def activate(self, *configs: QpConfig) -> None:
        """Configure queue pairs in the device, in the model and at the peer."""
        for config in configs:
            self._configs[config.local_qpn] = config
            self._model.configure(config)
            self.peer.know(config)
            self._checkers.pop(config.remote_qpn, None)
            self.port.configure(config)

    def post(
        self,
        config: QpConfig,
        operation: Operation,
        payload: Payload | int,
        *,
        offset: int = 0,
        solicited: bool = False,
        outcome: Status = Status.SUCCESS,
        sends: bool = True,
    ) -> WorkRequest:
        """Post one message, of given bytes or of that many random ones."""
        if isinstance(payload, int):
            payload = self.random.randbytes(payload)
        request = WorkRequest(
            wr_id=self._next_wr_id,
            qpn=config.local_qpn,
            operation=operation,
            length=len(payload) if isinstance(payload, bytes) else payload.length,
            remote_addr=self.random.getrandbits(64),
            rkey=self.random.getrandbits(32),
            immediate=self.random.getrandbits(32),
            solicited=solicited,
            payload_offset=offset,
        )
        self._next_wr_id += 1
        self.port.post(request, payload=payload)
        if sends:
            self._expected[config.remote_qpn] += self._model.frames(request, payload)
        self._outcomes[config.local_qpn].append((request.wr_id, outcome))
        return request

    def run(self, cycles: int, *, until: Until = Until.CYCLES) -> None:
        """Let time pass and sort what the device gave."""
        self.cycle = self.simulation.run(cycles=cycles, until=until).cycle
        for frame in self.port.take_frames():
            packet = parse(frame.data)
            if packet is None:
                self.other_frames.append(frame.data)
                continue
            checker = self._checkers[packet.bth.dest_qpn]
            found = checker.feed(frame.data) + checker.finish()
            assert not found, found[0].message
            self.sent[packet.bth.dest_qpn].append(frame.data)
            self.frame_cycles[frame.data] = frame.cycle
            self.peer.take(packet)
        for timed in self.port.take_completions():
            self.completions.append(timed.completion)
            self.completion_cycles[timed.completion.wr_id] = timed.cycle

    def answer(self) -> None:
        """Let the peer acknowledge all that asked for it, one ACK per queue pair."""
        for ack in self.peer.coalesced_acks():
            self.port.inject(ack)

    def settle(self, *, limit: int = 200_000, answering: bool = True) -> None:
        """Run until everything expected has come, then see that no more does."""
        start = self.cycle
        while self._missing():
            assert self.cycle < start + limit, f"after {limit} cycles: {self._missing()}"
            self.run(SLICE_CYCLES)
            if answering:
                self.answer()
        self.run(QUIET_CYCLES)
        self.compare()

    def compare(self) -> None:
        """Everything sent so far against the model, and every completion."""
        for qpn in self._expected.keys() | self.sent.keys():
            expected, got = self._expected[qpn], self.sent[qpn]
            for index, (want, have) in enumerate(zip(expected, got, strict=False)):
                assert have == want, f"QP {qpn:#x} frame {index}\n{difference(want, have)}"
            extra = got[len(expected) :]
            assert not extra, f"QP {qpn:#x} sent {len(extra)} frames more: {describe(extra[0])}"
            assert len(got) == len(expected), f"QP {qpn:#x}: {self._missing()}"
        for qpn, outcomes in self._outcomes.items():
            found = [(c.wr_id, c.status) for c in self.completions if c.qpn == qpn]
            assert found == outcomes, f"completions of QP {qpn:#x}"
        assert len(self.completions) == sum(map(len, self._outcomes.values()))

    def frames_expected(self, config: QpConfig) -> list[bytes]:
        """What the model says of one queue pair."""
        return self._expected[config.remote_qpn]

    def packets(self, config: QpConfig) -> list[Packet]:
        """What the device has sent on one queue pair, parsed."""
        return [packet for frame in self.sent[config.remote_qpn] if (packet := parse(frame))]

    def _missing(self) -> str:
        frames = sum(map(len, self._expected.values())) - sum(map(len, self.sent.values()))
        completions = sum(map(len, self._outcomes.values())) - len(self.completions)
        if frames <= 0 and completions <= 0:
            return ""
        return f"{frames} frames and {completions} completions have not come"


@contextmanager
def open_bench(
    width: int,
    *,
    seed: int = 1,
    capture: Path | None = None,
    mac: str = PORT_MAC,
    ipv4: str = PORT_IPV4,
) -> Iterator[Bench]:
    """Start the reference endpoint at one width."""
    manifest = load_manifest(ROOT / "rtl" / "dut.toml")
    options = PortOptions(mac=mac, ipv4=ipv4, link="lockstep", capture=capture)
    with Simulation.start(manifest, data_width=width, ports=[options], seed=seed) as simulation:
        bench = Bench(simulation, width, manifest.clock_ps_at(width), mac=mac, ipv4=ipv4)
        bench.run(START_CYCLES)
        yield bench
