# SPDX-License-Identifier: BSD-2-Clause
"""Faults of the MAC and of what stands next to it: pads, addresses, tags, pauses, stalls."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from roceproof.conformance.faults.icrc.engine import outgoing
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.frame_edits import fix_ip_checksum
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM, ICRC_BYTES, frame_check_sequence

_TYPE, _MAC_CONTROL, _VLAN = slice(12, 14), b"\x88\x08", b"\x81\0"
_ROCE_V1, _IPV4 = b"\x89\x15", b"\x08\0"


class Sender(WireFault):
    """Changes every RoCE frame that leaves."""

    def changed(self, frame: bytes) -> bytes:
        """The frame as it leaves."""
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if outgoing(time_ns, frame) is None else self.changed(frame)]


@wire_mutant(
    "link-ethertype-of-v1",
    "The EtherType is still that of RoCEv1, from which this core was ported.",
    expected=["ETH-01"],
)
class EtherTypeOfV1(Sender):
    def changed(self, frame: bytes) -> bytes:
        return frame[:12] + _ROCE_V1 + frame[14:]


@wire_mutant(
    "link-padded-before-icrc",
    "The padder stands in front of the ICRC inserter, which writes to the end of the frame.",
    expected=["ETH-02"],
)
class PaddedBeforeIcrc(Sender):
    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        if out is None or out.layout.end == len(frame):
            return frame
        return frame[: out.body_end] + frame[out.layout.end :] + out.right


@wire_mutant(
    "link-not-padded", "Short frames are left to the MAC, which does not pad.", expected=["ETH-02"]
)
class NotPadded(Sender):
    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        return frame[: out.layout.end] if out else frame


@wire_mutant(
    "link-stale-pad",
    "The Ethernet pad is what the FIFO held before.",
    expected=["ETH-04"],
)
class StalePad(Sender):
    _before = bytes(ETHERNET_MINIMUM)

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        end = out.layout.end if out else len(frame)
        stale, self._before = self._before, frame[:ETHERNET_MINIMUM]
        return frame[:end] + stale[end : len(frame)]


@wire_mutant(
    "link-mac-latched",
    "The peer's MAC address is latched with the first packet and never looked up again.",
    expected=["ETH-05"],
)
class MacLatched(Sender):
    _mac = b""

    def changed(self, frame: bytes) -> bytes:
        self._mac = self._mac or frame[:6]
        return self._mac + frame[6:]


@wire_mutant(
    "link-broadcast",
    "Frames are sent to everybody, since the table of MAC addresses was left out.",
    expected=["ETH-05"],
)
class Broadcast(Sender):
    def changed(self, frame: bytes) -> bytes:
        return b"\xff" * 6 + frame[6:]


class Stalled(Sender):
    """Faulty while the MAC stalls."""

    stall = 0

    def disturbed(self, percent: Mapping[str, int]) -> None:
        self.stall = percent.get("tx_stall", 0)


@wire_mutant(
    "link-beat-lost-on-stall",
    "The beat that waits in the skid buffer is lost when ready falls with it.",
    expected=["ETH-07"],
)
class BeatLost(Stalled):
    _BEAT = slice(64, 72)

    def changed(self, frame: bytes) -> bytes:
        if not self.stall or len(frame) < self._BEAT.stop:
            return frame
        return frame[: self._BEAT.start] + frame[self._BEAT.stop :]


@wire_mutant(
    "link-crc-runs-while-paused",
    "The CRC goes on taking the beat that waits while the MAC pauses.",
    expected=["PFC-05", "ETH-07", "ICRC-09"],
    explained_as=["S59"],
)
class CrcRunsWhilePaused(Stalled):
    _WIDTH, _DUMMY = 8, 8
    _packets = 0

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        if out is None or not self.stall:
            return frame
        self._packets += 1
        fed = icrc.masked_input(frame)
        first = self._DUMMY - out.layout.ip % self._WIDTH
        at = first + self._WIDTH * (1 + self._packets % ((len(fed) - first) // self._WIDTH - 1))
        value = crc32(fed[: at + self._WIDTH] + fed[at:])
        return out.with_icrc(value.to_bytes(ICRC_BYTES, "little"))


@wire_mutant(
    "link-tail-of-the-packet-before",
    "The pad of the last word is what the packet before had there.",
    expected=["ETH-08"],
)
class TailOfThePacketBefore(Sender):
    _before = b""

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        if out is None:
            return frame
        stale, self._before = self._before, frame[: out.body_end]
        count = frame[out.bth + 1] >> 4 & 3
        at = out.body_end - count
        kept = stale[at : out.body_end].ljust(count, b"\0")
        return icrc.reseal(frame[:at] + kept + frame[out.body_end :])


@wire_mutant(
    "link-tag-behind-the-ethertype",
    "The tag goes in behind the EtherType, two bytes too late.",
    expected=["VLAN-01"],
)
class TagBehindTheEtherType(WireFault):
    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        if frame[_TYPE] != _VLAN:
            return [frame]
        return [frame[:12] + frame[16:18] + frame[12:16] + frame[18:]]


@wire_mutant(
    "link-second-packet-untagged",
    "Packets behind the first of a message leave through a path without the tagger.",
    expected=["VLAN-02"],
)
class SecondPacketUntagged(Sender):
    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        is_later = out is not None and frame[out.bth] & 0x1F in (1, 2, 7, 8)
        return frame[:12] + frame[16:] if frame[_TYPE] == _VLAN and is_later else frame


@wire_mutant(
    "link-tags-not-parsed",
    "The receive parser looks for the IP header at byte 14.",
    expected=["VLAN-03"],
)
class TagsNotParsed(WireFault):
    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [] if frame[_TYPE] == _VLAN and frame[16:18] == _IPV4 else [frame]


@wire_mutant(
    "link-tag-in-ip-length",
    "The IP length counts the four bytes of the tag.",
    expected=["VLAN-05"],
)
class TagInIpLength(Sender):
    def changed(self, frame: bytes) -> bytes:
        if frame[_TYPE] != _VLAN or frame[16:18] != _IPV4:
            return frame
        changed = bytearray(frame)
        length = int.from_bytes(frame[20:22], "big") + 4
        changed[20:22] = length.to_bytes(2, "big")
        fix_ip_checksum(changed)
        return bytes(changed)


@wire_mutant(
    "link-trailer-taken-for-icrc",
    "The receiver takes the last four bytes of the frame for the ICRC.",
    expected=["ETH-03"],
)
class TrailerTakenForIcrc(WireFault):
    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        out = outgoing(time_ns, frame)
        return [] if out is not None and frame[-ICRC_BYTES:] != out.right else [frame]


class Paused(WireFault):
    """Reads pauses otherwise than they are meant."""

    def changed(self, frame: bytes) -> list[bytes]:
        """What it makes of a MAC control frame."""
        raise NotImplementedError

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        """Everything else is as it is."""
        return self.changed(frame) if frame[_TYPE] == _MAC_CONTROL else [frame]


@wire_mutant(
    "link-pause-ignored", "Priority pauses are dropped by the parser.", expected=["PFC-01"]
)
class PauseIgnored(Paused):
    def changed(self, frame: bytes) -> list[bytes]:
        return []


@wire_mutant(
    "link-pause-of-every-class",
    "The class-enable vector of a pause is not looked at: every class is paused.",
    expected=["PFC-02"],
)
class PauseOfEveryClass(Paused):
    def changed(self, frame: bytes) -> list[bytes]:
        longest = max(frame[at : at + 2] for at in range(18, 34, 2))
        return [frame[:16] + b"\0\xff" + longest * 8 + frame[34:]]


@wire_mutant(
    "link-mac-control-parsed-as-ip",
    "The parser does not look at the EtherType: behind MAC control it looks for IP.",
    expected=["PFC-04"],
)
class MacControlParsedAsIp(Paused):
    def changed(self, frame: bytes) -> list[bytes]:
        return [frame[:12] + _IPV4 + frame[14:]]


@wire_mutant(
    "link-fcs-before-icrc",
    "The MAC's CRC is tapped in front of the ICRC inserter, while the slot is zeros.",
    expected=["ETH-06"],
)
class FcsBeforeIcrc(WireFault):
    def fcs(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        return frame_check_sequence(out.with_icrc(bytes(ICRC_BYTES)) if out else frame)
