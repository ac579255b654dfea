# SPDX-License-Identifier: BSD-2-Clause
"""REQ and REP of communication management, as far as an observer reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from healthy_capture import RECEIVER, SENDER, datagram

from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.ip import Ipv4

GSI_QKEY = 0x80010000
REQ_QPN, REP_QPN = 0x21, 0x11
REQ_ID, REP_ID = 0xAAAA, 0xBBBB


def mad(
    *,
    qkey: int = GSI_QKEY,
    source: int = 1,
    class_version: int = 2,
    method: int = 3,
    attribute: int = 0x14,
    transaction: int = 1,
    fields: dict[int, bytes] | None = None,
) -> Packet:
    """A MAD to QP1; `fields` are of the message behind the MAD header, by offset."""
    data = bytearray(232)
    for at, value in (fields or {}).items():
        data[at : at + len(value)] = value
    head = bytes((1, 7, class_version, method)) + bytes(4) + transaction.to_bytes(8, "big")
    head += attribute.to_bytes(2, "big") + bytes(6)
    packet = datagram(256, qpn=1, qkey=qkey, source=source)
    return replace(packet, payload=head + bytes(data))


def req(*, start_psn: int = 700, path_mtu_code: int = 1, **values: Any) -> Packet:
    """The sender of requests asks for a connection; the answers are to start at `start_psn`."""
    fields = {
        0: REQ_ID.to_bytes(4, "big"),
        32: (REQ_QPN << 8).to_bytes(4, "big"),
        44: (start_psn << 8).to_bytes(4, "big"),
        50: bytes((path_mtu_code << 4,)),
    }
    return mad(attribute=0x10, fields=fields, **values)


def rep(*, start_psn: int = 500, **values: Any) -> Packet:
    """The other side agrees."""
    fields = {
        0: REP_ID.to_bytes(4, "big"),
        4: REQ_ID.to_bytes(4, "big"),
        12: (REP_QPN << 8).to_bytes(4, "big"),
        20: (start_psn << 8).to_bytes(4, "big"),
    }
    return replace(mad(attribute=0x13, fields=fields, **values), ip=Ipv4(RECEIVER, SENDER))
