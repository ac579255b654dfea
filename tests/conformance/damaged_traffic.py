# SPDX-License-Identifier: BSD-2-Clause
"""Right captures that the way has damaged: nothing in them is a habit of who sent them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from explained import healthy

Damage = Callable[[bytes, Random], list[bytes]]
"""What becomes of a frame."""
_MACS = 12


def _flip(frame: bytes, places: range, random: Random) -> bytes:
    changed = bytearray(frame)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        changed[random.choice(places)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _anywhere(frame: bytes, random: Random) -> list[bytes]:
    return [_flip(frame, range(_MACS, len(frame)), random)]


def _in_headers(frame: bytes, random: Random) -> list[bytes]:
    return [_flip(frame, range(_MACS, min(70, len(frame))), random)]


def _in_the_end(frame: bytes, random: Random) -> list[bytes]:
    return [_flip(frame, range(len(frame) - 4, len(frame)), random)]


def _garbled(frame: bytes, random: Random) -> list[bytes]:
    at = random.randrange(_MACS, len(frame))
    size = min(random.choice((1, 4, 8, 64)), len(frame) - at)
    fill = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))
    return [frame[:at] + fill + frame[at + size :]]


def _cut(frame: bytes, random: Random) -> list[bytes]:
    return [frame[: random.randrange(_MACS + 2, len(frame))]]


def _torn(frame: bytes, random: Random) -> list[bytes]:
    at = random.randrange(_MACS + 2, len(frame))
    more = random.randbytes(random.choice((1, 2, 4, 8)))
    return [random.choice((frame[:at] + more + frame[at:], frame[:at] + frame[at + len(more) :]))]


def _lost(frame: bytes, random: Random) -> list[bytes]:
    return []


DAMAGES: tuple[Damage, ...] = (
    _anywhere,
    _in_headers,
    _in_the_end,
    _garbled,
    _cut,
    _torn,
    _lost,
)


def damaged(seed: int) -> list[bytes]:
    """One or two conversations, a few of all kinds of damage at one rate."""
    random = Random(f"damaged {seed}")
    loss = random.choice((0.0, 0.03))
    frames = healthy(seed, loss=loss, connections=random.choice((1, 2, 8)))
    if random.random() < 0.3:
        others = healthy(seed + 1_000_000, connections=2)
        for each in others[: random.choice((10, 80))]:
            frames.insert(random.randrange(len(frames) + 1), each)
    if random.random() < 0.4:
        begin = random.randrange(len(frames))
        frames = frames[begin : begin + random.choice((4, 12, 40))]
    rate = random.choice((0.01, 0.05, 0.2, 0.6))
    kinds = random.sample(DAMAGES, random.choice((1, 1, 2, 4)))
    made: list[bytes] = []
    for frame in frames:
        made += random.choice(kinds)(frame, random) if random.random() < rate else [frame]
    return made
