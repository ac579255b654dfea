# SPDX-License-Identifier: BSD-2-Clause
"""Faults of the MAC and of what stands next to it: pads, addresses, tags, pauses, stalls."""

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
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if outgoing(time_ns, frame) is None else self.changed(frame)]


@wire_mutant("link-ethertype-of-v1", expected=["ETH-01"])
class EtherTypeOfV1(Sender):
    """The EtherType is still that of RoCEv1, from which this core was ported."""

    def changed(self, frame: bytes) -> bytes:
        return frame[:12] + _ROCE_V1 + frame[14:]


@wire_mutant("link-padded-before-icrc", expected=["ETH-02"])
class PaddedBeforeIcrc(Sender):
    """The padder stands in front of the ICRC inserter, which writes to the end of the frame."""

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        if out is None or out.layout.end == len(frame):
            return frame
        return frame[: out.body_end] + frame[out.layout.end :] + out.right


@wire_mutant("link-not-padded", expected=["ETH-02"])
class NotPadded(Sender):
    """Short frames are left to the MAC, which does not pad."""

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        return frame[: out.layout.end] if out else frame


@wire_mutant("link-stale-pad", expected=["ETH-04"])
class StalePad(Sender):
    """The Ethernet pad is what the FIFO held before."""

    _before = bytes(ETHERNET_MINIMUM)

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        end = out.layout.end if out else len(frame)
        stale, self._before = self._before, frame[:ETHERNET_MINIMUM]
        return frame[:end] + stale[end : len(frame)]


@wire_mutant("link-mac-latched", expected=["ETH-05"])
class MacLatched(Sender):
    """The peer's MAC address is latched with the first packet and never looked up again."""

    _mac = b""

    def changed(self, frame: bytes) -> bytes:
        self._mac = self._mac or frame[:6]
        return self._mac + frame[6:]


@wire_mutant("link-broadcast", expected=["ETH-05"])
class Broadcast(Sender):
    """Frames are sent to everybody, since the table of MAC addresses was left out."""

    def changed(self, frame: bytes) -> bytes:
        return b"\xff" * 6 + frame[6:]


class Stalled(Sender):
    """Faulty while the MAC stalls."""

    stall = 0

    def disturbed(self, percent: Mapping[str, int]) -> None:
        self.stall = percent.get("tx_stall", 0)


@wire_mutant("link-beat-lost-on-stall", expected=["ETH-07"])
class BeatLost(Stalled):
    """The beat that waits in the skid buffer is lost when ready falls with it."""

    _BEAT = slice(64, 72)

    def changed(self, frame: bytes) -> bytes:
        if not self.stall or len(frame) < self._BEAT.stop:
            return frame
        return frame[: self._BEAT.start] + frame[self._BEAT.stop :]


@wire_mutant(
    "link-crc-runs-while-paused", expected=["PFC-05", "ETH-07", "ICRC-09"], explained_as=["S59"]
)
class CrcRunsWhilePaused(Stalled):
    """The CRC goes on taking the beat that waits while the MAC pauses."""

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


@wire_mutant("link-tail-of-the-packet-before", expected=["ETH-08"])
class TailOfThePacketBefore(Sender):
    """The pad of the last word is what the packet before had there."""

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


@wire_mutant("link-tag-behind-the-ethertype", expected=["VLAN-01"])
class TagBehindTheEtherType(WireFault):
    """The tag goes in behind the EtherType, two bytes too late."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        if frame[_TYPE] != _VLAN:
            return [frame]
        return [frame[:12] + frame[16:18] + frame[12:16] + frame[18:]]


@wire_mutant("link-second-packet-untagged", expected=["VLAN-02"])
class SecondPacketUntagged(Sender):
    """Packets behind the first of a message leave through a path without the tagger."""

    def changed(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        is_later = out is not None and frame[out.bth] & 0x1F in (1, 2, 7, 8)
        return frame[:12] + frame[16:] if frame[_TYPE] == _VLAN and is_later else frame


@wire_mutant("link-tags-not-parsed", expected=["VLAN-03"])
class TagsNotParsed(WireFault):
    """The receive parser looks for the IP header at byte 14."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [] if frame[_TYPE] == _VLAN and frame[16:18] == _IPV4 else [frame]


@wire_mutant("link-tag-in-ip-length", expected=["VLAN-05"])
class TagInIpLength(Sender):
    """The IP length counts the four bytes of the tag."""

    def changed(self, frame: bytes) -> bytes:
        if frame[_TYPE] != _VLAN or frame[16:18] != _IPV4:
            return frame
        changed = bytearray(frame)
        length = int.from_bytes(frame[20:22], "big") + 4
        changed[20:22] = length.to_bytes(2, "big")
        fix_ip_checksum(changed)
        return bytes(changed)


@wire_mutant("link-trailer-taken-for-icrc", expected=["ETH-03"])
class TrailerTakenForIcrc(WireFault):
    """The receiver takes the last four bytes of the frame for the ICRC."""

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


@wire_mutant("link-pause-ignored", expected=["PFC-01"])
class PauseIgnored(Paused):
    """Priority pauses are dropped by the parser."""

    def changed(self, frame: bytes) -> list[bytes]:
        return []


@wire_mutant("link-pause-of-every-class", expected=["PFC-02"])
class PauseOfEveryClass(Paused):
    """The class-enable vector of a pause is not looked at: every class is paused."""

    def changed(self, frame: bytes) -> list[bytes]:
        longest = max(frame[at : at + 2] for at in range(18, 34, 2))
        return [frame[:16] + b"\0\xff" + longest * 8 + frame[34:]]


@wire_mutant("link-mac-control-parsed-as-ip", expected=["PFC-04"])
class MacControlParsedAsIp(Paused):
    """The parser does not look at the EtherType: behind MAC control it looks for IP."""

    def changed(self, frame: bytes) -> list[bytes]:
        return [frame[:12] + _IPV4 + frame[14:]]


@wire_mutant("link-fcs-before-icrc", expected=["ETH-06"])
class FcsBeforeIcrc(WireFault):
    """The MAC's CRC is tapped in front of the ICRC inserter, while the slot is zeros."""

    def fcs(self, frame: bytes) -> bytes:
        out = outgoing(0, frame)
        return frame_check_sequence(out.with_icrc(bytes(ICRC_BYTES)) if out else frame)
