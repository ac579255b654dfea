# SPDX-License-Identifier: BSD-2-Clause
"""Edits of whole frames, for `Pattern.corrupted` and `Pattern.resealed`.

Offsets that a function takes are relative to the header in its name.
"""

from collections.abc import Callable
from dataclasses import dataclass

from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ETHER_IPV4,
    ETHER_IPV6,
    ETHERNET_MINIMUM,
    ICRC_BYTES,
    IP_PROTOCOL_UDP,
    UDP_BYTES,
    Layout,
    locate,
    payload_of_ethernet,
)
from roceproof.conformance.wire.ip import CE, checksum

Edit = Callable[[bytearray], None]


def with_flipped_bit(frame: bytes, bit: int) -> bytearray:
    """The frame with one bit, counted from its first byte, changed."""
    flipped = bytearray(frame)
    flipped[bit // 8] ^= 1 << bit % 8
    return flipped


def with_congestion_experienced(frame: bytes) -> bytes:
    """ECT(0) and ECT(1) of an IP packet become CE, as a switch tells (RFC 3168); else as it is.

    A right IPv4 checksum stays right, a wrong one wrong.
    """
    link = payload_of_ethernet(frame)
    if link is None or link[0] not in (ETHER_IPV4, ETHER_IPV6) or len(frame) < link[1] + 12:
        return frame
    at, shift = link[1], 4 if link[0] == ETHER_IPV6 else 0
    said = frame[at + 1] >> shift & CE
    if said in (0, CE):
        return frame
    marked = bytearray(frame)
    marked[at + 1] |= CE << shift
    if link[0] == ETHER_IPV4:
        changed = bytes((~frame[at + 10] & 0xFF, ~frame[at + 11] & 0xFF, 0, CE - said))
        marked[at + 10 : at + 12] = checksum(changed).to_bytes(2, "big")  # RFC 1624
    return bytes(marked)


def layout_of(frame: bytes | bytearray) -> Layout:
    """Where the parts of a RoCEv2 frame lie, whatever is wrong with it."""
    layout = locate(bytes(frame), port=None)
    if layout is None:
        raise ValueError("the frame is no UDP packet any more; corrupt it last")
    return layout


def reseal(frame: bytearray) -> None:
    """Compute the IPv4 checksum and the ICRC anew, the latter over what UDP's length says."""
    fix_ip_checksum(frame)
    layout = layout_of(frame)
    end = min(layout.end, len(frame))
    if end >= layout.udp + UDP_BYTES + BTH_BYTES + ICRC_BYTES:
        frame[end - ICRC_BYTES : end] = icrc.compute_at(
            bytes(frame), layout._replace(end=end, fault=None)
        )


def fix_ip_checksum(frame: bytearray) -> None:
    """Compute the IPv4 header checksum anew."""
    link = payload_of_ethernet(bytes(frame))
    if link is not None and frame[link[1]] >> 4 == 4:
        at = link[1]
        end = at + 4 * (frame[at] & 15)
        frame[at + 10 : at + 12] = bytes(2)
        frame[at + 10 : at + 12] = checksum(bytes(frame[at:end])).to_bytes(2, "big")


def without_udp_checksum(frame: bytes) -> bytes:
    """The frame with checksum 0 instead of a right one: a sender may have either (UDP-03)."""
    layout = locate(frame)
    if layout is None or layout.fault or not any(frame[layout.udp + 6 : layout.udp + 8]):
        return frame
    addresses = slice(layout.ip + 12, layout.ip + 20)
    if frame[layout.ip] >> 4 == 6:
        addresses = slice(layout.ip + 8, layout.ip + 40)
    size = layout.end - layout.udp
    tail = size.to_bytes(4, "big") + bytes((0, 0, 0, IP_PROTOCOL_UDP))
    covered = frame[addresses] + tail + frame[layout.udp : layout.end]
    if checksum(covered):
        return frame
    return frame[: layout.udp + 6] + bytes(2) + frame[layout.udp + 8 :]


def checksummed(edit: Edit) -> Edit:
    """The same edit with the IPv4 checksum right behind it, and the ICRC as it was."""

    def edit_and_fix(frame: bytearray) -> None:
        edit(frame)
        fix_ip_checksum(frame)

    return edit_and_fix


def set_pad_count(count: int) -> Edit:
    """Say another pad count in the BTH; no byte moves."""

    def edit(frame: bytearray) -> None:
        at = layout_of(frame).udp + UDP_BYTES + 1
        frame[at] = frame[at] & 0xCF | (count & 3) << 4

    return edit


def bad_icrc(mask: int = 1) -> Edit:
    """Flip bits of the ICRC, bit 0 being the lowest of its first byte on the wire."""

    def edit(frame: bytearray) -> None:
        end = layout_of(frame).end
        value = int.from_bytes(frame[end - ICRC_BYTES : end], "little") ^ mask
        frame[end - ICRC_BYTES : end] = value.to_bytes(ICRC_BYTES, "little")

    return edit


def flip_ip(offset: int, mask: int = 1) -> Edit:
    """Flip bits of a byte counted from the start of the IP header."""

    def edit(frame: bytearray) -> None:
        frame[layout_of(frame).ip + offset] ^= mask

    return edit


def flip_ip_checksummed(offset: int, mask: int = 1) -> Edit:
    """Flip bits of a byte of the IP header, and make the IPv4 checksum right for that."""
    return checksummed(flip_ip(offset, mask))


def flip_udp(offset: int, mask: int = 1) -> Edit:
    """Flip bits of a byte counted from the start of the UDP header; the BTH begins at 8."""

    def edit(frame: bytearray) -> None:
        frame[layout_of(frame).udp + offset] ^= mask

    return edit


def flip_end(offset: int, mask: int = 1) -> Edit:
    """Flip bits of a byte counted backwards from the ICRC: 1 is the last byte before it."""

    def edit(frame: bytearray) -> None:
        frame[layout_of(frame).end - ICRC_BYTES - offset] ^= mask

    return edit


def set_ip(offset: int, value: bytes) -> Edit:
    """Put bytes at an offset from the start of the IP header."""

    def edit(frame: bytearray) -> None:
        at = layout_of(frame).ip + offset
        frame[at : at + len(value)] = value

    return edit


def set_udp(offset: int, value: bytes) -> Edit:
    """Put bytes at an offset from the start of the UDP header; the BTH begins at 8."""

    def edit(frame: bytearray) -> None:
        at = layout_of(frame).udp + offset
        frame[at : at + len(value)] = value

    return edit


def fragment(word: int) -> Edit:
    """Set flags and fragment offset, IP checksum and ICRC made right for that."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        frame[layout.ip + 6 : layout.ip + 8] = word.to_bytes(2, "big")
        fix_ip_checksum(frame)
        frame[layout.end - ICRC_BYTES : layout.end] = icrc.compute_at(bytes(frame), layout)

    return edit


def flip_protocol(mask: int) -> Edit:
    """Flip bits of what says that UDP follows, IP checksum and ICRC made right for that."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        frame[layout.ip + (6 if layout.version == 6 else 9)] ^= mask
        fix_ip_checksum(frame)
        frame[layout.end - ICRC_BYTES : layout.end] = icrc.compute_at(bytes(frame), layout)

    return edit


def ip_options(data: bytes) -> Edit:
    """Put whole words of options behind the IPv4 header, counted in its lengths."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        size = layout.udp - layout.ip + len(data)
        total = int.from_bytes(frame[layout.ip + 2 : layout.ip + 4], "big") + len(data)
        frame[layout.ip] = 0x40 | size // 4
        frame[layout.ip + 2 : layout.ip + 4] = total.to_bytes(2, "big")
        frame[layout.udp : layout.udp] = data

    return edit


@dataclass(frozen=True)
class Trailer:
    """Put bytes behind the packet, where an Ethernet pad would be: it stays as good as it was."""

    data: bytes

    def __call__(self, frame: bytearray) -> None:
        frame += self.data


def resize(change: int, *, filler: int = 0) -> Edit:
    """Add bytes in front of the ICRC, or take them away, with all lengths fixed up."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        del frame[layout.end :]
        at = layout.end - ICRC_BYTES
        if change < 0:
            del frame[at + change : at]
        else:
            frame[at:at] = bytes([filler]) * change
        _say_lengths(frame, layout, layout.end + change)

    return edit


def truncate(size: int) -> Edit:
    """Leave so many bytes behind the UDP header, with all lengths fixed up."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        end = layout.udp + UDP_BYTES + size
        del frame[end:]
        _say_lengths(frame, layout, end)
        frame += bytes(max(0, ETHERNET_MINIMUM - len(frame)))

    return edit


def say_length(udp_length: int) -> Edit:
    """Say this UDP length, and the IP length that goes with it; no byte moves."""

    def edit(frame: bytearray) -> None:
        layout = layout_of(frame)
        _say_lengths(frame, layout, layout.udp + udp_length)

    return edit


def _say_lengths(frame: bytearray, layout: Layout, end: int) -> None:
    size = end - layout.udp
    frame[layout.udp + 4 : layout.udp + 6] = size.to_bytes(2, "big")
    if layout.version == 4:
        frame[layout.ip + 2 : layout.ip + 4] = (end - layout.ip).to_bytes(2, "big")
    else:
        frame[layout.ip + 4 : layout.ip + 6] = size.to_bytes(2, "big")
