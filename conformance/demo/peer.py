# SPDX-License-Identifier: BSD-2-Clause
"""The real end of the demonstration that sends: a queue pair and a memory region of the peer."""

from collections.abc import Callable, Iterator
from typing import Any

from roceproof.conformance.demo.memory import ReceivingEndpoint
from roceproof.conformance.demo.plan import PSN_MODULUS, Connection, Message, packets
from roceproof.conformance.demo.receiver import Landing
from roceproof.conformance.demo.report import MessageResult
from roceproof.conformance.demo.sender import judge, name_of
from roceproof.rxe_env.client.verbs import MemoryRegion, QueuePair
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce
from roceproof.verbs.service import Service

COMPLETION_S = 60.0
MOST_RETRIES = 7
ACK_TIMEOUT, ACK_TIMEOUT_OF_LOSSY = 20, 16
"""4.3 s of the peer's time, in which the simulation gets through a long message; 268 ms."""


class Writer:
    """Sends through queue pairs of the peer, one message at a time."""

    def __init__(
        self,
        peer: SoftRoce,
        endpoint: ReceivingEndpoint,
        *,
        is_lossy: bool,
        report: Callable[[str], None],
    ) -> None:
        self._peer, self._endpoint, self._report = peer, endpoint, report
        self._timeout = ACK_TIMEOUT_OF_LOSSY if is_lossy else ACK_TIMEOUT

    def send_all(self, connection: Connection) -> Iterator[MessageResult]:
        """Connect, then send every message of the connection and say how it fared.

        After a message that did not land nothing more is sent; the rest counts as not landed.
        """
        longest = max(len(message.payload) for message in connection.messages)
        region = self._peer.reg_mr(max(1, longest), access=("local_write",))
        queue = self._peer.open_qp(connection.service.name, depth=16)
        qpn, reverse_psn = self._endpoint.open(connection, remote_qpn=queue.qpn)
        is_reliable = connection.service is Service.RC
        retries = {"timeout": self._timeout, "retry_cnt": MOST_RETRIES} if is_reliable else {}
        self._peer.connect(
            queue,
            remote_ipv4=DUT_IPV4,
            remote_qpn=qpn,
            path_mtu=connection.path_mtu.size,
            rq_psn=reverse_psn,
            sq_psn=connection.start_psn,
            rts=retries,
        )
        psn, alive = connection.start_psn, True
        for index, message in enumerate(connection.messages):
            landing = self._landing(queue, region, message, index) if alive else None
            result = judge(connection, message, psn, landing)
            if landing is not None and not result.ok:
                alive = False
                lack = landing.lack(message)
                self._report(f"{name_of(connection, message)} did not land: {lack}")
            yield result
            psn = (psn + packets(len(message.payload), connection.path_mtu.size)) % PSN_MODULUS
        self._endpoint.close()

    def _landing(
        self, queue: QueuePair, region: MemoryRegion, message: Message, index: int
    ) -> Landing:
        address, rkey = self._endpoint.prepare(message, alignment=7 * index % 64)
        is_read = message.operation.name == "READ"
        if is_read:
            self._peer.fill(region, 0)
        else:
            self._peer.write(region, message.payload)
        self._peer.call("post_send", qp=queue.handle, wrs=[_work(message, region, address, rkey)])
        completions = self._peer.poll(queue, wait=COMPLETION_S)
        status = completions[0].status if completions else f"not within {COMPLETION_S:.0f} s"
        if status != "success":
            return Landing("", None, None, guards_intact=True, problem=f"completed {status}")
        landing = self._endpoint.landing(message)
        if not is_read:
            return landing
        found = self._peer.sha256(region, length=len(message.payload))
        return Landing(found, None, None, landing.guards_intact, landing.problem)


def _work(message: Message, region: MemoryRegion, address: int, rkey: int) -> dict[str, Any]:
    name = message.operation.name.lower()
    length = len(message.payload)
    work: dict[str, Any] = {"opcode": name}
    if length:
        work["sge"] = [{"mr": region.handle, "offset": 0, "length": length}]
    if message.immediate is not None:
        work["imm"] = message.immediate
    if name.startswith(("write", "read")):
        work |= {"raddr": hex(address), "rkey": rkey}
    return work
