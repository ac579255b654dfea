# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC against worked vectors, and against every way of getting it wrong."""

from __future__ import annotations

import json
import random
from importlib import resources
from typing import Any

import pytest

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.icrc import Judgement

VECTORS: list[dict[str, Any]] = json.loads(
    (resources.files("roceproof.conformance") / "vectors" / "icrc.json").read_text()
)
by_name = pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])


def frame_of(name: str) -> bytes:
    return next(bytes.fromhex(v["frame"]) for v in VECTORS if v["name"] == name)


@by_name
def test_vector_is_accepted_with_its_worked_masked_bytes(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["frame"])
    verdict = icrc.check(frame)
    assert verdict.judgement is Judgement.OK
    assert verdict.computed is not None and verdict.computed.hex() == vector["icrc"]
    assert icrc.masked_input(frame).hex() == vector["masked"]


def covered_and_masked_bits(frame: bytes) -> tuple[list[int], list[int]]:
    """Bit numbers that the ICRC must and must not see, written without the code under test."""
    ip = 18 if frame[12:14] == b"\x81\x00" else 14
    if frame[ip] >> 4 == 4:
        udp, masked_bytes, masked_nibbles = ip + 20, {ip + 1, ip + 8, ip + 10, ip + 11}, set()
    else:
        udp, masked_bytes, masked_nibbles = ip + 40, {ip + 1, ip + 2, ip + 3, ip + 7}, {ip}
    masked_bytes |= {udp + 6, udp + 7, udp + 12}
    end = udp + int.from_bytes(frame[udp + 4 : udp + 6], "big")
    masked = [8 * i + b for i in masked_bytes for b in range(8)]
    masked += [8 * i + b for i in masked_nibbles for b in range(4)]
    covered = sorted(set(range(8 * ip, 8 * end)) - set(masked))
    return covered, masked


@by_name
def test_each_covered_bit_matters_and_no_masked_bit_does(vector: dict[str, Any]) -> None:
    frame = bytes.fromhex(vector["frame"])
    covered, masked = covered_and_masked_bits(frame)
    for bits, wanted in ((covered, False), (masked, True)):
        for bit in bits:
            bent = bytearray(frame)
            bent[bit // 8] ^= 1 << bit % 8
            got = icrc.check(bytes(bent)).judgement is Judgement.OK
            assert got is wanted, f"byte {bit // 8} bit {bit % 8}"


def test_ethernet_pad_and_vlan_tags_do_not_change_the_icrc() -> None:
    assert icrc.compute(frame_of("A")) == icrc.compute(frame_of("D"))
    padded = frame_of("E")
    assert icrc.compute(padded[:58] + b"\xa5\x5a" * 20) == icrc.compute(padded)
    stacked = padded[:12] + bytes.fromhex("88a8000181000002") + padded[12:]
    assert icrc.check(stacked).judgement is Judgement.OK


def test_ipv4_options_are_covered() -> None:
    plain = frame_of("A")
    options = bytes.fromhex("94040000")
    longer = bytearray(plain[:34] + options + plain[34:])
    longer[14] = 0x46
    longer[16:18] = (int.from_bytes(plain[16:18], "big") + 4).to_bytes(2, "big")
    sealed = icrc.reseal(bytes(longer))
    assert icrc.check(sealed).judgement is Judgement.OK
    bent = sealed[:36] + b"\x01" + sealed[37:]
    assert icrc.check(bent).judgement is Judgement.BAD


def test_resealing_repairs_any_covered_change() -> None:
    frame = bytearray(frame_of("A"))
    frame[50] ^= 0x10
    assert icrc.check(bytes(frame)).judgement is Judgement.BAD
    assert icrc.check(icrc.reseal(bytes(frame))).judgement is Judgement.OK


@pytest.mark.parametrize(
    ("offset", "value"),
    [(12, 0x0806), (14, 0x5500), (14, 0x4400), (20, 0x4001), (22, 0x4006), (36, 4790)],
)
def test_what_is_not_addressed_to_the_roce_port_is_not_roce(offset: int, value: int) -> None:
    frame = bytearray(frame_of("A"))
    frame[offset : offset + 2] = value.to_bytes(2, "big")
    assert icrc.check(bytes(frame)).judgement is Judgement.NOT_ROCE
    with pytest.raises(ValueError, match="port 4791"):
        icrc.compute(bytes(frame))


@pytest.mark.parametrize(("offset", "value"), [(16, 77), (16, 75), (38, 55), (38, 0), (20, 0x6000)])
def test_contradicting_lengths_and_fragments_are_malformed(offset: int, value: int) -> None:
    frame = bytearray(frame_of("A"))
    frame[offset : offset + 2] = value.to_bytes(2, "big")
    assert icrc.check(bytes(frame)).judgement is Judgement.MALFORMED
    with pytest.raises(ValueError, match="no ICRC position"):
        icrc.compute(bytes(frame))


def test_every_truncation_and_random_frame_gets_a_verdict() -> None:
    rng = random.Random(7)
    for vector in VECTORS:
        frame = bytes.fromhex(vector["frame"])
        layout = locate(frame)
        assert layout is not None
        for size in range(layout.end):
            assert icrc.check(frame[:size]).judgement in (
                Judgement.NOT_ROCE,
                Judgement.MALFORMED,
            )
        for _ in range(300):
            bent = bytearray(frame)
            for _ in range(rng.randrange(1, 6)):
                bent[rng.randrange(12, len(bent))] = rng.randrange(256)
            icrc.check(bytes(bent))
