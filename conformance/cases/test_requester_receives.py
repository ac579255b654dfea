# SPDX-License-Identifier: BSD-2-Clause
"""What a requester makes of link, IP, UDP and ICRC of the responses that reach it.

Whatever it must ignore is followed by a good ACK, which alone completes the message. What a
router may change, or a sender may choose, must make no difference.
"""

from __future__ import annotations

from collections.abc import Callable

from roceproof.conformance.faults.icrc_static import recipe
from roceproof.conformance.suite import spoil
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_RESP_ONLY,
    Edit,
    Pattern,
)
from roceproof.conformance.suite.sweep import (
    bit_flips,
    completes_with_each,
    ignores_each,
    outstanding,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

GOOD = ACK(psn=0, msn=1)
"""What answers the first message of a queue pair."""

TOTAL, UDP_LENGTH, BTH, AETH, ICRC = 48, 28, 8, 20, 24
"""Of an ACK: its IP and UDP lengths, and what lies where behind the start of UDP."""

MASKED_IN_IP, MASKED_IN_UDP = {1, 8, 10, 11}, {6, 7, BTH + 4}
VLAN = 7
SHOWN_BY_AN_ACK = (
    *("S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S11", "S12", "S13", "S14"),
    *("S15", "S17", "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S28", "S29"),
    *("S32", "S33", "S34", "S35", "S36", "S37", "S38", "S39", "S40", "S41", "S43", "S44", "S45"),
    *("S46", "S47", "S50", "S52"),
)


def checked_flip(offset: int, mask: int) -> Edit:
    """Flip bits of the IP header and make its checksum right."""
    return spoil.checksummed(spoil.flip_ip(offset, mask))


def numbers(edit: Callable[[int, bytes], Edit], offset: int, values: list[int]) -> dict[str, Edit]:
    """A 16-bit field set to each of these values."""
    return {f"{value:#06x}": edit(offset, value.to_bytes(2, "big")) for value in values}


# Ethernet and VLAN


@case("ETH-03", smoke=True)
def test_bytes_behind_an_ack_do_not_matter(bench: Bench) -> None:
    draw = bench.random
    zeros = [GOOD.spoilt(spoil.trailer(bytes(count))) for count in range(1, 47)]
    noise = [GOOD.spoilt(spoil.trailer(draw.randbytes(count))) for count in (1, 2, 3, 4, 18, 46)]
    completes_with_each(bench.connect(), [*zeros, *noise])


@case("ETH-01", "PFC-04", smoke=True)
def test_an_ack_behind_another_ethertype_is_none(bench: Bench) -> None:
    def with_type(value: int) -> Edit:
        def edit(frame: bytearray) -> None:
            frame[12:14] = value.to_bytes(2, "big")

        return edit

    others = {"MAC control": 0x8808, "RoCEv1": 0x8915, "IPv6": 0x86DD, "ARP": 0x0806}
    ignores_each(bench, {name: GOOD.spoilt(with_type(value)) for name, value in others.items()})


@case("VLAN-03", needs=[Capability.VLAN], smoke=True)
@over("vlan", [None, VLAN], ids=["no VLAN", "a VLAN"])
def test_the_priority_of_an_acks_tag_makes_no_difference(bench: Bench, vlan: int | None) -> None:
    tags = [priority << 13 | (vlan or 0) for priority in range(8)]
    qp = bench.connect(vlan=None if vlan is None else tags[3])
    completes_with_each(qp, [GOOD, *(GOOD.but(vlan=tag) for tag in tags), GOOD])


# IP


@case("IP-09", smoke=True)
def test_a_router_may_change_ttl_dscp_and_ecn_of_an_ack(bench: Bench) -> None:
    hops = [GOOD.but(ttl=ttl) for ttl in (1, 2, 63, 128, 255)]
    classes = [GOOD.but(tos=tos) for tos in (0, 1, 2, 46 << 2, 0xFC, 0xFE)]
    completes_with_each(bench.connect(), [*hops, *classes])


@case("IP-10", smoke=True)
@over("field", [(4, 2), (6, 2), (9, 1), (12, 4), (16, 4), (2, 2)], ids=str)
def test_an_ack_whose_ip_header_changed_behind_the_icrc_is_ignored(
    bench: Bench, field: tuple[int, int]
) -> None:
    first, size = field
    ignores_each(bench, bit_flips(GOOD, checked_flip, range(first, first + size)))


@case("IP-11", smoke=True)
def test_an_ack_with_a_wrong_ip_checksum_is_ignored(bench: Bench) -> None:
    ignores_each(bench, bit_flips(GOOD, spoil.flip_ip, [8, 10, 11]))


@case("IP-12", smoke=True)
def test_a_fragment_is_no_ack(bench: Bench) -> None:
    words = (0x2000, 0x0001, 0x2001, 0x1FFF, 0x6000, 0x4001)
    ident = bench.random.getrandbits(12)
    ignores_each(
        bench,
        {
            f"{word:#06x}": GOOD.but(ident=ident + place).spoilt(spoil.fragment(word))
            for place, word in enumerate(words)
        },
    )


@case("IP-13", smoke=True)
def test_an_ack_whose_ip_length_lies_is_ignored(bench: Bench) -> None:
    short = [0, 1, 19, 20, 27, 28, 40, 43, 44]
    near = [TOTAL + by for by in (-20, -8, -4, -1, 1, 2, 4, 8, 20)]
    lies = numbers(spoil.set_ip, 2, [*short, *near, 1500, 0xFFFF])
    resealed = {f"{name} resealed": GOOD.resealed(edit) for name, edit in lies.items()}
    spoilt = {name: GOOD.spoilt(spoil.checksummed(edit)) for name, edit in lies.items()}
    ignores_each(bench, resealed | spoilt)


@case("IP-13")
def test_an_ack_cut_off_on_the_wire_is_ignored(bench: Bench) -> None:
    def cut(size: int) -> Edit:
        def edit(frame: bytearray) -> None:
            del frame[size:]
            frame += bytes(60 - len(frame))

        return edit

    ignores_each(bench, {f"cut to {size}": GOOD.spoilt(cut(size)) for size in range(14, 61)})


@case("IP-16", smoke=True)
def test_an_ack_with_ip_options_hangs_nobody(bench: Bench) -> None:
    def router_alert(frame: bytearray) -> None:
        frame[34:34] = b"\x94\x04\0\0"
        frame[14] += 1
        frame[16:18] = (TOTAL + 4).to_bytes(2, "big")

    qp = bench.connect()
    message = outstanding(qp)
    qp.send(GOOD.resealed(router_alert))
    qp.ack(message)
    qp.completes(message)
    qp.transfer(Op.WRITE, 5)


@case("IP-15", "UDP-10", needs=[Capability.IPV6], smoke=True)
def test_a_router_may_change_class_label_and_hop_limit_of_an_ack(bench: Bench) -> None:
    classes = [GOOD.but(tos=tos) for tos in (0, 2, 0xFC)]
    labels = [GOOD.but(flow_label=label) for label in (0, 1, 0x12345, 0xFFFFF)]
    hops = [GOOD.but(ttl=hops) for hops in (1, 64, 255)]
    completes_with_each(bench.connect(ipv6=True), [*classes, *labels, *hops])


# UDP


@case("UDP-07", smoke=True)
def test_an_ack_may_come_from_any_source_port(bench: Bench) -> None:
    ports = (0, 1, 4791, 0xC000, 0xFFFF)
    completes_with_each(bench.connect(), [GOOD.but(sport=port) for port in ports])


@case("UDP-08", smoke=True)
def test_a_udp_checksum_right_or_wrong_hangs_nobody(bench: Bench) -> None:
    qp = bench.connect()
    for checksum in (b"\x00\x01", b"\xff\xff", b"\x12\x34"):
        message = outstanding(qp)
        qp.send(ACK(psn=message.last_psn, msn=message.ordinal).spoilt(spoil.set_udp(6, checksum)))
        qp.ack(message)
        qp.completes(message)


@case("UDP-09", smoke=True)
def test_an_ack_whose_udp_length_lies_is_ignored(bench: Bench) -> None:
    near = [UDP_LENGTH + by for by in (-4, -1, 1, 4)]
    lies = numbers(spoil.set_udp, 4, [0, 7, 8, 20, 23, *near, 0xFFFF])
    resealed = {f"{name} resealed": GOOD.resealed(edit) for name, edit in lies.items()}
    ignores_each(bench, resealed | {name: GOOD.spoilt(edit) for name, edit in lies.items()})


@case("UDP-09")
def test_an_ack_with_bytes_between_the_ends_of_udp_and_ip_is_ignored(bench: Bench) -> None:
    def longer_ip(by: int) -> Pattern:
        total = (TOTAL + by).to_bytes(2, "big")
        return GOOD.resealed(spoil.set_ip(2, total)).spoilt(spoil.trailer(bytes(by)))

    ignores_each(bench, {f"{by} bytes": longer_ip(by) for by in (1, 4, 8, 16)})


@case("UDP-01")
def test_an_ack_to_another_port_is_none(bench: Bench) -> None:
    ports = numbers(spoil.set_udp, 2, [0, 4790, 4792, 0xB712])
    ignores_each(bench, {name: GOOD.resealed(edit) for name, edit in ports.items()})


# addresses


@case("GID-02", smoke=True)
def test_an_ack_from_another_host_than_the_peer_is_ignored(bench: Bench) -> None:
    stranger, near = bench.peers[1], bench.peers[0].ip[:-1] + b"\xfa"
    ignores_each(
        bench,
        {
            "another host": GOOD.but(src_ip=stranger.ip, src_mac=stranger.mac),
            "the peer's MAC": GOOD.but(src_ip=near),
            "the device itself": GOOD.but(src_ip=bench.target.host.ip),
        },
    )


@case("GID-05", smoke=True)
def test_an_ack_to_a_foreign_address_is_ignored(bench: Bench) -> None:
    own = bench.target.host.ip
    foreign = {"its peer": bench.peers[1].ip, "far away": bytes((198, 51, 100, 7))}
    foreign["one bit off"] = own[:-1] + bytes([own[-1] ^ 0x40])
    ignores_each(bench, {name: GOOD.but(dst_ip=address) for name, address in foreign.items()})


# ICRC


@case("ICRC-12", smoke=True)
def test_an_ack_with_a_flipped_bit_behind_ip_is_ignored(bench: Bench) -> None:
    covered = set(range(ICRC + 4)) - MASKED_IN_UDP
    ignores_each(bench, bit_flips(GOOD, spoil.flip_udp, sorted(covered)))


@case("ICRC-12")
def test_an_ack_with_a_flipped_bit_of_ip_is_ignored(bench: Bench) -> None:
    covered = set(range(20)) - MASKED_IN_IP
    ignores_each(bench, bit_flips(GOOD, checked_flip, sorted(covered)))


@case("ICRC-11", smoke=True)
def test_an_ack_with_a_flipped_bit_beside_ackreq_is_ignored(bench: Bench) -> None:
    ignores_each(bench, bit_flips(GOOD, spoil.flip_udp, [BTH + 8]))


@case("ICRC-13", smoke=True)
def test_masked_fields_of_an_ack_may_hold_anything(bench: Bench) -> None:
    draw = bench.random
    values = [(0, 1, 0), (0xFE, 0xFF, 0xFF)]
    values += [(draw.getrandbits(6) << 2, draw.randrange(1, 256), 1 << bit) for bit in range(8)]
    completes_with_each(
        bench.connect(),
        [
            GOOD.but(tos=tos, ttl=ttl).spoilt(spoil.set_udp(BTH + 4, bytes([byte4])))
            for tos, ttl, byte4 in values
        ],
    )


@case("ICRC-14", smoke=True)
@over("fields", [(0x1F, 1), (0x60, 0), (0x62, 0), (0x2C, 0)], ids=["ACK", "NAK", "fatal", "RNR"])
def test_a_response_with_a_wrong_icrc_never_came(bench: Bench, fields: tuple[int, int]) -> None:
    syndrome, msn = fields
    spoilt = GOOD.but(syndrome=syndrome, msn=msn).spoilt(spoil.bad_icrc(0x80000000))
    ignores_each(bench, {"first": spoilt})


@case("ICRC-15", needs=[Capability.READ, Capability.MEMORY], smoke=True)
def test_read_data_with_a_wrong_icrc_never_reaches_memory(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(64)
    before = bench.random.randbytes(64)
    region.write(0, before)
    message = qp.post(Op.READ, 64, into=region)
    qp.expect_message(message)
    answer = qp.filled(READ_RESP_ONLY(psn=0, msn=1, payload=64))
    qp.send(answer.spoilt(spoil.bad_icrc()))
    qp.does_not_complete()
    assert region.read(0, 64) == before
    qp.send(answer)
    qp.completes(message)
    assert region.read(0, 64) == answer.said["payload"]


@case("ICRC-07", needs=[Capability.READ])
@over("length", [1, 2, 3])
def test_a_flipped_pad_bit_of_a_response_drops_it(bench: Bench, length: int) -> None:
    qp = bench.connect()
    message = qp.post(Op.READ, length)
    qp.expect_message(message)
    answer = qp.filled(READ_RESP_ONLY(psn=0, msn=1, payload=length))
    qp.send(*bit_flips(answer, spoil.flip_end, range(1, 4 - length + 1)).values())
    qp.does_not_complete()
    qp.send(answer)
    qp.completes(message)


@case("ICRC-20", "ICRC-21", smoke=True)
def test_an_icrc_over_unmasked_headers_is_wrong(bench: Bench) -> None:
    ignores_each(bench, {"unmasked": with_fault("S06")})


@case("ICRC-21")
@over("fault", SHOWN_BY_AN_ACK)
def test_an_ack_as_a_faulty_core_would_seal_it_is_ignored(bench: Bench, fault: str) -> None:
    ignores_each(bench, {fault: with_fault(fault)})


def with_fault(fault: str) -> Pattern:
    """The ACK with the ICRC that a misimplementation gives it."""

    def edit(frame: bytearray) -> None:
        frame[:] = recipe(fault).apply(bytes(frame))

    return GOOD.but(ident=0x1A2B, tos=0x6A & ~3).spoilt(edit)
