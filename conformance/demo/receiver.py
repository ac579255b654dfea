# SPDX-License-Identifier: BSD-2-Clause
"""The receiving side of the demonstration: one queue pair and one memory region of a real peer."""

import hashlib
import time
from dataclasses import dataclass

from roceproof.conformance.demo.plan import PSN_MODULUS, Connection, Message, packets
from roceproof.rxe_env.client.verbs import Completion
from roceproof.rxe_env.peer import SoftRoce
from roceproof.verbs.service import Service

GUARD = 64
GUARD_BYTE = 0xA5
ARRIVAL_S = 10.0


@dataclass(frozen=True)
class Landing:
    """What the receiver says of one message."""

    sha256: str
    immediate: int | None
    byte_len: int | None
    guards_intact: bool
    problem: str | None

    def lack(self, message: Message) -> str | None:
        """What keeps this from being `message`, byte for byte; None if nothing does."""
        if self.problem:
            return self.problem
        if self.sha256 != hashlib.sha256(message.payload).hexdigest():
            return "its bytes differ"
        if not self.guards_intact:
            return "bytes around it were overwritten"
        if self.immediate != message.immediate:
            return f"its immediate is {self.immediate}, sent {message.immediate}"
        if message.consumes_receive and self.byte_len != len(message.payload):
            return f"its completion counts {self.byte_len} bytes, sent {len(message.payload)}"
        return None


class Receiver:
    """A queue pair of the peer, its memory region and its completion queue.

    The message lies `GUARD` bytes or more into the region, with guard bytes
    on both sides that nothing may touch.
    """

    def __init__(self, peer: SoftRoce, connection: Connection) -> None:
        self._longest = max(len(message.payload) for message in connection.messages)
        self._peer = peer
        self._connection = connection
        self._region = peer.reg_mr(
            self._longest + 4 * GUARD, access=("local_write", "remote_write")
        )
        self._queue = peer.open_qp(connection.service.name, depth=16, access=("remote_write",))
        self._next_psn = connection.start_psn
        self._offset = GUARD
        self._has_receive = False  # posted at the offset for a message that took none
        self.qpn = self._queue.qpn
        self.rkey = self._region.rkey

    def connect(self, *, ipv4: str, qpn: int, sq_psn: int) -> None:
        """Move the queue pair to RTS, towards the transmitter at `ipv4`."""
        self._peer.connect(
            self._queue,
            remote_ipv4=ipv4,
            remote_qpn=qpn,
            path_mtu=self._connection.path_mtu.size,
            rq_psn=self._connection.start_psn,
            sq_psn=sq_psn,
        )

    def prepare(self, message: Message, *, alignment: int) -> int:
        """Paint the region, see that there is a receive if the message needs one; its address.

        A receive has room for any message: the one of a message that was refused takes the next.
        """
        if not self._has_receive:
            self._offset = GUARD + alignment
        length = len(message.payload)
        self._peer.call(
            "fill",
            mr=self._region.handle,
            offset=0,
            length=self._offset + length + GUARD,
            byte=GUARD_BYTE,
        )
        if message.consumes_receive and not self._has_receive:
            self._peer.post_recv(
                self._queue, self._region, wr_id=1, offset=self._offset, length=self._longest
            )
            self._has_receive = True
        return self._region.addr + self._offset

    def landing(self, message: Message) -> Landing:
        """Wait until the message has arrived and say what is there."""
        length = len(message.payload)
        count = packets(length, self._connection.path_mtu.size)
        self._next_psn = (self._next_psn + count) % PSN_MODULUS
        completion: Completion | None = None
        problem = None
        if message.consumes_receive:
            completions = self._peer.poll(self._queue, wait=ARRIVAL_S)
            if not completions:
                problem = "no receive completion"
            elif completions[0].status != "success":
                problem = f"receive completion {completions[0].status}"
            else:
                completion = completions[0]
            self._has_receive = False
        elif self._connection.service is Service.UC:
            problem = self._await_unannounced()
        return Landing(
            sha256=self._peer.sha256(self._region, offset=self._offset, length=length),
            immediate=completion.imm if completion else None,
            byte_len=completion.byte_len if completion else None,
            guards_intact=self._is_painted(0, self._offset)
            and self._is_painted(self._offset + length, GUARD),
            problem=problem,
        )

    def _await_unannounced(self) -> str | None:
        # A UC WRITE without immediate completes nowhere at the receiver; that it
        # has been executed shows in the PSN that the queue pair expects next.
        deadline = time.monotonic() + ARRIVAL_S
        while time.monotonic() < deadline:
            if self._peer.call("query_qp", qp=self._queue.handle)["rq_psn"] == self._next_psn:
                return None
        return f"the receiver did not get past its PSN within {ARRIVAL_S:.0f} s"

    def _is_painted(self, offset: int, length: int) -> bool:
        want = hashlib.sha256(bytes([GUARD_BYTE]) * length).hexdigest()
        return self._peer.sha256(self._region, offset=offset, length=length) == want
