# SPDX-License-Identifier: BSD-2-Clause
"""The codec against the vectors, against Scapy and against tshark."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from scapy.contrib.roce import BTH
from scapy.layers.l2 import Ether
from scapy.packet import Padding
from scapy.utils import wrpcap

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.framing import Fault
from roceproof.conformance.wire.headers import Aeth, Bth, Deth, Extension, ImmDt, Reth
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import OPCODES, Family, Payload, Position, Transport

VECTORS = json.loads(
    (Path(__file__).parents[2] / "conformance" / "vectors" / "icrc.json").read_text()
)
TSHARK_SECONDS = 60


def random_extension(rng: random.Random, kind: type[Extension]) -> Extension:
    return kind.unpack(rng.randbytes(kind.SIZE))


def random_packet(rng: random.Random, opcode: int) -> Packet:
    """Any values that a correct sender of any kind could choose."""
    row = OPCODES[opcode]
    length = 0 if row.payload is Payload.NONE else rng.randrange(70)
    ip: Ipv4 | Ipv6
    if rng.random() < 0.5:
        ip = Ipv4(
            rng.randbytes(4),
            rng.randbytes(4),
            tos=rng.randrange(256),
            ident=rng.randrange(1 << 16),
            ttl=rng.randrange(1, 256),
        )
    else:
        ip = Ipv6(
            rng.randbytes(16),
            rng.randbytes(16),
            traffic_class=rng.randrange(256),
            flow_label=rng.randrange(1 << 20),
            hop_limit=rng.randrange(1, 256),
        )
    return Packet(
        dst_mac=b"\x02" + rng.randbytes(5),
        src_mac=b"\x02" + rng.randbytes(5),
        vlans=rng.choice([b"", b"\x81\0\x60\x64", b"\x88\xa8\0\1\x81\0\0\2"]),
        ip=ip,
        udp_sport=rng.randrange(0xC000, 1 << 16),
        bth=Bth(
            opcode,
            rng.randrange(1 << 24),
            rng.randrange(1 << 24),
            solicited=rng.random() < 0.5,
            migreq=rng.random() < 0.5,
            pkey=rng.randrange(1 << 16),
            fecn=rng.random() < 0.5,
            becn=rng.random() < 0.5,
            reserved6=rng.randrange(64),
            ack_req=rng.random() < 0.5,
            reserved7=rng.randrange(128),
        ),
        extensions=tuple(random_extension(rng, kind) for kind in row.headers),
        payload=rng.randbytes(length),
    )


@cache
def random_frames() -> list[bytes]:
    return [
        build(random_packet(random.Random(f"{opcode} {i}"), opcode))
        for opcode, i in itertools.product(OPCODES, range(6))
    ]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_vector_is_rebuilt_from_its_parts(vector: dict[str, str]) -> None:
    frame = bytes.fromhex(vector["frame"])
    packet = parse(frame)
    assert packet is not None and packet.fault is None
    assert build(packet) == frame


def test_every_field_of_a_worked_vector_is_read() -> None:
    packet = parse(bytes.fromhex(VECTORS[1]["frame"]))
    assert packet is not None
    assert packet.bth == Bth(0x29, 0x12, 0xFFFFFF, solicited=True, pad_count=3)
    assert packet.immediate == 0xCAFEBABE
    assert (packet.payload, packet.pad) == (bytes.fromhex("a1a2a3a4a5"), bytes(3))
    assert packet.ip == Ipv4(
        bytes((192, 168, 1, 1)),
        bytes((192, 168, 1, 2)),
        tos=0x6A,
        ident=0x1A2C,
        total_length=56,
        checksum=0x9CCB,
    )


def test_random_packets_of_every_opcode_survive_the_round_trip() -> None:
    for frame in random_frames():
        packet = parse(frame)
        assert packet is not None and packet.fault is None
        assert build(packet) == frame


def test_scapy_reads_and_recomputes_the_same_bth_and_icrc() -> None:
    for frame in random_frames():
        mine = parse(frame)
        theirs = Ether(frame)
        assert mine is not None
        layer = theirs[BTH]
        assert (layer.opcode, layer.dqpn, layer.psn) == (
            mine.bth.opcode,
            mine.bth.dest_qpn,
            mine.bth.psn,
        )
        assert (layer.solicited, layer.migreq, layer.padcount, layer.version) == (
            mine.bth.solicited,
            mine.bth.migreq,
            mine.bth.pad_count,
            mine.bth.version,
        )
        assert (layer.pkey, layer.fecn, layer.becn, layer.resv6) == (
            mine.bth.pkey,
            mine.bth.fecn,
            mine.bth.becn,
            mine.bth.reserved6,
        )
        assert (layer.ackreq, layer.resv7) == (mine.bth.ack_req, mine.bth.reserved7)
        # Scapy folds Ethernet padding into the ICRC that it computes, so take it off first.
        if Padding in theirs:
            theirs[Padding].underlayer.remove_payload()
        assert layer.icrc == int.from_bytes(mine.icrc, "big")
        layer.icrc = None
        rebuilt = bytes(theirs)
        assert rebuilt[-4:] == mine.icrc


TSHARK_FIELDS: dict[str, Callable[[Packet], int | None]] = {
    "infiniband.bth.opcode": lambda p: p.bth.opcode,
    "infiniband.bth.psn": lambda p: p.bth.psn,
    "infiniband.bth.destqp": lambda p: p.bth.dest_qpn,
    "infiniband.bth.padcnt": lambda p: p.bth.pad_count,
    "infiniband.bth.p_key": lambda p: p.bth.pkey,
    "infiniband.reth.va": lambda p: p.reth.address if p.reth else None,
    "infiniband.reth.r_key": lambda p: p.reth.rkey if p.reth else None,
    "infiniband.reth.dmalen": lambda p: p.reth.length if p.reth else None,
    "infiniband.immdt": lambda p: p.immediate,
    "infiniband.aeth.msn": lambda p: p.aeth.msn if p.aeth else None,
    "infiniband.invariant.crc": lambda p: int.from_bytes(p.icrc, "big"),
}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_same_fields(tmp_path: Path) -> None:
    known = {Family.SEND, Family.WRITE, Family.READ, Family.RESPONSE}
    frames = []
    for frame in random_frames():
        packet = parse(frame)
        assert packet is not None
        row = OPCODES[packet.bth.opcode]
        if row.family in known and row.transport in (Transport.RC, Transport.UC):
            frames.append(frame)
    capture = tmp_path / "random.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    command = ["tshark", "-n", "--disable-protocol", "rpcordma", "-r", str(capture)]
    command += ["-T", "fields", "-E", "occurrence=f"]
    for field in TSHARK_FIELDS:
        command += ["-e", field]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TSHARK_SECONDS, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(frames)
    for frame, line in zip(frames, lines, strict=True):
        packet = parse(frame)
        assert packet is not None
        for (field, read), text in zip(TSHARK_FIELDS.items(), line.split("\t"), strict=True):
            wanted = read(packet)
            base = 16 if field == "infiniband.immdt" else 0  # shown as bytes
            got = int(text, base) if text else None
            assert got == wanted, f"{field} of {frame.hex()}"


@pytest.mark.parametrize("opcode", [0x0A, 0x0B, 0x11, 0x29])
def test_a_packet_cut_inside_its_headers_keeps_what_is_there(opcode: int) -> None:
    whole = random_packet(random.Random(opcode), opcode)
    size = sum(kind.SIZE for kind in OPCODES[opcode].headers)
    frame = build(replace(whole, extensions=(), payload=bytes(size - 4)))
    packet = parse(frame)
    assert packet is not None
    assert packet.fault is Fault.HEADERS
    assert packet.bth.psn == whole.bth.psn
    assert len(packet.extensions) == len(OPCODES[opcode].headers) - 1


def test_a_pad_count_beyond_the_payload_is_a_fault() -> None:
    frame = bytearray.fromhex(VECTORS[4]["frame"])
    frame[43] |= 0x30
    packet = parse(icrc.reseal(bytes(frame)))
    assert packet is not None
    assert packet.fault is Fault.PAD_COUNT
    assert (packet.payload, packet.pad) == (b"", b"")


def test_no_truncation_raises() -> None:
    for vector in VECTORS:
        frame = bytes.fromhex(vector["frame"])
        for size in range(len(frame)):
            packet = parse(frame[:size])
            assert packet is None or packet.fault is not None or size >= 58


def test_the_opcode_table_is_closed_under_its_own_rules() -> None:
    for value, row in OPCODES.items():
        assert row.value == value
        if ImmDt in row.headers:
            assert row.headers[-1] is ImmDt and row.position & Position.LAST
        if Aeth in row.headers:
            assert row.is_response and row.headers[0] is Aeth
        if row.transport is Transport.UD:
            assert row.headers[0] is Deth
        if row.family is Family.WRITE:
            assert (Reth in row.headers) == bool(row.position & Position.FIRST)
    assert struct.calcsize(">QII") == Reth.SIZE
    uc = {value - 0x20 for value in OPCODES if value >> 5 == Transport.UC}
    assert uc == set(range(0x0C))
