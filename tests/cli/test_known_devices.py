# SPDX-License-Identifier: BSD-2-Clause
"""Findings that real devices are known for are told so, with the evidence, and stay findings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY, bth_bits, corrupt, middles

from roceproof.conformance.capture.reader import read
from roceproof.conformance.rules.known_devices import PRACTICES, Evidence, known_practice
from roceproof.conformance.wire.framing import UDP_BYTES, locate

FINDINGS = 1


def judged(console, path: Path) -> tuple[str, list[dict], int]:
    text = console.run("check", "-q", str(path))
    document = json.loads(console.run("check", "--json", str(path)).stdout)
    return text.stdout, document["groups"], text.returncode


def roce_frames() -> list[int]:
    return [record.number for record in read(HEALTHY) if locate(record.frame) is not None]


@pytest.mark.parametrize("bit", [0x01, 0x20])
def test_a_reserved_bit_in_all_packets_is_told_as_known(console, tmp_path, bit: int) -> None:
    changes = dict.fromkeys(roce_frames(), bth_bits(4, bit))
    text, groups, code = judged(console, corrupt(HEALTHY, tmp_path / "x.pcapng", changes))
    assert code == FINDINGS
    assert len(text.splitlines()) == 1
    assert "Known of real devices (published): a reserved bit of BTH byte 4" in text
    assert {group["known"]["evidence"] for group in groups} == {"published"}
    assert all("12328251" in group["known"]["source"] for group in groups)


@pytest.mark.parametrize("bits", [0x40, 0x21], ids=["BECN", "two bits"])
def test_other_bits_are_known_of_nobody(console, tmp_path, bits: int) -> None:
    changes = {middles(HEALTHY)[0]: bth_bits(4, bits)}
    text, groups, _ = judged(console, corrupt(HEALTHY, tmp_path / "x.pcapng", changes))
    assert "Known" not in text
    assert [group["known"] for group in groups] == [None]


@pytest.mark.parametrize("opcode", [0x18, 0x19])
def test_an_extended_atomic_is_named(console, tmp_path, opcode: int) -> None:
    number = middles(HEALTHY)[3]
    frame = next(record.frame for record in read(HEALTHY) if record.number == number)
    was = frame[locate(frame).udp + UDP_BYTES]
    path = corrupt(HEALTHY, tmp_path / "x.pcapng", {number: bth_bits(0, was ^ opcode)})
    text, _, _ = judged(console, path)
    assert f"got {opcode:#x}. " in text
    assert f"Known of real devices (observed): extended (masked) atomic, opcode {opcode:#x}" in text


def test_a_flow_that_also_does_what_nobody_is_known_for_is_not_excused() -> None:
    assert known_practice("BTH-08", ["0x01"]) is not None
    assert known_practice("BTH-08", ["0x01", "0x81"]) is None
    assert known_practice("BTH-04", ["0x01"]) is None


def test_every_practice_has_evidence_and_a_source() -> None:
    for each in PRACTICES:
        re.compile(each.got)
        assert each.evidence in Evidence
        assert len(each.practice) > 20
        assert each.source
