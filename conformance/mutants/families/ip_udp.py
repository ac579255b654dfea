# SPDX-License-Identifier: BSD-2-Clause
"""Faults in the IP and UDP headers of what is sent, and in what is made of those of what comes."""

from __future__ import annotations

from roceproof.conformance import icrc
from roceproof.conformance.framing import ICRC_BYTES, Layout, locate
from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.suite.spoil import (
    checksummed,
    fix_ip_checksum,
    fragment,
    reseal,
    set_ip,
    set_udp,
)

_DONT_FRAGMENT = 0x4000
_FRAGMENTING = 0x3FFF
_IPV4_BYTES, _IPV6_BYTES = 20, 40
_DEFAULT_TTL = 64


def _number(frame: bytes, at: int) -> int:
    return int.from_bytes(frame[at : at + 2], "big")


class Sender(WireFault):
    """Changes every RoCE frame that leaves; `version` says which, if not all."""

    version: int | None = None

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        """The frame as it leaves."""
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        """Leave everything else alone."""
        layout = locate(frame)
        if layout is None or self.version not in (None, layout.version):
            return [frame]
        return [self.changed(frame, layout)]


# what is sent


@wire_mutant("ip-options", "An option template was left enabled: IHL is 6.", expected=["IP-01"])
class Options(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        ip = layout.ip
        total = (_number(frame, ip + 2) + 4).to_bytes(2, "big")
        head = b"\x46" + frame[ip + 1 : ip + 2] + total + frame[ip + 4 : ip + _IPV4_BYTES]
        longer = bytearray(frame[:ip] + head + b"\1" * 4 + frame[layout.udp : layout.end])
        reseal(longer)
        return bytes(longer)


@wire_mutant("ip-length-without-icrc", "The IP length does not count the ICRC.", expected=["IP-02"])
class LengthWithoutIcrc(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = _number(frame, layout.ip + 2) - ICRC_BYTES
        return edited(frame, set_ip(2, length.to_bytes(2, "big")))


@wire_mutant("ip-may-be-fragmented", "Don't Fragment is not set.", expected=["IP-03"])
class MayBeFragmented(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(6, b"\0\0"))


@wire_mutant(
    "ip-id-counted-behind-icrc",
    "The identification is counted up by a stage behind the ICRC.",
    expected=["IP-04"],
    explained_as=["S55"],
)
class IdCountedBehindIcrc(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        later = bytearray(frame)
        ident = (_number(frame, layout.ip + 4) + 1) & 0xFFFF
        checksummed(set_ip(4, ident.to_bytes(2, "big")))(later)
        return bytes(later)


class Checksum(Sender):
    """Adds the words of the header up in its own way."""

    version = 4

    def total(self, words: list[int]) -> int:
        """What goes into the checksum, inverted."""
        raise NotImplementedError

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        """With that checksum."""
        words = [_number(frame, layout.ip + at) for at in range(0, _IPV4_BYTES, 2) if at != 10]
        value = (~self.total(words) & 0xFFFF).to_bytes(2, "big")
        at = layout.ip + 10
        return frame[:at] + value + frame[at + 2 :]


@wire_mutant(
    "ip-checksum-folded-once",
    "The carry of the checksum is folded in once: wrong where that carries again.",
    expected=["IP-05"],
)
class FoldedOnce(Checksum):
    def total(self, words: list[int]) -> int:
        return (sum(words) & 0xFFFF) + (sum(words) >> 16)


@wire_mutant(
    "ip-checksum-before-icrc",
    "The checksum is taken over the length before the ICRC is added to it.",
    expected=["IP-05"],
)
class BeforeIcrc(Checksum):
    def total(self, words: list[int]) -> int:
        total = sum(words) - ICRC_BYTES
        total = (total & 0xFFFF) + (total >> 16)
        return total + (total >> 16)


@wire_mutant("ip-ttl-fixed", "The TTL is a constant of 64.", expected=["IP-06"])
class TtlFixed(Sender):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at = 8 if layout.version == 4 else 7
        return edited(frame, set_ip(at, bytes([_DEFAULT_TTL])))


@wire_mutant(
    "ip-dscp-shifted", "The DSCP is put into the lower six bits of the TOS.", expected=["IP-07"]
)
class DscpShifted(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(1, bytes([frame[layout.ip + 1] >> 2])))


@wire_mutant(
    "ip-destination-shared",
    "There is one register for the destination address: that of the first queue pair.",
    expected=["IP-08"],
)
class DestinationShared(Sender):
    _address = b""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at, size = (16, 4) if layout.version == 4 else (24, 16)
        self._address = self._address or frame[layout.ip + at : layout.ip + at + size]
        return edited(frame, set_ip(at, self._address))


@wire_mutant(
    "gid-wrong-end",
    "The IPv4 address is taken from the first four bytes of the GID, which are zeros.",
    expected=["GID-01"],
)
class GidWrongEnd(Sender):
    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(16, bytes(4)))


@wire_mutant(
    "ipv6-length-with-header", "The IPv6 payload length counts the header.", expected=["IP-14"]
)
class Ipv6LengthWithHeader(Sender):
    version = 6

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = _number(frame, layout.ip + 4) + _IPV6_BYTES
        return edited(frame, set_ip(4, length.to_bytes(2, "big")))


@wire_mutant("udp-port-swapped", "The port goes out as 0xB712.", expected=["UDP-01"])
class PortSwapped(Sender):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(2, b"\xb7\x12"))


@wire_mutant(
    "udp-length-without-icrc", "The UDP length does not count the ICRC.", expected=["UDP-02"]
)
class UdpLengthWithoutIcrc(Sender):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = (layout.end - layout.udp - ICRC_BYTES).to_bytes(2, "big")
        at = layout.udp + 4
        return frame[:at] + length + frame[at + 2 :]


@wire_mutant(
    "udp-checksum-too-early",
    "The UDP checksum is taken while the ICRC is still zeros.",
    expected=["UDP-03"],
)
class UdpChecksumTooEarly(Sender):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(6, frame[layout.end - 2 : layout.end]))


class SourcePort(Sender):
    """Counts packets for the source port."""

    _count = 0

    def port(self, frame: bytes, layout: Layout) -> bytes:
        """The next source port."""
        self._count += 1
        port = _number(frame, layout.udp) + self._count - 1 | 0xC000
        return (port & 0xFFFF).to_bytes(2, "big")


@wire_mutant(
    "udp-source-port-counts", "The source port counts packets, for entropy.", expected=["UDP-04"]
)
class SourcePortCounts(SourcePort):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(0, self.port(frame, layout)))


@wire_mutant(
    "udp-source-port-behind-icrc",
    "The source port is hashed in behind the ICRC.",
    expected=["UDP-06"],
)
class SourcePortBehindIcrc(SourcePort):
    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at = layout.udp
        return frame[:at] + self.port(frame, layout) + frame[at + 2 :]


# what is received


class Receiver(WireFault):
    """Gets some packets dropped, or repaired, that a right receiver treats otherwise."""

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        """The frame as a healthy device must get it to do the same; None for a dropped one."""
        raise NotImplementedError

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        """Leave everything else alone."""
        layout = locate(frame)
        if layout is None:
            return [frame]
        treated = self.treated(frame, layout)
        return [] if treated is None else [treated]


@wire_mutant(
    "ip-received-ttl-unmasked",
    "The ICRC check sees the TTL as it comes, which is right as long as no router is between.",
    expected=["IP-09", "ICRC-13"],
)
class TtlUnmasked(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        is_new = layout.version == 6 or frame[layout.ip + 8] == _DEFAULT_TTL
        return frame if is_new else None


@wire_mutant(
    "ip-received-header-masked",
    "The ICRC check masks the whole second and third word of the IP header, ID and flags too.",
    expected=["IP-10"],
)
class HeaderMasked(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes:
        if layout.version == 6 or icrc.check(frame).judgement is icrc.Judgement.OK:
            return frame
        return _first_right(frame, layout, range(layout.ip + 4, layout.ip + 8))


def _first_right(frame: bytes, layout: Layout, places: range) -> bytes:
    """The frame with the one bit of these places flipped that makes its ICRC right, if any."""
    for at in places:
        for bit in range(8):
            other = bytearray(frame)
            other[at] ^= 1 << bit
            fix_ip_checksum(other)
            if icrc.check(bytes(other)).judgement is icrc.Judgement.OK:
                return bytes(other)
    return frame


@wire_mutant(
    "ip-received-checksum-ignored",
    "Nobody looks at the IPv4 header checksum of what comes.",
    expected=["IP-11"],
)
class ChecksumIgnored(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes:
        fixed = bytearray(frame)
        fix_ip_checksum(fixed)
        return bytes(fixed)


@wire_mutant(
    "ip-received-fragments", "Every fragment is taken for a packet of its own.", expected=["IP-12"]
)
class Fragments(WireFault):
    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        word = _number(frame, 20)
        if frame[12:15] != b"\x08\0\x45" or not word & _FRAGMENTING:
            return [frame]
        whole = bytearray(frame)
        set_ip_word(whole, _DONT_FRAGMENT)
        return [bytes(whole)]


def set_ip_word(frame: bytearray, word: int) -> None:
    """Flags and offset of an untagged IPv4 packet, all else made right for them."""
    frame[20:22] = word.to_bytes(2, "big")
    fragment(word)(frame)


@wire_mutant(
    "ip-received-length-unused",
    "The receiver goes by the UDP length and never looks at the IP length.",
    expected=["IP-13"],
)
class LengthUnused(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes:
        if layout.version == 6 or layout.end > len(frame):
            return frame
        fixed = bytearray(frame)
        set_ip(2, (layout.end - layout.ip).to_bytes(2, "big"))(fixed)
        reseal(fixed)
        return bytes(fixed)


@wire_mutant(
    "ipv6-received-label-unmasked",
    "The ICRC check sees the flow label: right until a peer sets one.",
    expected=["IP-15"],
)
class LabelUnmasked(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        label = frame[layout.ip + 1] & 0xF or frame[layout.ip + 2] or frame[layout.ip + 3]
        return None if layout.version == 6 and label else frame


@wire_mutant(
    "udp-received-port-filtered",
    "The five-tuple is looked up with the source port of the first packet.",
    expected=["UDP-07"],
)
class PortFiltered(Receiver):
    _port: int | None = None

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        port = _number(frame, layout.udp)
        self._port = port if self._port is None else self._port
        return frame if port == self._port else None


@wire_mutant(
    "udp-received-length-unused",
    "The receiver goes by the IP length and never looks at the UDP length.",
    expected=["UDP-09"],
)
class UdpLengthUnused(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes:
        end = layout.ip + _number(frame, layout.ip + 2)
        if layout.version == 6 or end > len(frame):
            return frame
        fixed = bytearray(frame)
        set_udp(4, (end - layout.udp).to_bytes(2, "big"))(fixed)
        reseal(fixed)
        return bytes(fixed)


@wire_mutant(
    "udp-received-zero-checksum",
    "A UDP core of another project drops datagrams over IPv6 that have no checksum.",
    expected=["UDP-10"],
)
class ZeroChecksum(Receiver):
    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        return frame if layout.version == 4 or _number(frame, layout.udp + 6) else None


class Known(Receiver):
    """Takes packets of addresses that it should not, as if they were the right ones."""

    offset = 0  # of the address that is not looked at
    peer_offset = 16  # of the same address in what is sent

    def __init__(self) -> None:
        self._right: bytes | None = None

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        """Learn the right one."""
        layout = locate(frame)
        if layout is not None and layout.version == 4:
            at = layout.ip + self.peer_offset
            self._right = frame[at : at + 4]
        return [frame]

    def treated(self, frame: bytes, layout: Layout) -> bytes:
        """With the right one in its place."""
        if layout.version == 6 or self._right is None:
            return frame
        return edited(frame, set_ip(self.offset, self._right))


@wire_mutant(
    "gid-received-source-ignored",
    "A connected queue pair does not look at who it is that answers.",
    expected=["GID-02"],
)
class SourceIgnored(Known):
    offset, peer_offset = 12, 16


@wire_mutant(
    "gid-received-destination-ignored",
    "The receiver goes by MAC address and QPN; it does not know its own IP address.",
    expected=["GID-05"],
)
class DestinationIgnored(Known):
    offset, peer_offset = 16, 12
