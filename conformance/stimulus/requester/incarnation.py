# SPDX-License-Identifier: BSD-2-Clause
"""One life of a queue pair, from a configuration to the next, and the frames that it demands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from roceproof.conformance.model.segmentation import AWAIT_DATA, Message, refusal
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.framing import vlan_tag
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.dpi.session.payload import PatternPayload
from roceproof.verbs.addresses import Host
from roceproof.verbs.limit_table import ANY, COUNTED
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Work

_POOL = Random(1).randbytes(1 << 18)
_STARTS, _STRIDE = 65_521, 7919  # messages of one plan begin at different places of the pool
_IDENTITIES = 1 << 16
_IDENTITY_AT = 18  # in a frame over IPv4 without a VLAN tag
NOT_ACTIVE, FLUSHED = "loc_qp_op_err", "wr_flush_err"


def payload(number: int, size: int, fill: int | None = None) -> bytes:
    """The bytes of a plan's message: all alike, or its own piece of random ones."""
    if fill is not None:
        return bytes((fill,)) * size
    start = number * _STRIDE % _STARTS
    return (_POOL[start:] * (1 + size // (len(_POOL) - start)))[:size]


@dataclass(frozen=True, kw_only=True)
class Life:
    """What was configured, and how many works were posted before."""

    spec: QpSpec
    host: Host
    is_active: bool = True
    posted_before: int = 0
    """Works posted earlier may be taken in this life, too: a configuration may overtake them."""
    identification: str = COUNTED
    flushes: bool = True
    """Whether work behind a failed request completes."""

    def refusal(self, work: Work) -> str | None:
        """A status with which the device ends work for which it sends nothing."""
        return refusal(self.spec, work) or (None if self.is_active else NOT_ACTIVE)

    def refusals(self, work: Work) -> frozenset[str]:
        """All of them: of two reasons a device may see either first.

        Work that it had taken when the queue pair was reset it may flush.
        """
        own = refusal(self.spec, work)
        if self.is_active:
            return frozenset({own} if own else ())
        return frozenset({NOT_ACTIVE, own or FLUSHED})

    def packets(self, work: Work) -> int:
        """How many packets the work is."""
        return Message(self.spec, work, 0).packets

    def span(self, work: Work) -> int:
        """How many PSNs it has; those of a READ are its responses'."""
        return Message(self.spec, work, 0).span

    def identity_behind(self, identity: int) -> int:
        """That of the next packet."""
        return identity + (self.identification == COUNTED)

    def frame(
        self, work: Work, offset: int, psn: int, identity: int, *, came: bytes = b""
    ) -> bytes:
        """The frame of one packet, byte by byte; `psn` is that of the work's first packet.

        MigReq is that of the frame that came (BTH-03), and so is an identification that may be any.
        """
        if self.identification == ANY and came:
            at = _IDENTITY_AT + len(vlan_tag(self.spec.vlan))
            identity = int.from_bytes(came[at : at + 2])
        spec, segment = self.spec, Message(self.spec, work, psn).request(offset)
        return build(
            Packet(
                dst_mac=spec.remote.mac,
                src_mac=self.host.mac,
                ip=self._network(identity % _IDENTITIES),
                udp_sport=spec.udp_sport,
                bth=self._bth(segment.bth, came),
                extensions=segment.extensions,
                payload=self._made(work, offset) or segment.payload,
                vlans=vlan_tag(self.spec.vlan),
            )
        )

    def _bth(self, bth: Bth, came: bytes) -> Bth:
        packet = parse(came) if came else None
        return bth if packet is None else replace(bth, migreq=packet.bth.migreq)

    def _made(self, work: Work, offset: int) -> bytes:
        """What the bench itself makes, where a work is longer than its data."""
        if work.op in AWAIT_DATA or len(work.data) >= work.size:
            return b""
        whole = PatternPayload(seed=work.wr_id, length=work.size)
        return whole.read(offset * self.spec.path_mtu, self.spec.path_mtu)

    def _network(self, identity: int) -> Ipv4 | Ipv6:
        spec, src = self.spec, self.host.ip
        dst, hops = spec.remote.ip, spec.hop_limit
        if spec.remote.is_ipv6:
            return Ipv6(src=src, dst=dst, traffic_class=spec.traffic_class, hop_limit=hops)
        return Ipv4(src=src, dst=dst, tos=spec.traffic_class, ident=identity, ttl=hops)
