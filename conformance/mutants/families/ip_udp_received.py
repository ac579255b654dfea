# SPDX-License-Identifier: BSD-2-Clause
"""Faults in what is made of the IP and UDP headers of what comes."""

from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.frame_edits import fix_ip_checksum, reseal, set_ip, set_udp
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ICRC_BYTES,
    UDP_BYTES,
    Fault,
    Layout,
    locate,
)

_DONT_FRAGMENT = b"\x40\0"
_FRAGMENTING = 0x3FFF
_DEFAULT_TTL = 64
_LEAST = UDP_BYTES + BTH_BYTES + ICRC_BYTES


def _number(frame: bytes, at: int) -> int:
    return int.from_bytes(frame[at : at + 2], "big")


class Receiver(WireFault):
    """Gets some packets dropped, or repaired, that a right receiver treats otherwise."""

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        """The frame as a healthy device must get it to do the same; None for a dropped one."""
        raise NotImplementedError

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        layout = locate(frame)
        if layout is None:
            return [frame]
        treated = self.treated(frame, layout)
        return [] if treated is None else [treated]


@wire_mutant("ip-received-ttl-unmasked", expected=["IP-09", "ICRC-13"])
class TtlUnmasked(Receiver):
    """The ICRC check sees the TTL as it comes, which is right as long as no router is between."""

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        is_new = layout.version == 6 or frame[layout.ip + 8] == _DEFAULT_TTL
        return frame if is_new else None


@wire_mutant("ip-received-header-masked", expected=["IP-10"])
class HeaderMasked(Receiver):
    """The ICRC check masks the whole second and third word of the IP header, ID and flags too."""

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


@wire_mutant("ip-received-checksum-ignored", expected=["IP-11"])
class ChecksumIgnored(Receiver):
    """Nobody looks at the IPv4 header checksum of what comes."""

    def treated(self, frame: bytes, layout: Layout) -> bytes:
        fixed = bytearray(frame)
        fix_ip_checksum(fixed)
        return bytes(fixed)


@wire_mutant("ip-received-fragments", expected=["IP-12"])
class Fragments(WireFault):
    """Every fragment is taken for a packet of its own."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        word = _number(frame, 20)
        if frame[12:15] != b"\x08\0\x45" or not word & _FRAGMENTING:
            return [frame]
        whole = bytearray(frame)
        whole[20:22] = _DONT_FRAGMENT
        reseal(whole)
        return [bytes(whole)]


@wire_mutant("ip-received-options-skipped", expected=["IP-16"])
class OptionsSkipped(Receiver):
    """IPv4 options are stepped over, as any UDP stack does."""

    def treated(self, frame: bytes, layout: Layout) -> bytes:
        options = layout.udp - layout.ip - 20
        if layout.version == 6 or options <= 0:
            return frame
        plain = bytearray(frame)
        del plain[layout.ip + 20 : layout.udp]
        plain[layout.ip] = 0x45
        set_ip(2, (_number(frame, layout.ip + 2) - options).to_bytes(2, "big"))(plain)
        reseal(plain)
        return bytes(plain)


@wire_mutant("ip-received-surplus-ignored", expected=["UDP-09"])
class SurplusIgnored(Receiver):
    """The packet ends where UDP says, and what IP carries behind it is passed over."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        layout = locate(frame)
        if layout is None or layout.fault is not Fault.UDP_LENGTH:
            return [frame]
        end_of_ip = layout.ip + _number(frame, layout.ip + 2)
        if layout.version == 6 or not layout.udp + _LEAST <= layout.end < end_of_ip:
            return [frame]
        if icrc.compute_at(frame, layout) != frame[layout.end - ICRC_BYTES : layout.end]:
            return [frame]
        shorter = bytearray(frame)
        set_ip(2, (layout.end - layout.ip).to_bytes(2, "big"))(shorter)
        reseal(shorter)
        return [bytes(shorter)]


@wire_mutant("ip-received-length-unused", expected=["IP-13"])
class LengthUnused(Receiver):
    """The receiver goes by the UDP length and never looks at the IP length."""

    def treated(self, frame: bytes, layout: Layout) -> bytes:
        if layout.version == 6 or layout.end > len(frame):
            return frame
        fixed = bytearray(frame)
        set_ip(2, (layout.end - layout.ip).to_bytes(2, "big"))(fixed)
        reseal(fixed)
        return bytes(fixed)


@wire_mutant("ipv6-received-label-unmasked", expected=["IP-15"])
class LabelUnmasked(Receiver):
    """The ICRC check sees the flow label: right until a peer sets one."""

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        label = frame[layout.ip + 1] & 0xF or frame[layout.ip + 2] or frame[layout.ip + 3]
        return None if layout.version == 6 and label else frame


@wire_mutant("udp-received-port-filtered", expected=["UDP-07"])
class PortFiltered(Receiver):
    """The five-tuple is looked up with the source port of the first packet."""

    _port: int | None = None

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        port = _number(frame, layout.udp)
        self._port = port if self._port is None else self._port
        return frame if port == self._port else None


@wire_mutant("udp-received-length-unused", expected=["UDP-09"])
class UdpLengthUnused(Receiver):
    """The receiver goes by the IP length and never looks at the UDP length."""

    def treated(self, frame: bytes, layout: Layout) -> bytes:
        end = layout.ip + _number(frame, layout.ip + 2)
        if layout.version == 6 or end > len(frame):
            return frame
        fixed = bytearray(frame)
        set_udp(4, (end - layout.udp).to_bytes(2, "big"))(fixed)
        reseal(fixed)
        return bytes(fixed)


@wire_mutant("udp-received-zero-checksum", expected=["UDP-10"])
class ZeroChecksum(Receiver):
    """A UDP core of another project drops datagrams over IPv6 that have no checksum."""

    def treated(self, frame: bytes, layout: Layout) -> bytes | None:
        return frame if layout.version == 4 or _number(frame, layout.udp + 6) else None


class Known(Receiver):
    """Takes packets of addresses that it should not, as if they were the right ones."""

    offset = 0  # of the address that is not looked at
    peer_offset = 16  # of the same address in what is sent

    _right: bytes | None = None

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
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


@wire_mutant("gid-received-source-ignored", expected=["GID-02"])
class SourceIgnored(Known):
    """A connected queue pair does not look at who it is that answers."""

    offset, peer_offset = 12, 16


@wire_mutant("gid-received-destination-ignored", expected=["GID-05"])
class DestinationIgnored(Known):
    """The receiver goes by MAC address and QPN; it does not know its own IP address."""

    offset, peer_offset = 16, 12
