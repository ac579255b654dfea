# SPDX-License-Identifier: BSD-2-Clause
"""Frames with bytes changed and cut at random, which no receiver may take for a packet.

A change in the few bytes alone that an ICRC leaves out makes no rubbish: some receivers take the
frame, and rightly.
"""

from random import Random

from roceproof.conformance.wire import icrc

_ETHERNET_BYTES = 14
_MOST_CHANGES = 20


def rubbish_of(good: bytes, random: Random) -> bytes:
    """What may have become of a good frame behind its Ethernet header."""
    while True:
        frame = bytearray(good)
        for _ in range(random.randint(1, _MOST_CHANGES)):
            frame[random.randrange(_ETHERNET_BYTES, len(frame))] = random.getrandbits(8)
        made = bytes(frame[: random.randint(_ETHERNET_BYTES, len(frame))])
        if icrc.check(made).judgement is not icrc.Judgement.OK:
            return made
