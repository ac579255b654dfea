# SPDX-License-Identifier: BSD-2-Clause
"""The sending side of the demonstration: the simulated endpoint's queue pairs."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from roceproof.conformance.demo.deadline import ACK_TIMEOUT, due_completion, told_last_frames
from roceproof.conformance.demo.plan import FIRST_QPN, PSN_MODULUS, Connection, Message, packets
from roceproof.conformance.demo.receiver import Landing, Receiver
from roceproof.conformance.demo.report import MessageResult
from roceproof.dpi import Manifest, Port, Simulation, SimulationError, TimedCompletion
from roceproof.dpi.contract.records import Operation, QpConfig, Status, WorkRequest
from roceproof.dpi.session.deadline import Overdue, wait_until_due
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce

REFUSED = frozenset({Status.LOC_LEN_ERR, Status.LOC_QP_OP_ERR})
"""Nothing was sent, no PSN is used, and the queue pair is as it was."""


class Sender:
    """Configures the endpoint's queue pairs and sends through them, one message at a time."""

    def __init__(
        self,
        simulation: Simulation,
        peer: SoftRoce,
        *,
        device: Manifest,
        data_width: int,
        capture: Path,
        report: Callable[[str], None],
    ) -> None:
        self._simulation = simulation
        self._port: Port = simulation.port(0)
        self._peer = peer
        self._next_qpn = FIRST_QPN
        self._next_wr_id = 1
        self._device = device
        self._clock_ps = device.clock_ps_at(data_width)
        self._lane_bytes = data_width // 8
        self._fixed: Mapping[str, int] = device.limits.fixed_of_qp
        self._chosen = device.limits.fixed_of_work
        self._capture = capture
        self._report = report

    def send_all(self, connection: Connection) -> Iterator[MessageResult]:
        """Connect, then send every message of the connection and say how it fared.

        After a message that did not land nothing more is sent: the two ends no
        longer agree on the next PSN. The rest counts as not landed. A message that
        the device refuses leaves them as they were.
        """
        receiver = Receiver(self._peer, connection)
        qpn = self._fixed.get("local_qpn", self._next_qpn)
        self._next_qpn += 1
        reverse_psn = (connection.start_psn + PSN_MODULUS // 2) % PSN_MODULUS
        reverse_psn = self._fixed.get("rq_psn", reverse_psn)
        values: dict[str, Any] = {"udp_sport": 0xC000 + qpn % 0x4000, "ack_timeout": ACK_TIMEOUT}
        values |= self._fixed
        values |= {"local_qpn": qpn, "sq_psn": connection.start_psn, "rq_psn": reverse_psn}
        config = QpConfig(
            service=connection.service,
            path_mtu=connection.path_mtu,
            remote_mac=self._peer.mac,
            remote_gid=f"::ffff:{self._peer.ipv4}",
            **{**values, "remote_qpn": receiver.qpn},
        )
        self._port.configure(config)
        receiver.connect(ipv4=DUT_IPV4, qpn=qpn, sq_psn=reverse_psn)
        psn = connection.start_psn
        alive = True
        refused: set[tuple[str, Status]] = set()
        for index, message in enumerate(connection.messages):
            landing = status = None
            if alive:
                address = receiver.prepare(message, alignment=7 * index % 64)
                status = self._send(message, config, address, receiver.rkey, index)
                if status is Status.SUCCESS:
                    landing = receiver.landing(message)
            result = judge(connection, message, psn, landing)
            if status is not None and not result.ok:
                alive = status in REFUSED
                if not alive or (message.operation.name, status) not in refused:
                    lack = landing.lack(message) if landing else f"completed {status.name}"
                    self._report(f"{name_of(connection, message)} did not land: {lack}")
                refused.add((message.operation.name, status))
            yield result
            if status not in REFUSED:
                psn = (psn + packets(len(message.payload), connection.path_mtu.size)) % PSN_MODULUS

    def _send(
        self, message: Message, config: QpConfig, address: int, rkey: int, index: int
    ) -> Status:
        operation = Operation[message.operation.name]
        writes = operation in (Operation.WRITE, Operation.WRITE_IMM)
        offset = 3 * index % self._lane_bytes
        request = WorkRequest(
            wr_id=self._next_wr_id,
            qpn=config.local_qpn,
            operation=operation,
            length=len(message.payload),
            remote_addr=address if writes else 0,
            rkey=rkey,
            immediate=message.immediate or 0,
            solicited=bool(self._chosen.get("solicited", 0)),
            payload_offset=self._chosen.get("offset", offset) if message.payload else 0,
        )
        self._next_wr_id += 1
        self._port.post(request, payload=message.payload)
        completions: list[TimedCompletion] = []

        def completed() -> bool:
            completions.extend(self._port.take_completions())
            return bool(completions)

        size = len(message.payload)
        due = due_completion(
            config,
            self._device,
            clock_ps=self._clock_ps,
            what=f"a {config.service.name} {message.operation.name} of {size} bytes",
            packets=packets(size, config.path_mtu.size),
        )
        try:
            wait_until_due(self._simulation, completed, due)
        except Overdue as late:
            told = f"{late}\n{told_last_frames(self._capture)}"
            raise Overdue(told, log=late.log) from None
        (completion,) = completions
        if completion.completion.wr_id != request.wr_id:
            raise SimulationError(f"completed {completion}, expected wr_id {request.wr_id}")
        return completion.completion.status


def name_of(connection: Connection, message: Message) -> str:
    """A message in a few words."""
    operation = message.operation.name
    return f"{connection.service.name} {operation} of {len(message.payload)} bytes"


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
