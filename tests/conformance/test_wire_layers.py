# SPDX-License-Identifier: BSD-2-Clause
"""The Scapy layers against the codec, the vectors, tshark and captured RoCEv1 hardware."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from scapy.contrib import roce
from scapy.layers.inet import IP, UDP, IPOption
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Padding, Raw
from scapy.utils import wrpcap

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire import scapy as wire
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.headers import Aeth, Deth, Feth
from roceproof.conformance.wire.opcodes import OPCODES, Payload
from roceproof.conformance.wire.scapy.extensions import chain_of

VECTORS = json.loads(
    (Path(__file__).parents[2] / "conformance" / "vectors" / "icrc.json").read_text()
)
LENGTHS = (0, 1, 2, 3, 4, 5, 255, 256)
TSHARK_SECONDS = 60


def ethernet(**fields: int) -> Packet:
    return Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01", **fields)


NETWORKS = {
    "ipv4": lambda: ethernet() / IP(src="10.0.0.1", dst="10.0.0.2", tos=0x6A, ttl=7),
    "options": lambda: ethernet() / IP(src="10.0.0.1", options=[IPOption(b"\x94\4\0\0")]),
    "ipv6": lambda: ethernet() / IPv6(src="fe80::1", dst="fe80::2", tc=9, fl=0x12345, hlim=3),
    "tagged": lambda: ethernet() / Dot1Q(vlan=7, prio=3) / IP(src="10.0.0.1", dst="10.0.0.2"),
    "double": lambda: ethernet() / Dot1AD(vlan=7) / Dot1Q(vlan=8) / IPv6(src="fe80::1"),
    "old-qinq": lambda: ethernet(type=0x9100) / Dot1Q(vlan=7) / IP(src="10.0.0.1"),
}


@pytest.fixture(autouse=True)
def layers() -> Iterator[None]:
    with wire.registered():
        yield


def random_layer(rng: random.Random, kind: type[Packet]) -> Packet:
    return kind(rng.randbytes(kind.SIZE))


def transport(opcode: int, length: int) -> Packet:
    """BTH to payload of any opcode, random but replayable."""
    rng = random.Random(f"{opcode} {length}")
    packet = wire.BTH(opcode=opcode, dqpn=rng.randrange(1 << 24), psn=rng.randrange(1 << 24))
    packet.fecn, packet.becn, packet.resv6 = rng.randrange(2), rng.randrange(2), rng.randrange(64)
    for kind in chain_of(opcode):
        packet /= random_layer(rng, kind)
    return packet / Raw(rng.randbytes(length)) if length else packet


def crafted(opcode: int, length: int, network: str = "ipv4") -> bytes:
    return bytes(NETWORKS[network]() / UDP(sport=0xC123) / transport(opcode, length))


def lengths_of(opcode: int) -> tuple[int, ...]:
    return (0,) if OPCODES[opcode].payload is Payload.NONE else LENGTHS


def test_every_opcode_survives_build_and_dissection(subtests: pytest.Subtests) -> None:
    for opcode, row in OPCODES.items():
        with subtests.test(row.name):
            for length in lengths_of(opcode):
                sent = transport(opcode, length)
                frame = crafted(opcode, length)
                got = Ether(frame)[wire.BTH]
                assert bytes(Ether(frame)) == frame
                assert [type(layer) for layer in got.iterpayloads()] == [
                    type(layer) for layer in sent.iterpayloads()
                ]
                assert bytes(got.payload) == bytes(sent.payload)
                assert (got.padcount, got.pad) == (-length % 4, bytes(-length % 4))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_codec_reads_what_scapy_built(network: str) -> None:
    turn = list(NETWORKS).index(network)
    for place, (opcode, row) in enumerate(OPCODES.items(), start=turn):
        lengths = lengths_of(opcode)
        length = lengths[place % len(lengths)]
        frame = crafted(opcode, length, network)
        packet = parse(frame)
        assert packet is not None and packet.fault is None
        sent = transport(opcode, length)
        assert (packet.bth.opcode, packet.bth.psn) == (opcode, sent.psn)
        assert tuple(map(type, packet.extensions)) == row.headers
        headers = b"".join(header.pack() for header in packet.extensions)
        assert headers + packet.payload == bytes(sent.payload)
        assert icrc.check(frame).judgement is icrc.Judgement.OK


def test_extension_headers_have_the_codecs_values() -> None:
    deth = wire.DETH(bytes.fromhex("8001000000000123"))
    assert (deth.qkey, deth.sqpn) == (0x80010000, Deth.unpack(bytes(deth)).source_word)
    aeth = wire.AETH(bytes.fromhex("60abcdef"))
    assert Aeth.unpack(bytes(aeth)) == Aeth(aeth.syndrome, aeth.msn)
    assert Feth.unpack(bytes(wire.FETH(selectivity=1, placement=2))) == Feth(0x12)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_a_vector_is_rebuilt_with_everything_derived_anew(vector: dict[str, str]) -> None:
    frame = bytes.fromhex(vector["frame"])
    packet = Ether(frame)
    assert bytes(packet) == frame
    rebuilt = wire.refresh(packet)
    rebuilt[UDP].chksum = 0
    assert bytes(rebuilt).ljust(60, b"\0") == frame


def test_refresh_gives_a_changed_payload_its_lengths_pad_and_icrc() -> None:
    packet = Ether(crafted(0x04, 5))
    packet[Raw].load = b"longer than before"
    frame = bytes(wire.refresh(packet))
    got = parse(frame)
    assert got is not None and got.fault is None
    assert got.payload == b"longer than before"
    assert icrc.check(frame).judgement is icrc.Judgement.OK
    assert icrc.check(bytes(packet)).judgement is not icrc.Judgement.OK


def test_ethernet_padding_is_neither_payload_nor_covered() -> None:
    frame = crafted(0x24, 0)
    padded = frame + b"\xaa\xbb"
    packet = Ether(padded)
    assert packet[Padding].load == b"\xaa\xbb" and Raw not in packet
    packet[wire.BTH].icrc = None
    assert bytes(packet) == padded
    built = NETWORKS["ipv4"]() / UDP(sport=0xC123) / transport(0x24, 0) / Padding(b"\xaa\xbb")
    assert bytes(built) == padded


def test_set_fields_are_sent_as_they_are() -> None:
    head = NETWORKS["ipv4"]() / UDP(sport=0xC123)
    frame = bytes(head / wire.BTH(opcode=0x04, padcount=3, pad=b"\1\2\3", icrc=0x01020304) / b"x")
    assert frame[-7:] == bytes((1, 2, 3, 1, 2, 3, 4))
    assert frame[43] >> 4 & 3 == 3
    assert Ether(bytes(head / wire.BTH(opcode=0x04, padcount=3) / b"xyzab"))[Raw].load == b"xyzab"


def test_a_pad_count_beyond_the_payload_takes_no_pad() -> None:
    frame = bytes(NETWORKS["ipv4"]() / UDP() / wire.BTH(opcode=0x0A, padcount=2, pad=b""))
    packet = Ether(frame)
    assert (packet[wire.BTH].padcount, packet[wire.BTH].pad) == (2, b"")
    assert bytes(packet) == frame


def test_a_packet_cut_inside_its_headers_keeps_the_rest_as_raw_bytes() -> None:
    packet = Ether(bytes(NETWORKS["ipv4"]() / UDP() / wire.BTH(opcode=0x0B) / bytes(16)))
    assert wire.RETH in packet and wire.ImmDt not in packet
    packet = Ether(bytes(NETWORKS["ipv4"]() / UDP() / wire.BTH(opcode=0x0B) / bytes(12)))
    assert wire.RETH not in packet and packet[Raw].load == bytes(12)


@pytest.mark.parametrize("tag", [b"", b"\x81\0\0\7"])
@pytest.mark.parametrize("trailer", [b"", bytes(8)])
def test_rocev1_has_a_length_and_an_icrc_over_the_grh(tag: bytes, trailer: bytes) -> None:
    head = ethernet() / Dot1Q(vlan=7) if tag else ethernet()
    grh = wire.GRH(sgid="fe80::1", dgid="fe80::2", tclass=5, flowlabel=6, hoplmt=9)
    packet = head / grh / wire.BTH(opcode=0x24, psn=77) / b"abcde"
    frame = bytes(packet) + trailer
    got = Ether(frame)
    assert bytes(got) == frame
    assert got[wire.GRH].paylen == 12 + 8 + 4
    assert (got[Raw].load, got[wire.BTH].psn, got.dst) == (b"abcde", 77, packet.dst)
    masked = bytearray(bytes(got[wire.GRH])[: 40 + 12 + 8])
    # The mask is written out here, apart from the one under test.
    masked[0:4], masked[7], masked[44] = b"\x6f\xff\xff\xff", 0xFF, 0xFF
    residue = int.from_bytes(crc32(b"\xff" * 8 + masked).to_bytes(4, "little"), "big")
    assert got[wire.BTH].icrc == residue


def test_scapys_own_layers_compute_the_same_icrc() -> None:
    for opcode in OPCODES:
        for network in ("ipv4", "ipv6", "tagged"):
            frame = crafted(opcode, lengths_of(opcode)[-1], network)
            wire.unregister()
            theirs = Ether(frame)
            wire.register()
            layer = theirs[roce.BTH]
            layer.icrc = None
            assert type(layer) is roce.BTH and bytes(theirs)[-4:] == frame[-4:]


def test_reliable_datagram_opcodes_are_taken_apart() -> None:
    request = wire.BTH(bytes(wire.BTH(opcode=0x4A) / wire.RDETH() / wire.DETH() / wire.RETH()))
    assert [layer.name for layer in request.iterpayloads()] == ["BTH", "RDETH", "DETH", "RETH"]
    answer = wire.BTH(bytes(wire.BTH(opcode=0x51) / wire.RDETH() / wire.AETH(msn=5)))
    assert answer[wire.AETH].msn == 5
    assert chain_of(0x55) == (wire.RDETH, wire.DETH)
    assert chain_of(0x57) == chain_of(0x15) == ()


def test_registering_twice_and_unregistering_leaves_scapy_as_it_was() -> None:
    wire.unregister()
    before = [list(layer.payload_guess) for layer in (Ether, Dot1Q, Dot1AD, UDP)]
    wire.register()
    wire.register()
    assert wire.BTH in Ether(crafted(0x04, 1))
    wire.unregister()
    assert [list(layer.payload_guess) for layer in (Ether, Dot1Q, Dot1AD, UDP)] == before
    assert wire.BTH not in Ether(crafted(0x04, 1))


def test_importing_binds_nothing_that_scapys_own_layers_do_not() -> None:
    code = """
import scapy.layers.all, scapy.contrib.roce
from scapy.layers.l2 import Dot1Q, Ether
from scapy.layers.inet import UDP

def show():
    for lower in (Ether, Dot1Q, UDP):
        print([(str(condition), str(upper)) for condition, upper in lower.payload_guess])

show()
import roceproof.conformance.wire.scapy
show()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 6
    assert lines[:3] == lines[3:] and "roce.BTH" in done.stdout


TSHARK_FIELDS = {
    "infiniband.bth.opcode": lambda p: p.opcode,
    "infiniband.bth.psn": lambda p: p.psn,
    "infiniband.bth.padcnt": lambda p: p.padcount,
    "infiniband.invariant.crc": lambda p: p.icrc,
    "infiniband.reth.va": lambda p: next(  # tshark has one field for RETH and AtomicETH
        (p[kind].address for kind in (wire.RETH, wire.AtomicETH) if kind in p), None
    ),
    "infiniband.reth.dmalen": lambda p: p[wire.RETH].length if wire.RETH in p else None,
    "infiniband.atomiceth.swapdt": (
        lambda p: p[wire.AtomicETH].swap_or_add if wire.AtomicETH in p else None
    ),
    "infiniband.atomiceth.cmpdt": (
        lambda p: p[wire.AtomicETH].compare if wire.AtomicETH in p else None
    ),
    "infiniband.atomicacketh.origremdt": (
        lambda p: p[wire.AtomicAckETH].remote_data if wire.AtomicAckETH in p else None
    ),
    "infiniband.deth.srcqp": lambda p: p[wire.DETH].sqpn if wire.DETH in p else None,
    "infiniband.aeth.msn": lambda p: p[wire.AETH].msn if wire.AETH in p else None,
}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_fields_that_scapy_wrote(tmp_path: Path) -> None:
    unknown_to_tshark = {0x1C, 0x1D, 0x81}  # of a CNP it shows no ICRC
    frames = [
        crafted(opcode, lengths_of(opcode)[-1], network)
        for opcode in OPCODES
        if opcode not in unknown_to_tshark
        for network in ("ipv4", "ipv6", "double")
    ]
    capture = tmp_path / "crafted.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    command = ["tshark", "-n", "-r", str(capture), "--disable-protocol", "rpcordma"]
    command += ["--disable-protocol", "cmp", "-T", "fields", "-E", "occurrence=f"]
    command += [word for field in TSHARK_FIELDS for word in ("-e", field)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TSHARK_SECONDS, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(frames)
    for frame, line in zip(frames, lines, strict=True):
        packet = Ether(frame)[wire.BTH]
        for (field, read), text in zip(TSHARK_FIELDS.items(), line.split("\t"), strict=True):
            got = int(text, 0) if text else None
            assert got == read(packet), f"{field} of {frame.hex()}"
