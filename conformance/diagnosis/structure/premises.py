# SPDX-License-Identifier: BSD-2-Clause
"""Over what the ICRC of a packet was taken whose pad or lengths are wrong.

Behind a wrong assembler the ICRC may still be that of the right packet, or of
what was sent. The premise under which it is right is the one to go on with.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from zlib import crc32

from roceproof.conformance.diagnosis.observation import Observation, masked_head
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES

_SEED = crc32(b"\xff" * 8)
_PAD_COUNT = 0x30
_SHARE = 0.6


def _padded(seen: Observation, *, counted: bool, in_lengths: bool) -> int:
    """The ICRC of the packet with its pad; whether PadCnt and lengths count it is open."""
    head, body = masked_head(seen), seen.body
    pad = -len(body) % 4
    at = len(head) - BTH_BYTES
    if counted:
        head[at + 1] = head[at + 1] & ~_PAD_COUNT | pad << 4
    datagram = len(head) - at + UDP_BYTES + len(body) + pad + ICRC_BYTES
    if in_lengths:
        _set_lengths(head, seen, datagram)
    return crc32(body + bytes(pad), crc32(head, _SEED))


def _right_lengths(seen: Observation) -> int:
    """The ICRC of the packet with lengths that fit it."""
    head = masked_head(seen)
    _set_lengths(head, seen, UDP_BYTES + BTH_BYTES + seen.body_size + ICRC_BYTES)
    return crc32(seen.body, crc32(head, _SEED))


def _set_lengths(head: bytearray, seen: Observation, datagram: int) -> None:
    at = len(head) - BTH_BYTES - UDP_BYTES
    head[at + 4 : at + 6] = datagram.to_bytes(2, "big")
    if seen.version == 4:
        head[2:4] = (at + datagram).to_bytes(2, "big")
    else:
        head[4:6] = datagram.to_bytes(2, "big")


_PREMISES: dict[str, Callable[[Observation], int]] = {
    "of the packet with the right lengths": _right_lengths,
    "of the packet as it should have been padded": lambda seen: _padded(
        seen, counted=True, in_lengths=True
    ),
    "of the payload filled up with zeros": lambda seen: _padded(
        seen, counted=False, in_lengths=False
    ),
    "of the payload filled up with zeros, PadCnt set": lambda seen: _padded(
        seen, counted=True, in_lengths=False
    ),
    "of the payload filled up with zeros and counted in the lengths": lambda seen: _padded(
        seen, counted=False, in_lengths=True
    ),
}


def taken_over(broken: Sequence[Observation]) -> tuple[str, dict[int, Observation]]:
    """What the ICRCs of wrongly built packets were taken over: words, and packets judged so.

    By number those whose ICRC is right on that premise; empty words if they are
    right as they are, or on no premise.
    """
    wrong = [seen for seen in broken if seen.sound and seen.wrong]
    for words, right in _PREMISES.items():
        fitting = [seen for seen in wrong if right(seen) == seen.found]
        if fitting and len(fitting) >= _SHARE * len(wrong):
            return words, {
                seen.number: replace(seen, right=seen.found, is_of_another=True) for seen in fitting
            }
    return "", {}
