# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC modules of rtl/ against worked vectors and a CRC computed bit by bit."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest
from module_bench import RTL, SOURCES, Bench, Played
from rtl_frames import (
    VECTORS,
    acknowledge,
    icrc_offset,
    ipv4,
    is_ipv6,
    l3_offset,
    random_roce,
    replaced,
    roce,
    variant_bits,
    with_icrc,
    with_ip_checksum,
)

NOT_ROCE, BAD, GOOD = b"\0", b"\2", b"\3"  # a verdict is {is_roce, ok}


def frames_for_insertion(width: int) -> list[bytes]:
    """The vectors that a transmitter can send, and an ICRC on every lane."""
    rng = random.Random(width)
    frames = [f for f in VECTORS.values() if l3_offset(f) == 14]
    for transport in range(2 * width // 8 + 4):
        frames += [random_roce(rng, transport), random_roce(rng, 0)]
    frames = [each for frame in frames for each in (frame, VECTORS["C"])]
    frames.append(random_roce(rng, 16 + 4 + 4096))
    frames += [random_roce(rng, 0) for _ in range(40)]
    return frames


def slot_of(frame: bytes) -> Played:
    """The frame without its ICRC, whose place and IP version are known beside it."""
    offset = icrc_offset(frame)
    sideband = is_ipv6(frame) << 13 | offset
    return Played(replaced(frame, offset, bytes(4)), sideband=sideband)


def check(bench: Bench, frames: list[Played], verdicts: list[bytes]) -> None:
    """Play frames into icrc_check, without gaps and with."""
    assert len(frames) == len(verdicts)
    for gap in (0, 30):
        bench.run(play={"check_in": frames}, expect={"check_out": verdicts}, gap=gap)


def test_matrix_package_is_what_its_generator_writes() -> None:
    written = subprocess.run(
        [sys.executable, str(RTL / "gen/crc32_matrix.py")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert written.stdout == SOURCES["crc32_matrix_pkg"].read_text()


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (40, 30), (0, 80)])
def test_inserted_icrc_is_right_on_every_lane_under_back_pressure(
    bench: Bench, gap: int, stall: int
) -> None:
    frames = frames_for_insertion(bench.width)
    slots = [slot_of(f) for f in frames]
    bench.run(
        play={"insert_in": slots},
        expect={"insert_out": frames},
        gap=gap,
        stall=stall,
        no_idle_output=gap == stall == 0,
    )


def test_bench_notices_one_wrong_bit_of_an_inserted_icrc(bench: Bench) -> None:
    frame = VECTORS["A"]
    offset = icrc_offset(frame)
    slot = slot_of(frame)
    wrong = replaced(frame, offset, bytes([frame[offset] ^ 1]))
    with pytest.raises(AssertionError, match=f"byte {offset}: value"):
        bench.run(play={"insert_in": [slot]}, expect={"insert_out": [wrong]})


def test_worked_vectors_are_accepted(bench: Bench) -> None:
    check(bench, [Played(f) for f in VECTORS.values()], [GOOD] * len(VECTORS))


def test_every_length_is_accepted_up_to_two_beats_and_at_the_largest_mtu(bench: Bench) -> None:
    rng = random.Random(2)
    frames = [random_roce(rng, n) for n in range(2 * bench.width // 8 + 4)]
    frames += [random_roce(rng, 4116), random_roce(rng, 0)]
    check(bench, [Played(f) for f in frames], [GOOD] * len(frames))


@pytest.mark.parametrize("name", VECTORS)
def test_any_flipped_covered_bit_is_rejected(bench: Bench, name: str) -> None:
    frame = VECTORS[name]
    variant = variant_bits(frame)
    frames, verdicts = [], []
    for position in range(l3_offset(frame), icrc_offset(frame) + 4):
        for bit in range(8):
            flipped = replaced(frame, position, bytes([frame[position] ^ 1 << bit]))
            frames.append(Played(flipped))
            if variant.get(position, 0) >> bit & 1:
                verdicts.append(GOOD)
            else:
                verdicts.append(BAD if looks_like_roce(flipped) else NOT_ROCE)
    check(bench, frames, verdicts)


def looks_like_roce(frame: bytes) -> bool:
    """Whether addresses and protocols, lengths aside, say RoCEv2."""
    ip = frame[l3_offset(frame) :]
    if frame[l3_offset(frame) - 2 : l3_offset(frame)] == b"\x86\xdd":
        return ip[0] >> 4 == 6 and ip[6] == 17 and ip[42:44] == b"\x12\xb7"
    fragment = int.from_bytes(ip[6:8], "big") & 0x3FFF
    return ip[0] == 0x45 and fragment == 0 and ip[9] == 17 and ip[22:24] == b"\x12\xb7"


@pytest.mark.parametrize("value", [0x00, 0xFF, 0xA5])
def test_variant_fields_do_not_matter(bench: Bench, value: int) -> None:
    frames = []
    for frame in VECTORS.values():
        for position, bits in variant_bits(frame).items():
            changed = frame[position] & ~bits | value & bits
            frame = replaced(frame, position, bytes([changed]))
            frames.append(Played(frame))
    check(bench, frames, [GOOD] * len(frames))


def test_crc_of_unmasked_bytes_is_rejected(bench: Bench) -> None:
    frames = [Played(with_icrc(f, masked=False)) for f in VECTORS.values()]
    check(bench, frames, [BAD] * len(frames))


def test_bytes_behind_the_packet_are_ignored(bench: Bench) -> None:
    rng = random.Random(3)
    frames = [Played(VECTORS["A"] + extra) for k in range(1, 47)
              for extra in (bytes(k), rng.randbytes(k))]  # fmt: skip
    check(bench, frames, [GOOD] * len(frames))


def test_lengths_that_disagree_are_rejected(bench: Bench) -> None:
    frame = VECTORS["A"]
    frames, verdicts = [], []
    for udp_length in (0, 7, 8, 23, 24, 52, 55, 57, 60, 0xFFFF):
        wrong = replaced(frame, 38, udp_length.to_bytes(2, "big"))
        frames.append(Played(wrong))
        if 24 <= udp_length < 57:
            frames.append(Played(with_icrc(wrong)))
    for ip_length in (0, 19, 20, 44, 75, 77, 80, 0xFFFF):
        wrong = with_ip_checksum(replaced(frame, 16, ip_length.to_bytes(2, "big")))
        frames += [Played(wrong), Played(with_icrc(wrong))]
    for udp_length in (0, 1, 8, 12, 16, 20, 23, 60, 1480, 0xFFEB):
        both = replaced(frame, 38, udp_length.to_bytes(2, "big"))
        both = replaced(both, 16, (udp_length + 20).to_bytes(2, "big"))
        frames.append(Played(both))
        if 8 < udp_length < 24:
            frames.append(Played(with_icrc(both)))
    verdicts = [BAD] * len(frames)
    check(bench, [*frames, Played(frame)], [*verdicts, GOOD])


def test_truncated_frames_are_rejected(bench: Bench) -> None:
    frame = VECTORS["A"]
    frames = [Played(frame[:length]) for length in range(1, len(frame))]
    # Headers count once the beat with byte 63 has begun; the UDP port ends at byte 37.
    recognised = max(38, 65 - bench.width // 8)
    verdicts = [BAD if length >= recognised else NOT_ROCE for length in range(1, len(frame))]
    check(bench, [*frames, Played(frame)], [*verdicts, GOOD])


def test_short_frame_is_not_completed_by_the_one_before(bench: Bench) -> None:
    frames = [Played(VECTORS["A"]), Played(VECTORS["A"][:30])] * 50
    check(bench, frames, [GOOD, NOT_ROCE] * 50)


def test_missing_byte_is_not_taken_for_a_zero(bench: Bench) -> None:
    candidates = (acknowledge(psn=n) for n in itertools.count())
    frame = next(f for f in candidates if f[-1] == 0)
    check(bench, [Played(frame), Played(frame[:-1])], [GOOD, BAD])


def test_frame_marked_for_discard_is_rejected(bench: Bench) -> None:
    frames = [Played(VECTORS["F"], discard=True), Played(VECTORS["F"])]
    check(bench, frames, [BAD, GOOD])


def test_other_traffic_is_not_roce(bench: Bench) -> None:
    rng = random.Random(4)
    frames = [
        ipv4(6, rng.randbytes(40)),
        ipv4(1, b"\x08\0" + rng.randbytes(62)),
        roce(4, b"", udp_port=4792),
        replaced(VECTORS["A"], 12, b"\x88\xb5"),
        replaced(VECTORS["A"], 20, b"\x20\x00"),
        replaced(VECTORS["A"], 20, b"\x40\x01"),
        b"\xff" * 60,
        rng.randbytes(9000),
    ]
    check(
        bench,
        [*map(Played, frames), Played(acknowledge())],
        [NOT_ROCE] * len(frames) + [GOOD],
    )


def test_verdicts_do_not_depend_on_the_frame_before(bench: Bench) -> None:
    rng = random.Random(5)
    frames, verdicts = [], []
    for _ in range(300):
        frame = random_roce(rng, rng.choice((0, 1, 4, 16, 63, 64, 65, 1024)))
        if rng.random() < 0.3:
            position = rng.randrange(46, icrc_offset(frame))
            if position != 46:
                frame = replaced(frame, position, bytes([frame[position] ^ 0x80]))
                frames.append(Played(frame))
                verdicts.append(BAD)
                continue
        frames.append(Played(frame))
        verdicts.append(GOOD)
    check(bench, frames, verdicts)
