# SPDX-License-Identifier: BSD-2-Clause
"""Frames in words."""

from __future__ import annotations

from healthy_capture import SEND, UC, WRITE_IMM, Sender, ack, frames_of, poke

from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.notation import describe, difference


def test_every_header_shows_in_the_notation() -> None:
    (frame,) = frames_of(Sender().message(WRITE_IMM, 5))
    assert describe(frame) == (
        "RC WRITE ONLY IMM qpn=0x11 psn=0x000064 ackreq va=0x7f0012345600 rkey=0xabcd dmalen=5 "
        f"imm=0xcafebabe payload=5 pad=3 icrc={frame[-4:].hex()}"
    )
    assert " RC ACKNOWLEDGE qpn=0x21 psn=0x000009 syndrome=0x60 msn=4 icrc=" in " " + describe(
        build(ack(9, 4, syndrome=0x60))
    )
    assert describe(b"\x01\x02") == "2 bytes that are no RoCEv2 packet: 0102"


def test_a_difference_names_the_first_byte() -> None:
    (good,) = frames_of(Sender(UC).message(SEND, 8))
    bad = poke(good, 60, b"\xee")
    text = difference(good, bad)
    assert "first difference at byte 60: expected .." in text
    assert "got ..ee" in text
    assert difference(good, good) == "no difference"
    assert "first difference at byte 60" in difference(good, good[:60])
