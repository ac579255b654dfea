# SPDX-License-Identifier: BSD-2-Clause
"""Links and the switch: what each does to a frame, that it says so, and that time adds up."""

from __future__ import annotations

from pathlib import Path

from roceproof.conformance.capture.reader import read
from roceproof.conformance.model.device import Device
from roceproof.conformance.scenarios.frames.link import (
    CORRUPT,
    LATE,
    LOST,
    TWICE,
    Line,
    Link,
)
from roceproof.conformance.scenarios.frames.switch import Port, Server, Switch
from roceproof.conformance.scenarios.line import AROUND_FRAME
from roceproof.conformance.targets.drawn_address import USUAL
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

RATE, DELAY = 8 * 10**12, 5_000  # a byte a picosecond
UC_SEND_ONLY = 0x24
HOSTS = [Host(USUAL.mac[:-1] + bytes([n]), USUAL.ip[:-1] + bytes([n])) for n in (1, 2, 3)]


def frame(*, qpn: int = 7, psn: int = 0, payload: int = 100) -> bytes:
    near, far = HOSTS[:2]
    bth = Bth(UC_SEND_ONLY, qpn, psn)
    ip = Ipv4(src=near.ip, dst=far.ip)
    return build(Packet(far.mac, near.mac, ip, 0xC000, bth, payload=bytes(payload)))


def link(**words: object) -> Link:
    return Link(Line(rate=RATE, delay=DELAY, **words), seed=1)  # type: ignore[arg-type]


def test_frames_follow_each_other_at_the_line_s_rate() -> None:
    line, data = link(), frame()
    size = len(data) + AROUND_FRAME
    first, second = line.carry(data, 1000), line.carry(data, 1000)
    assert first == (((1000 + size + DELAY, data),), "")
    assert second == (((1000 + 2 * size + DELAY, data),), "")
    assert (line.peak, line.dropped) == (2 * size, 0)


def test_what_finds_the_queue_full_is_dropped_until_it_has_drained() -> None:
    data = frame()
    size = len(data) + AROUND_FRAME
    line = link(buffer=2 * size)
    comments = [line.carry(data, 0).comment for _ in range(3)]
    assert comments == ["", "", f"dropped: {2 * size} bytes wait in a queue of {2 * size}"]
    assert line.carry(data, size).comment == ""
    assert line.dropped == 1


def test_a_policer_passes_its_burst_and_then_its_rate() -> None:
    data = frame()
    size = len(data) + AROUND_FRAME
    line = link(police=RATE // 4, burst=2 * size)
    passed = [not line.carry(data, time * size).comment for time in range(9)]
    assert passed == [True, True, False, False, True, False, False, False, True]


def test_packets_are_chosen_by_queue_pair_and_place() -> None:
    line = link(chosen={(7, 1): LOST, (7, 2): CORRUPT, (8, 0): TWICE, (8, 1): LATE})
    told = [
        line.carry(frame(qpn=qpn, psn=(start + n) % 2**24), 0)
        for qpn, start in ((7, 0xFFFFFF), (8, 5))
        for n in range(3)
    ]
    comments = [each.comment for each in told]
    assert comments[:2] == ["", "lost on the line"]
    assert comments[3:] == ["arrives twice", "arrives behind those after it", ""]
    ((_, changed),) = told[2].arrivals
    right = frame(qpn=7, psn=1)
    assert sum((a ^ b).bit_count() for a, b in zip(changed, right, strict=True)) == 1
    assert changed[:54] == right[:54]
    (first, again), (late,), (after,) = (each.arrivals for each in told[3:])
    assert first == again and after[0] < late[0]


def test_shares_are_of_frames_and_by_seed() -> None:
    def lost(seed: int) -> list[bool]:
        line = Link(Line(rate=RATE, shares={LOST: 0.25}), seed=seed)
        return [not line.carry(frame(), 0).arrivals for _ in range(400)]

    assert lost(1) == lost(1) != lost(2)
    assert 70 < sum(lost(1)) < 130


def test_a_switch_carries_between_ports_and_says_what_was_lost(tmp_path: Path) -> None:
    senders = [ModelTarget(Device(host)) for host in HOSTS[:2]]
    server = Server(Device(HOSTS[2]))
    wide = Line(rate=10**11, delay=10**6)
    lossy = Line(rate=10**11, delay=10**6, chosen={(0x20, 1): LOST})
    switch = Switch(
        [*(Port(each, wide, wide) for each in senders), Port(server, wide, lossy)], seed=1
    )
    region = server.register(8)
    fars = []
    for number, sender in enumerate(senders):
        here, there = 0x10 + number, 0x20 + number
        far = QpSpec(service=Service.UC, remote=sender.host, local_qpn=there, remote_qpn=here)
        fars.append(server.open(far))
        near = QpSpec(service=Service.UC, remote=server.host, local_qpn=here, remote_qpn=there)
        qp = sender.open(near)
        for place in range(3):
            server.post_receive(fars[-1], wr_id=place, region=region, length=8)
            work = Work(wr_id=place, op=Op.SEND_IMM, data=bytes(8), immediate=place)
            sender.post(qp, work)
    assert switch.run(until=lambda: len(switch.records) == 6 and switch.is_empty, most_ns=100_000)
    told = [
        [each.immediate for each in server.completions(far, count=0, timeout_ns=0)] for far in fars
    ]
    assert told == [[0, 2], [0, 1, 2]]
    assert [len(switch.harmed), switch.downs[2].dropped] == [1, 1]
    switch.write(tmp_path / "switch.pcapng")
    comments = [record.comment for record in read(tmp_path / "switch.pcapng")]
    assert sorted(comments) == ["", "", "", "", "", "from the switch: lost on the line"]
    assert not switch.run(until=lambda: False, most_ns=1000)
