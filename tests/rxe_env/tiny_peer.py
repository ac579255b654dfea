# SPDX-License-Identifier: BSD-2-Clause
"""The far end of a peer's Ethernet link, by hand: it answers ARP and keeps every other frame."""

from __future__ import annotations

import fcntl
import os
import queue
import select
import socket
import struct
import threading
import zlib
from types import TracebackType
from typing import Protocol, Self

MAC = bytes.fromhex("020000000001")
IPV4 = bytes((10, 77, 0, 1))
PEER_IPV4 = bytes((10, 77, 0, 2))
BROADCAST = b"\xff" * 6
ETH_ARP = b"\x08\x06"
ETH_IPV4 = b"\x08\x00"
ROCE_PORT = 4791

RC_SEND_ONLY = 0x04
RC_ACKNOWLEDGE = 0x11
UC_WRITE_ONLY = 0x2A


class Port(Protocol):
    """An Ethernet port."""

    def fileno(self) -> int: ...

    def send(self, frame: bytes) -> None: ...

    def receive(self) -> bytes: ...

    def close(self) -> None: ...


class SocketPort:
    """QEMU's stream protocol: a 4-byte big-endian length before each frame."""

    def __init__(self, link: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(link.removeprefix("socket:"))

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        self._socket.sendall(struct.pack(">I", len(frame)) + frame)

    def receive(self) -> bytes:
        (length,) = struct.unpack(">I", self._exactly(4))
        return self._exactly(length)

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise EOFError("the peer closed the link")
            data += more
        return data


class TapPort:
    """A TAP device that exists already."""

    def __init__(self, link: str) -> None:
        tunsetiff, iff_tap_no_pi = 0x400454CA, 0x1002
        self._fd = os.open("/dev/net/tun", os.O_RDWR)
        name = link.removeprefix("tap:").encode()
        fcntl.ioctl(self._fd, tunsetiff, struct.pack("16sH", name, iff_tap_no_pi))

    def fileno(self) -> int:
        return self._fd

    def send(self, frame: bytes) -> None:
        os.write(self._fd, frame)

    def receive(self) -> bytes:
        return os.read(self._fd, 1 << 16)

    def close(self) -> None:
        os.close(self._fd)


class TinyPeer:
    """Answers ARP for 10.77.0.1 on a port, in a thread, until closed."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._frames: queue.Queue[bytes] = queue.Queue()
        self._stop_read, self._stop_write = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> None:
        """Send a frame, padded to the Ethernet minimum."""
        self._port.send(frame.ljust(60, b"\0"))

    def expect(self, ethertype: bytes, *, starting: bytes = b"", timeout: float = 5.0) -> bytes:
        """Return the next frame of a type whose payload starts so; all others are dropped."""
        while True:
            frame = self._frames.get(timeout=timeout)
            if frame[12:14] == ethertype and frame[14:].startswith(starting):
                return frame

    def _run(self) -> None:
        while True:
            ready = select.select([self._port.fileno(), self._stop_read], [], [])[0]
            if self._stop_read in ready:
                return
            try:
                frame = self._port.receive()
            except (EOFError, OSError):
                return
            if frame[12:14] == ETH_ARP and frame[20:22] == b"\0\x01" and frame[38:42] == IPV4:
                self.send(arp(ARP_REPLY, frame[22:28], frame[22:28], frame[28:32]))
            else:
                self._frames.put(frame)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        os.write(self._stop_write, b"x")
        self._thread.join()
        os.close(self._stop_read)
        os.close(self._stop_write)
        self._port.close()


ARP_REQUEST, ARP_REPLY = (struct.pack(">HHBBH", 1, 0x0800, 6, 4, op) for op in (1, 2))


def arp(kind: bytes, to: bytes, target_mac: bytes, target_ip: bytes) -> bytes:
    return to + MAC + ETH_ARP + kind + MAC + IPV4 + target_mac + target_ip


def checksum(data: bytes) -> int:
    even = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(even) // 2}H", even))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(protocol: int, payload: bytes) -> bytes:
    fixed = struct.pack(">BBHHHBB", 0x45, 0, 20 + len(payload), 0x1234, 0x4000, 64, protocol)
    total = checksum(fixed + b"\0\0" + IPV4 + PEER_IPV4)
    return fixed + struct.pack(">H", total) + IPV4 + PEER_IPV4 + payload


def echo_request(to: bytes, number: int, payload: bytes) -> bytes:
    body = struct.pack(">HH", 7, number) + payload
    total = checksum(b"\x08\0\0\0" + body)
    return to + MAC + ETH_IPV4 + ipv4(1, struct.pack(">BBH", 8, 0, total) + body)


def icrc(packet: bytes) -> bytes:
    """The ICRC of an IPv4 packet that has no ICRC yet."""
    masked = bytearray(packet)
    masked[1] = masked[8] = 0xFF
    masked[10:12] = masked[26:28] = b"\xff\xff"
    masked[32] = 0xFF
    return zlib.crc32(b"\xff" * 8 + bytes(masked)).to_bytes(4, "little")


def reth(address: int, rkey: int, length: int) -> bytes:
    return struct.pack(">QII", address, rkey, length)


def roce(
    to: bytes,
    opcode: int,
    qpn: int,
    psn: int,
    *,
    extended: bytes = b"",
    payload: bytes = b"",
    ack_request: bool = False,
) -> bytes:
    """A RoCEv2 frame with a correct ICRC."""
    pad = -len(payload) % 4
    word = (ack_request << 31) | psn
    bth = struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, qpn, word)
    body = bth + extended + payload + bytes(pad)
    udp = struct.pack(">HHHH", 0xC0DE, ROCE_PORT, 8 + len(body) + 4, 0)
    fixed = struct.pack(">BBHHHBB", 0x45, 0, 20 + len(udp) + len(body) + 4, 7, 0x4000, 64, 17)
    total = checksum(fixed + b"\0\0" + IPV4 + PEER_IPV4)
    packet = fixed + struct.pack(">H", total) + IPV4 + PEER_IPV4 + udp + body
    return to + MAC + ETH_IPV4 + packet + icrc(packet)
