# SPDX-License-Identifier: BSD-2-Clause
"""Faults in the IP and UDP headers of what is sent."""

from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire.frame_edits import checksummed, reseal, set_ip, set_udp
from roceproof.conformance.wire.framing import ICRC_BYTES, Layout, locate

_IPV4_BYTES, _IPV6_BYTES = 20, 40
_DEFAULT_TTL = 64


def _number(frame: bytes, at: int) -> int:
    return int.from_bytes(frame[at : at + 2], "big")


class Sender(WireFault):
    """Changes every RoCE frame that leaves; `version` says which, if not all."""

    version: int | None = None

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        layout = locate(frame)
        if layout is None or self.version not in (None, layout.version):
            return [frame]
        return [self.changed(frame, layout)]


@wire_mutant("ip-options", expected=["IP-01"])
class Options(Sender):
    """An option template was left enabled: IHL is 6."""

    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        ip = layout.ip
        total = (_number(frame, ip + 2) + 4).to_bytes(2, "big")
        head = b"\x46" + frame[ip + 1 : ip + 2] + total + frame[ip + 4 : ip + _IPV4_BYTES]
        longer = bytearray(frame[:ip] + head + b"\1" * 4 + frame[layout.udp : layout.end])
        reseal(longer)
        return bytes(longer)


@wire_mutant("ip-length-without-icrc", expected=["IP-02"])
class LengthWithoutIcrc(Sender):
    """The IP length does not count the ICRC."""

    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = _number(frame, layout.ip + 2) - ICRC_BYTES
        return edited(frame, set_ip(2, length.to_bytes(2, "big")))


@wire_mutant("ip-may-be-fragmented", expected=["IP-03"])
class MayBeFragmented(Sender):
    """Don't Fragment is not set."""

    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(6, b"\0\0"))


@wire_mutant("ip-id-counted-behind-icrc", expected=["IP-04"], explained_as=["S55"])
class IdCountedBehindIcrc(Sender):
    """The identification is counted up by a stage behind the ICRC."""

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
        words = [_number(frame, layout.ip + at) for at in range(0, _IPV4_BYTES, 2) if at != 10]
        value = (~self.total(words) & 0xFFFF).to_bytes(2, "big")
        at = layout.ip + 10
        return frame[:at] + value + frame[at + 2 :]


@wire_mutant("ip-checksum-folded-once", expected=["IP-05"])
class FoldedOnce(Checksum):
    """The carry of the checksum is folded in once: wrong where that carries again."""

    def total(self, words: list[int]) -> int:
        return (sum(words) & 0xFFFF) + (sum(words) >> 16)


@wire_mutant("ip-checksum-before-icrc", expected=["IP-05"])
class BeforeIcrc(Checksum):
    """The checksum is taken over the length before the ICRC is added to it."""

    def total(self, words: list[int]) -> int:
        total = sum(words) - ICRC_BYTES
        total = (total & 0xFFFF) + (total >> 16)
        return total + (total >> 16)


@wire_mutant("ip-ttl-fixed", expected=["IP-06"])
class TtlFixed(Sender):
    """The TTL is a constant of 64."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at = 8 if layout.version == 4 else 7
        return edited(frame, set_ip(at, bytes([_DEFAULT_TTL])))


@wire_mutant("ip-dscp-shifted", expected=["IP-07"])
class DscpShifted(Sender):
    """The DSCP is put into the lower six bits of the TOS."""

    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(1, bytes([frame[layout.ip + 1] >> 2])))


@wire_mutant("ip-destination-shared", expected=["IP-08"])
class DestinationShared(Sender):
    """There is one register for the destination address: that of the first queue pair."""

    _address = b""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at, size = (16, 4) if layout.version == 4 else (24, 16)
        self._address = self._address or frame[layout.ip + at : layout.ip + at + size]
        return edited(frame, set_ip(at, self._address))


@wire_mutant("gid-wrong-end", expected=["GID-01"])
class GidWrongEnd(Sender):
    """The IPv4 address is taken from the first four bytes of the GID, which are zeros."""

    version = 4

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_ip(16, bytes(4)))


@wire_mutant("ipv6-length-with-header", expected=["IP-14"])
class Ipv6LengthWithHeader(Sender):
    """The IPv6 payload length counts the header."""

    version = 6

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = _number(frame, layout.ip + 4) + _IPV6_BYTES
        return edited(frame, set_ip(4, length.to_bytes(2, "big")))


@wire_mutant("udp-port-swapped", expected=["UDP-01"])
class PortSwapped(Sender):
    """The port goes out as 0xB712."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(2, b"\xb7\x12"))


@wire_mutant("udp-length-without-icrc", expected=["UDP-02"])
class UdpLengthWithoutIcrc(Sender):
    """The UDP length does not count the ICRC."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        length = (layout.end - layout.udp - ICRC_BYTES).to_bytes(2, "big")
        at = layout.udp + 4
        return frame[:at] + length + frame[at + 2 :]


@wire_mutant("udp-checksum-too-early", expected=["UDP-03"])
class UdpChecksumTooEarly(Sender):
    """The UDP checksum is taken while the ICRC is still zeros."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(6, frame[layout.end - 2 : layout.end]))


class SourcePort(Sender):
    """Counts packets for the source port."""

    _count = 0

    def port(self, frame: bytes, layout: Layout) -> bytes:
        self._count += 1
        port = _number(frame, layout.udp) + self._count - 1 | 0xC000
        return (port & 0xFFFF).to_bytes(2, "big")


@wire_mutant("udp-source-port-counts", expected=["UDP-04"])
class SourcePortCounts(SourcePort):
    """The source port counts packets, for entropy."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        return edited(frame, set_udp(0, self.port(frame, layout)))


@wire_mutant("udp-source-port-behind-icrc", expected=["UDP-06"])
class SourcePortBehindIcrc(SourcePort):
    """The source port is hashed in behind the ICRC."""

    def changed(self, frame: bytes, layout: Layout) -> bytes:
        at = layout.udp
        return frame[:at] + self.port(frame, layout) + frame[at + 2 :]
