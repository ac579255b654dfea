# SPDX-License-Identifier: BSD-2-Clause
"""A responder with memory, requests for it by name, and its responses in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roceproof.conformance.model.components import RESPONDERS
from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.responder.policy import ResponderPolicy
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    Bth,
    Deth,
    Extension,
    Feth,
    Ieth,
    ImmDt,
    Reth,
)
from roceproof.conformance.wire.opcodes import OPCODES, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome

PEER = Host(bytes.fromhex("020000000002"), bytes((192, 168, 1, 2)))
PEER_QPN, OWN_QPN = 0x000B0B, 0x0000A1
P = 256
START = 0x123456
REGION_BYTES = 8192
RECEIVE_BYTES = 2048
RNR_TIMER = 12
QKEY = 0x11111111

_VALUE = {row.name: row.value for row in OPCODES.values()}
_READ = {0x0D: "FIRST", 0x0E: "MIDDLE", 0x0F: "LAST", 0x10: "ONLY"}


def pattern(length: int, seed: int = 1) -> bytes:
    """Bytes none of which is 0, equals its neighbour or the one a path MTU further on."""
    return bytes((index * 7 + (index >> 8) * 13 + seed) % 255 + 1 for index in range(length))


class ResponderBench:
    """One responder; PSNs count from the first that it expects."""

    def __init__(
        self,
        service: Service = Service.RC,
        *,
        responder: type[Responder] | None = None,
        receives: int = 0,
        start: int = START,
        policy: ResponderPolicy | None = None,
        shared: bool = False,
        region_access: frozenset[str] = FULL_ACCESS,
        **spec: Any,
    ) -> None:
        usual: dict[str, Any] = {
            "path_mtu": P,
            "rq_psn": start,
            "local_qpn": OWN_QPN,
            "min_rnr_timer": RNR_TIMER,
            "qkey": QKEY,
        }
        self.spec = QpSpec(service=service, remote=PEER, remote_qpn=PEER_QPN, **(usual | spec))
        self.start = start
        self.memory = Memory()
        self.region = self.memory.register(REGION_BYTES, access=region_access)
        self.inbox = self.memory.register(RECEIVE_BYTES * 8)
        self.queue = ReceiveQueue(shared=shared)
        kind = responder or RESPONDERS[service]
        self.model: Any = kind(self.spec, memory=self.memory, receives=self.queue, policy=policy)
        self._posted = 0
        for _ in range(receives):
            self.post_receive()

    def post_receive(self, length: int = RECEIVE_BYTES, **changes: Any) -> None:
        """Receives are numbered from 0 and lie one behind the other."""
        at = self._posted % 8 * RECEIVE_BYTES
        self.queue.post(Receive(self._posted, changes.get("region", self.inbox), at, length))
        self._posted += 1

    def received(self, number: int, length: int) -> bytes:
        """What a receive holds."""
        return self.inbox.read(number * RECEIVE_BYTES, length)

    def asks(self, name: str, psn: int, data: bytes = b"", **fields: Any) -> list[str]:
        """Send a request and give the responses in words."""
        return self.hears(self.request(name, psn, data, **fields))

    def hears(self, *requests: Segment) -> list[str]:
        """Send requests and give the responses in words."""
        return [self.words(one) for request in requests for one in self.model.receive(request)]

    def request(self, name: str, psn: int, data: bytes = b"", **fields: Any) -> Segment:
        """A request; it asks for an ACK, and names the bench's region from its start on."""
        prefix = "" if name.startswith(("RC ", "UC ", "UD ")) else f"{self.spec.service.name} "
        value = fields.get("opcode", _VALUE.get(prefix + name))
        row = OPCODES.get(value)
        bth = Bth(
            opcode=value,
            dest_qpn=OWN_QPN,
            psn=(self.start + psn) % PSN_MODULUS,
            pad_count=fields.get("pad", -len(data) % 4),
            ack_req=fields.get("a", True),
        )
        headers = row.headers if row else ()
        return Segment(bth, tuple(self._header(kind, data, fields) for kind in headers), data)

    def _header(self, kind: type[Extension], data: bytes, fields: dict[str, Any]) -> Extension:
        address = fields.get("va", self.region.addr + fields.get("at", 0))
        rkey = fields.get("key", self.region.rkey)
        makers: dict[type[Extension], Callable[[], Extension]] = {
            Reth: lambda: Reth(address, rkey, fields.get("length", len(data))),
            AtomicEth: lambda: AtomicEth(
                address, rkey, fields.get("swap", fields.get("add", 0)), fields.get("compare", 0)
            ),
            ImmDt: lambda: ImmDt(fields.get("imm", 0)),
            Ieth: lambda: Ieth(fields["invalidate"]),
            Feth: lambda: Feth(fields.get("flush", 0)),
            Deth: lambda: Deth(fields.get("qkey", QKEY), PEER_QPN),
        }
        return makers[kind]()

    def words(self, response: Segment) -> str:
        """One response in words, its PSN counted as those of requests are."""
        assert response.bth.dest_qpn == PEER_QPN
        psn = distance(response.bth.psn, self.start)
        aeth, found = response.extension(Aeth), response.extension(AtomicAckEth)
        msn = "" if aeth is None else f" msn={aeth.msn}"
        if response.bth.opcode in _READ:
            name = f"READ {_READ[response.bth.opcode]}"
            return f"{name} {psn}{msn} {len(response.payload)} bytes"
        assert aeth is not None
        if found is not None:
            return f"ATOMIC {psn}{msn} found {found.original}"
        kind, value = aeth.syndrome >> 5, aeth.syndrome & 31
        name = {0: "ACK", 1: f"RNR {value}", 3: f"NAK 6{value}"}[kind]
        return f"{name} {psn}{msn}"

    def read(self, length: int, at: int = 0) -> bytes:
        """Memory of the region."""
        return self.region.read(at, length)

    @property
    def outcomes(self) -> list[Outcome]:
        """Completed receives."""
        return list(self.model.outcomes)

    def dies(self) -> bool:
        """Whether the queue pair is in the error state: it answers nothing any more."""
        nothing = not self.asks("WRITE ONLY", 0, b"", a=True)
        return bool(self.model.failed) and nothing

    def message(self, kind: str, psn: int, data: bytes, **fields: Any) -> list[Segment]:
        """The packets of a SEND or WRITE, cut at the path MTU."""
        count = max(1, -(-len(data) // P))
        suffix = fields.pop("suffix", "")
        requests = []
        for index in range(count):
            place = Position((index == 0) * 1 | (index == count - 1) * 2)
            assert place.name is not None
            name = f"{kind} {place.name}" + (suffix if place & Position.LAST else "")
            part = data[index * P : (index + 1) * P]
            requests.append(
                self.request(name, psn + index, part, **({"length": len(data)} | fields))
            )
        return requests
