# SPDX-License-Identifier: BSD-2-Clause
"""The simulated end of the demonstration that receives: a queue pair, its memory, its receives."""

import hashlib
from collections.abc import Callable
from typing import Any

from roceproof.conformance.demo.deadline import wait_until_configured
from roceproof.conformance.demo.plan import FIRST_QPN, PSN_MODULUS, Connection, Message, packets
from roceproof.conformance.demo.receiver import GUARD, GUARD_BYTE, Landing
from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.targets.hdl.memory import HdlMemory, HdlRegion, ToldRegion, access_of
from roceproof.conformance.targets.hdl.static_memory import HdlStaticMemory
from roceproof.dpi import Manifest, Port, QpConfig, Simulation
from roceproof.dpi.contract.receive_records import PostedReceive, ReceiveFlags
from roceproof.dpi.contract.records import Status
from roceproof.dpi.manifest.responder import Responder
from roceproof.dpi.session.deadline import Due, Overdue, wait_until_due
from roceproof.dpi.session.events import TimedReceive
from roceproof.rxe_env.peer import SoftRoce
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.limits import DOMAIN
from roceproof.verbs.service import Service

RIGHTS = frozenset({"local_write", "remote_write", "remote_read"})
READS = 16
"""Outstanding at once, at most."""
_CHUNK = 1 << 16
_TAIL = 64
_PATIENCE = 15
"""The peer is due within that ACK timeout: 134 ms of simulated time, seconds of its own."""
_GENEROUS = 16


def longest_message(responder: Responder) -> int:
    """The longest message that its memory has room for, guards around it."""
    if not responder.static_regions:
        return LONGEST_MESSAGE
    return max(region.length for region in responder.static_regions) - 4 * GUARD


class ReceivingEndpoint:
    """The device, one connection after the other.

    The message lies `GUARD` bytes or more into the region, with guard bytes on both sides that
    nothing may touch.
    """

    def __init__(
        self, simulation: Simulation, peer: SoftRoce, *, device: Manifest, clock_ps: int
    ) -> None:
        assert device.responder is not None
        self._simulation, self._peer, self._device = simulation, peer, device
        self._port: Port = simulation.port(0)
        self._responder, self._fixed = device.responder, device.limits.fixed_of_qp
        self._domain = device.limits.fixed.get(DOMAIN, 0)
        self._memory = HdlMemory(simulation, regions=device.responder.regions)
        self._due_cycles = 1000 * (ack_timeout_ns(_PATIENCE) or 0) // clock_ps
        self._qpn = FIRST_QPN - 1
        self._region: HdlRegion
        self._connection: Connection
        self._longest = self._offset = self._wr_id = self._configured = 0

    def open(self, connection: Connection, *, remote_qpn: int) -> tuple[int, int]:
        """A queue pair towards that one of the peer, and its memory; its number and its PSN."""
        self._qpn = self._fixed.get("local_qpn", self._qpn + 1)
        self._connection = connection
        self._longest = max(len(message.payload) for message in connection.messages)
        self._region = self._new_region(self._longest + 4 * GUARD)
        own_psn = (connection.start_psn + PSN_MODULUS // 2) % PSN_MODULUS
        own_psn = self._fixed.get("sq_psn", own_psn)
        values: dict[str, Any] = {
            "max_dest_rd_atomic": READS,
            **self._fixed,
            "local_qpn": self._qpn,
            "sq_psn": own_psn,
            "rq_psn": connection.start_psn,
        }
        self._port.configure(
            QpConfig(
                service=connection.service,
                path_mtu=connection.path_mtu,
                remote_mac=self._peer.mac,
                remote_gid=f"::ffff:{self._peer.ipv4}",
                remote_qpn=remote_qpn,
                access=access_of(RIGHTS),
                pd=self._domain,
                **values,
            )
        )
        self._configured += 1
        wait_until_configured(self._simulation, self._device, taken=self._configured)
        return self._qpn, own_psn

    def _new_region(self, size: int) -> HdlRegion:
        if self._responder.static_regions:  # each connection finds them all free
            return HdlStaticMemory(self._simulation, responder=self._responder).add(size, RIGHTS)
        return self._memory.add(size, access_of(RIGHTS), pd=self._domain)

    def close(self) -> None:
        """The memory is forgotten; the next connection gets its own."""
        if isinstance(self._region, ToldRegion):
            self._region.deregister()

    def prepare(self, message: Message, *, alignment: int) -> tuple[int, int]:
        """Paint the region, post a receive if the message takes one; address and key for the peer.

        What is to be read lies there instead of paint.
        """
        self._offset = GUARD + alignment
        length = len(message.payload)
        paint = bytes([GUARD_BYTE])
        body = message.payload if message.operation.name == "READ" else paint * length
        self._poke(0, paint * self._offset + body + paint * GUARD)
        if message.consumes_receive:
            self._wr_id += 1
            self._port.post_receive(
                PostedReceive(
                    wr_id=self._wr_id,
                    qpn=self._qpn,
                    lkey=self._region.lkey,
                    address=self._region.addr + self._offset,
                    length=self._longest,
                )
            )
        return self._region.addr + self._offset, self._region.rkey

    def landing(self, message: Message) -> Landing:
        """Wait until the message has arrived and say what is there."""
        length = len(message.payload)
        receives: list[TimedReceive] = []

        def has_come() -> bool:
            receives.extend(self._port.take_receives())
            return bool(receives)

        problem = None
        if message.consumes_receive:
            problem = self._awaited(has_come, f"receive completion of {length} bytes", length)
            if receives and receives[0].completion.status is not Status.SUCCESS:
                problem = f"receive completion {receives[0].completion.status.name}"
        elif self._connection.service is Service.UC and length:
            problem = self._awaited(lambda: self._ends_as(message), f"{length} bytes", length)
        receives += self._port.take_receives()
        if len(receives) > message.consumes_receive:
            problem = "receives completed that it did not take"
        done = receives[0].completion if receives and problem is None else None
        if done is not None and (done.wr_id, done.qpn) != (self._wr_id, self._qpn):
            problem = f"receive {done.wr_id} of QP {done.qpn:#x} completed, not {self._wr_id}"
        told = done is not None and ReceiveFlags.IMMEDIATE in done.flags
        return Landing(
            sha256=hashlib.sha256(self._peek(self._offset, length)).hexdigest(),
            immediate=done.immediate if done is not None and told else None,
            byte_len=done.byte_len if done is not None else None,
            guards_intact=self._is_painted(0, self._offset)
            and self._is_painted(self._offset + length, GUARD),
            problem=problem,
        )

    def _awaited(self, until: Callable[[], bool], what: str, length: int) -> str | None:
        frames = _GENEROUS * (packets(length, self._connection.path_mtu.size) + 1)
        cycles, why = self._due_cycles, "the peer has sent all"
        try:
            wait_until_due(
                self._simulation, until, Due(what=what, cycles=cycles, frames=frames, why=why)
            )
        except Overdue as late:
            return str(late).splitlines()[0]
        return None

    def _ends_as(self, message: Message) -> bool:
        tail = message.payload[-_TAIL:]
        return self._peek(self._offset + len(message.payload) - len(tail), len(tail)) == tail

    def _is_painted(self, offset: int, length: int) -> bool:
        return self._peek(offset, length) == bytes([GUARD_BYTE]) * length

    def _poke(self, offset: int, data: bytes) -> None:
        for at in range(0, len(data), _CHUNK):
            self._region.write(offset + at, data[at : at + _CHUNK])

    def _peek(self, offset: int, length: int) -> bytes:
        sizes = ((at, min(_CHUNK, length - at)) for at in range(0, length, _CHUNK))
        return b"".join(self._region.read(offset + at, size) for at, size in sizes)
