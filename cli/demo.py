# SPDX-License-Identifier: BSD-2-Clause
"""The main job: a simulated transmitter writes into the memory of a real receiver.

Starts a Soft-RoCE peer and the reference endpoint, connects queue pairs of
both, sends the work list of ``demo_plan`` and compares, message by message,
what the receiver's memory and completions hold with what was sent. Then it
checks every frame of the capture against the rules.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from roceproof.conformance.checker import Checker
from roceproof.conformance.findings import Direction
from roceproof.conformance.pcapng import Flow, read
from roceproof.conformance.rules import Severity
from roceproof.demo_plan import PSN_MODULUS, Connection, Message, packets, plan
from roceproof.demo_receiver import Landing, Receiver
from roceproof.demo_report import MessageResult, PeerFacts, print_table, write_result
from roceproof.dpi.build import build_simulation
from roceproof.dpi.manifest import load_manifest
from roceproof.dpi.records import Operation, QpConfig, Status, WorkRequest
from roceproof.dpi.simulation import Port, PortOptions, Simulation, SimulationError, TimedCompletion
from roceproof.paths import REFERENCE_DUT
from roceproof.progress import Progress
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce

ENDPOINT_MAC = "02:00:00:00:00:01"
FIRST_QPN = 0x00ABC0
SEND_DEADLINE_S = 60.0
ACK_TIMEOUT = 13  # 33.6 ms of simulated time, seconds of the receiver's


def run_demo(
    *,
    dut: Path | None,
    backend: str,
    data_width: int,
    seed: int,
    out: Path,
    waves: bool,
    short: bool,
    quiet: bool,
) -> int:
    """Run everything; 0 if every message landed and every frame was right, else 1."""
    started = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    capture = out / "capture.pcapng"
    manifest = load_manifest(dut or REFERENCE_DUT)
    connections = list(plan(seed=seed, short=short))
    results: list[MessageResult] = []
    with Progress(quiet=quiet) as progress:
        progress.step(f"building the {data_width}-bit simulation")
        build_simulation(manifest, data_width=data_width, ports=1, fst=waves)
        with ExitStack() as stack:
            progress.step("starting the Soft-RoCE receiver")
            peer = stack.enter_context(SoftRoce.start(backend=backend, progress=progress.step))
            facts = PeerFacts(backend=peer.backend, accel=peer.accel, kernel=peer.kernel)
            port_options = PortOptions(
                mac=ENDPOINT_MAC, ipv4=DUT_IPV4, link=peer.link, capture=capture
            )
            simulation = stack.enter_context(
                Simulation.start(
                    manifest,
                    data_width=data_width,
                    ports=[port_options],
                    seed=seed,
                    free_running=True,
                    waves=out / "waves.fst" if waves else None,
                )
            )
            sender = Sender(simulation, peer, lane_bytes=data_width // 8, report=progress.step)
            total = sum(len(connection.messages) for connection in connections)
            with progress.bar("sending", total=total) as bar:
                for connection in connections:
                    for result in sender.send_all(connection):
                        results.append(result)
                        bar.advance()
        progress.step("checking every frame of the capture")
        frames, findings = check_capture(capture)
    landed = sum(result.ok for result in results)
    ok = landed == len(results) and not findings
    write_result(out / "result.json", facts, results, ok=ok)
    print_table(results)
    for finding in findings[:10]:
        print(finding)
    print(
        f"\n{landed} of {len(results)} messages landed; {frames} frames, {len(findings)} findings "
        f"({facts.backend}, {facts.accel}, Linux {facts.kernel}; "
        f"{time.monotonic() - started:.1f} s)\n{capture}\n{out / 'result.json'}"
    )
    return 0 if ok else 1


class Sender:
    """Configures the endpoint's queue pairs and sends through them, one message at a time."""

    def __init__(
        self,
        simulation: Simulation,
        peer: SoftRoce,
        *,
        lane_bytes: int,
        report: Callable[[str], None],
    ) -> None:
        self._simulation = simulation
        self._port: Port = simulation.port(0)
        self._peer = peer
        self._next_qpn = FIRST_QPN
        self._next_wr_id = 1
        self._lane_bytes = lane_bytes
        self._report = report

    def send_all(self, connection: Connection) -> Iterator[MessageResult]:
        """Connect, then send every message of the connection and say how it fared.

        After a message that did not land nothing more is sent: the two ends no
        longer agree on the next PSN. The rest counts as not landed.
        """
        receiver = Receiver(self._peer, connection)
        qpn = self._next_qpn
        self._next_qpn += 1
        reverse_psn = (connection.start_psn + PSN_MODULUS // 2) % PSN_MODULUS
        self._port.configure(
            QpConfig(
                service=connection.service,
                path_mtu=connection.path_mtu,
                local_qpn=qpn,
                remote_qpn=receiver.qpn,
                sq_psn=connection.start_psn,
                rq_psn=reverse_psn,
                remote_mac=self._peer.mac,
                remote_gid=f"::ffff:{self._peer.ipv4}",
                udp_sport=0xC000 + qpn % 0x4000,
                ack_timeout=ACK_TIMEOUT,
            )
        )
        receiver.connect(ipv4=DUT_IPV4, qpn=qpn, sq_psn=reverse_psn)
        psn = connection.start_psn
        alive = True
        for index, message in enumerate(connection.messages):
            landing = None
            if alive:
                address = receiver.prepare(message, alignment=7 * index % 64)
                status = self._send(message, qpn, address, receiver.rkey, index)
                if status is Status.SUCCESS:
                    landing = receiver.landing(message)
            result = judge(connection, message, psn, landing)
            if alive and not result.ok:
                alive = False
                self._report(
                    f"{result.service} {result.operation} of {result.length} bytes did not land: "
                    f"{landing.lack(message) if landing else f'completed {status.name}'}"
                )
            yield result
            psn = (psn + packets(len(message.payload), connection.path_mtu.size)) % PSN_MODULUS

    def _send(self, message: Message, qpn: int, address: int, rkey: int, index: int) -> Status:
        writes = message.operation in (Operation.WRITE, Operation.WRITE_IMM)
        request = WorkRequest(
            wr_id=self._next_wr_id,
            qpn=qpn,
            operation=message.operation,
            length=len(message.payload),
            remote_addr=address if writes else 0,
            rkey=rkey if writes else 0,
            immediate=message.immediate or 0,
            payload_offset=3 * index % self._lane_bytes if message.payload else 0,
        )
        self._next_wr_id += 1
        self._port.post(request, payload=message.payload)
        completions: list[TimedCompletion] = []

        def completed() -> bool:
            completions.extend(self._port.take_completions())
            return bool(completions)

        self._simulation.wait(completed, timeout=SEND_DEADLINE_S, what="a completion")
        (completion,) = completions
        if completion.completion.wr_id != request.wr_id:
            raise SimulationError(f"completed {completion}, expected wr_id {request.wr_id}")
        return completion.completion.status


def judge(
    connection: Connection, message: Message, psn: int, landing: Landing | None
) -> MessageResult:
    """Compare memory, immediate and byte count with what was sent; None did not get that far."""
    digest = hashlib.sha256(message.payload).hexdigest()
    return MessageResult(
        service=connection.service.name,
        operation=message.operation.name,
        length=len(message.payload),
        pmtu=connection.path_mtu.size,
        start_psn=psn,
        sha256_sent=digest,
        sha256_received=landing.sha256 if landing else "",
        immediate_sent=message.immediate,
        immediate_received=landing.immediate if landing else None,
        ok=landing is not None and landing.lack(message) is None,
    )


def check_capture(path: Path) -> tuple[int, list[str]]:
    """Number of frames in the capture, and every broken MUST rule as a line of text."""
    checker = Checker()
    findings: list[str] = []
    count = 0
    for record in read(path):
        count += 1
        direction = Direction.RECEIVED if record.flow is Flow.INBOUND else Direction.SENT
        findings += [
            finding.message
            for finding in checker.feed(record.frame, direction)
            if finding.severity is Severity.MUST
        ]
    return count, findings
