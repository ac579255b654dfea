# SPDX-License-Identifier: BSD-2-Clause
"""ICRCs over all but a part: a header, the last beat, what its lanes held before, a late latch."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import pytest
from explained import cases_of, corrupt, explain, healthy

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.data_path.stalls import find_stall
from roceproof.conformance.diagnosis.icrc.parts.coverage import OF_RESERVED
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.odd_parts import odd_parts
from roceproof.conformance.wire.headers import Aeth, Extension, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES

ONES = b"\xff" * 8
BEATS = (8, 16, 32, 64)


def told(rule: Callable[[CrcInput], int | None], *, seed: int = 5) -> list[tuple[str, str]]:
    found = explain(corrupt(healthy(seed), rule))
    return [(each.id, each.text) for each in found]


def covered(packet: CrcInput) -> bytes:
    return ONES + packet.masked + packet.seen.body


def headers_before(packet: CrcInput, kind: type[Extension]) -> int | None:
    """Where in the body a header begins; None if the packet has none."""
    row = OPCODES[packet.seen.bth.opcode]
    if kind not in row.headers:
        return None
    return sum(each.SIZE for each in row.headers[: row.headers.index(kind)])


@pytest.mark.parametrize("kind", [ImmDt, Reth, Aeth])
def test_a_header_that_the_parser_leaves_out_is_no_stall(kind: type[Extension]) -> None:
    def left_out(packet: CrcInput) -> int | None:
        at = headers_before(packet, kind)
        if at is None:
            return None
        body = packet.seen.body
        return crc32(ONES + packet.masked + body[:at] + body[at + kind.SIZE :])

    found = told(left_out)
    assert {id_ for id_, _ in found} == {"S41"}
    assert all("only" in text for _, text in found)


def test_bytes_of_extension_headers_alone_are_not_lost_by_stalls() -> None:
    def left_out(packet: CrcInput) -> int | None:
        at = headers_before(packet, ImmDt)
        body = packet.seen.body
        return None if at is None else crc32(ONES + packet.masked + body[:at] + body[at + 4 :])

    def skipped(packet: CrcInput) -> int | None:
        data, at = covered(packet), 40 + packet.seen.number * 4
        return crc32(data[:at] + data[at + 4 :]) if at < len(data) else None

    for rule, is_stall in ((left_out, False), (skipped, True)):
        wrong = [case for case in cases_of(corrupt(healthy(5), rule)) if case.seen.wrong]
        assert (find_stall(wrong, Budget()) is not None) == is_stall


@pytest.mark.parametrize(("late", "told_bytes"), [(1, "first byte"), (4, "first 4 bytes")])
def test_the_first_bytes_of_the_header_may_be_left_out(late: int, told_bytes: str) -> None:
    found = told(lambda packet: crc32(ONES + covered(packet)[8 + late :]))
    assert {id_ for id_, _ in found} == {"S17"}
    assert all(f"only its {told_bytes}" in text.lower() for _, text in found)


@pytest.mark.parametrize(("early", "told_bytes"), [(1, "last byte"), (8, "last 8 bytes")])
def test_the_last_bytes_of_the_ethernet_header_may_be_covered(early: int, told_bytes: str) -> None:
    found = told(lambda case: crc32(ONES + case.seen.ethernet[-early:] + covered(case)[8:]))
    assert {id_ for id_, _ in found} == {"S15"}
    assert all(f"only its {told_bytes}" in text.lower() for _, text in found)


@pytest.mark.parametrize(("share", "named"), [(50, True), (6, False)])
def test_stalls_leave_over_no_more_packets_than_the_way_may_change(share: int, named: bool) -> None:
    def skipped(packet: CrcInput) -> int:
        data, at = covered(packet), 8 + packet.seen.number * 4 % (packet.size & ~3)
        if packet.seen.number % share == 0:
            return packet.right ^ packet.seen.number * 0x5A5A5
        return crc32(data[:at] + data[at + 4 :])

    assert ("S59" in {id_ for id_, _ in told(skipped)}) == named


def test_zeros_always_met_before_the_first_beat_are_no_stall_behind_tags_either() -> None:
    frames = [
        frame if number % 2 else frame[:12] + b"\x81\x00\x00\x05" + frame[12:]
        for number, frame in enumerate(healthy(5))
    ]
    wrong = corrupt(frames, lambda case: crc32(bytes(8) + case.masked + case.seen.body))
    assert find_stall([case for case in cases_of(wrong) if case.seen.wrong], Budget()) is None


@pytest.mark.parametrize(("kind", "place", "size"), [(Reth, 12, 4), (Aeth, 1, 3)])
def test_a_field_behind_the_bth_may_be_inserted_late(
    kind: type[Extension], place: int, size: int
) -> None:
    def late(packet: CrcInput) -> int | None:
        at = headers_before(packet, kind)
        if at is None:
            return None
        body = bytearray(packet.seen.body)
        body[at + place : at + place + size] = bytes(size)
        return crc32(ONES + packet.masked + bytes(body))

    assert {id_ for id_, _ in told(late)} == {"S55"}


def test_what_a_packet_of_a_reserved_opcode_lacks_may_be_its_payload() -> None:
    def told_of(opcode: int) -> set[str]:
        sends = [case for case in cases_of(healthy(5)) if len(case.seen.body) == 4 + 256]
        frames = []
        for case in sends[:6]:
            at = case.seen.ip + case.bth_at
            frames.append(case.seen.frame[:at] + bytes([opcode]) + case.seen.frame[at + 1 :])
        wrong = corrupt(frames, lambda case: crc32(ONES + case.masked + case.seen.body[:4]))
        return {name for found in explain(wrong) for name in (found.id, *found.equivalent)}

    assert "S42" in told_of(0x1E)


def test_headers_of_reserved_opcodes_are_no_reason_where_there_are_none() -> None:
    first, *others = healthy(5)
    at = cases_of([first])[0].seen.bth_at
    for opcode, asked in ((first[at], False), (0x1E, True)):
        cases = cases_of([first[:at] + bytes([opcode]) + first[at + 1 :], *others])
        assert {*OF_RESERVED}.isdisjoint(part.option for part in odd_parts(cases)) != asked


@pytest.mark.parametrize("width", BEATS)
def test_a_result_taken_a_beat_early_lacks_full_beats_too(width: int) -> None:
    def early(packet: CrcInput) -> int:
        data = covered(packet)
        size = len(data) - 8  # with the Ethernet header, no packet fills its last beat
        return crc32(data[: max(8, len(data) - (size - 1) % width - 1)])

    found = told(early)
    assert {id_ for id_, _ in found} == {"S40"}
    assert any("a beat early" in text for _, text in found)


@pytest.mark.parametrize("width", BEATS)
def test_free_lanes_of_the_last_beat_may_hold_old_bytes(width: int) -> None:
    def kept(packet: CrcInput) -> int | None:
        data = bytes(packet.seen.ip) + packet.masked + packet.seen.body
        free = -len(data) % width
        last = len(data) - (width - free)
        if last - free < packet.seen.ip:
            return None  # what stood there is not covered, or not of this packet
        return crc32(ONES + data[packet.seen.ip :] + (data[last - free : last] if free else b""))

    found = told(kept)
    assert {id_ for id_, _ in found} == {"S39" if width == 64 else "S38"}
    assert all("held a beat before" in text for _, text in found)


def test_a_tag_may_be_covered_from_behind_its_first_ethertype_on() -> None:
    def tag_and_type(packet: CrcInput) -> int | None:
        if not packet.tags:
            return None
        return crc32(ONES + packet.seen.ethernet[-4:] + packet.masked + packet.seen.body)

    assert {id_ for id_, _ in told(tag_and_type)} == {"S16"}


def test_a_latch_that_misses_an_enable_at_times_is_no_mix_up_of_engines() -> None:
    frames = healthy(5)
    own = [frame for frame in frames if frame[6:12] == frames[0][6:12]]
    numbers = {case.seen.number for case in cases_of(own)[4::9]}

    def late(packet: CrcInput) -> int | None:
        missed = packet.seen.number in numbers and packet.previous is not None
        return packet.previous.right if missed and packet.previous else None

    (found,) = explain(corrupt(own, late))
    assert found.id == "S53"
    assert "S65" not in found.equivalent
