# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans: the same seed, richness and needs give the same one."""

from random import Random

from roceproof.conformance.calibration.plan import (
    ALL_WORK,
    PSNS,
    READ,
    SEND,
    WRITE,
    End,
    Message,
    Needs,
    Pair,
    Peer,
    Plan,
    Richness,
    Way,
)
from roceproof.conformance.faults.icrc.packet import Face


def draw_plan(seed: int, richness: Richness, needs: Needs) -> Plan:
    """A plan; the same seed, richness and needs give the same one."""
    return _Drawing(Random(f"plan {seed}"), richness, needs).plan(seed)


class _Drawing:
    def __init__(self, random: Random, richness: Richness, needs: Needs) -> None:
        self.random, self.richness, self.needs = random, richness, needs
        self.queues = random.sample(range(2, 0xFFFFF0), 64)
        self.ports = random.sample(range(0xC000, 0xFFFF), 64)
        self.macs = [b"\x02" + random.randbytes(5) for _ in range(3)]
        self.v4 = [bytes((10, 1)) + random.randbytes(2) for _ in range(3)]
        self.v6 = [b"\xfd\x00" + random.randbytes(14) for _ in range(3)]
        self.hops = random.choice((64, 64, 128, 255, 1, 33))
        self.classes = random.choice(((0,), (0x6A,), (0, 0x6A, 0x80)))
        self.random_hops = richness is Richness.RICH and random.random() < 0.5
        self.lengths = self._lengths()
        self.pattern = random.choice(("random", "random", "counter", "same", "zeros"))

    def plan(self, seed: int) -> Plan:
        random, needs, rich = self.random, self.needs, self.richness is Richness.RICH
        poor = self.richness is Richness.POOR
        pairs = tuple(self._pairs())
        healthy = needs.healthy_peer or needs.losses
        answers = healthy or needs.acks or needs.reads or rich or random.random() < 0.7
        strict = healthy or random.random() < 0.4
        peer = Peer(
            answers,
            strict,
            strict and (healthy or random.random() < 0.5),
            random.choice((0.0, 0.02)) if rich else 0.0,
        )
        return Plan(
            self.richness,
            pairs,
            peer,
            self._way(),
            random.random() < 0.5,
            random.random() < 0.15,
            random.random() < (0.3 if poor else 0.5) or (rich and needs.facts),
            seed,
            {Richness.POOR: 24, Richness.FAIR: 120, Richness.RICH: 500}[self.richness],
        )

    def _way(self) -> Way:
        random, needs = self.random, self.needs
        behind = random.choice((0.04, 0.06)) if needs.losses else 0.0
        if needs.flips:
            return Way(flips=0.06, loss_behind=behind)
        if self.richness is Richness.POOR:
            return Way(loss_behind=behind * 4)
        kind = random.random()
        if kind < 0.15 and not needs.losses:
            return Way(loss_before=random.choice((0.01, 0.03)))
        if kind < 0.3:
            return Way(flips=random.choice((0.004, 0.015)), loss_behind=behind)
        if kind < 0.45:
            behind = max(behind, 0.02)
        return Way(loss_behind=behind)

    def _lengths(self) -> tuple[int, ...]:
        random = self.random
        if self.richness is Richness.POOR:
            one = random.choice((1, 5, 64, 100, 101, 256, 1021, 1024))
            if self.needs.uneven:
                one = random.choice((1, 5, 66, 101, 1021))
            return (one,) if not self.needs.long else (random.choice((700, 1500, 3000)),)
        near = [random.randrange(1, 300) for _ in range(4)]
        if self.richness is Richness.FAIR:
            return (*near, random.choice((700, 1024, 2000)))
        return (0, *range(1, 130), *range(250, 262), 511, 700, 1023, 1025, 1500, 2047, 3001)

    def _pairs(self) -> list[Pair]:
        random, needs = self.random, self.needs
        most = {Richness.POOR: 1, Richness.FAIR: 3, Richness.RICH: 8}[self.richness]
        least = {Richness.POOR: 1, Richness.FAIR: 1, Richness.RICH: 4}[self.richness]
        count = random.randint(max(least, min(2, most)) if needs.several else least, most)
        if needs.several:
            count = max(2, count)
        self.messages = max(2, {24: 14, 120: 50, 500: 160}[self._frames()] // count)
        pairs = []
        version = needs.version or random.choice((4, 4, 6))
        for slot in range(count):
            reliable = self._reliable(slot)
            mixed = self.richness is Richness.RICH
            ip = (4, 6)[slot % 2] if mixed else version
            tagged = bool(slot // 2 % 2) if mixed else needs.tagged or random.random() < 0.15
            mtu = random.choice((256, 512, 1024, 1024, 2048, 4096))
            if needs.long:
                mtu = random.choice((256, 512))
            for life in range(2 if needs.reconnect else 1):
                pairs.append(self._pair(slot, reliable, ip, tagged, mtu, life))
        return pairs

    def _frames(self) -> int:
        return {Richness.POOR: 24, Richness.FAIR: 120, Richness.RICH: 500}[self.richness]

    def _reliable(self, slot: int) -> bool:
        needs = self.needs
        if needs.reliable or needs.reads or needs.losses or needs.acks:
            return slot == 0 or self.random.random() < 0.8
        if needs.unreliable:
            return slot % 2 == 1
        if self.richness is Richness.RICH:
            return slot % 3 != 2
        return self.random.random() < 0.7

    def _pair(self, slot: int, reliable: bool, ip: int, tagged: bool, mtu: int, life: int) -> Pair:
        random, needs = self.random, self.needs
        peer = 1 + slot % 2 if self.richness is Richness.RICH else 1
        tag = b"\x81\x00" + random.randrange(1, 0xFFF).to_bytes(2, "big") if tagged else b""
        start, other = self._start(), random.randrange(PSNS)
        begins = life * 40_000_000
        replies = needs.both_ways or (self.richness is not Richness.POOR and random.random() < 0.35)
        ends = (
            self._end(0, peer, ip, tag, start, reliable, mtu, begins, self.messages),
            self._end(
                peer,
                0,
                ip,
                tag,
                other,
                reliable,
                mtu,
                begins,
                max(3, self.messages // (1 if needs.flips else 3)) if replies else 0,
            ),
        )
        return Pair(reliable, mtu, begins, slot, ends)

    def _start(self) -> int:
        random, wraps = self.random, self.needs.wraps
        if wraps:
            few = random.randrange(2, 9)
            return (random.randrange(PSNS) // wraps * wraps + wraps - few) % PSNS
        if random.random() < 0.1:
            return PSNS - random.randrange(1, 20)
        return random.choice(
            (0, random.randrange(256), random.randrange(PSNS), random.randrange(PSNS))
        )

    def _end(
        self,
        here: int,
        there: int,
        ip: int,
        tag: bytes,
        start: int,
        reliable: bool,
        mtu: int,
        begins: int,
        count: int,
    ) -> End:
        random = self.random
        addresses = self.v4 if ip == 4 else self.v6
        migreq = random.random() < 0.7 if self.richness is Richness.RICH else True
        face = Face(
            self.macs[there] + self.macs[here],
            tag,
            addresses[here],
            addresses[there],
            self.ports.pop(),
            random.randrange(1, 256) if self.random_hops else self.hops,
            random.choice(self.classes),
            random.randrange(1 << 20) if random.random() < 0.7 else 0,
            migreq,
        )
        messages = tuple(self._messages(reliable, mtu, begins, count))
        return End(face, self.queues.pop(), start, random.getrandbits(32), messages)

    def _messages(self, reliable: bool, mtu: int, begins: int, count: int) -> list[Message]:
        random, needs, poor = self.random, self.needs, self.richness is Richness.POOR
        kinds = [work for work in ALL_WORK if reliable or not work.reliable_only]
        if poor:
            kinds = [random.choice(kinds[:4])]
            if needs.reads:
                kinds.append(READ)
        if needs.writes:
            kinds = [work for work in kinds if work.writes] or [WRITE]
        if needs.sends:
            kinds = [SEND]
        every = 6 if needs.rare_acks else random.choice((1, 1, 2, 4))
        pause = random.choice((300, 2_000, 20_000))
        at, made = begins, []
        for number in range(count):
            work = random.choice(kinds)
            if needs.reads and number % 3 == 0 and reliable:
                work = READ
            length = random.choice(self.lengths)
            if (needs.long or work is READ) and length < mtu and random.random() < 0.5:
                length = mtu * random.randrange(1, 4) + length % mtu
            if needs.empty and number % 3 == 2 and work is not READ:
                length = 0
            length = min(length, 3 * mtu)
            burst = needs.bursts and random.random() < 0.6
            at += random.randrange(20) if burst else random.randrange(pause // 2, 2 * pause)
            data = self._data(length)
            address = random.getrandbits(40)
            ask = number % every == every - 1 or number == count - 1
            made.append(Message(work, data, at, address, ask or work.reads))
        return made

    def _data(self, length: int) -> bytes:
        if self.pattern == "zeros":
            return bytes(length)
        if self.pattern == "counter":
            return bytes(at & 255 for at in range(length))
        if self.pattern == "same":
            return (b"roceproof calibration " * (length // 22 + 1))[:length]
        return self.random.randbytes(length)
