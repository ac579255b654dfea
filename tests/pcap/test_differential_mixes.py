# SPDX-License-Identifier: BSD-2-Clause
"""The C and the Python oracle agree where faults, losses, copies and cuts meet in one flow.

Captures that break rules are strung together, on the same few flows, and disturbed:
frames are bent, lost, repeated, swapped, cut by a snap length, or followed by an FCS.
A disagreement prints the seed to replay.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from observed_scenarios import SCENARIOS
from roce_check import RoceCheck

from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.observer import bth_rules
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import locate

CAPTURES_A_SEED = 40
SEEDS = range(10)
MORE_SEEDS = range(10, 200)
SHORT_SCENARIO = 100
MOSTLY_IPV4 = 54
"""Where the BTH of an untagged IPv4 packet ends."""


class Cut(NamedTuple):
    """A frame as captured, and its size on the wire."""

    frame: bytes
    full_size: int


Change = Callable[[bytearray, random.Random], bytes]


def flip_bits(data: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        data[rng.randrange(12, min(len(data), 100))] ^= 1 << rng.randrange(8)
    return bytes(data)


def set_byte(data: bytearray, rng: random.Random) -> bytes:
    data[rng.randrange(12, min(len(data), 80))] = rng.choice((0, 255, 1, 0x11, 0x64, 4))
    return bytes(data)


def change_bth(data: bytearray, rng: random.Random) -> bytes:
    if len(data) > MOSTLY_IPV4:
        data[42 + rng.choice((0, 1, 2, 4, 5, 7, 8, 9, 11))] = rng.randrange(256)
    return bytes(data)


def shift_psn(data: bytearray, rng: random.Random) -> bytes:
    if len(data) > MOSTLY_IPV4:
        data[53] = (data[53] + rng.choice((-2, -1, 1, 2, 5))) % 256
    return bytes(data)


def lie_about_length(data: bytearray, rng: random.Random) -> bytes:
    if len(data) > MOSTLY_IPV4:
        data[rng.choice((16, 17, 38, 39))] = rng.randrange(256)
    return bytes(data)


def resize(data: bytearray, rng: random.Random) -> bytes:
    count, whole = rng.choice((1, 2, 3, 4, 8)), bytes(data)
    shorter = whole[: -4 - count] + whole[-4:]
    resized = shorter if rng.random() < 0.5 else whole[:-4] + bytes(count) + whole[-4:]
    if len(resized) > MOSTLY_IPV4 and resized[12:14] == b"\x08\0":
        ip_length, udp_length = struct.pack(">H", len(resized) - 14), len(resized) - 34
        resized = resized[:16] + ip_length + resized[18:]
        resized = resized[:38] + struct.pack(">H", udp_length) + resized[40:]
    return resized


def truncate(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(14, len(data) + 1)])


def append(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data) + rng.randbytes(rng.randrange(1, 8))


def append_fcs(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data) + zlib.crc32(data).to_bytes(4, "little")


CHANGES: tuple[Change, ...] = (
    *(flip_bits, flip_bits, flip_bits, set_byte, change_bth),
    *(shift_psn, lie_about_length, resize, truncate, append, append_fcs),
)


def changed(frame: bytes, rng: random.Random) -> Cut:
    if len(frame) <= 14:
        return Cut(frame, len(frame))
    if rng.random() < 0.1:
        return Cut(frame[: rng.randrange(14, len(frame) + 1)], len(frame))
    bent = rng.choice(CHANGES)(bytearray(frame), rng)
    layout = locate(bent)
    if rng.random() < 0.6 and layout is not None and layout.fault is None:
        bent = icrc.reseal(bent)
    return Cut(bent, len(bent))


def disturbed(frames: list[bytes], rng: random.Random) -> list[Cut]:
    rate = rng.choice((0.01, 0.05, 0.2))
    out: list[Cut] = []
    for frame in frames:
        whole = Cut(frame, len(frame))
        dice = rng.random() / rate
        if dice < 1:
            out.append(changed(frame, rng))
        elif dice >= 1.2:
            out += [whole] * (2 if dice < 1.4 else 1)
        if rng.random() < rate / 5 and len(out) > 1:
            out[-2:] = reversed(out[-2:])
    return out


@cache
def material() -> tuple[list[list[bytes]], list[list[bytes]]]:
    """Frames of scenarios, and of conversations."""
    scenarios = [scenario.frames() for scenario in SCENARIOS]
    talks = [Conversation(seed=n, messages=(8, 4), loss=0.02).capture() for n in (1, 2, 3)]
    short = [frames for frames in scenarios if len(frames) < SHORT_SCENARIO]
    return short, [[timed.frame for timed in talk.frames] for talk in talks]


def mix(rng: random.Random) -> list[Cut]:
    scenarios, talks = material()
    if rng.random() < 0.3:
        return disturbed(rng.choice(talks), rng)
    return disturbed([frame for frames in rng.sample(scenarios, 12) for frame in frames], rng)


def write(path: Path, frames: list[Cut]) -> None:
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)
    for number, (frame, full_size) in enumerate(frames):
        data += struct.pack("<IIII", 0, number, len(frame), full_size) + frame
    path.write_bytes(data)


def demand_agreement(check: RoceCheck, seed: int) -> None:
    rng = random.Random(seed)
    path = check.folder / "mix.pcap"
    for number in range(CAPTURES_A_SEED):
        frames = mix(rng)
        write(path, frames)
        spoken = check.file(path, "--max", "0")
        reference = Checker()
        found = [f for cut in frames for f in reference.feed(cut.frame, full_size=cut.full_size)]
        found += reference.finish()
        places = sorted((one.frame, one.rule.id, one.severity.value) for one in found)
        said_by_python, said_by_c = Counter(places), Counter(spoken.places)
        for place in sorted((said_by_python - said_by_c) | (said_by_c - said_by_python)):
            who = "Python" if said_by_python[place] > said_by_c[place] else "C"
            said = frames[place[0] - 1].frame.hex()
            pytest.fail(f"seed {seed}, mix {number}: only {who} says {place} of {said}")
        counts = reference.counts
        verdicts = {
            "ok": counts.icrc_ok,
            "bad": counts.icrc_bad,
            "unchecked": counts.icrc_unchecked,
        }
        assert spoken.summary["icrc"] == verdicts, f"seed {seed}, mix {number}"
        assert spoken.summary["roce_frames"] == counts.roce_frames, f"seed {seed}, mix {number}"


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("mixes"))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_agree_on_mixtures_of_faults(check: RoceCheck, seed: int) -> None:
    demand_agreement(check, seed)


def test_a_disagreement_names_seed_rule_and_frame(
    check: RoceCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bth_rules, "DEFAULT_PKEY", 0x7FFF)
    with pytest.raises(pytest.fail.Exception, match=r"seed 0, mix 0: only .*BTH-06.* of 02"):
        demand_agreement(check, 0)


@pytest.mark.slow
def test_both_agree_on_many_mixtures_of_faults(check: RoceCheck, subtests: pytest.Subtests) -> None:
    for seed in MORE_SEEDS:
        with subtests.test(seed=seed):
            demand_agreement(check, seed)
