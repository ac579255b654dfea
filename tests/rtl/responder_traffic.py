# SPDX-License-Identifier: BSD-2-Clause
"""Requests for the responder's bench: messages as a sender makes them, and what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from responder_trial import PEER, PORT, RIGHTS, Trial
from rtl_frames import replaced

from roceproof.conformance.model.memory import Region
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import AtomicEth, Bth, Extension, Ieth, ImmDt, Reth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

WRAP = 1 << 24
READS_AT_ONCE = 12  # messages with which no queue pair has too many READs under way
SEND, WRITE, READ = 0x00, 0x06, 0x0C
CMP_SWAP, FETCH_ADD = 0x13, 0x14
OPCODES = sorted({*range(0x20)} - {*range(0x0D, 0x13)})
"""Of requests, reserved ones among them."""
_FIRST, _MIDDLE, _LAST, _LAST_IMM, _ONLY, _ONLY_IMM = range(6)
_LAST_INV, _ONLY_INV = 0x16, 0x17


def request(
    spec: QpSpec,
    opcode: int,
    psn: int,
    payload: bytes = b"",
    *extensions: Extension,
    ack: bool = True,
    **bth: int,
) -> Packet:
    """A request packet; `opcode` is that of RC."""
    return Packet(
        dst_mac=PORT.mac,
        src_mac=PEER.mac,
        ip=Ipv4(src=PEER.ip, dst=PORT.ip, tos=0x68, ident=psn & 0xFFFF, ttl=17),
        udp_sport=0xC123,
        bth=Bth(
            opcode=opcode | spec.service << 5,
            dest_qpn=bth.pop("dest_qpn", spec.local_qpn),
            psn=psn % WRAP,
            pad_count=-len(payload) % 4,
            ack_req=ack,
            **bth,
        ),
        extensions=extensions,
        payload=payload,
    )


def message(
    spec: QpSpec,
    psn: int,
    data: bytes,
    *,
    to: tuple[int, int] | None = None,
    immediate: int | None = None,
    invalidate: int | None = None,
    solicited: bool = False,
) -> list[Packet]:
    """A whole SEND, or a WRITE to an address and a key; its last packet asks for an ACK."""
    parts = [data[at : at + spec.path_mtu] for at in range(0, len(data), spec.path_mtu)] or [b""]
    packets = []
    for number, part in enumerate(parts):
        is_first, is_last = number == 0, number == len(parts) - 1
        place = _FIRST if is_first else _MIDDLE
        if is_last:
            place = (_ONLY if is_first else _LAST) + (immediate is not None)
        headers: list[Extension] = []
        if is_first and to is not None:
            headers.append(Reth(*to, len(data)))
        if is_last and immediate is not None:
            headers.append(ImmDt(immediate))
        opcode = place + (SEND if to is None else WRITE)
        if is_last and invalidate is not None:
            headers.append(Ieth(invalidate))
            opcode = _ONLY_INV if is_first else _LAST_INV
        asks = is_last and spec.service is Service.RC
        flags = {"solicited": True} if solicited and is_last else {}
        packets.append(request(spec, opcode, psn + number, part, *headers, ack=asks, **flags))
    return packets


def read(spec: QpSpec, psn: int, to: tuple[int, int], length: int, **bth: int) -> Packet:
    """A READ request."""
    return request(spec, READ, psn, b"", Reth(*to, length), **bth)


def atomic(
    spec: QpSpec,
    psn: int,
    to: tuple[int, int],
    *,
    swap: int,
    compare: int | None = None,
    **bth: int,
) -> Packet:
    """A COMPARE AND SWAP if there is something to compare, else a FETCH AND ADD."""
    address, rkey = to
    header = AtomicEth(address, rkey, swap, compare or 0)
    return request(spec, FETCH_ADD if compare is None else CMP_SWAP, psn, b"", header, **bth)


@dataclass
class Peer:
    """A sender at the other end of one queue pair, and what it does wrong now and then."""

    spec: QpSpec
    regions: list[Region]
    rng: random.Random
    psn: int = 0
    reads: list[tuple[int, int, int]] = field(default_factory=list)  # PSN, offset, length

    def next_message(self) -> list[Packet]:
        """A message as it should be."""
        rng = self.rng
        mtu = self.spec.path_mtu
        region = self.regions[0]
        if self.spec.service is Service.RC and rng.random() < 0.2:
            return self.next_read()
        if self.spec.service is Service.RC and rng.random() < 0.15:
            return [self.next_atomic()]
        size = rng.choice((0, 1, 3, 4, rng.randrange(64), mtu - 1, mtu, mtu + 1, 2 * mtu + 7))
        data = rng.randbytes(min(size, region.size // 2))
        place = region.addr + rng.randrange(region.size - len(data) + 1), region.rkey
        packets = message(
            self.spec,
            self.psn,
            data,
            to=place if rng.random() < 0.6 else None,
            immediate=rng.getrandbits(32) if rng.random() < 0.3 else None,
            solicited=rng.random() < 0.3,
        )
        if self.spec.service is Service.RC and rng.random() < 0.1:
            key = rng.choice((self.regions[-1].rkey, self.regions[-1].rkey ^ 1 << 30))
            packets = message(self.spec, self.psn, data, invalidate=key)
        self.psn += len(packets)
        return packets

    def next_read(self) -> list[Packet]:
        """A READ as it should be, or once more of what was read before, whole or in part."""
        rng, mtu, region = self.rng, self.spec.path_mtu, self.regions[0]
        if self.reads and rng.random() < 0.4:
            psn, offset, size = rng.choice(self.reads)
            skipped = rng.randrange(-(-size // mtu) or 1)
            less = rng.choice((0, 0, 0, 1, mtu))
            left = max(0, size - skipped * mtu - less) + rng.choice((0, 0, 0, 1))
            to = region.addr + offset + skipped * mtu, region.rkey
            return [read(self.spec, psn + skipped + rng.choice((0, 0, 0, 1)), to, left)]
        size = rng.choice((0, 1, 3, mtu - 1, mtu, mtu + 1, 3 * mtu, rng.randrange(4 * mtu)))
        offset = rng.randrange(region.size - size + 1)
        packet = read(self.spec, self.psn, (region.addr + offset, region.rkey), size)
        self.reads.append((self.psn, offset, size))
        self.psn += -(-size // mtu) or 1
        return [packet]

    def next_atomic(self) -> Packet:
        """An atomic on few words, so that some compare equal; now and then of the wrong place."""
        rng, region = self.rng, self.regions[0]
        offset = rng.choice((0, 0, 8, 16, region.size - 8, region.size - 4, 3))
        swap = rng.choice((0, 1, rng.getrandbits(64)))
        compare = rng.choice((None, None, int.from_bytes(region.read(offset & ~7, 8), "little"), 5))
        to = region.addr + offset, region.rkey
        packet = atomic(self.spec, self.psn, to, swap=swap, compare=compare)
        self.psn += 1
        return packet

    def frames(self) -> Iterator[bytes]:
        """A message, on a bad day with something wrong."""
        packets = self.next_message()
        if self.rng.random() < 0.6:
            yield from map(build, packets)
            return
        for packet in packets:
            yield from self.spoiled(packet)
        if self.rng.random() < 0.7:  # what a sender does about it
            yield from map(build, packets)

    def spoiled(self, packet: Packet) -> list[bytes]:
        """A packet, or what may become of it."""
        rng, frame, bth = self.rng, build(packet), packet.bth

        def edited(**fields: object) -> list[bytes]:
            return [build(replace(packet, bth=replace(bth, **fields)))]

        def somewhere() -> int:
            return rng.choice((rng.getrandbits(24), bth.psn ^ 1, bth.psn - 2, bth.psn + 3)) % WRAP

        match rng.randrange(20):
            case 0 | 14 | 15:
                return []
            case 1:
                return [frame, frame]
            case 2:
                return [replaced(frame, rng.randrange(42, len(frame)), rng.randbytes(1))]
            case 3:
                return edited(psn=somewhere())
            case 4:
                return edited(opcode=bth.opcode & 0xE0 | rng.choice(OPCODES))
            case 5:
                return edited(dest_qpn=bth.dest_qpn ^ 1 << rng.randrange(24))
            case 6:
                return edited(version=1)
            case 7:
                return edited(pkey=rng.choice((0x7FFF, 0xFFFE)))
            case 8:
                return edited(ack_req=not bth.ack_req)
            case 9:
                return [build(replace(packet, ip=replace(packet.ip, src=bytes([10, 0, 0, 9]))))]
            case 10:
                return [build(replace(packet, payload=packet.payload + bytes(4)))]
            case 11:
                return [build(replace(packet, payload=packet.payload[:-4]))]
            case 12:
                return [frame[: rng.randrange(60, len(frame) + 1)]]
            case 13 if packet.reth is not None:
                return [build(replace(packet, extensions=self.elsewhere(packet)))]
            case _:
                return [frame]

    def elsewhere(self, packet: Packet) -> tuple[Extension, ...]:
        """A RETH that means something else, and what was behind it."""
        reth = packet.reth
        assert reth is not None
        other = self.rng.choice(self.regions)
        wrong = self.rng.choice(
            (
                replace(reth, rkey=reth.rkey ^ 0x55),
                replace(reth, rkey=reth.rkey ^ 0x100),
                replace(reth, rkey=other.rkey, address=other.addr),
                replace(reth, address=(1 << 64) - 1),
                replace(reth, address=self.regions[0].addr + self.regions[0].size - 3),
                replace(reth, address=self.regions[0].addr - 1),
                replace(reth, length=reth.length + 1),
                replace(reth, length=max(0, reth.length - 1)),
                replace(reth, length=1 << 31 | 1),
            )
        )
        return wrong, *packet.extensions[1:]


def wandering(trial: Trial, rng: random.Random, *, qps: int, messages: int) -> None:
    """Several senders with bad days, to queue pairs that are started again now and then."""
    peers = []
    for number in range(qps):
        service = Service.UC if number % 3 == 2 else Service.RC
        spec = QpSpec(
            service=service,
            remote=PEER,
            local_qpn=0xA5_0011 + number,
            remote_qpn=rng.getrandbits(24),
            path_mtu=rng.choice((256, 512, 1024)),
            rq_psn=rng.choice((0, WRAP - 3, rng.getrandbits(24))),
            udp_sport=0xC000 + rng.getrandbits(12),
            traffic_class=rng.getrandbits(6) << 2,
            hop_limit=rng.randrange(1, 256),
            min_rnr_timer=rng.randrange(32),
            access=RIGHTS - {1: {"remote_write"}, 4: {"remote_read"}}.get(number, set()),
            max_dest_rd_atomic=16,
        )
        regions = [
            trial.register(8192),
            trial.register(64, access=RIGHTS - {"remote_write", "remote_read"}),
        ]
        if number == 0:
            regions.append(trial.register(64, is_foreign=True))
        trial.open(spec)
        peers.append(Peer(spec, regions, rng, spec.rq_psn))
    for number in range(messages):
        peer = rng.choice(peers)
        queue_pair = trial.model.queue_pairs[peer.spec.local_qpn]
        if queue_pair.responder.failed and rng.random() < 0.5:
            peer.spec = trial.open(replace(peer.spec, rq_psn=peer.psn % WRAP))
            peer.reads.clear()
        while len(queue_pair.receives) < 2 and rng.random() < 0.5:
            region = rng.choice((peer.regions[0], *peer.regions[:2]))
            length = rng.randrange(region.size)
            if not queue_pair.responder.failed or rng.random() < 0.1:
                trial.post_receive(
                    peer.spec.local_qpn,
                    region,
                    offset=rng.randrange(region.size - length),
                    length=length,
                )
        if number % READS_AT_ONCE == 0:
            trial.settle()  # the model answers at once
        for frame in peer.frames():
            trial.send(frame)
        expected = getattr(queue_pair.responder, "expected_psn", None)
        if expected is not None and rng.random() < 0.9:
            peer.psn = expected
