# SPDX-License-Identifier: BSD-2-Clause
"""A TCP server for small talk over a wire that loses nothing: one connection at a time.

It answers whoever calls any of its ports. What cannot happen on such a wire is not provided
for: nothing is sent again, nothing is put in order, and no window ever fills.
"""

from collections.abc import Callable, Collection
from struct import Struct

from roceproof.conformance.wire.framing import ETHER_IPV4, ETHERNET_MINIMUM, payload_of_ethernet
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.verbs.addresses import Host

TCP = 6
_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_HEADER = Struct(">HHIIBBHHH")
_IP_BYTES = Ipv4.FORMAT.size
_WINDOW = 0xFFFF
_SEQUENCE = 1 << 32
_FIRST = 1000
"""The number that its side begins with."""


class TcpServer:
    """The TCP of one host. `hear` gets each segment's bytes and returns the answer to them."""

    def __init__(
        self, host: Host, ports: Collection[int], hear: Callable[[Host, bytes], bytes]
    ) -> None:
        self._host = host
        self._ports = ports
        self._hear = hear
        self._next_in = self._next_out = 0
        self._is_open = False
        self._caller = b"", 0, 0

    def take(self, frame: bytes) -> list[bytes] | None:
        """The frames that answer one of TCP; None if it is something else, or for others."""
        found = payload_of_ethernet(frame)
        if found is None or found[0] != ETHER_IPV4:
            return None
        at = found[1]
        if len(frame) < at + _IP_BYTES or frame[at + 9] != TCP:
            return None
        ip = Ipv4.unpack(frame, at, at + _IP_BYTES)
        if ip.dst != self._host.ip:
            return None
        start = at + 4 * (frame[at] & 15)
        if len(frame) < start + _HEADER.size:
            return []
        sport, dport, number, _, offset, flags, *_ = _HEADER.unpack_from(frame, start)
        data = frame[start + 4 * (offset >> 4) : at + ip.total_length]
        peer = Host(frame[6:12], ip.src)

        def say(flags: int, data: bytes = b"") -> bytes:
            return self._segment(peer, (dport, sport), flags, data)

        caller = ip.src, sport, dport
        if flags & _RST:
            self._is_open = self._is_open and caller != self._caller
            return []
        if flags & _SYN:
            self._caller = caller
            self._next_in, self._next_out = number + 1, _FIRST
            self._is_open = dport in self._ports
            return [say(_SYN | _ACK if self._is_open else _RST | _ACK)]
        if not self._is_open or caller != self._caller or not (data or flags & _FIN):
            return []  # also what a client still says that was ended
        if number % _SEQUENCE != self._next_in % _SEQUENCE:
            return [say(_ACK)]  # it was heard before
        self._next_in += len(data) + (flags & _FIN)
        answers = [say(_ACK, self._hear(peer, data))] if data else []
        if flags & _FIN:
            answers.append(say(_FIN | _ACK))
            self._is_open = False
        return answers

    def _segment(self, peer: Host, ports: tuple[int, int], flags: int, data: bytes) -> bytes:
        numbers = (self._next_out % _SEQUENCE, self._next_in % _SEQUENCE)
        self._next_out += len(data) + bool(flags & (_SYN | _FIN))
        blank = _HEADER.pack(*ports, *numbers, 5 << 4, flags, _WINDOW, 0, 0) + data
        pseudo = self._host.ip + peer.ip + TCP.to_bytes(2, "big") + len(blank).to_bytes(2, "big")
        summed = blank[:16] + checksum(pseudo + blank).to_bytes(2, "big") + blank[18:]
        header = Ipv4(self._host.ip, peer.ip).pack(payload_length=len(summed), protocol=TCP)
        ethernet = peer.mac + self._host.mac + ETHER_IPV4.to_bytes(2, "big")
        return (ethernet + header + summed).ljust(ETHERNET_MINIMUM, b"\0")
