# SPDX-License-Identifier: BSD-2-Clause
"""From captured frames to observations: where each RoCE packet lies and what its ICRC should be.

Takes RoCEv2 and RoCEv1, without the FCS and with whatever trails. A packet
that is cut or contradicts itself is kept, because that may be a sign of its
own, but has no right ICRC.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntFlag
from ipaddress import ip_address
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.capture.record import Record
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ETHER_VLAN,
    ETHERNET_BYTES,
    ICRC_BYTES,
    UDP_BYTES,
    Layout,
    locate,
)
from roceproof.conformance.wire.headers import Bth

_ETHER_ROCE_V1 = b"\x89\x15"
_SEED = crc32(b"\xff" * 8)
_GRH_BYTES = 40
_NEXT_HEADER_BTH = 0x1B
_FCS_BYTES = 4
_U16 = Struct(">H").unpack_from


class Station(NamedTuple):
    """A transmitter as the capture shows it; `address` is empty where all of a MAC are meant."""

    interface: int
    mac: bytes
    address: bytes = b""

    def __str__(self) -> str:
        return self.mac.hex(":") + (f" ({address_text(self.address)})" if self.address else "")


class InExcerpt(IntFlag):
    """What is to be known of a packet where not all of the capture is looked at."""

    AFTER_OTHERS = 2
    """Packets of its transmitter were left out in front of it."""
    AFTER_OTHERS_OF_QP = 4
    """Packets of its transmitter to the same QP were."""
    BESIDE = 8
    """It is there for the packets beside it, and not to be judged itself."""


_WHOLE = InExcerpt(0)
_BESIDE = int(InExcerpt.BESIDE)


@dataclass(frozen=True, slots=True)
class Observation:
    """One RoCE packet of the capture."""

    number: int
    time_ns: int
    interface: int
    frame: bytes
    """Without FCS."""
    ip: int
    """Where the IP header (RoCEv1: the GRH) begins; what follows lies behind it."""
    version: int
    """4 or 6; a GRH counts as 6."""
    bth_at: int
    end: int
    """The byte behind the ICRC, by the packet's own lengths."""
    bth: Bth
    sound: bool
    """Whole, and in agreement with itself."""
    bytes_cut: int
    found: int
    """The four bytes in the ICRC's place, first byte least significant; 0 if not sound."""
    right: int
    in_excerpt: InExcerpt = _WHOLE
    is_of_another: bool = False
    """The ICRC is that of another packet, as of right lengths: nothing follows from these bytes."""

    @property
    def is_v1(self) -> bool:
        """Whether there is no UDP header."""
        return self.frame[self.ip - 2 : self.ip] == _ETHER_ROCE_V1

    @property
    def wrong(self) -> bool:
        """Whether it has an ICRC that is not the right one, and is to be judged."""
        return self.found != self.right and not self.is_beside

    @property
    def is_beside(self) -> bool:
        """Whether it is there only for the packets beside it."""
        return int(self.in_excerpt) & _BESIDE != 0

    @property
    def source(self) -> bytes:
        """The IP address (or GID) that sent it."""
        at = self.ip + (12 if self.version == 4 else 8)
        return self.frame[at : at + (4 if self.version == 4 else 16)]

    @property
    def destination(self) -> bytes:
        """The IP address (or GID) that it is sent to."""
        at = self.ip + (16 if self.version == 4 else 24)
        return self.frame[at : at + (4 if self.version == 4 else 16)]

    @property
    def station(self) -> Station:
        """The transmitter, as MAC and address."""
        return Station(self.interface, self.frame[6:12], self.source)

    @property
    def ethernet(self) -> bytes:
        """Everything in front of the IP header, tags included."""
        return self.frame[: self.ip]

    @property
    def head(self) -> bytes:
        return self.frame[self.ip : self.bth_at + BTH_BYTES]

    @property
    def body(self) -> bytes:
        """What stands between BTH and ICRC."""
        return self.frame[self.bth_at + BTH_BYTES : self.end - ICRC_BYTES]

    @property
    def body_size(self) -> int:
        return self.end - ICRC_BYTES - self.bth_at - BTH_BYTES

    @property
    def trailer(self) -> bytes:
        """What stands behind the ICRC."""
        return self.frame[self.end :]


def observe(records: Iterable[Record], in_excerpt: InExcerpt = _WHOLE) -> Iterator[Observation]:
    """The RoCE packets among the records, in their order, and whether others are missing."""
    for record in records:
        if record.is_ethernet:
            frame = _without_declared_fcs(record)
            layout = locate(frame) or _locate_v1(frame)
            if layout is not None:
                seen = _observation(record, frame, layout, in_excerpt)
                if seen is not None:
                    yield seen


def by_mac(observations: Iterable[Observation]) -> dict[Station, list[Observation]]:
    """The packets of each MAC address on each interface."""
    groups: dict[Station, list[Observation]] = {}
    for seen in observations:
        groups.setdefault(Station(seen.interface, seen.frame[6:12]), []).append(seen)
    return groups


def address_text(address: bytes) -> str:
    """An IPv4 or IPv6 address as people write it."""
    return str(ip_address(address))


def masked_head(seen: Observation) -> bytearray:
    """IP, UDP and BTH as the right ICRC sees them."""
    return _masked_head(seen.frame, seen.ip, seen.version, seen.bth_at)


def _masked_head(frame: bytes, ip: int, version: int, bth_at: int) -> bytearray:
    if frame[ip - 2 : ip] != _ETHER_ROCE_V1:
        return icrc.masked_headers(frame, Layout(ip, version, bth_at - UDP_BYTES, 0, None))
    head = bytearray(frame[ip : bth_at + BTH_BYTES])
    head[0] |= 0x0F
    head[1] = head[2] = head[3] = head[7] = head[_GRH_BYTES + 4] = 0xFF
    return head


def _observation(
    record: Record, frame: bytes, layout: Layout, in_excerpt: InExcerpt
) -> Observation | None:
    v1 = frame[layout.ip - 2 : layout.ip] == _ETHER_ROCE_V1
    bth_at = layout.udp if v1 else layout.udp + UDP_BYTES
    body_at = bth_at + BTH_BYTES
    end = layout.end
    if len(frame) < body_at:
        return None
    sound = layout.fault is None and body_at + ICRC_BYTES <= end <= len(frame)
    found = right = 0
    if sound:
        frame = _without_undeclared_fcs(frame, end)
        found = int.from_bytes(frame[end - ICRC_BYTES : end], "little")
        head = _masked_head(frame, layout.ip, layout.version, bth_at)
        right = crc32(memoryview(frame)[body_at : end - ICRC_BYTES], crc32(head, _SEED))
    return Observation(
        record.number,
        record.time_ns,
        record.interface_index,
        frame,
        layout.ip,
        layout.version,
        bth_at,
        end,
        Bth.unpack(frame, bth_at),
        sound,
        record.bytes_cut,
        found,
        right,
        in_excerpt,
    )


def _without_declared_fcs(record: Record) -> bytes:
    there = record.fcs_bytes - record.bytes_cut
    return record.frame[:-there] if there > 0 else record.frame


def _without_undeclared_fcs(frame: bytes, end: int) -> bytes:
    if len(frame) < end + _FCS_BYTES:
        return frame
    fcs = crc32(memoryview(frame)[:-_FCS_BYTES]).to_bytes(_FCS_BYTES, "little")
    return frame[:-_FCS_BYTES] if frame.endswith(fcs) else frame


def _locate_v1(frame: bytes) -> Layout | None:
    """As `locate`, for a GRH; `udp` is where the BTH begins."""
    ip = ETHERNET_BYTES
    while len(frame) >= ip + _GRH_BYTES and _U16(frame, ip - 2)[0] in ETHER_VLAN:
        ip += 4
    if len(frame) < ip + _GRH_BYTES or frame[ip - 2 : ip] != _ETHER_ROCE_V1:
        return None
    if frame[ip] >> 4 != 6 or frame[ip + 6] != _NEXT_HEADER_BTH:
        return None
    bth = ip + _GRH_BYTES
    return Layout(ip, 6, bth, bth + _U16(frame, ip + 4)[0], None)
