# SPDX-License-Identifier: BSD-2-Clause
"""The receiving side of the demonstration: one queue pair and one memory region of a real peer."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Any

from roceproof.demo_plan import Connection, Message, packets
from roceproof.dpi.records import Service
from roceproof.rxe_env.peer import SoftRoce

GUARD = 64
GUARD_BYTE = 0xA5
DEADLINE_S = 20.0


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

    def __init__(self, peer: SoftRoce, connection: Connection, *, longest: int) -> None:
        self._peer = peer
        self._connection = connection
        self._size = longest + 4 * GUARD
        self._pd = peer.call("alloc_pd")["pd"]
        region = peer.call(
            "reg_mr", pd=self._pd, size=self._size, access=["local_write", "remote_write"]
        )
        self._mr = region["mr"]
        self._lkey = region["lkey"]
        self.rkey: int = region["rkey"]
        self._address: int = region["addr"]
        self._cq = peer.call("create_cq", depth=64)["cq"]
        queue = peer.call(
            "create_qp",
            pd=self._pd,
            type=connection.service.name,
            send_cq=self._cq,
            recv_cq=self._cq,
        )
        self._qp = queue["qp"]
        self.qpn: int = queue["qpn"]
        self._packets_seen = 0

    def connect(self, *, gid: str, qpn: int, sq_psn: int) -> None:
        """Move the queue pair to RTS, towards the transmitter at `gid`."""
        self._peer.call("modify_qp", qp=self._qp, state="INIT", access=["remote_write"])
        self._peer.call(
            "modify_qp",
            qp=self._qp,
            state="RTR",
            path_mtu=self._connection.path_mtu.size,
            dest_qpn=qpn,
            rq_psn=self._connection.start_psn,
            dgid=gid,
            sgid_index=self._peer.gid_index,
        )
        self._peer.call("modify_qp", qp=self._qp, state="RTS", sq_psn=sq_psn)
        self._packets_seen = self._packets()

    def prepare(self, message: Message, *, alignment: int) -> int:
        """Paint the region, post a receive if the message needs one; its address."""
        self._offset = GUARD + alignment
        length = len(message.payload)
        painted = self._offset + length + GUARD
        self._call_on_region("fill", offset=0, length=painted, byte=GUARD_BYTE)
        if message.consumes_receive:
            sge = {"mr": self._mr, "offset": self._offset, "length": length}
            self._peer.call("post_recv", qp=self._qp, wrs=[{"wr_id": 1, "sge": [sge]}])
        return self._address + self._offset

    def landing(self, message: Message) -> Landing:
        """Wait until the message has arrived and say what is there."""
        length = len(message.payload)
        mtu = self._connection.path_mtu.size
        self._packets_seen += packets(length, mtu)
        completion: dict[str, Any] = {}
        problem = None
        if message.consumes_receive:
            answer = self._peer.call("poll_cq", cq=self._cq, max=1, timeout_ms=10_000)
            if not answer["wcs"]:
                problem = "no receive completion"
            else:
                completion = answer["wcs"][0]
                if completion["status"] != "success":
                    problem = f"receive completion {completion['status']}"
        elif self._connection.service is Service.UC:
            problem = self._await_unannounced(message)
        return Landing(
            sha256=self._sha256(self._offset, length),
            immediate=completion.get("imm"),
            byte_len=completion.get("byte_len"),
            guards_intact=self._guards_intact(length),
            problem=problem,
        )

    def _await_unannounced(self, message: Message) -> str | None:
        # A UC WRITE without immediate completes nowhere at the receiver: watch
        # its packet counter, then its memory, which may lag by one interrupt.
        want = hashlib.sha256(message.payload).hexdigest()
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            arrived = self._packets() >= self._packets_seen
            if arrived and self._sha256(self._offset, len(message.payload)) == want:
                return None
        return f"not in memory after {DEADLINE_S:.0f} s"

    def _guards_intact(self, length: int) -> bool:
        return all(
            self._sha256(start, size) == hashlib.sha256(bytes([GUARD_BYTE]) * size).hexdigest()
            for start, size in ((0, self._offset), (self._offset + length, GUARD))
        )

    def _packets(self) -> int:
        return int(self._peer.call("counters")["hw"]["rcvd_pkts"])

    def _sha256(self, offset: int, length: int) -> str:
        return str(self._call_on_region("sha256", offset=offset, length=length)["sha256"])

    def _call_on_region(self, op: str, **arguments: int) -> dict[str, Any]:
        return self._peer.call(op, mr=self._mr, **arguments)
