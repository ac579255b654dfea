# SPDX-License-Identifier: BSD-2-Clause
"""Each step of the ICRC diagnosis by itself: algebra, probes, registers, masks, observations."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace
from importlib import resources
from pathlib import Path
from random import Random
from zlib import crc32

import pytest
from explained import cases_of, corrupt, healthy, planted, records, with_icrc

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.combinations import Search
from roceproof.conformance.diagnosis.icrc.effects import Effects
from roceproof.conformance.diagnosis.icrc.parts.crc import (
    CASTAGNOLI,
    ETHERNET,
    ONES,
    Crc,
    locate_bit,
)
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.evidence import (
    KNOWN_STARTS,
    Shape,
    recover_mask,
    seen_as,
    shape,
    start_register,
    tail_probe,
)
from roceproof.conformance.diagnosis.icrc.parts.fields_seen import field_fault
from roceproof.conformance.diagnosis.icrc.parts.gf2 import Equations
from roceproof.conformance.diagnosis.observation import observe
from roceproof.conformance.rules.signatures import SIGNATURES, title
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.ip import Ipv4

VECTORS = {
    row["name"]: bytes.fromhex(row["frame"])
    for row in json.loads(
        (resources.files("roceproof.conformance") / "vectors" / "icrc.json").read_text()
    )
}
WORKED = json.loads((Path(__file__).parent / "wrong_icrcs.json").read_text())


def probe_pair() -> tuple[CrcInput, CrcInput]:
    """Two right packets that differ in one payload bit."""
    packet = parse(VECTORS["B"])
    assert packet is not None
    other = replace(packet, payload=bytes([packet.payload[0] ^ 8]) + packet.payload[1:])
    first, second = cases_of([build(packet), build(other)])
    return first, second


def fed(case: CrcInput, data: bytes) -> CrcInput:
    """The case with the plain CRC of other input in its field."""
    (made,) = cases_of([with_icrc(case.seen.frame, crc32(b"\xff" * 8 + data))])
    return made


@pytest.mark.parametrize("crc", [ETHERNET, CASTAGNOLI])
def test_shifting_by_zero_bytes_is_running_them_and_can_be_undone(crc: Crc) -> None:
    rng = Random(1)
    for count in (0, 1, 7, 64, 4113):
        register = rng.getrandbits(32)
        assert crc.shift(register, count) == crc.run(bytes(count), register)
        assert crc.shift(crc.shift(register, count), -count) == register


def test_the_two_polynomials_have_their_published_check_values() -> None:
    assert ETHERNET.run(b"123456789", ONES) ^ ONES == 0xCBF43926
    assert CASTAGNOLI.run(b"123456789", ONES) ^ ONES == 0xE3069283


def test_every_wrong_bit_has_one_place_and_two_wrong_bits_have_none() -> None:
    data = bytearray(b"\x5a" * 1500)
    right = crc32(data)
    for at, bit in ((0, 0), (700, 5), (1499, 7)):
        data[at] ^= 1 << bit
        assert locate_bit(crc32(data) ^ right, 1500) == (1499 - at, bit)
        data[at] ^= 1 << bit
    data[3] ^= 0x11
    assert locate_bit(crc32(data) ^ right, 1500) is None
    assert locate_bit(1 << 31, 1500) == (-1, 7)


def test_every_worked_wrong_value_has_its_signature_as_the_only_explanation() -> None:
    for row in WORKED:
        cases = cases_of(VECTORS.values())
        target = cases_of([VECTORS[row["vector"]]])[0]
        value = int.from_bytes(bytes.fromhex(row["icrc"]), "little")
        wrong = cases_of([with_icrc(target.seen.frame, value)])
        ids = {recipe.ids for recipe in Search(wrong, Budget()).recipes(1)}
        if row["fault"] not in ("S45", "S46", "S47"):
            assert (row["fault"],) in ids
        assert not Search(cases, Budget()).recipes(1)


def test_what_one_search_worked_out_serves_others_over_the_same_packets() -> None:
    effects = Effects()
    named = 0
    for row in WORKED:
        target = VECTORS[row["vector"]]
        value = int.from_bytes(bytes.fromhex(row["icrc"]), "little")
        (right,) = cases_of([target])
        wrong = copy(right)
        wrong.seen = replace(right.seen, found=value, number=[*VECTORS].index(row["vector"]))
        for size in (1, 2):
            alone = Search([wrong], Budget()).recipes(size)
            assert Search([wrong], Budget(), effects).recipes(size) == alone
            named += bool(alone)
    assert named > len(WORKED)


def test_tail_probe_counts_bytes_behind_the_true_end() -> None:
    for extra in (0, 2, 4, 7):
        first, second = (fed(c, c.masked + c.seen.body + bytes(extra)) for c in probe_pair())
        assert [(p.engine, p.reordering, p.extra) for p in tail_probe(first, second)] == [
            ("", (), extra)
        ]


def test_tail_probe_misses_the_pad_when_that_is_not_covered() -> None:
    first, second = (fed(c, c.masked + c.seen.body[: -len(c.pad)]) for c in probe_pair())
    assert [p.extra for p in tail_probe(first, second)] == [-3]


def test_tail_probe_sees_through_a_reordered_result() -> None:
    first, second = (
        cases_of([with_icrc(c.seen.frame, int.from_bytes(c.right.to_bytes(4, "big"), "little"))])[0]
        for c in probe_pair()
    )
    assert ("S26",) in [p.reordering for p in tail_probe(first, second)]


def test_tail_probe_of_packets_of_two_lengths_says_nothing() -> None:
    first, second = cases_of([VECTORS["A"], VECTORS["B"]])
    assert tail_probe(first, second) == []


@pytest.mark.parametrize(
    ("fault", "register"),
    [
        ("S11", 0xFFFFFFFF),
        ("S12", 0x9ADD2096),
        ("S13", 0),
        ("S19", 0x44660075),
        ("S22", 0xC04C39E5),
    ],
)
def test_the_start_register_of_each_prefix_fault_is_the_known_one(
    fault: str, register: int
) -> None:
    wrong = [case for case in cases_of(planted(fault, 1)) if case.seen.wrong]
    assert {start_register(case) for case in wrong} == {register}
    assert fault in KNOWN_STARTS[register]


def test_the_start_register_of_right_packets_is_the_right_one() -> None:
    assert {start_register(case) for case in cases_of(VECTORS.values())} == {0xDEBB20E3}


def test_the_error_is_constant_or_follows_the_length_or_the_content() -> None:
    def of(fault: str) -> Shape | None:
        return shape([case for case in cases_of(planted(fault, 1)) if case.seen.wrong])

    assert of("S20") is Shape.CONSTANT
    assert of("S19") is Shape.LENGTH
    assert of("S42") is Shape.CONTENT
    assert shape(cases_of([VECTORS["A"]])) is None


def test_any_set_of_bare_mask_bits_is_recovered_exactly() -> None:
    rng = Random(9)
    frames = []
    for index in range(24):
        packet = parse(VECTORS["A"])
        assert packet is not None and isinstance(packet.ip, Ipv4)
        ip = replace(packet.ip, tos=rng.randrange(256), ttl=rng.randrange(256), ident=index * 2621)
        bth = replace(packet.bth, becn=bool(index & 1), reserved6=rng.randrange(64))
        frame = bytearray(build(replace(packet, ip=ip, bth=bth)))
        frame[40:42] = rng.randbytes(2)
        frames.append(bytes(frame))
    bare = {"ttl": 0x3C, "tos": 0x03, "udp checksum": 0x8001}

    def rule(case: CrcInput) -> int:
        head = bytearray(case.masked)
        for field, bits in bare.items():
            for place, (at, _) in enumerate(reversed(case.spans(field))):
                keep = bits >> 8 * place & 255
                head[at] = head[at] & ~keep | case.head[at] & keep
        return crc32(b"\xff" * 8 + head + case.seen.body)

    mask = recover_mask(cases_of(corrupt(frames, rule)))
    assert mask is not None and mask.bare == bare and mask.open == 0


def test_a_mask_cannot_explain_a_missing_payload() -> None:
    wrong = [case for case in cases_of(planted("S42", 1)) if case.seen.wrong]
    assert recover_mask(wrong[:12]) is None


def test_the_value_that_the_crc_saw_in_a_field_is_recovered() -> None:
    def rule(case: CrcInput) -> int:
        head = bytearray(case.masked)
        at = case.spans("psn")[0][0]
        head[at : at + 3] = b"\x12\x34\x56"
        return crc32(b"\xff" * 8 + head + case.seen.body)

    wrong = [case for case in cases_of(corrupt(healthy(2)[:60], rule)) if case.seen.wrong]
    head = seen_as(wrong[0], ["psn"])
    assert head is not None and b"\x12\x34\x56" in head
    fault = field_fault(wrong, Budget())
    assert fault is not None and fault.fields == ("psn",) and fault.id == "S55"
    assert "123456 instead of" in fault.facts[0]


def test_equations_without_a_solution_have_none_and_free_columns_are_counted() -> None:
    equations = Equations(0b110)
    for column in (0b011, 0b101, 0b110):
        equations.add(column)
    assert equations.solve() == [0, 1] and equations.open == 1
    beyond = Equations(0b1000)
    beyond.add(0b111)
    assert beyond.solve() is None


def test_roce_v1_fcs_and_vlan_stacks_are_observed_with_their_right_icrc() -> None:
    v2 = VECTORS["C"]
    grh = bytearray(v2[14:54])
    grh[6] = 0x1B
    grh[4:6] = (len(v2) - 62).to_bytes(2, "big")
    body = v2[62:-4]
    masked = bytearray(grh)
    masked[0] |= 0x0F
    masked[1:4], masked[7] = b"\xff" * 3, 0xFF
    seen = masked + body[:4] + b"\xff" + body[5:]
    value = crc32(b"\xff" * 8 + seen).to_bytes(4, "little")
    v1 = v2[:12] + b"\x89\x15" + grh + body + value
    stacked = VECTORS["A"][:12] + bytes.fromhex("88a8000181000002") + VECTORS["A"][12:]
    padded = VECTORS["E"]
    with_fcs = padded + crc32(padded).to_bytes(4, "little")
    observed = list(observe(records([v1, stacked, with_fcs])))
    assert [each.sound and not each.wrong for each in observed] == [True] * 3
    assert [each.is_v1 for each in observed] == [True, False, False]
    assert observed[2].trailer == b"\0\0"


def test_an_fcs_that_the_capture_declares_is_taken_off_even_if_it_was_cut() -> None:
    (record,) = records([VECTORS["A"] + b"\x01\x02"])
    (seen,) = observe([record._replace(fcs_bytes=4, bytes_cut=2)])
    assert seen.frame == VECTORS["A"] and not seen.wrong


def test_truncated_and_random_frames_are_observed_without_an_error() -> None:
    rng = Random(3)
    for frame in VECTORS.values():
        for size in range(len(frame)):
            assert not any(
                each.sound for each in observe(records([frame[:size]])) if each.end > size
            )
        for _ in range(200):
            bent = bytearray(frame)
            for _ in range(4):
                bent[rng.randrange(12, len(bent))] = rng.randrange(256)
            cases_of([bytes(bent)])


def test_every_signature_says_what_where_and_how() -> None:
    assert all(all(row) for row in SIGNATURES.values())
    assert title("S01+S26") == f"{SIGNATURES['S01'].title}; and {SIGNATURES['S26'].title}"
    assert title("undecided") == "undecided"
