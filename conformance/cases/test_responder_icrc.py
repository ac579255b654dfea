# SPDX-License-Identifier: BSD-2-Clause
"""What a responder makes of the ICRC: with a wrong one, a packet never was."""

from roceproof.conformance.faults.icrc.catalogue import STATIC, engine_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Edit,
    Pattern,
)
from roceproof.conformance.suite.sweep import accepts_each, bit_flips, drops_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire import icrc
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

pytestmark = RESPONDER

IP_BYTES, UDP_BYTES, BTH, AFTER_BTH = 20, 8, 8, 20
MASKED_IN_IP, MASKED_IN_UDP, MASKED_IN_BTH = {1, 8, 10, 11}, {6, 7}, {BTH + 4}
PAYLOAD = 13
RETH_TO_ICRC = 16 + PAYLOAD + 3 + 4
OF_OTHER_PACKETS = {"S10", "S16", "S30", "S48", "S49"}  # IPv6, with a tag, shorter than 60 bytes


def write(bench: Bench, payload: int = PAYLOAD, region: Region | None = None) -> Pattern:
    """A good WRITE ONLY at the expected PSN, to be corrupted."""
    return WRITE_ONLY(psn=0, a=1, payload=payload, **at(region or bench.target.register(64)))


def flip_checked(offset: int, mask: int) -> Edit:
    """Flip bits of the IP header and make its checksum right."""
    return edits.checksummed(edits.flip_ip(offset, mask))


def sealed_with(fault: str) -> Edit:
    """The ICRC that a known misimplementation computes."""

    def edit(frame: bytearray) -> None:
        frame[:] = engine_of(fault).transmit(0, bytes(frame))

    return edit


@case("ICRC-12", smoke=True)
def test_a_flipped_bit_of_the_ip_header_drops_the_packet(bench: Bench) -> None:
    drops_each(bench, bit_flips(write(bench), flip_checked, set(range(IP_BYTES)) - MASKED_IN_IP))


@case("ICRC-12", smoke=True)
def test_a_flipped_bit_of_udp_or_bth_drops_the_packet(bench: Bench) -> None:
    covered = set(range(AFTER_BTH)) - MASKED_IN_UDP - MASKED_IN_BTH
    drops_each(bench, bit_flips(write(bench), edits.flip_udp, covered))


@case("ICRC-12")
def test_a_flipped_bit_behind_the_bth_drops_the_packet(bench: Bench) -> None:
    covered = range(AFTER_BTH, AFTER_BTH + RETH_TO_ICRC)
    drops_each(bench, bit_flips(write(bench), edits.flip_udp, covered))


@case("ICRC-12")
def test_a_flipped_bit_of_a_long_payload_drops_the_packet(bench: Bench) -> None:
    packet = write(bench, payload=bench.claims.path_mtus[0])
    places = range(AFTER_BTH + 16, AFTER_BTH + 16 + bench.claims.path_mtus[0])
    drops_each(
        bench,
        {
            f"UDP byte {place}": packet.corrupted(edits.flip_udp(place, 1 << place % 8))
            for place in places
        },
    )


@case("ICRC-11", smoke=True)
def test_a_flipped_bit_beside_ackreq_drops_the_packet(bench: Bench) -> None:
    drops_each(bench, bit_flips(write(bench), edits.flip_udp, [BTH + 8]))


@case("ICRC-07")
@over("payload", [1, 2, 3])
def test_a_flipped_pad_bit_drops_the_packet(bench: Bench, payload: int) -> None:
    pad = range(AFTER_BTH + 16 + payload, AFTER_BTH + 16 + 4)
    drops_each(bench, bit_flips(write(bench, payload), edits.flip_udp, pad))


@case("ICRC-08", "ETH-03")
def test_the_ethernet_pad_is_no_part_of_the_packet(bench: Bench) -> None:
    def fill_pad(frame: bytearray) -> None:
        frame[-2:] = b"\xff\xa5"

    qp = bench.connect()
    region = qp.region()
    for _ in range(2):
        qp.post_receive(region)
    accepts_each(qp, [SEND_ONLY(), SEND_ONLY().corrupted(fill_pad)])


@case("ICRC-13", smoke=True)
def test_every_masked_field_may_change_behind_the_icrc(bench: Bench) -> None:
    draw = bench.random
    classes = [0x00, 0xFF, draw.getrandbits(8)]
    hops = [0x01, 0xFF, draw.randrange(1, 256)]
    marks = [0x00, 0xFF, draw.getrandbits(8), *(1 << bit for bit in range(8))]
    changes = [
        *(edits.checksummed(edits.set_ip(1, bytes([value]))) for value in classes),
        *(edits.checksummed(edits.set_ip(8, bytes([value]))) for value in hops),
        *(edits.set_udp(BTH + 4, bytes([value])) for value in marks),
    ]
    packet = write(bench)
    accepts_each(bench.connect(), [packet.corrupted(change) for change in changes])


@case("ICRC-14", smoke=True)
def test_a_wrong_icrc_draws_nothing_and_moves_nothing(bench: Bench) -> None:
    qp = bench.connect()
    packet = write(bench)
    qp.send(packet.corrupted(edits.bad_icrc()), packet)
    qp.expect(ACK(psn=0, msn=1))
    qp.fence(1, msn=2)


@case("ICRC-14", smoke=True)
def test_a_wrong_icrc_far_ahead_draws_no_nak_either(bench: Bench) -> None:
    qp = bench.connect()
    qp.drops(write(bench).but(psn=100).corrupted(edits.bad_icrc()), fence=0)


@case("ICRC-15")
@over_services
def test_the_payload_of_a_wrong_icrc_never_reaches_memory(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    region = qp.region()
    before = qp.random.randbytes(64)
    region.write(0, before)
    qp.drops(WRITE_ONLY(psn=0, payload=64, **at(region)).corrupted(edits.bad_icrc()), fence=0)
    assert region.read(0, 64) == before


@case("ICRC-15")
def test_a_wrong_icrc_in_the_middle_leaves_the_rest_of_a_message_whole(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    data = qp.random.randbytes(3 * qp.mtu)
    middle = WRITE_MIDDLE(psn=1, payload=data[qp.mtu : 2 * qp.mtu])
    qp.send(
        WRITE_FIRST(psn=0, payload=data[: qp.mtu], dmalen=len(data), **at(region)),
        middle.but(payload=qp.mtu).corrupted(edits.bad_icrc(0x80000000)),
        middle,
        WRITE_LAST(psn=2, payload=data[2 * qp.mtu :], a=1),
    )
    qp.expect(ACK(psn=2, msn=1))
    assert region.read(0, len(data)) == data


@case("ICRC-20", smoke=True)
def test_an_icrc_over_unmasked_headers_drops_the_packet(bench: Bench) -> None:
    bench.connect().drops(write(bench).corrupted(sealed_with("S06")), fence=0)


@case("ICRC-21", "ICRC-20", smoke=True)
def test_what_a_faulty_core_seals_is_dropped(bench: Bench) -> None:
    packet = write(bench, payload=14).but(tos=0x68, ttl=17, ident=0x1A2B, m=0)
    faults = {*STATIC} - OF_OTHER_PACKETS
    drops_each(bench, {fault: packet.corrupted(sealed_with(fault)) for fault in sorted(faults)})


@case("ICRC-21", needs=[Capability.IPV6])
def test_what_a_faulty_core_seals_over_ipv6_is_dropped(bench: Bench) -> None:
    packet = write(bench).but(tos=0x68, ttl=17, flow_label=0x12345)
    variants = {fault: packet.corrupted(sealed_with(fault)) for fault in ("S10", "S48", "S49")}
    drops_each(bench, variants, ipv6=True)


@case("ICRC-21", smoke=True)
def test_both_directions_have_the_reference_icrc(bench: Bench) -> None:
    qp = bench.connect()
    region = bench.target.register(64)
    accepts_each(qp, [write(bench, payload, region) for payload in (0, 1, 2, 3, 4, 63)])
    for frame in bench.frames_sent():
        if icrc.check(frame).judgement is icrc.Judgement.BAD:
            raise bench.failed("an ACK has not the reference's ICRC", rules=["ICRC-21"])
