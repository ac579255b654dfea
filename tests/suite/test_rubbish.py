# SPDX-License-Identifier: BSD-2-Clause
"""What cases send as rubbish never has a right ICRC."""

from __future__ import annotations

from random import Random

import pytest

from roceproof.conformance.suite.traffic import corrupted_frames as rubbish
from roceproof.conformance.wire import icrc

WRITE_ONLY = bytes.fromhex(
    "525400770002020000000b0208004500003c00004000401125b00a4d00660a4d0002d9fc12b7002800000c40ffff"
    "000000d480f009bb000000000000000000000000000000003ffecea0"
)


class OnlyMasked(Random):
    """Changes one byte at a time: the ICRC leaves out all of these but the last."""

    def __init__(self) -> None:
        super().__init__(1)
        self.places = iter([15, 22, 24, 25, 40, 41, 46, 30])

    def randint(self, low: int, high: int) -> int:
        return 1 if low == 1 else high

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return next(self.places)


def test_what_an_icrc_leaves_out_makes_no_rubbish() -> None:
    frame = rubbish.rubbish_of(WRITE_ONLY, OnlyMasked())
    assert icrc.check(frame).judgement is icrc.Judgement.BAD
    assert [at for at in range(len(WRITE_ONLY)) if frame[at] != WRITE_ONLY[at]] == [30]


@pytest.mark.parametrize("seed", range(20))
def test_rubbish_never_has_a_right_icrc(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        assert icrc.check(rubbish.rubbish_of(WRITE_ONLY, random)).judgement is not icrc.Judgement.OK
