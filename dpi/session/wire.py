# SPDX-License-Identifier: BSD-2-Clause
"""The control channel's messages as bytes, the host's side of docs/bridge.md."""

import struct
from enum import IntEnum

VERSION = 3
MESSAGE_LENGTH_LIMIT = 1 << 28


class MessageType(IntEnum):
    """What a message is; from 0x80 up it comes from the simulation."""

    SESSION = 0x01
    PORT = 0x02
    START = 0x03
    FLOW = 0x10
    QPC = 0x11
    WORK_REQUEST = 0x12
    FRAME = 0x13
    RUN = 0x14
    STOP = 0x15
    QUERY = 0x16
    REGION = 0x17
    RECEIVE = 0x18
    PEEK = 0x19
    POKE = 0x1A
    RESET = 0x1B
    HELLO = 0x81
    STOPPED = 0x82
    SENT_FRAME = 0x83
    COMPLETION = 0x84
    STATISTICS = 0x85
    ERROR = 0x86
    TAKEN = 0x87
    RECEIVE_COMPLETION = 0x88
    MEMORY = 0x89
    CONNECTION = 0x8A


HELLO = struct.Struct("<HHIQ")
STOPPED = struct.Struct("<QB")
REASON_FINISHED = 4
SENT_FRAME = struct.Struct("<BQ")
COMPLETION = struct.Struct("<BQ")
TAKEN = struct.Struct("<BBQ")
STATISTICS = struct.Struct("<QQ")
PORT_STATISTICS = struct.Struct("<7Q" + 6 * "QQB")
_LENGTH = struct.Struct("<I")


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<H", len(data)) + data


def read_text(data: bytes) -> str:
    """The string field that a message consists of."""
    (length,) = struct.unpack_from("<H", data)
    return data[2 : 2 + length].decode(errors="replace")


def message(kind: MessageType, *parts: bytes) -> bytes:
    length = 1 + sum(map(len, parts))
    if length > MESSAGE_LENGTH_LIMIT:
        raise ValueError(
            f"{kind.name} message of {length} bytes, limit {MESSAGE_LENGTH_LIMIT}; "
            "use a PatternPayload for huge messages"
        )
    return b"".join((_LENGTH.pack(length), bytes((kind,)), *parts))


class Inbox:
    """Cuts a byte stream into messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        self._data += data

    def take(self) -> list[tuple[MessageType, bytes]]:
        """Every whole message so far."""
        messages = []
        at = 0
        while len(self._data) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data, at)
            body = at + _LENGTH.size
            if len(self._data) - body < length:
                break
            messages.append(
                (MessageType(self._data[body]), bytes(self._data[body + 1 : body + length]))
            )
            at = body + length
        del self._data[:at]
        return messages
