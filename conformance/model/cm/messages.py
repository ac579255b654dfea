# SPDX-License-Identifier: BSD-2-Clause
"""The messages of connection management: MADs of 256 bytes whose fields are tables of bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct

MAD_BYTES = 256
_HEADER = Struct(">BBBB4xQH6x")
_COMMON = (1, 7, 2, 3)  # base version, class, class version, method Send
_BODY_BYTES = MAD_BYTES - _HEADER.size


class Attribute(IntEnum):
    REQ = 0x10
    MRA = 0x11
    REJ = 0x12
    REP = 0x13
    RTU = 0x14
    DREQ = 0x15
    DREP = 0x16


class Reason(IntEnum):
    """Why a connection is rejected."""

    SERVICE_ID = 8
    TRANSPORT = 9
    REMOTE_GID = 12
    PATH_MTU = 26
    CONSUMER = 28  # whoever listens does not say why


_IDS = {"local_id": (0, 32), "remote_id": (32, 32)}
_FIELDS: Mapping[int, Mapping[str, tuple[int, int]]] = {  # first bit behind the MAD header, bits
    Attribute.REQ: {
        "local_id": (0, 32),
        "service_id": (64, 64),
        "qpn": (256, 24),
        "responder_resources": (280, 8),
        "initiator_depth": (312, 8),
        "remote_response_timeout": (344, 5),
        "transport": (349, 2),
        "flow_control": (351, 1),
        "start_psn": (352, 24),
        "local_response_timeout": (376, 5),
        "retry_count": (381, 3),
        "pkey": (384, 16),
        "path_mtu": (400, 4),
        "rnr_retry": (405, 3),
        "max_cm_retries": (408, 4),
        "local_lid": (416, 16),
        "remote_lid": (432, 16),
        "local_gid": (448, 128),
        "remote_gid": (576, 128),
        "traffic_class": (736, 8),
        "hop_limit": (744, 8),
        "ack_timeout": (760, 5),
        # What RDMA IP CM puts into the private data.
        "ip_cm_version": (1120, 8),
        "ip_version": (1128, 4),
        "source_port": (1136, 16),
        "source_ip": (1152, 128),
        "target_ip": (1280, 128),
    },
    Attribute.REP: {
        **_IDS,
        "qpn": (96, 24),
        "start_psn": (160, 24),
        "responder_resources": (192, 8),
        "initiator_depth": (200, 8),
        "flow_control": (215, 1),
        "rnr_retry": (216, 3),
    },
    Attribute.REJ: {**_IDS, "rejected": (64, 2), "reason": (80, 16)},
    Attribute.MRA: _IDS,
    Attribute.RTU: _IDS,
    Attribute.DREQ: {**_IDS, "qpn": (64, 24)},
    Attribute.DREP: _IDS,
}


@dataclass(frozen=True)
class CmMessage:
    """One message; fields that are not said are 0."""

    attribute: Attribute
    transaction: int
    fields: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        return self.fields[name]

    def pack(self) -> bytes:
        body = 0
        for name, value in self.fields.items():
            first, bits = _FIELDS[self.attribute][name]
            body |= value << 8 * _BODY_BYTES - first - bits
        head = _HEADER.pack(*_COMMON, self.transaction, self.attribute)
        return head + body.to_bytes(_BODY_BYTES, "big")

    @classmethod
    def unpack(cls, mad: bytes) -> CmMessage | None:
        """Read a MAD; None if it is no message that anybody here knows."""
        if len(mad) != MAD_BYTES:
            return None
        *common, transaction, attribute = _HEADER.unpack_from(mad)
        if tuple(common) != _COMMON or attribute not in _FIELDS:
            return None
        body = int.from_bytes(mad[_HEADER.size :], "big")
        fields = {
            name: body >> 8 * _BODY_BYTES - first - bits & (1 << bits) - 1
            for name, (first, bits) in _FIELDS[attribute].items()
        }
        return cls(Attribute(attribute), transaction, fields)
