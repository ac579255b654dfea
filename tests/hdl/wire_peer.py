# SPDX-License-Identifier: BSD-2-Clause
"""The other end of the wire: builds responses and foreign traffic for the endpoint."""

from __future__ import annotations

from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Aeth, Bth
from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.dpi.contract.records import QpConfig
from roceproof.verbs.addresses import parse_gid, parse_mac

RC_ACKNOWLEDGE = 0x11
NO_CREDITS = 0x1F
_MASK24 = 0xFFFFFF


class Peer:
    """Knows every queue pair's remote end and what it has to acknowledge."""

    def __init__(self, mac: bytes, ipv4: bytes) -> None:
        self._mac = mac
        self._ipv4 = ipv4
        self._configs: dict[int, QpConfig] = {}
        self._due: dict[int, int] = {}
        self._msn: dict[int, int] = {}

    def know(self, config: QpConfig) -> None:
        """Take over a queue pair's numbers; its message count starts again."""
        self._configs[config.remote_qpn] = config
        self._msn[config.remote_qpn] = 0
        self._due.pop(config.remote_qpn, None)

    def forget(self, config: QpConfig) -> None:
        """Acknowledge nothing of what a queue pair has asked for so far."""
        self._due.pop(config.remote_qpn, None)

    def take(self, packet: Packet) -> None:
        """Note a request that asks for an acknowledgement."""
        if packet.bth.ack_req:
            qpn = packet.bth.dest_qpn
            self._due[qpn] = packet.bth.psn
            self._msn[qpn] = self._msn.get(qpn, 0) + 1 & _MASK24

    def coalesced_acks(self) -> list[bytes]:
        """One ACK for each queue pair that asked since the last time."""
        due, self._due = self._due, {}
        return [
            self.response(self._configs[qpn], psn)
            for qpn, psn in due.items()
            if qpn in self._configs
        ]

    def packet(self, config: QpConfig, psn: int, *, syndrome: int = NO_CREDITS) -> Packet:
        """An acknowledgement or NAK for one queue pair, to be corrupted or built."""
        return Packet(
            dst_mac=self._mac,
            src_mac=parse_mac(config.remote_mac),
            ip=Ipv4(parse_gid(config.remote_gid)[-4:], self._ipv4),
            udp_sport=0xD00D,
            bth=Bth(RC_ACKNOWLEDGE, config.local_qpn, psn & _MASK24),
            extensions=(Aeth(syndrome, self._msn.get(config.remote_qpn, 0)),),
        )

    def response(self, config: QpConfig, psn: int, *, syndrome: int = NO_CREDITS) -> bytes:
        """The frame of `packet`."""
        return build(self.packet(config, psn, syndrome=syndrome))

    def arp_request(self, *, sender_mac: bytes, sender_ipv4: bytes, target: bytes) -> bytes:
        """A broadcast question for `target`."""
        body = bytes.fromhex("0001080006040001") + sender_mac + sender_ipv4 + bytes(6) + target
        return (b"\xff" * 6 + sender_mac + b"\x08\x06" + body).ljust(60, b"\0")

    def echo(
        self,
        data: bytes,
        *,
        sender_mac: bytes,
        sender_ipv4: bytes,
        target: bytes | None = None,
        reply: bool = False,
        ident: int = 0x4242,
        sequence: int = 1,
        ip_id: int = 0x0777,
    ) -> bytes:
        """An ICMP echo request, or the reply that it should get from the same place."""
        head = bytes([0 if reply else 8, 0])
        rest = ident.to_bytes(2, "big") + sequence.to_bytes(2, "big") + data
        icmp = head + checksum(head + b"\0\0" + rest).to_bytes(2, "big") + rest
        header = Ipv4(sender_ipv4, target or self._ipv4, ident=ip_id)
        packet = header.pack(payload_length=len(icmp), protocol=1) + icmp
        return (self._mac + sender_mac + b"\x08\x00" + packet).ljust(60, b"\0")
