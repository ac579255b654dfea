# SPDX-License-Identifier: BSD-2-Clause
"""Where a packet ends, if its lengths contradict each other or the frame.

Three things tell the end: IP length, UDP length, and the frame itself where it is
too long to be padded. Two against one decide.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.diagnosis.observation import Observation, masked_head
from roceproof.conformance.wire.framing import BTH_BYTES, ETHERNET_MINIMUM, ICRC_BYTES, UDP_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Position

IP_LENGTH, UDP_LENGTH = "IP-02", "UDP-02"
_U16 = Struct(">H").unpack_from
_SEED = crc32(b"\xff" * 8)


class WrongLength(NamedTuple):
    """The length that is wrong, and the packet as it is if the others are right."""

    rule: str
    words: str
    repaired: Observation
    off: str = ""
    """By how much, if both lengths are."""
    bits: int = 0
    """Those of the length that are not as they should be, if it is one length that is wrong."""


def wrong_length(seen: Observation) -> WrongLength | None:
    """What is wrong with the lengths of a packet that was captured whole, if it can be told."""
    if seen.bytes_cut or seen.is_v1:
        return None
    ends = _ends(seen)
    if ends is None:
        return None
    ip, udp, frame = ends
    if ip == udp == frame or (frame is None and ip == udp):
        return None
    if ip == udp:
        return _both(seen, ip, frame or ip)
    if ip == frame or (frame is None and ip <= len(seen.frame)):
        words = f"the UDP length says {udp - _udp_at(seen)}, IP leaves {ip - _udp_at(seen)}"
        bits = udp - _udp_at(seen) ^ ip - _udp_at(seen)
        return _answer(seen, UDP_LENGTH, words, ip)._replace(bits=bits)
    if udp == frame or (frame is None and udp <= len(seen.frame)):
        words = f"the IP length is {ip - udp:+d} bytes off from UDP and the frame"
        begin = seen.ip if seen.version == 4 else _udp_at(seen)
        return _answer(seen, IP_LENGTH, words, udp)._replace(bits=ip - begin ^ udp - begin)
    return _answer(seen, IP_LENGTH, "IP and UDP length fit neither each other nor the frame", frame)


def _ends(seen: Observation) -> tuple[int, int, int | None] | None:
    """The end by the IP length, by the UDP length, and by the frame if it has no pad."""
    udp_at, frame = _udp_at(seen), seen.frame
    if len(frame) < seen.bth_at + BTH_BYTES + ICRC_BYTES:
        return None
    by_ip = _U16(frame, seen.ip + (2 if seen.version == 4 else 4))[0]
    by_ip += seen.ip if seen.version == 4 else udp_at
    by_udp = udp_at + _U16(frame, udp_at + 4)[0]
    return by_ip, by_udp, len(frame) if len(frame) > ETHERNET_MINIMUM else None


def _both(seen: Observation, end: int, frame: int) -> WrongLength | None:
    """Both lengths agree, and leave out the last bytes of the frame, or run past it."""
    row = OPCODES.get(seen.bth.opcode)
    inner = row is not None and not row.position & Position.LAST
    if end == frame + ICRC_BYTES and inner:
        return None  # without ICRC: a signature of its own
    if end < frame and not (seen.sound and seen.wrong and frame - end == ICRC_BYTES):
        return None  # what follows the packet is no part of it
    off = f"{end - frame:+d} bytes"
    words = f"IP and UDP length are {off} off from the frame"
    return _answer(seen, IP_LENGTH, words, frame)._replace(off=off)


def _answer(seen: Observation, rule: str, words: str, end: int | None) -> WrongLength:
    repaired = seen
    if end is not None and seen.bth_at + BTH_BYTES + ICRC_BYTES <= end <= len(seen.frame):
        found = int.from_bytes(seen.frame[end - ICRC_BYTES : end], "little")
        body = memoryview(seen.frame)[seen.bth_at + BTH_BYTES : end - ICRC_BYTES]
        right = crc32(body, crc32(masked_head(seen), _SEED))
        repaired = replace(seen, end=end, sound=True, found=found, right=right)
    return WrongLength(rule, words, repaired)


def read_alike(
    observations: Iterable[Observation], repaired: Sequence[Observation]
) -> dict[int, Observation]:
    """Padded frames of a station whose lengths leave out the ICRC elsewhere, by number.

    They do not tell where they end; the ICRC has to be right there.
    """
    found: dict[int, Observation] = {}
    if not any(_leaves_out_icrc(seen) for seen in repaired):
        return found
    for seen in observations:
        if seen.sound and seen.wrong and len(seen.frame) <= ETHERNET_MINIMUM:
            read = _answer(seen, IP_LENGTH, "", seen.end + ICRC_BYTES).repaired
            if read.end != seen.end:
                found[seen.number] = read
    return found


def _leaves_out_icrc(seen: Observation) -> bool:
    ends = _ends(seen)
    return ends is not None and ends[0] == ends[1] == seen.end - ICRC_BYTES


def _udp_at(seen: Observation) -> int:
    return seen.bth_at - UDP_BYTES
