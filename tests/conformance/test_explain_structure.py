# SPDX-License-Identifier: BSD-2-Clause
"""What is built wrongly is told first, by rule, and ICRCs are explained on what that leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import pytest
from explained import records

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.bare import without_icrc
from roceproof.conformance.diagnosis.icrc.parts.crc_input import crc_inputs
from roceproof.conformance.diagnosis.observation import observe
from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.diagnosis.structure.messages import judge_messages
from roceproof.conformance.faults.catalogue import plant
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.framing import locate
from roceproof.verbs.service import Service

NEVER_PADS = 5


def sends(seed: int = 1, length: int = NEVER_PADS) -> list[bytes]:
    """What one station sends, every message of one length."""
    talk = Conversation(
        seed=seed,
        services=(Service.RC,),
        kinds=(Kind.SEND,),
        ip_versions=(4,),
        lengths=(length,),
        messages=(20, 0),
    )
    frames = [frame for _, frame in talk.frames()]
    own = [frame for frame in frames if frame[6:12] == frames[0][6:12]]
    return [frame for frame in own if (packet := parse(frame)) and packet.payload]


def unpadded(frame: bytes, *, icrc_of_padded: bool = False) -> bytes:
    """The frame as a core that never pads sends it."""
    packet, layout = parse(frame), locate(frame)
    assert packet is not None and layout is not None
    count = len(packet.pad)
    end = layout.end - 4
    bare = bytearray(frame[: end - count] + bytes(4))
    bare[layout.udp + 9] &= 0xCF
    for at in (layout.ip + 2, layout.udp + 4):
        bare[at : at + 2] = (int.from_bytes(bare[at : at + 2], "big") - count).to_bytes(2, "big")
    bare[layout.ip + 10 : layout.ip + 12] = bytes(2)
    if icrc_of_padded:
        return bytes(bare[:-4]) + frame[end : end + 4]
    return icrc.reseal(bytes(bare))


@pytest.mark.parametrize("icrc_of_padded", [False, True])
def test_a_core_that_never_pads_is_told_so_from_one_frame_or_all(icrc_of_padded: bool) -> None:
    frames = [unpadded(frame, icrc_of_padded=icrc_of_padded) for frame in sends()]
    for capture in (frames[:1], frames):
        (found,) = explain(records(capture))
        assert found.id == "PAD-01"
        assert len(found.frames) == len(capture)
        assert ("as it should have been padded" in found.text) == icrc_of_padded


def test_a_constant_in_place_of_the_icrc_is_no_answer_to_a_missing_pad() -> None:
    capture = [unpadded(frame)[:-4] + bytes(4) for frame in sends()]
    found = explain(records(capture))
    assert found[0].id == "PAD-01"


def changed(frame: bytes, at: int, mask: int) -> bytes:
    """The frame with bits of its BTH set, and the ICRC that this calls for."""
    layout = locate(frame)
    assert layout is not None
    bits = bytearray(frame)
    bits[layout.udp + 8 + at] |= mask
    return icrc.reseal(bytes(bits))


@pytest.mark.parametrize(
    ("at", "mask", "rule"), [(0, 0x15, "BTH-01"), (1, 0x02, "BTH-04"), (4, 0x20, "BTH-08")]
)
def test_what_one_header_breaks_is_told_by_its_rule(at: int, mask: int, rule: str) -> None:
    found = explain(records(changed(frame, at, mask) for frame in sends(length=64)))
    assert [each.id for each in found] == [rule]


@pytest.mark.parametrize(("field", "rule"), [("udp", "UDP-02"), ("ip", "IP-02")])
def test_the_length_that_stands_alone_is_the_wrong_one(field: str, rule: str) -> None:
    capture = []
    for frame in sends(length=64):
        layout = locate(frame)
        assert layout is not None
        at = layout.udp + 4 if field == "udp" else layout.ip + 2
        short = int.from_bytes(frame[at : at + 2], "big") - 4
        capture.append(frame[:at] + short.to_bytes(2, "big") + frame[at + 2 :])
    (found,) = explain(records(capture))
    assert found.id == rule
    assert "of the packet with the right lengths" in found.text


def test_one_flipped_bit_of_a_header_is_no_habit() -> None:
    frames = sends(length=64)
    layout = locate(frames[3])
    assert layout is not None
    for at in (layout.udp + 9, layout.udp + 5, layout.udp + 8):
        flipped = bytearray(frames[3])
        flipped[at] ^= 0x04
        found = explain(records([*frames[:3], bytes(flipped), *frames[4:]]))
        assert {each.id for each in found} <= {"corrupt"}


def test_a_reserved_bit_that_real_devices_set_is_told_to_be_known_of_them() -> None:
    (found,) = explain(records(changed(frame, 4, 0x01) for frame in sends(length=64)))
    assert found.id == "BTH-08"
    assert "Known of this kind of device (published): a reserved bit of BTH byte 4" in found.text


def test_what_no_real_device_is_known_for_is_not_told_so() -> None:
    (found,) = explain(records(changed(frame, 4, 0x21) for frame in sends(length=64)))
    assert found.id == "BTH-08"
    assert "Known of" not in found.text


def test_several_faults_are_not_named_where_the_missing_pad_may_be_one_of_them() -> None:
    talk = Conversation(
        seed=1, services=(Service.RC,), kinds=(Kind.SEND,), ip_versions=(4,), lengths=(5, 13, 21)
    )
    frames = [frame for _, frame in plant("S33", talk)[-1].frames]
    own = [frame for frame in frames if frame[6:12] == frames[0][6:12]]
    bare = [
        unpadded(frame, icrc_of_padded=True)
        for frame in own
        if (packet := parse(frame)) and packet.pad and packet.bth.opcode == 0x04
    ]
    first, *others = explain(records(bare[:20]))
    assert first.id == "PAD-01"
    assert others
    assert all(each.id == "undecided" for each in others)
    assert "may be how the packets are built" in others[0].text


def test_an_icrc_is_not_named_where_the_end_of_all_its_packets_is_in_doubt() -> None:
    def uncounted(frame: bytes) -> bytes:
        packet, layout = parse(frame), locate(frame)
        assert packet is not None and layout is not None
        made = bytearray(frame)
        made[layout.udp + 9] &= 0xCF
        (case,) = crc_inputs(observe(records([bytes(made)])))
        covered = case.masked + case.seen.body[: -len(packet.pad)]
        return bytes(made[: layout.end - 4]) + crc32(b"\xff" * 8 + covered).to_bytes(4, "little")

    talk = Conversation(
        seed=1, services=(Service.RC,), kinds=(Kind.WRITE,), ip_versions=(4,), lengths=(6, 14, 22)
    )
    sent = [frame for _, frame in talk.frames()]
    padded = [frame for frame in sent if (packet := parse(frame)) and packet.pad]
    found = explain(records([uncounted(frame) for frame in padded[:20]]))
    assert found
    assert not [each.id for each in found if each.id.startswith("S")]


def test_a_packet_without_icrc_stands_between_those_around_it() -> None:
    talk = Conversation(seed=1, services=(Service.UC,), kinds=(Kind.SEND,), connections=1)
    frames = [frame for _, frame in talk.frames()]
    opcodes = [packet.bth.opcode if (packet := parse(frame)) else None for frame in frames]
    at = next(n for n in range(len(frames)) if opcodes[n : n + 2] == [0x20, 0x22])
    only = next(frame for frame, opcode in zip(frames, opcodes, strict=True) if opcode == 0x24)
    first, last = parse(frames[at]), parse(frames[at + 1])
    alone = parse(only)
    assert first is not None and last is not None and alone is not None
    before = replace(alone, bth=replace(first.bth, opcode=0x24, psn=first.bth.psn - 1))
    held = replace(last, bth=replace(last.bth, psn=first.bth.psn))
    seen = [*observe(records([build(before), frames[at], build(held)]))]
    without = judge_messages([seen[0], seen[2]], may_lack_icrc=True)
    assert [each.rule for each in without.misplaced] == ["OPC-01"]
    assert not judge_messages(seen, may_lack_icrc=True, bare={seen[1].number}).misplaced


def last_as_only(capture: list[bytes], psn: Callable[[int, int], int]) -> list[bytes]:
    """WRITEs whose last packet is sent as ONLY, with PSNs by message and packet."""
    made = []
    message = packet = 0
    for frame in capture:
        seen = parse(frame)
        if seen is None or seen.bth.opcode not in (6, 7, 8, 10):
            continue
        opcode = 10 if seen.bth.opcode == 8 else seen.bth.opcode
        number = psn(message, packet)
        made.append(build(replace(seen, bth=replace(seen.bth, opcode=opcode, psn=number))))
        packet += 1
        message += seen.bth.opcode in (8, 10)
    return made


@pytest.mark.parametrize(
    "psn",
    [
        lambda _, packet: packet,
        lambda message, _: message,
        lambda _, packet: int.from_bytes(packet.to_bytes(3, "big"), "little"),
    ],
    ids=["packets", "messages", "bytes reversed"],
)
def test_messages_are_judged_in_the_order_in_which_the_station_counts(
    psn: Callable[[int, int], int],
) -> None:
    talk = Conversation(
        seed=1,
        services=(Service.RC,),
        kinds=(Kind.WRITE,),
        lengths=(600,),
        path_mtus=(256,),
        messages=(20, 0),
        connections=1,
    )
    frames = [frame for _, frame in talk.frames()]
    seen = [*observe(records(last_as_only(frames, psn)))]
    assert len(seen) == 60
    judged = judge_messages(seen, may_lack_icrc=True)
    assert len([each for each in judged.misplaced if each.rule == "OPC-03"]) == 20


def test_packets_lost_from_a_station_that_counts_messages_are_no_habit() -> None:
    talk = Conversation(
        seed=1,
        services=(Service.RC,),
        kinds=(Kind.WRITE,),
        lengths=(600,),
        path_mtus=(256,),
        messages=(40, 0),
        connections=1,
    )
    frames = last_as_only([frame for _, frame in talk.frames()], lambda message, _: message)
    sent = [
        replace(packet, bth=replace(packet.bth, opcode=(6, 7, 8)[n % 3]))
        for n, frame in enumerate(frames)
        if (packet := parse(frame))
    ]
    seen = [build(packet) for n, packet in enumerate(sent) if n not in (8, 50)]
    assert not {each.id for each in explain(records(seen))} & {"OPC-01", "OPC-03"}


def test_packets_without_icrc_are_known_beside_one_that_was_changed() -> None:
    talk = Conversation(seed=1, path_mtus=(256,))
    frames = [frame for _, frame in plant("S62", talk)[-1].frames]
    seen = [*observe(records(frames))]
    own = [each for each in seen if each.frame[6:12] == seen[0].frame[6:12]]
    bare = without_icrc(own, Budget()).packets
    assert bare
    outer = next(each for each in own if each not in bare)
    changed = [replace(each, sound=False) if each is outer else each for each in own]
    assert without_icrc(changed, Budget()).packets == bare
    padded = [replace(each, frame=each.frame + bytes(4)) for each in own]
    assert not without_icrc(padded, Budget()).packets
