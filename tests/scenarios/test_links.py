# SPDX-License-Identifier: BSD-2-Clause
"""Links and the switch: what each does to a frame, that it says so, and that time adds up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.conformance.capture.reader import read
from roceproof.conformance.capture.record import Flow
from roceproof.conformance.model.device import Device
from roceproof.conformance.scenarios.frames.link import (
    CORRUPT,
    LATE,
    LOST,
    TWICE,
    Line,
    Link,
    Passage,
)
from roceproof.conformance.scenarios.frames.receiver import Server
from roceproof.conformance.scenarios.frames.switch import Port, Switch
from roceproof.conformance.scenarios.line import AROUND_FRAME
from roceproof.conformance.scenarios.network import SECOND
from roceproof.conformance.targets.drawn_address import USUAL
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.frame_edits import (
    with_congestion_experienced,
    with_flipped_bit,
)
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.ip import CE, Ipv4, Ipv6
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

RATE, DELAY = 8 * 10**12, 5_000  # a byte a picosecond
UC_SEND_ONLY = 0x24
NOT_ECT, ECT_1, ECT_0 = range(3)
HOSTS = [Host(USUAL.mac[:-1] + bytes([n]), USUAL.ip[:-1] + bytes([n])) for n in (1, 2, 3)]


def frame(
    *,
    qpn: int = 7,
    psn: int = 0,
    payload: int = 100,
    tos: int = 0,
    ident: int = 0,
    ip: Ipv6 | None = None,
    vlans: bytes = b"",
) -> bytes:
    near, far = HOSTS[:2]
    bth = Bth(UC_SEND_ONLY, qpn, psn)
    own = ip or Ipv4(src=near.ip, dst=far.ip, tos=tos, ident=ident)
    return build(Packet(far.mac, near.mac, own, 0xC000, bth, payload=bytes(payload), vlans=vlans))


def link(**words: object) -> Link:
    return Link(Line(rate=RATE, delay=DELAY, **words), seed=1)  # type: ignore[arg-type]


def test_frames_follow_each_other_at_the_line_s_rate() -> None:
    line, data = link(), frame()
    size = len(data) + AROUND_FRAME
    first, second = line.carry(data, 1000), line.carry(data, 1000)
    assert first == Passage(((1000 + size + DELAY, data),), "")
    assert second == Passage(((1000 + 2 * size + DELAY, data),), "")
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


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1, ECT_0, CE])
def test_what_says_that_it_can_be_is_marked_behind_a_long_queue(ecn: int) -> None:
    data = frame(tos=0xFC | ecn, payload=51)
    size = len(data) + AROUND_FRAME
    line = link(mark=2 * size, chosen={(7, 0): TWICE})
    told = [line.carry(data, 0) for _ in range(4)]
    marked = "" if ecn in (NOT_ECT, CE) else f"CE: {3 * size} bytes wait; "
    assert [each.comment for each in told] == ["arrives twice"] * 3 + [f"{marked}arrives twice"]
    assert {copy for each in told[:3] for _, copy in each.arrivals} == {data}
    assert line.marked == ([data] if marked else [])
    changed = {copy for _, copy in told[3].arrivals}
    assert changed == {frame(tos=0xFF if marked else 0xFC | ecn, payload=51)}
    assert not any(each.is_harmed for each in told)


def test_a_mark_leaves_a_checksum_as_right_or_wrong_as_it_was() -> None:
    wraps = int.from_bytes(frame(tos=ECT_0)[24:26])  # with this identification all sums to 0xFFFF
    for ident in (0, wraps - 1, wraps, wraps + 1):
        for tos in (ECT_0, ECT_1):
            marked = with_congestion_experienced(frame(tos=tos, ident=ident))
            assert marked == frame(tos=CE, ident=ident)
    wrong, still_wrong = (
        bytes(flipped)
        for flipped in (with_flipped_bit(frame(tos=tos), 8 * 24) for tos in (ECT_0, CE))
    )
    assert with_congestion_experienced(wrong) == still_wrong


def test_marks_are_found_behind_tags_and_in_ipv6_and_in_no_other_frame() -> None:
    near, far = (bytes(15) + host.ip[-1:] for host in HOSTS[:2])
    for tags in (b"", bytes.fromhex("81002005"), bytes.fromhex("88a80007 81000009")):
        for tos in (ECT_0, ECT_1):
            said, told = (
                [
                    frame(tos=each, vlans=tags),
                    frame(ip=Ipv6(near, far, traffic_class=each), vlans=tags),
                ]
                for each in (tos, CE)
            )
            assert [with_congestion_experienced(each) for each in said] == told
        cut = [said[0][: len(tags) + size] for size in range(14 + 12)]
        assert [with_congestion_experienced(each) for each in cut] == cut
    other = said[0][:12] + b"\x08\x06" + said[0][14:]
    assert with_congestion_experienced(other) == other


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


WIDE, UP = (Line(rate=rate, delay=10**6) for rate in (10**11, 10**10))


def played(
    down: Line, *, messages: int, size: int, traffic_class: int = NOT_ECT
) -> tuple[Switch, list[list[int | None]]]:
    """Two senders of SENDs through a switch; the immediates that one receiver was told of each."""
    senders = [ModelTarget(Device(host)) for host in HOSTS[:2]]
    server = Server(Device(HOSTS[2]))
    switch = Switch([*(Port(each, UP, WIDE) for each in senders), Port(server, WIDE, down)], seed=1)
    region = server.register(size)
    fars = []
    for number, sender in enumerate(senders):
        here, there = 0x10 + number, 0x20 + number
        far = QpSpec(service=Service.UC, remote=sender.host, local_qpn=there, remote_qpn=here)
        fars.append(server.open(far))
        near = QpSpec(
            service=Service.UC,
            remote=server.host,
            local_qpn=here,
            remote_qpn=there,
            traffic_class=traffic_class,
        )
        qp = sender.open(near)
        for place in range(messages):
            server.post_receive(fars[-1], wr_id=place, region=region, length=size)
            work = Work(wr_id=place, op=Op.SEND_IMM, data=bytes(size), immediate=place)
            sender.post(qp, work)
    frames = 2 * messages
    assert switch.run(
        until=lambda: sum(switch.sent[:2]) == frames and switch.is_empty, most_ns=10**6
    )
    return switch, [[each.immediate for each in server.received(far)] for far in fars]


def test_a_switch_carries_between_ports_and_says_what_was_lost(tmp_path: Path) -> None:
    lossy = Line(rate=10**11, delay=10**6, chosen={(0x20, 1): LOST})
    switch, told = played(lossy, messages=3, size=8)
    assert told == [[0, 2], [0, 1, 2]]
    assert [len(switch.harmed), switch.downs[2].dropped] == [1, 1]
    switch.write(tmp_path / "switch.pcapng")
    comments = [record.comment for record in read(tmp_path / "switch.pcapng")]
    assert sorted(comments) == ["", "", "", "", "", "from the switch: lost on the line"]
    assert not switch.run(until=lambda: False, most_ns=1000)


NARROW = Line(rate=10**10, delay=10**6, buffer=16_384)


def test_a_queue_pauses_its_senders_and_loses_nothing(tmp_path: Path) -> None:
    dropping, told = played(NARROW, messages=80, size=256)
    assert dropping.downs[2].dropped > 0 and min(map(len, told)) < 80
    switch, told = played(replace(NARROW, xoff=4096, xon=2048), messages=80, size=256)
    assert told == [[*range(80)]] * 2
    assert (switch.downs[2].dropped, switch.harmed) == (0, [])
    assert 4096 < switch.downs[2].peak < 12_000
    switch.write(tmp_path / "switch.pcapng")
    pauses = [each for each in read(tmp_path / "switch.pcapng") if each.flow is Flow.INBOUND]
    quanta = [int.from_bytes(each.frame[18:20]) for each in pauses]
    held, lifted = [0xFFFF] * 2, [0] * 2  # each sender is told; the receiver is not
    assert quanta == (held + lifted) * switch.pauses and switch.pauses >= 2
    assert {each.interface for each in pauses} == {"port 0", "port 1"}
    assert "bytes wait for port 2" in pauses[0].comment


def test_senders_that_heed_marks_lose_less(tmp_path: Path) -> None:
    marking = replace(NARROW, mark=4096)
    (deaf, _), (heeding, _) = (
        played(marking, messages=400, size=256, traffic_class=each) for each in (NOT_ECT, ECT_0)
    )
    assert (deaf.downs[2].marked, deaf.sent[2]) == ([], 0)
    marks, cnps = len(heeding.downs[2].marked), heeding.sent[2]
    assert marks >= cnps >= 2
    assert heeding.downs[2].dropped < deaf.downs[2].dropped * 2 / 3
    heeding.write(tmp_path / "switch.pcapng")
    comments = [record.comment for record in read(tmp_path / "switch.pcapng")]
    assert sum(each.startswith("from the switch: CE: ") for each in comments) == marks


def test_a_pause_ends_no_frame_and_holds_those_behind_it() -> None:
    switch, _ = played(replace(NARROW, xoff=4096, xon=2048), messages=80, size=256)
    begun = [left - size * 8 * SECOND // UP.rate for left, size in switch.ups[0].passed]
    holds, lifts = (
        [
            each.time_ns * 1000 + WIDE.delay
            for each in switch.records
            if each.flow is Flow.INBOUND and each.frame[18:20] == quanta
        ][::2]
        for quanta in (b"\xff\xff", b"\0\0")
    )
    for hold, lift in zip(holds, lifts, strict=True):
        assert not [time for time in begun if hold + 10_000 < time < lift]
