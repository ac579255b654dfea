# SPDX-License-Identifier: BSD-2-Clause
"""What a requester makes of link, IP and UDP headers of the ACKs that reach it.

Whatever it must ignore is followed by a good ACK, which alone completes the message. What a
router may change, or a sender may choose, must make no difference.

Scapy is imported by the cases that use it: it takes longer to load than most runs of a few cases.
"""

from collections.abc import Callable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_ip_versions
from roceproof.conformance.suite.intent import CHANGED_ON_THE_WAY
from roceproof.conformance.suite.pattern import ACK, Edit, Pattern
from roceproof.conformance.suite.sweep import (
    FIRST_ACK,
    FRAGMENTS,
    IP_OPTIONS,
    bit_flips,
    completes_with_each,
    ignores_each,
    one_bit_off,
    outstanding,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

TOTAL, UDP_LENGTH = 48, 28  # IP and UDP length of an ACK
VLAN = 7


def numbers(edit: Callable[[int, bytes], Edit], offset: int, values: list[int]) -> dict[str, Edit]:
    """A 16-bit field set to each of these values."""
    return {f"{value:#06x}": edit(offset, value.to_bytes(2, "big")) for value in values}


# Ethernet and VLAN


@case("ETH-03", smoke=True)
@over_ip_versions
def test_bytes_behind_an_ack_do_not_matter(bench: Bench, ipv6: bool) -> None:
    draw = bench.random
    zeros = [FIRST_ACK.corrupted(edits.Trailer(bytes(count))) for count in range(1, 47)]
    noise = [
        FIRST_ACK.corrupted(edits.Trailer(draw.randbytes(count))) for count in (1, 2, 3, 4, 18, 46)
    ]
    completes_with_each(bench.connect(ipv6=ipv6), [*zeros, *noise])


@case("ETH-01", "PFC-04", smoke=True)
def test_an_ack_behind_another_ethertype_is_none(bench: Bench) -> None:
    def with_type(value: int) -> Edit:
        def edit(frame: bytearray) -> None:
            frame[12:14] = value.to_bytes(2, "big")

        return edit

    others = {"MAC control": 0x8808, "RoCEv1": 0x8915, "IPv6": 0x86DD, "ARP": 0x0806}
    ignores_each(
        bench, {name: FIRST_ACK.corrupted(with_type(value)) for name, value in others.items()}
    )


@case("VLAN-03", needs=[Capability.VLAN], breaks=CHANGED_ON_THE_WAY)
@over("vlan", [None, VLAN], ids=["no VLAN", "a VLAN"])
def test_the_priority_of_an_acks_tag_makes_no_difference(bench: Bench, vlan: int | None) -> None:
    tags = [priority << 13 | (vlan or 0) for priority in range(8)]
    qp = bench.connect(vlan=None if vlan is None else tags[3])
    completes_with_each(qp, [FIRST_ACK, *(FIRST_ACK.but(vlan=tag) for tag in tags), FIRST_ACK])


# IP


@case("IP-09", smoke=True)
def test_a_router_may_change_ttl_dscp_and_ecn_of_an_ack(bench: Bench) -> None:
    hops = [FIRST_ACK.but(ttl=ttl) for ttl in (1, 2, 63, 128, 255)]
    classes = [FIRST_ACK.but(tos=tos) for tos in (0, 1, 2, 46 << 2, 0xFC, 0xFE)]
    completes_with_each(bench.connect(), [*hops, *classes])


@case("IP-10")
@over("field", [(4, 2), (6, 2), (9, 1), (12, 4), (16, 4), (2, 2)], ids=str)
def test_an_ack_whose_ip_header_changed_behind_the_icrc_is_ignored(
    bench: Bench, field: tuple[int, int]
) -> None:
    first, size = field
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_ip_checksummed, range(first, first + size)))


@case("IP-11", smoke=True)
def test_an_ack_with_a_wrong_ip_checksum_is_ignored(bench: Bench) -> None:
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_ip, [8, 10, 11]))


@case("IP-12", smoke=True)
def test_a_fragment_is_no_ack(bench: Bench) -> None:
    ident = bench.random.getrandbits(12)
    ignores_each(
        bench,
        {
            name: FIRST_ACK.but(ident=ident + place).corrupted(edits.fragment(word))
            for place, (name, word) in enumerate(FRAGMENTS.items())
        },
    )


@case("IP-13", smoke=True)
def test_an_ack_whose_ip_length_lies_is_ignored(bench: Bench) -> None:
    short = [0, 1, 19, 20, 27, 28, 40, 43, 44]
    near = [TOTAL + by for by in (-20, -8, -4, -1, 1, 2, 4, 8, 20)]
    lies = numbers(edits.set_ip, 2, [*short, *near, 1500, 0xFFFF])
    resealed = {f"{name} resealed": FIRST_ACK.resealed(edit) for name, edit in lies.items()}
    corrupted = {name: FIRST_ACK.corrupted(edits.checksummed(edit)) for name, edit in lies.items()}
    ignores_each(bench, resealed | corrupted)


@case("IP-13", smoke=True)
def test_an_ack_cut_off_on_the_wire_is_ignored(bench: Bench) -> None:
    def cut(size: int) -> Edit:
        def edit(frame: bytearray) -> None:
            del frame[size:]
            frame += bytes(60 - len(frame))

        return edit

    ignores_each(
        bench, {f"cut to {size}": FIRST_ACK.corrupted(cut(size)) for size in range(14, 61)}
    )


@case("IP-16", smoke=True)
def test_an_ack_with_ip_options_is_ignored(bench: Bench) -> None:
    variants = {name: edits.ip_options(data) for name, data in IP_OPTIONS.items()}
    ignores_each(bench, {name: FIRST_ACK.resealed(edit) for name, edit in variants.items()})


@case("IP-15", "UDP-10", needs=[Capability.IPV6], smoke=True, breaks=CHANGED_ON_THE_WAY)
def test_a_router_may_change_class_label_and_hop_limit_of_an_ack(bench: Bench) -> None:
    classes = [FIRST_ACK.but(tos=tos) for tos in (0, 2, 0xFC)]
    labels = [FIRST_ACK.but(flow_label=label) for label in (0, 1, 0x12345, 0xFFFFF)]
    hops = [FIRST_ACK.but(ttl=hops) for hops in (1, 64, 255)]
    completes_with_each(bench.connect(ipv6=True), [*classes, *labels, *hops])


@case("IP-10", needs=[Capability.IPV6])
def test_an_ack_whose_ipv6_header_changed_behind_the_icrc_is_ignored(bench: Bench) -> None:
    ignores_each(bench, bit_flips(FIRST_ACK, edits.flip_ip, (4, 5, 6, *range(8, 40))), ipv6=True)


@case("IP-13", needs=[Capability.IPV6])
def test_an_ack_whose_ipv6_length_lies_is_ignored(bench: Bench) -> None:
    near = [UDP_LENGTH + by for by in (-20, -8, -4, -1, 1, 2, 4, 8, 20)]
    lies = numbers(edits.set_ip, 4, [0, 1, 23, 24, *near, 1500, 0xFFD3, 0xFFFF])
    ignores_each(bench, {name: FIRST_ACK.resealed(edit) for name, edit in lies.items()}, ipv6=True)


# UDP


@case("UDP-07", smoke=True)
def test_an_ack_may_come_from_any_source_port(bench: Bench) -> None:
    ports = (0, 1, 4791, 0xC000, 0xFFFF)
    completes_with_each(bench.connect(), [FIRST_ACK.but(sport=port) for port in ports])


@case("UDP-08", "LIVE-03", smoke=True)
def test_a_udp_checksum_right_or_wrong_hangs_nobody(bench: Bench) -> None:
    qp = bench.connect()
    for checksum in (b"\x00\x01", b"\xff\xff", b"\x12\x34"):
        message = outstanding(qp)
        qp.send(
            ACK(psn=message.last_psn, msn=message.ordinal).corrupted(edits.set_udp(6, checksum))
        )
        qp.ack(message)
        qp.completes(message)


@case("UDP-09", smoke=True)
def test_an_ack_whose_udp_length_lies_is_ignored(bench: Bench) -> None:
    near = [UDP_LENGTH + by for by in (-4, -1, 1, 4)]
    lies = numbers(edits.set_udp, 4, [0, 7, 8, 20, 23, *near, 0xFFFF])
    resealed = {f"{name} resealed": FIRST_ACK.resealed(edit) for name, edit in lies.items()}
    ignores_each(bench, resealed | {name: FIRST_ACK.corrupted(edit) for name, edit in lies.items()})


@case("UDP-09", smoke=True)
def test_an_ack_with_bytes_between_the_ends_of_udp_and_ip_is_ignored(bench: Bench) -> None:
    def longer_ip(by: int) -> Pattern:
        total = (TOTAL + by).to_bytes(2, "big")
        return FIRST_ACK.resealed(edits.set_ip(2, total)).corrupted(edits.Trailer(bytes(by)))

    ignores_each(bench, {f"{by} bytes": longer_ip(by) for by in (1, 4, 8, 16)})


@case("UDP-01", smoke=True)
def test_an_ack_to_another_port_is_none(bench: Bench) -> None:
    ports = numbers(edits.set_udp, 2, [0, 4790, 4792, 0xB712])
    ignores_each(bench, {name: FIRST_ACK.resealed(edit) for name, edit in ports.items()})


# addresses


@case("GID-02", smoke=True)
def test_an_ack_from_another_host_than_the_peer_is_ignored(bench: Bench) -> None:
    peer, stranger = bench.peers[:2]
    foreign = {"the device itself": bench.target.host.ip, **one_bit_off(peer.ip)}
    ignores_each(
        bench,
        {
            "another host": FIRST_ACK.but(src_ip=stranger.ip, src_mac=stranger.mac),
            **{name: FIRST_ACK.but(src_ip=ip) for name, ip in foreign.items()},
        },
    )


@case("GID-02", needs=[Capability.IPV6], smoke=True)
def test_an_ack_from_another_ipv6_address_than_the_peers_is_ignored(bench: Bench) -> None:
    foreign = one_bit_off(bench.peer(ipv6=True).ip)
    ignores_each(bench, {name: FIRST_ACK.but(src_ip=ip) for name, ip in foreign.items()}, ipv6=True)


@case("GID-05", needs=[Capability.IPV6, Capability.LOCKSTEP], smoke=True)
def test_an_ack_to_a_foreign_ipv6_address_is_ignored(bench: Bench) -> None:
    foreign = one_bit_off(bench.target.host.facing(bench.peer(ipv6=True)).ip)
    ignores_each(bench, {name: FIRST_ACK.but(dst_ip=ip) for name, ip in foreign.items()}, ipv6=True)


@case("GID-05", smoke=True)
def test_an_ack_to_a_foreign_address_is_ignored(bench: Bench) -> None:
    own = bench.target.host.ip
    foreign = {"its peer": bench.peers[1].ip, "far away": bytes((198, 51, 100, 7))}
    foreign |= one_bit_off(own)
    ignores_each(bench, {name: FIRST_ACK.but(dst_ip=address) for name, address in foreign.items()})
