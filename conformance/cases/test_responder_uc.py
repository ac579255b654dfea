# SPDX-License-Identifier: BSD-2-Clause
"""Unreliable connections: whole messages or none, and what the device needs to start anew."""

from collections.abc import Callable

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE, WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at, otherwise
from roceproof.conformance.suite.pattern import (
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.sweep import IP_OPTIONS
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.UC)]

MTU = 256
over_families = over("family", ["SEND", "WRITE", "WRITE_IMM"])


class Receiver:
    """A UC queue pair of the device, with memory and receives for messages of one family."""

    def __init__(self, bench: Bench, family: str, *, shared: bool = False) -> None:
        self.qp = bench.connect(Service.UC, path_mtu=MTU, shared_receive=shared)
        self.family = family
        self.far = 4 * self.qp.mtu
        """A place behind the first messages."""
        self.region = self.qp.region(4 * self.far)
        self._bench = bench

    def post_receive(self) -> int | None:
        """A receive for the next message, if its family takes one."""
        return None if self.family == "WRITE" else self.qp.post_receive(self.region)

    def message(self, psn: int, length: int, *, offset: int = 0) -> list[Pattern]:
        """All packets of a message of random bytes; a SEND always goes to offset 0.

        It has as many packets as one of that length at the path MTU that cases think in.
        """
        qp, length = self.qp, self.qp.lengths.spread(length)
        data = qp.random.randbytes(length)
        parts = [data[start : start + qp.mtu] for start in range(0, length, qp.mtu)]
        reth = {} if self.family == "SEND" else {"dmalen": length, **at(self.region, offset)}
        only, first, middle, last = {
            "SEND": (SEND_ONLY, SEND_FIRST, SEND_MIDDLE, SEND_LAST),
            "WRITE": (WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
            "WRITE_IMM": (WRITE_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM),
        }[self.family]
        if len(parts) == 1:
            return [only(psn=psn, payload=data, **reth)]
        return [
            first(psn=psn, payload=parts[0], **reth),
            *(middle(psn=psn + n, payload=part) for n, part in enumerate(parts[1:-1], start=1)),
            last(psn=psn + len(parts) - 1, payload=parts[-1]),
        ]

    def delivers(self, packets: list[Pattern], receive: int | None, *, offset: int = 0) -> None:
        """The device takes this whole message, and nothing of any other completes before it."""
        self.qp.send(*packets)
        data = b"".join(packet.said["payload"] for packet in packets)
        if receive is not None:
            self.qp.receives(receive, byte_len=len(data))
        self.has(data, offset=offset)

    def has(self, data: bytes, *, offset: int = 0) -> None:
        """The device's memory soon holds these bytes, and it says nothing."""

        def arrived() -> bool:
            return self.region.read(offset, len(data)) == data

        if not self._bench.comes_true(arrived):
            other = otherwise(data, self.region.read(offset, len(data)), bytes(len(data)))
            told = other or "nothing came to memory"
            raise self._bench.failed(
                f"a message of {len(data)} bytes: {told}", rules=["RETH-12"] if other else ()
            )
        self.qp.expect_silence()


@case("UC-03", smoke=True)
@over_families
def test_messages_of_all_sizes_are_delivered(bench: Bench, family: str) -> None:
    uc = Receiver(bench, family)
    psn = 0
    for length in (1, 255, 256, 257, 3 * 256):
        packets = uc.message(psn, length)
        uc.delivers(packets, uc.post_receive())
        psn += len(packets)


@case("UC-04", smoke=True, breaks=OUT_OF_SEQUENCE)
@over_families
@over("lost", [1, 2], ids=["MIDDLE", "LAST"])
def test_a_message_with_a_hole_is_not_delivered(bench: Bench, family: str, lost: int) -> None:
    uc, bystander = Receiver(bench, family), Receiver(bench, "WRITE")
    uc.post_receive()
    torn = uc.message(0, 4 * 256, offset=uc.far)
    uc.qp.send(*torn[:lost], *torn[lost + 1 :])
    bystander.delivers(bystander.message(0, 8), None)
    uc.qp.does_not_complete()
    mtu = uc.qp.mtu
    assert uc.region.read(uc.far + lost * mtu, 4 * mtu) == bytes(4 * mtu)


@case("UC-05", smoke=True, breaks=OUT_OF_SEQUENCE)
@over_families
def test_the_messages_behind_a_torn_one_are_delivered(bench: Bench, family: str) -> None:
    for lost in (1, 2):
        uc = Receiver(bench, family)
        receives = [uc.post_receive() for _ in range(3)]
        torn = uc.message(0, 3 * 256, offset=uc.far)
        uc.qp.send(*torn[:lost], *torn[lost + 1 :])
        uc.delivers(uc.message(3, 8), receives[0])
        uc.delivers(uc.message(4, 300), receives[1])
        uc.delivers(uc.message(6, 9), receives[2])


@case("UC-05", needs=[Capability.SHARED_RECEIVE], breaks=OUT_OF_SEQUENCE)
@over_families
def test_a_torn_message_ends_nothing_where_receives_are_shared(bench: Bench, family: str) -> None:
    """What becomes of a receive that it has taken is not judged."""
    uc = Receiver(bench, family, shared=True)
    for _ in range(3):
        uc.post_receive()
    uc.qp.send(uc.message(0, 3 * 256, offset=uc.far)[0])
    uc.family = "WRITE"
    for psn in (3, 4, 5):
        uc.delivers(uc.message(psn, 8), None)


@case("UC-05", smoke=True, breaks=OUT_OF_SEQUENCE)
@over_families
@over("jump", [1, 1000, -5, 1 << 22], ids=["lost_one", "ahead", "behind", "far_ahead"])
def test_a_message_starts_at_any_psn(bench: Bench, family: str, jump: int) -> None:
    uc = Receiver(bench, family)
    uc.delivers(uc.message(0, 8), uc.post_receive())
    for packets_of in (8, 600):
        psn = 1 + jump
        packets = uc.message(psn, packets_of)
        uc.delivers(packets, uc.post_receive())
        uc.delivers(uc.message(psn + len(packets), 8), uc.post_receive())
        jump += jump + len(packets) + 1


@case("UC-06", smoke=True, breaks=OUT_OF_SEQUENCE)
@over_families
def test_what_is_left_of_a_message_without_its_first_is_dropped(bench: Bench, family: str) -> None:
    uc = Receiver(bench, family)
    receive = uc.post_receive()
    before = uc.region.read(0, uc.region.size)
    uc.qp.send(*uc.message(0, 3 * 256, offset=uc.far)[1:])
    uc.delivers(uc.message(3, 8), receive)
    assert uc.region.read(8, uc.region.size - 8) == before[8:]


@case("UC-07", "OPC-10", smoke=True, breaks=OUT_OF_ORDER)
@over_families
def test_a_new_message_in_an_open_one_replaces_it(bench: Bench, family: str) -> None:
    for length in (8, 600):
        uc = Receiver(bench, family)
        receive = uc.post_receive()
        uc.qp.send(*uc.message(0, 700, offset=uc.far)[:2])
        uc.delivers(uc.message(2, length), receive)


@case("UC-08", "OPC-10", smoke=True, breaks=OUT_OF_ORDER)
@over_families
@over("packet", [1, 2], ids=["MIDDLE", "LAST"])
def test_a_middle_or_last_of_no_message_is_dropped(bench: Bench, family: str, packet: int) -> None:
    uc = Receiver(bench, family)
    uc.delivers(uc.message(0, 8), uc.post_receive())
    receive = uc.post_receive()
    before = uc.region.read(0, uc.region.size)
    uc.qp.send(uc.message(0, 700, offset=uc.far)[packet].but(psn=1))
    uc.delivers(uc.message(2, 8), receive)
    assert uc.region.read(8, uc.region.size - 8) == before[8:]


def faults(qp: Connection, region: Region) -> dict[str, Callable[[], list[Pattern]]]:
    """Messages that each have one thing wrong with them, from PSN 0 on."""
    mtu = qp.mtu
    read_only = qp.region(access=FULL_ACCESS - {"remote_write"})
    elsewhere = {"va": region.addr, "rkey": region.wrong_key(0x100)}

    def write(**place: int) -> Pattern:
        return WRITE_ONLY(psn=0, payload=8, **place)

    def first(dmalen: int, **place: int) -> Pattern:
        return WRITE_FIRST(psn=0, payload=mtu, dmalen=dmalen, **place)

    good = at(region, 4 * mtu)
    return {
        "key": lambda: [write(**elsewhere)],
        "range": lambda: [write(**at(region, region.extent - 7))],
        "right": lambda: [write(**at(read_only))],
        "length_of_only": lambda: [WRITE_ONLY(psn=0, payload=8, dmalen=12, **good)],
        "key_of_first": lambda: [first(mtu + 8, **elsewhere), WRITE_LAST(psn=1, payload=8)],
        "range_of_first": lambda: [
            first(mtu + 8, **at(region, region.extent - mtu)),
            WRITE_LAST(psn=1, payload=8),
        ],
        "length_of_first": lambda: [
            WRITE_FIRST(psn=0, payload=mtu - 4, dmalen=mtu + 4, **good),
            WRITE_LAST(psn=1, payload=8),
        ],
        "length_of_middle": lambda: [
            first(2 * mtu + 4, **good),
            WRITE_MIDDLE(psn=1, payload=mtu - 4),
            WRITE_LAST(psn=2, payload=8),
        ],
        "length_of_last": lambda: [first(mtu + 8, **good), WRITE_LAST(psn=1, payload=4)],
    }


_WRONG: dict[str, Callable[[Pattern], Pattern]] = {
    "BTH-05": lambda write: write.but(tver=1),
    "ICRC-14": lambda write: write.corrupted(edits.bad_icrc()),
    "IP-11": lambda write: write.corrupted(edits.flip_ip(10)),
    "IP-12": lambda write: write.corrupted(edits.fragment(0x2000)),
    "IP-13": lambda write: write.resealed(edits.set_ip(2, b"\xff\xff")),
    "IP-16": lambda write: write.resealed(edits.ip_options(IP_OPTIONS["no operation"])),
    "UDP-09": lambda write: write.resealed(edits.set_udp(4, b"\xff\xff")),
}
"""What a receiver drops for one reason, by its rule."""


@case(smoke=True)
@over("wrong", [pytest.param(rule, marks=pytest.mark.rules(rule)) for rule in _WRONG])
def test_what_any_receiver_drops_does_not_reach_memory_by_uc(bench: Bench, wrong: str) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    qp.drops(_WRONG[wrong](WRITE_ONLY(psn=0, payload=8, **at(region))), fence=0)
    if region.read(0, 8) != bytes(8):
        raise bench.failed("a packet that must be dropped is in memory")


@case("UC-09", "NAK-11", smoke=True, breaks=WRONG_LENGTHS)
@over(
    "fault",
    [
        *("key", "range", "right", "length_of_only"),
        *("key_of_first", "range_of_first", "length_of_first"),
        *("length_of_middle", "length_of_last"),
    ],
)
def test_a_faulty_message_is_dropped_and_the_next_is_delivered(bench: Bench, fault: str) -> None:
    uc = Receiver(bench, "WRITE")
    packets = faults(uc.qp, uc.region)[fault]()
    uc.qp.send(*packets)
    uc.delivers(uc.message(len(packets), 8), None)
    assert uc.region.read(uc.region.size - 8, 8) == bytes(8)


@case("UC-09", "NAK-11", smoke=True)
def test_a_write_that_the_queue_pair_does_not_allow_is_dropped(bench: Bench) -> None:
    qp = bench.connect(Service.UC, access=frozenset({"local_write"}))
    region, inbox = qp.region(), qp.region()
    number = qp.post_receive(inbox)
    qp.send(WRITE_ONLY(psn=0, payload=8, **at(region)), SEND_ONLY(psn=1, payload=9))
    qp.receives(number, byte_len=9)
    qp.expect_silence()
    assert region.read(0, 8) == bytes(8)


@case("UC-10", "ACK-11", smoke=True)
@over("family", ["SEND", "WRITE_IMM"])
def test_a_message_without_a_receive_is_dropped_without_a_word(bench: Bench, family: str) -> None:
    uc = Receiver(bench, family)
    for psn, length in ((0, 8), (1, 700)):
        uc.qp.send(*uc.message(psn, length))
    uc.qp.expect_silence()
    uc.delivers(uc.message(4, 9), uc.post_receive())


@case("UC-09", breaks=WRONG_LENGTHS)
def test_a_send_that_its_receive_cannot_hold(bench: Bench) -> None:
    executed_of(bench.claims, Service.UC, [Op.SEND])
    uc = Receiver(bench, "SEND")
    uc.qp.post_receive(uc.region, length=8)
    uc.post_receive()
    uc.qp.send(*uc.message(0, 16))
    uc.qp.expect_silence()
    (fits,) = uc.message(1, 8)
    uc.qp.send(fits)
    uc.has(fits.said["payload"])


@case("UC-11", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_message_of_one_packet_that_comes_twice_is_delivered_twice(bench: Bench) -> None:
    uc = Receiver(bench, "SEND")
    receives = [uc.post_receive(), uc.post_receive()]
    only = uc.message(0, 8)
    uc.delivers(only, receives[0])
    uc.delivers(only, receives[1])


@case("UC-12", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_torn_send_takes_its_receive_only_once(bench: Bench) -> None:
    uc = Receiver(bench, "SEND")
    first, second = uc.post_receive(), uc.post_receive()
    for psn in (0, 10, 20):
        uc.qp.send(*uc.message(psn, 700)[:2])
    uc.qp.send(*uc.message(30, 700)[1:])
    uc.delivers(uc.message(40, 300), first)
    uc.delivers(uc.message(42, 5), second)


@case("UC-13", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_gap_delays_the_next_message_and_does_not_lose_it(bench: Bench) -> None:
    uc = Receiver(bench, "WRITE")
    packets = [uc.message(7 * place, 8, offset=8 * place) for place in range(100)]
    uc.qp.send(*(packet for message in packets for packet in message))
    uc.has(b"".join(message[0].said["payload"] for message in packets))
