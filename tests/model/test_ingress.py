# SPDX-License-Identifier: BSD-2-Clause
"""Steps 1 and 2: which frames a queue pair never sees, and which it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from responder_bench import OWN_QPN, PEER, QKEY, START, P, ResponderBench, pattern

from roceproof.conformance.model.ingress import Admitted, Drop, Ingress
from roceproof.conformance.model.responder.policy import (
    HeaderFault,
    IpOptions,
    PadFault,
    PlainSize,
    ResponderPolicy,
    UdpChecksum,
    UdpLength,
)
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.headers import Bth, CnpReserved, Deth, Reth
from roceproof.conformance.wire.icrc import compute_at
from roceproof.conformance.wire.ip import Ipv4, Ipv6, checksum
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
OWN_IP6, PEER_IP6 = (
    bytes.fromhex("20010db8" + 11 * "00" + "01"),
    bytes.fromhex("20010db8" + 11 * "00" + "02"),
)
RC, UC, UD, RC6, UNREADY = OWN_QPN, 0xA2, 0xA3, 0xA4, 0xA5
WRITE = {Service.RC: 0x0A, Service.UC: 0x2A, Service.UD: 0x64}


class View(NamedTuple):
    spec: QpSpec
    state: State = State.RTS


def spec(service: Service, remote: Host = PEER) -> QpSpec:
    return QpSpec(service=service, remote=remote, remote_qpn=7, path_mtu=P, qkey=QKEY)


QUEUE_PAIRS: dict[int, Any] = {
    RC: View(spec(Service.RC)),
    UC: View(spec(Service.UC)),
    UD: View(spec(Service.UD)),
    RC6: View(spec(Service.RC, Host(PEER.mac, PEER_IP6))),
    UNREADY: View(spec(Service.RC), State.INIT),
}


def ingress(**choices: Any) -> Ingress:
    return Ingress(OWN.mac, {OWN.ip, OWN_IP6}, QUEUE_PAIRS, ResponderPolicy(**choices))


def packet(qpn: int = RC, data: bytes = b"hello", **bth: Any) -> Packet:
    service = QUEUE_PAIRS[qpn].spec.service if qpn in QUEUE_PAIRS else Service.RC
    bench = ResponderBench(service)
    request = bench.request("SEND ONLY", 0, data)
    header = replace(request.bth, **({"dest_qpn": qpn} | bth))
    ip = Ipv6(PEER_IP6, OWN_IP6) if qpn == RC6 else Ipv4(PEER.ip, OWN.ip)
    return Packet(OWN.mac, PEER.mac, ip, 0xC000, header, request.extensions, data)


def examine(frame: Packet | bytes, **choices: Any) -> Admitted | Drop:
    return ingress(**choices).examine(build(frame) if isinstance(frame, Packet) else frame)


def is_admitted(frame: Packet | bytes, **choices: Any) -> bool:
    return isinstance(examine(frame, **choices), Admitted)


def corrupted(frame: bytes, edit: Callable[[bytearray], None], *, seal: bool = True) -> bytes:
    """The frame changed by hand; IP checksum and ICRC follow, if asked to."""
    data = bytearray(frame)
    edit(data)
    if seal:
        data[24:26] = bytes(2)
        data[24:26] = checksum(bytes(data[14:34])).to_bytes(2, "big")
        layout = locate(bytes(data))
        if layout is not None and layout.fault is None:
            data[layout.end - 4 : layout.end] = compute_at(bytes(data), layout)
    return bytes(data)


def put(at: int, value: bytes) -> Callable[[bytearray], None]:
    def edit(data: bytearray) -> None:
        data[at : at + len(value)] = value

    return edit


FRAME = build(packet())


@pytest.mark.parametrize("qpn", [RC, UC, UD, RC6])
def test_a_good_packet_is_admitted_as_it_was_sent(qpn: int):
    admitted = examine(packet(qpn))
    assert isinstance(admitted, Admitted)
    assert admitted.qpn == qpn and admitted.segment.payload == b"hello"
    assert len(admitted.network_header) == (40 if qpn == RC6 else 20)


@pytest.mark.parametrize("trailer", [b"\0", b"\xff" * 46, pattern(7)])
def test_eth_03_bytes_behind_the_packet_are_ignored(trailer: bytes):
    assert is_admitted(FRAME + trailer)


def test_eth_02_a_short_packet_is_found_in_its_padded_frame():
    empty = build(packet(data=b""))
    assert len(empty) == 60 and is_admitted(empty) and is_admitted(empty[:58])


@pytest.mark.parametrize("tag", ["81000064", "81006000", "810060c8"])
def test_vlan_03_a_tag_changes_nothing(tag: str):
    assert is_admitted(replace(packet(), vlans=bytes.fromhex(tag)))


def test_a_frame_to_another_mac_address_is_dropped():
    assert examine(replace(packet(), dst_mac=PEER.mac)) is Drop.MAC


@pytest.mark.parametrize("change", [{"tos": 3}, {"tos": 0xFF}, {"ttl": 1}, {"ttl": 255}])
def test_ip_09_icrc_13_masked_fields_may_change_on_the_way(change: dict[str, int]):
    before = packet()
    assert isinstance(before.ip, Ipv4)
    moved = build(replace(before, ip=replace(before.ip, **change)))
    assert moved[-4:] == FRAME[-4:] and is_admitted(moved)


@pytest.mark.parametrize(
    "change", [{"traffic_class": 255}, {"flow_label": 0xABCDE}, {"hop_limit": 1}]
)
def test_ip_15_udp_10_masked_fields_of_ipv6_may_change_on_the_way(change: dict[str, int]):
    before = packet(RC6)
    assert isinstance(before.ip, Ipv6)
    moved = build(replace(before, ip=replace(before.ip, **change)))
    assert moved[-4:] == build(before)[-4:] and is_admitted(moved)


@pytest.mark.parametrize("at", [18, 20, 34, 38])
def test_ip_10_what_is_not_masked_is_covered_by_the_icrc(at: int):
    def flip(data: bytearray) -> None:
        data[at] ^= 1
        data[24:26] = bytes(2)
        data[24:26] = checksum(bytes(data[14:34])).to_bytes(2, "big")

    assert not is_admitted(corrupted(FRAME, flip, seal=False))


@pytest.mark.parametrize("at", range(42, len(FRAME)))
def test_icrc_12_a_bit_of_the_packet_that_flips_drops_it_unless_it_is_masked(at: int):
    for bit in range(8):
        flipped = corrupted(FRAME, put(at, bytes((FRAME[at] ^ 1 << bit,))), seal=False)
        assert is_admitted(flipped) == (at == 46), (at, bit)


def test_icrc_07_the_pad_is_covered():
    assert FRAME[-7:-4] == bytes(3)
    assert examine(corrupted(FRAME, put(len(FRAME) - 5, b"\1"), seal=False)) is Drop.ICRC


def test_icrc_20_a_crc_without_masks_is_wrong():
    from zlib import crc32

    raw = crc32(b"\xff" * 8 + FRAME[14:-4]).to_bytes(4, "little")
    assert examine(FRAME[:-4] + raw) is Drop.ICRC


def test_ip_11_a_wrong_header_checksum_drops_the_packet():
    assert examine(corrupted(FRAME, put(24, b"\0\1"), seal=False)) is Drop.IP_CHECKSUM


@pytest.mark.parametrize(("word", "drop"), [(b"\x20\0", Drop.FRAGMENT), (b"\0\1", Drop.NOT_ROCE)])
def test_ip_12_fragments_are_dropped(word: bytes, drop: Drop):
    assert examine(corrupted(FRAME, put(20, word))) is drop


@pytest.mark.parametrize("change", [-20, -4, -1, 1, 4, 20])
def test_ip_13_an_ip_length_that_does_not_fit_drops_the_packet(change: int):
    length = int.from_bytes(FRAME[16:18], "big") + change
    drop = examine(corrupted(FRAME, put(16, length.to_bytes(2, "big"))))
    assert drop is (Drop.IP_LENGTH if change > 0 else Drop.UDP_LENGTH)


@pytest.mark.parametrize("length", [0, 7, 8, 23, 0xFFFF, len(FRAME) - 34 - 4, len(FRAME) - 34 + 1])
def test_udp_09_a_udp_length_that_does_not_fit_drops_the_packet(length: int):
    assert examine(corrupted(FRAME, put(38, length.to_bytes(2, "big")))) is Drop.UDP_LENGTH


def test_ip_16_a_packet_with_options_is_dropped_and_who_takes_it_can_be_played():
    before = packet()
    assert isinstance(before.ip, Ipv4)
    routed = replace(before, ip=replace(before.ip, options=bytes.fromhex("94040000")))
    assert examine(routed) is Drop.IP_OPTIONS
    assert is_admitted(routed, ip_options=IpOptions.ACCEPTED)


@pytest.mark.parametrize("sport", [0, 1, 4791, 65535])
def test_udp_07_the_source_port_does_not_matter(sport: int):
    assert is_admitted(replace(packet(), udp_sport=sport))


@pytest.mark.parametrize("qpn", [RC, RC6])
def test_udp_08_a_udp_checksum_is_right_or_wrong(qpn: int):
    frame = build(packet(qpn))
    layout = locate(frame)
    assert layout is not None
    addresses = frame[26:34] if layout.version == 4 else frame[22:54]
    udp = frame[layout.udp : layout.end]
    pseudo = addresses + b"\0\x11" + len(udp).to_bytes(2, "big")
    right = checksum(pseudo + udp)
    at = layout.udp + 6
    good = frame[:at] + right.to_bytes(2, "big") + frame[at + 2 :]
    bad = frame[:at] + (right ^ 1).to_bytes(2, "big") + frame[at + 2 :]
    assert is_admitted(good)
    assert examine(bad) is Drop.UDP_CHECKSUM
    assert is_admitted(bad, udp_checksum=UdpChecksum.IGNORED)


def test_other_traffic_is_not_roce():
    assert examine(corrupted(FRAME, put(36, b"\x12\xb6"))) is Drop.NOT_ROCE
    assert examine(corrupted(FRAME, put(12, b"\x89\x15"), seal=False)) is Drop.NOT_ROCE
    assert examine(b"") is Drop.NOT_ROCE


@pytest.mark.parametrize("version", [1, 8, 15])
def test_bth_05_another_transport_version_drops_the_packet(version: int):
    assert examine(packet(version=version)) is Drop.VERSION


@pytest.mark.parametrize(
    ("pkey", "is_good"),
    [(0xFFFF, True), (0x7FFF, True), (0xFFFE, False), (0, False), (0x8000, False), (0x1234, False)],
)
def test_bth_07_the_p_key_matches_in_fifteen_bits(pkey: int, is_good: bool):
    assert is_admitted(packet(pkey=pkey)) == is_good


@pytest.mark.parametrize(
    "bth",
    [{"reserved6": 63}, {"reserved7": 127}, {"fecn": True}, {"becn": True}, {"migreq": False}],
)
def test_bth_09_bth_15_reserved_and_unused_bits_are_ignored(bth: dict[str, Any]):
    assert is_admitted(packet(**bth))


@pytest.mark.parametrize("qpn", [0, 0xB0, 0xFFFFFF, OWN_QPN | 1 << 16])
def test_bth_11_gid_04_an_unknown_queue_pair_drops_the_packet(qpn: int):
    assert examine(packet(qpn)) is Drop.QPN


def test_qps_01_a_queue_pair_that_is_not_ready_drops_the_packet():
    assert examine(packet(UNREADY)) is Drop.STATE


@pytest.mark.parametrize("qpn", [RC, UC, UD])
@pytest.mark.parametrize("opcode", [0x04, 0x24, 0x44, 0x64, 0xA4, 0xC4, 0x80])
def test_bth_12_an_opcode_of_another_service_drops_the_packet(qpn: int, opcode: int):
    own = opcode >> 5 == QUEUE_PAIRS[qpn].spec.service
    assert (examine(packet(qpn, opcode=opcode)) is Drop.SERVICE) != own


@pytest.mark.parametrize("qpn", [RC, UC])
def test_gid_02_only_the_peer_may_speak_to_a_connection(qpn: int):
    foreign = Ipv4(bytes((192, 168, 1, 9)), OWN.ip)
    assert examine(replace(packet(qpn), ip=foreign)) is Drop.ADDRESS
    assert is_admitted(replace(packet(UD), ip=foreign))


@pytest.mark.parametrize("qpn", [RC, UC, UD])
def test_gid_05_another_destination_address_drops_the_packet(qpn: int):
    elsewhere = Ipv4(PEER.ip, bytes((192, 168, 1, 8)))
    assert examine(replace(packet(qpn), ip=elsewhere)) is Drop.ADDRESS


@pytest.mark.parametrize("change", [1, -1])
def test_ud_02_a_wrong_q_key_drops_the_datagram(change: int):
    wrong = replace(packet(UD), extensions=(Deth(QKEY + change, 7),))
    assert examine(wrong) is Drop.QKEY


@pytest.mark.parametrize("opcode", [0x03, 0x06, 0x0A, 0x0B, 0x0C, 0x13, 0x14, 0x16])
def test_bth_16_a_packet_without_room_for_its_headers_is_dropped(opcode: int):
    headers = {0x03: 4, 0x0B: 20, 0x13: 28, 0x14: 28, 0x16: 4}.get(opcode, 16)
    bth = Bth(opcode, RC, 0)
    for size in range(0, headers, 4):
        short = Packet(OWN.mac, PEER.mac, Ipv4(PEER.ip, OWN.ip), 1, bth, (), bytes(size))
        assert examine(short) is Drop.HEADERS


@pytest.mark.parametrize("size", range(16))
def test_bth_16_a_packet_without_room_for_bth_and_icrc_is_dropped(size: int):
    cut = FRAME[:34] + FRAME[34:42] + FRAME[42 : 42 + size]
    frame = corrupted(cut, put(16, (28 + size).to_bytes(2, "big")))
    frame = corrupted(frame, put(38, (8 + size).to_bytes(2, "big")))
    assert isinstance(examine(frame), Drop)


@pytest.mark.parametrize("opcode", [0x0A, 0x0C, 0x13])
def test_bth_16_what_ends_inside_its_headers_is_dropped_or_left_to_the_responder(opcode: int):
    short = replace(packet(RC, bytes(12)), bth=Bth(opcode, RC, START))
    assert examine(short) is Drop.HEADERS
    admitted = examine(short, header_fault=HeaderFault.REFUSED)
    assert isinstance(admitted, Admitted)
    assert ResponderBench().hears(admitted.segment) == ["NAK 61 0 msn=0"]


def test_pad_06_a_pad_beyond_the_payload_is_dropped_or_left_to_the_responder():
    frame = corrupted(build(packet(data=b"")), put(43, bytes((0x70,))))
    assert examine(frame) is Drop.PAD
    admitted = examine(frame, pad_fault=PadFault.REFUSED)
    assert isinstance(admitted, Admitted)
    rc = ResponderBench(receives=1)
    assert rc.hears(admitted.segment) == ["NAK 61 0 msn=0"]


def test_pad_08_pad_bytes_may_have_any_value():
    odd = corrupted(FRAME, put(len(FRAME) - 7, b"\xff\xff\xff"))
    admitted = examine(odd)
    assert isinstance(admitted, Admitted) and admitted.segment.payload == b"hello"


@pytest.mark.parametrize("mark", [0, 1, 2, 3])
def test_cnp_02_only_ce_is_a_congestion_mark(mark: int):
    before = packet()
    assert isinstance(before.ip, Ipv4)
    admitted = examine(replace(before, ip=replace(before.ip, tos=0x68 | mark)))
    assert isinstance(admitted, Admitted) and admitted.is_ce_marked == (mark == 3)


@pytest.mark.parametrize("qpn", [RC, RC6])
def test_ip_16_a_packet_without_options_is_never_dropped_for_them(qpn: int):
    assert is_admitted(packet(qpn))


@pytest.mark.parametrize(("qpn", "is_good"), [(RC, True), (UC, True), (UD, False)])
def test_cnp_06_a_notification_goes_to_any_connection(qpn: int, is_good: bool):
    cnp = replace(packet(qpn, b""), bth=Bth(0x81, qpn, 0), extensions=(CnpReserved(),))
    assert (examine(cnp) is Drop.SERVICE) != is_good
    for opcode in (0x80, 0x82, 0x9F):
        assert examine(replace(cnp, bth=Bth(opcode, qpn, 0))) is Drop.SERVICE


def uneven(opcode: int, qpn: int = RC) -> bytes:
    """A packet whose last pad byte is missing."""
    headers = {0x0A: (Reth(0, 0, 5),), 0x0C: (Reth(0, 0, 0),)}.get(opcode, ())
    frame = build(replace(packet(qpn), bth=Bth(opcode, qpn, START), extensions=headers))
    size = len(frame) - 15
    short = frame[:-5] + frame[-4:]
    short = short[:38] + (size - 20).to_bytes(2, "big") + short[40:]
    return corrupted(short, put(16, size.to_bytes(2, "big")))


@pytest.mark.parametrize("opcode", [0x04, 0x0A, 0x0C])
def test_pad_06_what_is_not_whole_words_is_dropped_or_left_to_the_responder(opcode: int):
    assert examine(uneven(opcode)) is Drop.PAD
    admitted = examine(uneven(opcode), pad_fault=PadFault.REFUSED)
    assert isinstance(admitted, Admitted)
    rc = ResponderBench(receives=1)
    assert rc.hears(admitted.segment) == ["NAK 61 0 msn=0"]


def test_pad_06_what_cannot_be_refused_is_dropped():
    for frame in (uneven(0x24, UC), uneven(0x15)):
        assert examine(frame, pad_fault=PadFault.REFUSED) is Drop.PAD


@pytest.mark.parametrize(("opcode", "is_plain"), [(0x04, True), (0x0C, True), (0x0A, False)])
def test_a_device_that_takes_payload_as_it_is_can_be_played(opcode: int, is_plain: bool):
    assert is_admitted(uneven(opcode), plain_size=PlainSize.UNCHECKED) == is_plain
    assert not is_admitted(uneven(0x15), plain_size=PlainSize.UNCHECKED)
    assert is_admitted(uneven(opcode), plain_size=PlainSize.UNPADDED) == is_plain


@pytest.mark.parametrize("qpn", [RC, RC6])
@pytest.mark.parametrize(("change", "is_believed"), [(-4, True), (-8, True), (4, False)])
def test_udp_09_a_device_that_believes_a_shorter_udp_length_can_be_played(
    qpn: int, change: int, is_believed: bool
):
    frame = resized(build(packet(qpn, b"0123456789ab")), change)
    assert examine(frame) is Drop.UDP_LENGTH
    assert is_admitted(frame, udp_length=UdpLength.BELIEVED) == is_believed


def test_udp_09_no_device_believes_a_length_without_room_for_its_headers():
    short = resized(FRAME, 24 - (len(FRAME) - 34))
    assert examine(short, udp_length=UdpLength.BELIEVED) is Drop.PAD
    shorter = resized(FRAME, 23 - (len(FRAME) - 34))
    assert examine(shorter, udp_length=UdpLength.BELIEVED) is Drop.UDP_LENGTH


def resized(frame: bytes, change: int) -> bytes:
    """The same frame with another UDP length, and the ICRC of the packet that this would be."""
    layout = locate(frame)
    assert layout is not None
    data, end = bytearray(frame), layout.end + change
    data[layout.udp + 4 : layout.udp + 6] = (end - layout.udp).to_bytes(2, "big")
    if end <= len(frame):
        shorter = layout._replace(end=end)
        data[end - 4 : end] = compute_at(bytes(data), shorter)
    return bytes(data)
