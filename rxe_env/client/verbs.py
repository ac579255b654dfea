# SPDX-License-Identifier: BSD-2-Clause
"""The agent's operations as typed helpers for the usual sequence of a receiver.

Open a queue pair, connect it, post receives, poll, look at the memory. Anything
else goes through `call` with the fields that docs/agent.md lists.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

CHUNK_BYTES = 64 * 1024
REMOTE_ACCESS = ("local_write", "remote_write", "remote_read", "remote_atomic")
CALL_SECONDS = 15.0


@dataclass(frozen=True)
class MemoryRegion:
    """A registered buffer of the peer."""

    handle: int
    addr: int
    lkey: int
    rkey: int
    size: int


@dataclass(frozen=True)
class QueuePair:
    """A queue pair of the peer with a completion queue of its own."""

    handle: int
    qpn: int
    cq: int
    service: str


@dataclass(frozen=True)
class Completion:
    """A work completion. `opcode`, `byte_len` and `imm` are set only on success."""

    wr_id: int
    status: str
    qpn: int
    opcode: str | None = None
    byte_len: int | None = None
    imm: int | None = None


class Verbs(ABC):
    """Typed helpers on top of `call`."""

    gid_index: int

    def __init__(self) -> None:
        self._pd: int | None = None

    @abstractmethod
    def call(self, op: str, *, within: float = CALL_SECONDS, **fields: Any) -> dict[str, Any]:
        """Run one operation of the agent's protocol, within so many seconds."""

    @property
    def pd(self) -> int:
        """The protection domain that the helpers share."""
        if self._pd is None:
            self._pd = int(self.call("alloc_pd")["pd"])
        return self._pd

    def reset(self) -> None:
        """Free all that was allocated so far."""
        self.call("reset")
        self._pd = None

    def reg_mr(
        self, size: int, *, access: Iterable[str] = REMOTE_ACCESS, fill: int = 0
    ) -> MemoryRegion:
        """Allocate and register `size` bytes, each holding `fill`."""
        got = self.call("reg_mr", pd=self.pd, size=size, access=list(access), fill=fill)
        return MemoryRegion(got["mr"], got["addr"], got["lkey"], got["rkey"], size)

    def open_qp(
        self, service: str, *, depth: int = 256, access: Iterable[str] = REMOTE_ACCESS
    ) -> QueuePair:
        """Create an RC or UC queue pair with its completion queue and move it to INIT."""
        cq = self.call("create_cq", depth=2 * depth)["cq"]
        got = self.call(
            "create_qp",
            pd=self.pd,
            type=service,
            send_cq=cq,
            recv_cq=cq,
            max_recv_wr=depth,
            max_send_wr=depth,
        )
        self.call("modify_qp", qp=got["qp"], state="INIT", access=list(access))
        return QueuePair(got["qp"], got["qpn"], cq, service)

    def connect(
        self,
        qp: QueuePair,
        *,
        remote_ipv4: str,
        remote_qpn: int,
        path_mtu: int,
        rq_psn: int,
        sq_psn: int = 0,
        rts: Mapping[str, int] = MappingProxyType({}),
        **more: int,
    ) -> None:
        """Move a queue pair to RTR with `more` and to RTS with what `rts` says of that.

        The kernel resolves `remote_ipv4` by ARP while it does so: whoever has that
        address must be answering on the link.
        """
        self.call(
            "modify_qp",
            qp=qp.handle,
            state="RTR",
            path_mtu=path_mtu,
            dest_qpn=remote_qpn,
            rq_psn=rq_psn,
            dgid=f"::ffff:{remote_ipv4}",
            sgid_index=self.gid_index,
            **more,
        )
        self.call("modify_qp", qp=qp.handle, state="RTS", sq_psn=sq_psn, **rts)

    def post_recv(
        self, qp: QueuePair, mr: MemoryRegion, *, wr_id: int, offset: int = 0, length: int
    ) -> None:
        sge = {"mr": mr.handle, "offset": offset, "length": length}
        self.call("post_recv", qp=qp.handle, wrs=[{"wr_id": wr_id, "sge": [sge]}])

    def poll(self, qp: QueuePair, *, count: int = 1, wait: float = 5.0) -> list[Completion]:
        """Return up to `count` completions, fewer only when `wait` seconds have passed."""
        got = self.call(
            "poll_cq",
            within=wait + CALL_SECONDS,
            cq=qp.cq,
            min=count,
            max=count,
            timeout_ms=int(wait * 1000),
        )
        return [
            Completion(
                wc["wr_id"],
                wc["status"],
                wc["qp_num"],
                wc.get("opcode"),
                wc.get("byte_len"),
                wc.get("imm"),
            )
            for wc in got["wcs"]
        ]

    def sha256(self, mr: MemoryRegion, *, offset: int = 0, length: int | None = None) -> str:
        """Return the SHA-256, in hex, of a range of a region."""
        span = mr.size - offset if length is None else length
        return str(self.call("sha256", mr=mr.handle, offset=offset, length=span)["sha256"])

    def fill(self, mr: MemoryRegion, byte: int, *, offset: int = 0) -> None:
        self.call("fill", mr=mr.handle, offset=offset, length=mr.size - offset, byte=byte)

    def read(self, mr: MemoryRegion, *, offset: int = 0, length: int | None = None) -> bytes:
        end = mr.size if length is None else offset + length
        out = bytearray()
        for at in range(offset, end, CHUNK_BYTES):
            span = min(CHUNK_BYTES, end - at)
            got = self.call("read", mr=mr.handle, offset=at, length=span)
            out += bytes.fromhex(got["data"])
        return bytes(out)

    def write(self, mr: MemoryRegion, data: bytes, *, offset: int = 0) -> None:
        for at in range(0, len(data), CHUNK_BYTES):
            chunk = data[at : at + CHUNK_BYTES]
            self.call("write", mr=mr.handle, offset=offset + at, data=chunk.hex())
