# SPDX-License-Identifier: BSD-2-Clause
"""The bench says to a tool what the tool's own server says: held against stored conversations."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.reader import read
from roceproof.conformance.interop.dialogues import (
    Dialogue,
    End,
    PerftestDialogue,
    PingpongDialogue,
)
from roceproof.conformance.interop.tcp import TCP
from roceproof.conformance.targets.interface import TargetError
from roceproof.verbs.addresses import Host

STORED = REPOSITORY / "tests/captures/rxe"
SERVER, CLIENT = bytes((10, 77, 0, 1)), bytes((10, 77, 0, 2))
OWN = Host(bytes(5) + b"\1", SERVER)
THEIRS = Host(bytes(5) + b"\2", CLIENT)
KEY = re.compile(rb"[0-9a-f]{4}:")
AT = 14 + 20


def spoken(name: str) -> Iterator[tuple[bytes, bytes]]:
    """What was said over TCP, and by whom."""
    for record in read(STORED / f"{name}.pcapng.gz"):
        frame = record.frame
        if frame[12:14] == b"\x08\x00" and frame[23] == TCP:
            end = 14 + int.from_bytes(frame[16:18], "big")
            data = frame[AT + 4 * (frame[AT + 12] >> 4) : end]
            if data:
                yield frame[26:30], data


def numbers(line: bytes) -> list[int]:
    return [int(each, 16) for each in re.findall(rb"[0-9a-f]{4,16}(?=:)", line)]


@pytest.mark.parametrize("name", ["rc_pingpong", "uc_pingpong", "ud_pingpong"])
def test_a_pingpong_hears_the_line_that_its_server_would_say(name: str) -> None:
    (_, theirs), (_, ours), (_, done) = spoken(name)
    _, qpn, psn = numbers(ours)
    heard: list[End] = []

    def connect(end: End) -> End:
        heard.append(end)
        return End(OWN, qpn, psn)

    dialogue = PingpongDialogue(connect)
    assert dialogue.hear(THEIRS, theirs) == ours
    assert dialogue.hear(THEIRS, done) == b""
    assert heard == [End(THEIRS, *numbers(theirs)[1:3])]


@pytest.mark.parametrize("name", ["write", "read", "send_ud", "fetch_add", "send_uc"])
def test_a_perftest_hears_the_keys_that_its_server_would_say(name: str) -> None:
    said = list(spoken(name))
    ours = next(data for who, data in said if who == SERVER and KEY.match(data))
    _, reads, qpn, psn, rkey, addr, *_ = numbers(ours)
    connected: list[End] = []

    def connect(end: End) -> End:
        connected.append(end)
        return End(OWN, qpn, psn, rkey, addr, reads)

    dialogue: Dialogue = PerftestDialogue(connect)
    for who, data in said:
        if who == CLIENT:
            answer = dialogue.hear(THEIRS, data)
            assert answer == (ours if KEY.match(data) else data)
    theirs = next(data for who, data in said if who == CLIENT and KEY.match(data))
    _, reads, qpn, psn, rkey, addr, *_ = numbers(theirs)
    assert set(connected) == {End(THEIRS, qpn, psn, rkey, addr, reads)}


def test_a_key_of_another_perftest_is_not_said_back() -> None:
    key = next(data for who, data in spoken("write") if who == CLIENT and KEY.match(data))
    dialogue = PerftestDialogue(lambda end: end)
    for other in (key[:-1] + b"00000000:\0", key.replace(b":", b":0", 1), key[:60]):
        with pytest.raises(TargetError, match="this perftest's key is not known"):
            dialogue.hear(THEIRS, other)
