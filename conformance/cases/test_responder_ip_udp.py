# SPDX-License-Identifier: BSD-2-Clause
"""IP, UDP and addresses of what a responder gets: what a path may change, and what it must not.

Scapy is imported by the cases that use it: it takes longer to load than most runs of a few cases.
"""

from collections.abc import Callable, Iterable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_ip_versions
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY, UD_SEND_ONLY, WRITE_ONLY, Edit
from roceproof.conformance.suite.sweep import (
    FRAGMENTS,
    IP_OPTIONS,
    accepts_each,
    bit_flips,
    drops_each,
    one_bit_off,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.framing import BTH_BYTES, UDP_BYTES
from roceproof.verbs.service import Service

pytestmark = RESPONDER

GOOD = WRITE_ONLY(psn=0, a=1)
TOTAL, UDP_LENGTH = 60, 40  # of that packet
SHORTEST_TOTAL = 44
MORE_FRAGMENTS = 0x2000
GRH_BYTES, IPV4_BYTES = 40, 20
TRAFFIC_CLASS, FLOW_LABEL = 0xA8, 0x9C5A3
MULTICAST_QPN = 0xFFFFFF


def flip_checked(offset: int, mask: int) -> Edit:
    """Flip bits of the IP header and make its checksum right."""
    return edits.checksummed(edits.flip_ip(offset, mask))


def said(edit: Callable[[int, bytes], Edit], offset: int, values: Iterable[int]) -> dict[str, Edit]:
    """A field of 16 bits that says each of these numbers."""
    return {f"{value} said": edit(offset, value.to_bytes(2, "big")) for value in values}


@case("IP-09", smoke=True)
def test_a_router_may_change_ttl_dscp_and_ecn(bench: Bench) -> None:
    hops = [WRITE_ONLY(ttl=ttl) for ttl in (1, 2, 63, 128, 255)]
    classes = [WRITE_ONLY(tos=tos) for tos in (0x00, 0x01, 0x02, 0x03, 46 << 2, 0xFC, 0xFF)]
    accepts_each(bench.connect(), [*hops, *classes])


@case("IP-10", "ICRC-12", smoke=True)
def test_a_change_of_any_other_ip_field_behind_the_icrc_drops_the_packet(bench: Bench) -> None:
    drops_each(bench, bit_flips(GOOD, flip_checked, (0, 2, 3, 4, 5, 6, 7, 9, *range(12, 20))))


@case("IP-11", smoke=True)
def test_a_wrong_header_checksum_drops_the_packet(bench: Bench) -> None:
    cleared = {"no checksum": GOOD.corrupted(edits.set_ip(10, bytes(2)))}
    drops_each(bench, bit_flips(GOOD, edits.flip_ip, (1, 8, 10, 11)) | cleared)


@case("IP-12", smoke=True)
def test_a_fragment_is_no_packet(bench: Bench) -> None:
    packets = {
        name: GOOD.but(ident=0x4000 + place).corrupted(edits.fragment(word))
        for place, (name, word) in enumerate(FRAGMENTS.items())
    }
    drops_each(bench, packets)


@case("IP-12", smoke=True, unjudged={"ACK-06": "what two fragments ask is not seen as a request"})
def test_two_fragments_make_one_packet_or_none(bench: Bench) -> None:
    from scapy.layers.inet import fragment

    qp = bench.connect()
    ident = qp.random.randrange(0x8000, 0x10000)
    packet = WRITE_ONLY(psn=0, payload=32, a=1, ident=ident, fragment=0, **at(qp.region()))
    for piece in fragment(qp.crafted(packet), 48):  # type: ignore[no-untyped-call]
        bench.send(piece, comment="may be put together or dropped", is_void=True)
    qp.send(packet, WRITE_ONLY(psn=1, a=1))
    qp.expect(ACK(psn=1, msn=2), allowing=[ACK(psn=0, msn=1)])
    qp.fence(2, msn=3)


@case("IP-13", smoke=True)
def test_an_ip_length_beyond_the_frame_or_too_short_drops_the_packet(bench: Bench) -> None:
    wrong = [*range(TOTAL + 1, TOTAL + 21), 0xFFFF, *range(SHORTEST_TOTAL)]
    lies = said(edits.set_ip, 2, wrong)
    drops_each(bench, {name: GOOD.resealed(edit) for name, edit in lies.items()})


@case("IP-13", "FUZZ-10", smoke=True)
def test_lengths_beyond_the_frame_drop_the_packet_though_an_icrc_ends_it(bench: Bench) -> None:
    longer = {by: edits.say_length(UDP_LENGTH + by) for by in (4, 8, 16, 1024)}
    drops_each(bench, {f"{by} bytes more": GOOD.resealed(edit) for by, edit in longer.items()})


@case("IP-13", smoke=True)
def test_an_ip_length_that_cuts_the_datagram_drops_the_packet(bench: Bench) -> None:
    lies = said(edits.set_ip, 2, range(SHORTEST_TOTAL, TOTAL))
    drops_each(bench, {name: GOOD.resealed(edit) for name, edit in lies.items()})


@case("IP-15", "UDP-10", needs=[Capability.IPV6], smoke=True)
def test_a_router_may_change_class_label_and_hop_limit(bench: Bench) -> None:
    qp = bench.connect(ipv6=True)
    words = (0x60000000, 0x60012345, 0x600FFFFF, 0x6FC00000, 0x6FFFFFFF, 0x6A0ABCDE)
    heads = [GOOD.corrupted(edits.set_ip(0, word.to_bytes(4, "big"))) for word in words]
    hops = [GOOD.corrupted(edits.set_ip(7, bytes([hop]))) for hop in (1, 2, 64, 255)]
    accepts_each(qp, [*heads, *hops])


@case("ICRC-12", needs=[Capability.IPV6])
def test_a_change_of_any_other_ipv6_field_drops_the_packet(bench: Bench) -> None:
    version = {
        f"version bit {bit}": GOOD.corrupted(edits.flip_ip(0, 16 << bit)) for bit in range(4)
    }
    others = bit_flips(GOOD, edits.flip_ip, (4, 5, 6, *range(8, 40)))
    drops_each(bench, version | others, ipv6=True)


@case("IP-16", smoke=True)
def test_a_packet_with_ip_options_is_dropped(bench: Bench) -> None:
    variants = {name: edits.ip_options(data) for name, data in IP_OPTIONS.items()}
    drops_each(bench, {name: GOOD.resealed(edit) for name, edit in variants.items()})


@case("IP-16", "UDP-09")
def test_a_packet_with_ip_options_that_ends_before_its_bth_does_is_dropped(bench: Bench) -> None:
    def cut(options: bytes, size: int) -> Edit:
        def edit(frame: bytearray) -> None:
            edits.ip_options(options)(frame)
            edits.truncate(size)(frame)

        return edits.checksummed(edit)

    variants = {
        f"{size} bytes behind {name}": GOOD.corrupted(cut(options, size))
        for name, options in IP_OPTIONS.items()
        for size in (0, 1, BTH_BYTES - 1)
    }
    drops_each(bench, variants)


@case("UDP-07", smoke=True)
def test_any_source_port_will_do(bench: Bench) -> None:
    ports = (0, 1, 4791, 0xC000, 0xFFFF)
    accepts_each(bench.connect(), [WRITE_ONLY(sport=port) for port in ports])


@case("UDP-08", smoke=True)
def test_a_right_udp_checksum_is_as_good_as_none(bench: Bench) -> None:
    from scapy.layers.inet import UDP

    qp = bench.connect()
    for psn in range(2):
        packet = qp.crafted(WRITE_ONLY(psn=psn, payload=9, a=1, **at(qp.region())))
        packet[UDP].chksum = None
        qp.send(packet)
        qp.expect(ACK(psn=psn))


@case("UDP-08", "LIVE-03", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_a_wrong_udp_checksum_hangs_nobody(bench: Bench) -> None:
    from scapy.layers.inet import UDP

    from roceproof.conformance.wire.scapy import BTH, RETH

    qp = bench.connect()
    qp.send(UDP(chksum=0x1234) / BTH(opcode="WRITE ONLY", psn=0, ackreq=1) / RETH())
    taken = qp.next(quiet=True) is not None
    qp.fence(int(taken), msn=1 + taken)


@case("UDP-09", smoke=True)
def test_a_udp_length_beyond_ip_or_without_room_for_a_bth_drops_the_packet(bench: Bench) -> None:
    wrong = [*range(24), *(UDP_LENGTH + by for by in (-4, -1, 1, 2, 3, 4, 20)), 0x7FFF, 0xFFFF]
    lies = said(edits.set_udp, 4, wrong)
    drops_each(bench, {name: GOOD.corrupted(edit) for name, edit in lies.items()})


@case("UDP-09", smoke=True)
def test_a_udp_length_beyond_ip_is_wrong_though_the_frame_has_the_bytes(bench: Bench) -> None:
    def longer(by: int) -> Edit:
        def edit(frame: bytearray) -> None:
            frame += bytes(by)
            edits.set_udp(4, (UDP_LENGTH + by).to_bytes(2, "big"))(frame)

        return edit

    drops_each(bench, {f"{by} more": GOOD.resealed(longer(by)) for by in (1, 4, 8, 16)})


@case("UDP-09", smoke=True)
def test_a_udp_length_within_that_of_ip_is_wrong_though_an_icrc_ends_it(bench: Bench) -> None:
    qp = bench.connect()
    qp.post_receive(qp.region())
    packet = SEND_ONLY(psn=0, payload=16, a=1)
    full = UDP_BYTES + 12 + 16 + 4
    lies = said(edits.set_udp, 4, (full - 4, full - 8, full - 12))
    qp.drops(*(packet.resealed(edit) for edit in lies.values()), fence=0)


@case("GID-01", smoke=True)
def test_a_peer_known_by_its_gid_is_answered_at_its_ipv4_address(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, src_ip=bench.target.host.ip, dst_ip=qp.spec.remote.ip))


@case("GID-02", smoke=True)
def test_a_request_from_another_host_than_the_peer_is_dropped(bench: Bench) -> None:
    peer, stranger = bench.peers[:2]
    foreign = {"another host by the peer's MAC": stranger.ip, **one_bit_off(peer.ip)}
    drops_each(
        bench,
        {
            "another host": GOOD.but(src_ip=stranger.ip, src_mac=stranger.mac),
            **{name: GOOD.but(src_ip=ip) for name, ip in foreign.items()},
        },
    )


@case("GID-02", smoke=True, needs=[Capability.UC])
def test_on_uc_it_never_reaches_memory(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    write = WRITE_ONLY(psn=0, payload=8, src_ip=bench.peers[1].ip, **at(region))
    qp.drops(write, fence=0)
    assert region.read(0, 8) == bytes(8)


@case("GID-03", smoke=True, needs=[Capability.UD])
def test_a_datagram_over_ipv4_has_its_header_in_front(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    region = qp.region()
    number = qp.post_receive(region)
    packet = qp.filled(UD_SEND_ONLY(payload=21))
    qp.send(packet)
    qp.receives(number, byte_len=GRH_BYTES + 21)
    header = region.read(GRH_BYTES - IPV4_BYTES, IPV4_BYTES)
    assert header[0] == 0x45
    assert header[12:] == qp.spec.remote.ip + bench.target.host.ip
    assert region.read(GRH_BYTES, 24) == packet.said["payload"] + bytes(3)


@case("GID-03", needs=[Capability.UD, Capability.IPV6], smoke=True)
def test_a_datagram_over_ipv6_has_its_header_in_front(bench: Bench) -> None:
    qp = bench.connect(Service.UD, ipv6=True)
    region = qp.region()
    number = qp.post_receive(region)
    packet = qp.filled(UD_SEND_ONLY(payload=21, tos=TRAFFIC_CLASS, flow_label=FLOW_LABEL))
    qp.send(packet)
    qp.receives(number, byte_len=GRH_BYTES + 21)
    header = region.read(0, GRH_BYTES)
    assert int.from_bytes(header[:4], "big") == 6 << 28 | TRAFFIC_CLASS << 20 | FLOW_LABEL
    assert header[8:] == qp.spec.remote.ip + bench.target.host_for(qp.spec).ip
    assert region.read(GRH_BYTES, 24) == packet.said["payload"] + bytes(3)


@case("GID-03", needs=[Capability.UD, Capability.IPV6], smoke=True)
@over_ip_versions
def test_a_datagram_may_come_over_the_other_ip_version_than_the_queue_pairs(
    bench: Bench, *, ipv6: bool
) -> None:
    qp, sender = bench.connect(Service.UD, ipv6=not ipv6), bench.connect(Service.UD, ipv6=ipv6)
    region = qp.region(filled=True)
    number = qp.post_receive(region)
    packet = sender.filled(UD_SEND_ONLY(payload=21, qpn=qp.qp.qpn, qkey=qp.spec.qkey))
    sender.send(packet)
    qp.receives(number, byte_len=GRH_BYTES + 21, src_qpn=sender.spec.remote_qpn)
    header = region.read(0, GRH_BYTES)
    addresses = sender.spec.remote.ip + bench.target.host_for(sender.spec).ip
    assert header[GRH_BYTES - len(addresses) :] == addresses
    assert header[0 if ipv6 else GRH_BYTES - IPV4_BYTES] >> 4 == (6 if ipv6 else 4)
    assert region.read(GRH_BYTES, 21) == packet.said["payload"]


@case("GID-04", smoke=True, needs=[Capability.UD])
def test_the_multicast_qpn_at_a_unicast_address_reaches_nobody(bench: Bench) -> None:
    qp = bench.connect(Service.UD)
    number = qp.post_receive(qp.region())
    qp.send(UD_SEND_ONLY(payload=8, qpn=MULTICAST_QPN), UD_SEND_ONLY(payload=24))
    qp.receives(number, byte_len=GRH_BYTES + 24)


@case("GID-02", "GID-05", needs=[Capability.IPV6, Capability.LOCKSTEP], smoke=True)
@over("end", ["src_ip", "dst_ip"])
def test_a_request_between_other_ipv6_addresses_is_dropped(bench: Bench, end: str) -> None:
    peer = bench.peer(ipv6=True)
    right = peer if end == "src_ip" else bench.target.host.facing(peer)
    foreign = one_bit_off(right.ip)
    drops_each(bench, {name: GOOD.but(**{end: ip}) for name, ip in foreign.items()}, ipv6=True)


@case("IP-08", needs=[Capability.IPV6])
def test_a_request_over_ipv6_is_answered_between_the_same_addresses(bench: Bench) -> None:
    qp = bench.connect(ipv6=True)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, src_ip=qp.from_device.src.ip, dst_ip=qp.spec.remote.ip))


@case("IP-13", needs=[Capability.IPV6], smoke=True)
def test_an_ipv6_length_that_lies_drops_the_packet(bench: Bench) -> None:
    near = [UDP_LENGTH + by for by in (-20, -8, -4, -1, 1, 2, 4, 8, 20)]
    lies = said(edits.set_ip, 4, [0, 1, 23, 24, *near, 1500, 0xFFD3, 0xFFFF])
    drops_each(bench, {name: GOOD.resealed(edit) for name, edit in lies.items()}, ipv6=True)


@case("UDP-09", "BTH-16", needs=[Capability.IPV6], smoke=True)
def test_a_packet_over_ipv6_that_ends_before_its_bth_does_is_dropped(bench: Bench) -> None:
    cut = {f"{size} bytes": GOOD.corrupted(edits.truncate(size)) for size in range(BTH_BYTES)}
    drops_each(bench, cut, ipv6=True)


@case("GID-05", smoke=True)
def test_a_request_to_a_foreign_address_is_dropped(bench: Bench) -> None:
    own = bench.target.host.ip
    foreign = {"another host": bench.peers[1].ip, "far away": bytes((198, 51, 100, 7))}
    foreign |= one_bit_off(own)
    drops_each(bench, {name: GOOD.but(dst_ip=ip) for name, ip in foreign.items()})
