# SPDX-License-Identifier: BSD-2-Clause
"""vlan_insert and vlan_remove of rtl/: tags put in and taken out, in frames of every length."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from module_bench import Bench, Played, build

VLAN = b"\x81\x00"
SHORTEST = 60
PACES = [(0, 0), (40, 30), (0, 80)]
build_once = cache(build)

pytestmark = pytest.mark.sim


@dataclass(frozen=True)
class Tagged:
    """A frame, and the tag that it has or gets: its control information, None if there is none."""

    bare: bytes
    tag: int | None
    discard: bool = False

    @property
    def frame(self) -> bytes:
        if self.tag is None:
            return self.bare
        return self.bare[:12] + VLAN + self.tag.to_bytes(2) + self.bare[12:]

    @property
    def to_be_tagged(self) -> Played:
        """With the tag beside it, as the bench has it."""
        tag = self.tag
        return Played(self.bare, 0 if tag is None else 1 << 13 | tag >> 13 << 10 | tag & 0x3FF)

    @property
    def said(self) -> bytes:
        """What is beside the last beat once the tag is out."""
        told = 0 if self.tag is None else self.tag | 1 << 12
        return (self.discard << 16 | told).to_bytes(3, "little")


def frames(width: int, shortest: int, *, vid_bits: int) -> list[Tagged]:
    """Some of every length up to three beats, with tags and without, and some of the longest."""
    draw = random.Random(width)
    lengths = [*range(shortest, shortest + 3 * width // 8 + 4), 1500, 4200]
    found = []
    for length in lengths * 3:
        data = bytearray(draw.randbytes(length))
        data[12:14] = draw.choice((b"\x08\x00", b"\x86\xdd", b"\x88\xa8", b"\x80\x00", b"\x01\x00"))
        tag = draw.getrandbits(3) << 13 | draw.getrandbits(vid_bits)
        found.append(Tagged(bytes(data), draw.choice((None, tag)), draw.random() < 0.2))
    draw.shuffle(found)
    return found


@pytest.mark.parametrize(("gap", "stall"), PACES)
def test_tags_are_put_in(bench: Bench, gap: int, stall: int) -> None:
    """Without a pause of the output, if neither side pauses."""
    given = frames(bench.width, SHORTEST, vid_bits=10)
    bench.run(
        play={"tag_in": [each.to_be_tagged for each in given]},
        expect={"tag_out": [each.frame for each in given]},
        gap=gap,
        stall=stall,
        no_idle_output=gap == stall == 0,
    )


def takes_out(bench: Bench, given: list[Tagged], *, gap: int = 0, stall: int = 0) -> None:
    """The bench itself says if a beat has to wait that could come in."""
    bench.run(
        play={"untag_in": [Played(each.frame, discard=each.discard) for each in given]},
        expect={
            "untag_out": [each.bare for each in given],
            "untag_said": [each.said for each in given],
        },
        gap=gap,
        stall=stall,
    )


@pytest.mark.parametrize(("gap", "stall"), PACES)
def test_tags_are_taken_out(bench: Bench, gap: int, stall: int) -> None:
    takes_out(bench, frames(bench.width, 14, vid_bits=12), gap=gap, stall=stall)


def test_one_tag_of_two_is_taken_out(bench: Bench) -> None:
    inner = Tagged(bytes(range(100, 180)), 0x2005)
    takes_out(bench, [Tagged(inner.frame, 0xEFFF), inner])


def test_a_frame_that_ends_in_its_tag_has_none(bench: Bench) -> None:
    addresses = bytes(range(12))
    cut = [Tagged(addresses[:length], None) for length in range(1, 13)]
    cut += [Tagged(addresses + (VLAN + b"\x20\x05")[:length], None) for length in range(1, 4)]
    whole = Tagged(addresses + b"\x08", 0x2005)
    takes_out(bench, [each for frame in cut for each in (frame, whole)])


def test_the_bench_notices_one_wrong_bit_of_a_tag(bench: Bench) -> None:
    right, wrong = (Tagged(bytes(range(90)), tag) for tag in (0x2005, 0x2004))
    with pytest.raises(AssertionError, match="byte 15: value"):
        bench.run(play={"tag_in": [right.to_be_tagged]}, expect={"tag_out": [wrong.frame]})
    with pytest.raises(AssertionError, match="untag_said at"):
        play = {"untag_in": [Played(right.frame)]}
        bench.run(play=play, expect={"untag_out": [right.bare], "untag_said": [wrong.said]})


@pytest.mark.slow
@pytest.mark.parametrize("width", [128, 256, 1024])
def test_other_widths_do_it_as_well(width: int, tmp_path: Path) -> None:
    if shutil.which("verilator") is None:
        pytest.skip("verilator is not installed: run `make setup`")
    bench = Bench(build_once(width), width, tmp_path)
    test_tags_are_put_in(bench, 0, 0)
    test_tags_are_taken_out(bench, 0, 0)
    test_one_tag_of_two_is_taken_out(bench)
