# SPDX-License-Identifier: BSD-2-Clause
"""What passed between a case and its device, as Scapy packets.

Each has its simulated time, `sniffed_on`, and `direction`: 2 where the device sent it, 1 where
it was sent to the device.
"""

from collections.abc import Callable, Iterable

from scapy.packet import Packet
from scapy.plist import PacketList

from roceproof.conformance.suite.reporting.transcript import Entry, Transcript
from roceproof.conformance.wire.scapy.dissection import passed

_NS_PER_S = 1_000_000_000
Filter = Callable[[Packet], bool]
Pump = Callable[[int, Callable[[], bool]], None]


def packets_of(entries: Iterable[Entry], *, name: str) -> PacketList:
    """Entries of a transcript as Scapy packets."""
    return PacketList([_packet(entry) for entry in entries], name=name)


def sniffed(
    transcript: Transcript,
    pump: Pump,
    *,
    count: int = 0,
    timeout: float | None = None,
    lfilter: Filter | None = None,
) -> PacketList:
    """What has passed in this case so far and, with a time-out, what passes until then."""
    seen: dict[int, Packet] = {}

    def kept() -> list[Packet]:
        for entry in transcript.entries():
            if id(entry) not in seen:
                seen[id(entry)] = _packet(entry)
        packets = [seen[id(entry)] for entry in transcript.entries()]
        fitting = [packet for packet in packets if lfilter is None or lfilter(packet)]
        return fitting[:count] if count else fitting

    if timeout is not None:
        pump(round(timeout * _NS_PER_S), lambda: bool(count) and len(kept()) >= count)
    return PacketList(kept(), name="Sniffed")


def _packet(entry: Entry) -> Packet:
    return passed(entry.frame, time_ns=entry.time_ns, is_sent=entry.is_sent, comment=entry.comment)
