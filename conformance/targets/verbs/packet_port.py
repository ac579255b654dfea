# SPDX-License-Identifier: BSD-2-Clause
"""An Ethernet port that is a network interface of this host, through a packet socket.

The host's own stack keeps out of it: frames go to MACs that are not the interface's.
A socket asks the interface to accept each of them, which is less than promiscuous mode;
only a mirror port, where nothing is addressed to us, is opened for everything.
"""

import errno
import socket
import struct

from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.netdev import mac_of
from roceproof.conformance.targets.verbs.ports import Port, PortGone, send_all

ETH_P_ALL = 3
PACKET_ADD_MEMBERSHIP, PACKET_STATISTICS, PACKET_AUXDATA = 1, 6, 8  # linux/if_packet.h
MR_PROMISCUOUS, MR_UNICAST = 1, 3
SOL_PACKET = 263
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 8 << 20
MAX_FRAME_BYTES = 1 << 16
MAX_BATCH = 64

# struct tpacket_auxdata: status, len, snaplen, mac, net, vlan_tci, vlan_tpid
AUXILIARY = struct.Struct("=IIIHHHH")
VLAN_VALID, TPID_VALID = 1 << 4, 1 << 6
ETHER_VLAN = 0x8100
MACS_BYTES = 12


class PacketPort(Port):
    """Sends on one interface; listens there, or on a `mirror` to what `device_mac` sends."""

    def __init__(self, interface: str, *, mirror: str | None = None, device_mac: bytes) -> None:
        self._interface = interface
        self._device_mac = device_mac
        self._listening = _open(mirror or interface)
        self._sending = _open(interface) if mirror else self._listening
        if mirror:
            self._join(mirror, MR_PROMISCUOUS, bytes(6))
        self._accepted: set[bytes] = {mac_of(interface)}

    def fileno(self) -> int:
        return self._listening.fileno()

    def accept(self, mac: bytes) -> None:
        """Have the interface take frames to this MAC, too."""
        if mac not in self._accepted:
            self._join(self._interface, MR_UNICAST, mac)
            self._accepted.add(mac)

    def send(self, frame: bytes) -> None:
        try:
            send_all(self._sending, frame)
        except OSError as error:
            if error.errno in (errno.EMSGSIZE, errno.ENOBUFS):
                raise TargetError(
                    f"{self._interface} does not take a frame of {len(frame)} bytes "
                    f"({error.strerror}): ip link set dev {self._interface} mtu 9000"
                ) from None
            raise PortGone(f"{self._interface}: {error.strerror}") from None

    def take(self) -> list[bytes]:
        """What the device sent, with the VLAN tags that the kernel puts aside."""
        frames: list[bytes] = []
        while len(frames) < MAX_BATCH:
            try:
                data, notes, _, address = self._listening.recvmsg(
                    MAX_FRAME_BYTES, socket.CMSG_SPACE(AUXILIARY.size)
                )
            except BlockingIOError:
                break
            except OSError as error:
                raise PortGone(f"{self._interface}: {error.strerror}") from None
            if address[2] != socket.PACKET_OUTGOING and data[6:12] == self._device_mac:
                frames.append(_retagged(data, notes))
        return frames

    def lost(self) -> int:
        """Frames that found the socket's buffer full."""
        seen = self._listening.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        return int(struct.unpack("=II", seen)[1])

    def close(self) -> None:
        """Close the sockets; the interface is then as it was."""
        self._listening.close()
        self._sending.close()

    def _join(self, interface: str, kind: int, mac: bytes) -> None:
        request = struct.pack("=iHH8s", socket.if_nametoindex(interface), kind, len(mac), mac)
        self._listening.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, request)


def _open(interface: str) -> socket.socket:
    try:
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError:
        raise TargetError(
            f"a packet socket on {interface} needs CAP_NET_RAW: run as root, or see docs/nic.md"
        ) from None
    opened.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    try:
        opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    except PermissionError:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    opened.setblocking(False)
    opened.bind((interface, ETH_P_ALL))
    return opened


def _retagged(data: bytes, notes: list[tuple[int, int, bytes]]) -> bytes:
    for level, kind, value in notes:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = AUXILIARY.unpack(value[: AUXILIARY.size])
            if status & VLAN_VALID:
                tag = struct.pack(">HH", tpid if status & TPID_VALID else ETHER_VLAN, tci)
                return data[:MACS_BYTES] + tag + data[MACS_BYTES:]
    return data
