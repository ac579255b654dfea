# SPDX-License-Identifier: BSD-2-Clause
"""Two captures of one transfer, as two devices make them: other numbers, other traffic in front."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random

from stories import counterparts_of, frames_of

from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.faults.icrc.catalogue import engine_of, sent_from
from roceproof.conformance.faults.icrc.engine import through
from roceproof.conformance.review.diff import Comparison, compare
from roceproof.conformance.review.story import Flow, Kind, kind_of, tell
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth, Bth, Deth, Reth
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.service import Service

TRANSFER = Conversation(
    seed=7,
    services=(Service.RC,),
    connections=3,
    ip_versions=(4,),
    tagged=(False,),
    path_mtus=(1024,),
    ce_rate=0,
    migreq=(True,),
    pauses_ns=(0, 10_000),
)
SECOND = 1_000_000_000
_MODULUS = 1 << 24


@dataclass
class Recording:
    """One capture of a conversation: what is changed in it, and what stands in front."""

    conversation: Conversation = TRANSFER
    seed: int = 1
    """Of the QPNs and start PSNs; 0 leaves them."""
    same_starts: bool = False
    """Whether both directions of a connection begin at one PSN."""
    change: Callable[[Packet], Packet] = lambda packet: packet
    fault: str = ""
    """A static signature, in every packet of the first station."""
    preamble: Iterable[bytes] = ()
    lost: float = 0.0
    """Of the frames, which the capture has not."""
    pairs: dict[Flow, Flow] = field(default_factory=dict)

    def frames(self) -> list[TimedFrame]:
        """The frames in order, the preamble a second before."""
        pairs = counterparts_of(self.conversation)
        names = self._names(pairs)
        numbers = _starts(self.conversation) if self.seed else {}
        order = Random(self.seed)
        shifts: dict[Flow, int] = {}
        for flow in pairs:
            begin = order.randrange(_MODULUS)
            if self.same_starts and pairs[flow] in shifts:
                begin = numbers.get(pairs[flow], 0) + shifts[pairs[flow]]
            shifts[flow] = begin - numbers.get(flow, 0) if self.seed else 0
        made = []
        for time, data in self.conversation.frames():
            packet = parse(data)
            if packet is None:
                continue
            flow = Flow(_text(packet.ip.src), _text(packet.ip.dst), packet.bth.dest_qpn)
            is_response = kind_of(OPCODES.get(packet.bth.opcode)) is Kind.RESPONSE
            shift = shifts[pairs[flow] if is_response else flow]
            psn = (packet.bth.psn + shift) % _MODULUS
            bth = replace(packet.bth, psn=psn, dest_qpn=names[flow].qpn)
            made.append(TimedFrame(time + SECOND, build(self.change(replace(packet, bth=bth)))))
        if self.fault:
            engine = engine_of((self.fault,), variant=0, stalls=False)
            made = through(engine, made, sent_from(self.conversation.stations[0].mac))
        kept = [each for each in made if order.random() >= self.lost]
        self.pairs = {names[flow]: names[other] for flow, other in pairs.items()}
        return [*(TimedFrame(n, data) for n, data in enumerate(self.preamble)), *kept]

    def _names(self, pairs: Iterable[Flow]) -> dict[Flow, Flow]:
        order = Random(self.seed)
        qpns = order.sample(range(16, _MODULUS), 1000)
        if not self.seed:
            return {flow: flow for flow in pairs}
        return {flow: flow._replace(qpn=qpns.pop()) for flow in pairs}


def _starts(conversation: Conversation) -> dict[Flow, int]:
    """The PSN of the first request of each flow."""
    found: dict[Flow, int] = {}
    for step in tell(frames_of(conversation.frames())):
        if step.kind is Kind.REQUEST:
            found.setdefault(step.flow, step.packet.bth.psn)
    return found


def _text(address: bytes) -> str:
    return ".".join(map(str, address))


def arp(count: int) -> list[bytes]:
    """Requests for an address."""
    return [
        b"\xff" * 6
        + bytes([2, 0, 0, 0, 0, n % 256])
        + bytes.fromhex("080600010800060400010200000000010a000001000000000000")
        + bytes([10, 0, 0, n % 256])
        for n in range(count)
    ]


def management(count: int) -> list[bytes]:
    """Datagrams between QPs 1, such as make a connection."""
    (first, *_) = (parse(data) for _, data in TRANSFER.frames())
    assert first is not None
    return [
        build(
            replace(
                first,
                bth=replace(first.bth, opcode=0x64, dest_qpn=1, psn=n),
                extensions=(Deth(0x80010000, 1),),
                payload=bytes([n]) * 256,
            )
        )
        for n in range(count)
    ]


def others(count: int, *, seed: int) -> list[bytes]:
    """Short flows of their own, over before the transfer begins."""
    order = Random(seed)
    (first, *_) = (parse(data) for _, data in TRANSFER.frames())
    assert first is not None
    return [
        build(
            replace(
                first,
                bth=replace(first.bth, opcode=4, dest_qpn=0x700 + n, psn=order.randrange(_MODULUS)),
                extensions=(),
                payload=order.randbytes(30 + 2 * n),
            )
        )
        for n in range(count)
    ]


def compared(a: Recording, b: Recording) -> Comparison:
    steps = [tell(frames_of(each.frames()), each.pairs) for each in (a, b)]
    return compare(steps[0], steps[1], a.pairs, b.pairs)


def cut_transfer(
    path_mtu: int, *, seed: int, lengths: Iterable[int] = (3000, 0, 5000, 700)
) -> list[TimedFrame]:
    """The same WRITEs whatever the path MTU, with an ACK behind each."""
    data, numbers = Random(4), Random(seed)
    (first, *_) = (parse(frame) for _, frame in TRANSFER.frames())
    assert first is not None
    qpn, psn = numbers.randrange(2, _MODULUS), numbers.randrange(_MODULUS)
    frames: list[bytes] = []
    for message, length in enumerate(lengths):
        payload = data.randbytes(length)
        parts = [payload[at : at + path_mtu] for at in range(0, length, path_mtu)] or [b""]
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            opcode = (0x0A if last else 0x06) if place == 0 else (0x08 if last else 0x07)
            reth = (Reth(0x10000 * message, 7, length),) if place == 0 else ()
            bth = Bth(opcode, qpn, psn, ack_req=last)
            frames.append(build(replace(first, bth=bth, extensions=reth, payload=part)))
            psn = (psn + 1) % _MODULUS
        back = replace(
            first,
            src_mac=first.dst_mac,
            dst_mac=first.src_mac,
            ip=replace(first.ip, src=first.ip.dst, dst=first.ip.src),
            bth=Bth(0x11, qpn + 1, (psn - 1) % _MODULUS),
            extensions=(Aeth(0, message + 1),),
            payload=b"",
        )
        frames.append(build(back))
    return [TimedFrame(1000 * n, frame) for n, frame in enumerate(frames)]
