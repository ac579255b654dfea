# SPDX-License-Identifier: BSD-2-Clause
"""The bench's TCP: what a client of the kernel's makes of it, and what it leaves alone."""

from __future__ import annotations

from struct import pack

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from roceproof.conformance.interop.tcp import TcpServer
from roceproof.verbs.addresses import Host

SERVER = Host(bytes.fromhex("020000000001"), bytes((10, 77, 0, 1)))
CLIENT = Host(bytes.fromhex("020000000002"), bytes((10, 77, 0, 2)))
PORT, ISS = 18515, 0xFFFFFFFA  # its numbers wrap within the first words


def to_server(
    seq: int,
    flags: str,
    data: bytes = b"",
    *,
    dst: str = "10.77.0.1",
    port: int = PORT,
    source: int = 40000,
) -> bytes:
    ether = Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:01")
    segment = TCP(sport=source, dport=port, seq=seq % 2**32, flags=flags)
    return bytes(ether / IP(src="10.77.0.2", dst=dst) / segment / data)


def read(frame: bytes) -> TCP:
    """The segment, whose checksums Scapy finds right."""
    found = Ether(frame)
    again = Ether(frame)
    del again[IP].chksum, again[TCP].chksum
    assert bytes(again) == frame
    assert (found.dst, found[IP].dst) == ("02:00:00:00:00:02", "10.77.0.2")
    return found[TCP]


@pytest.fixture
def heard() -> list[bytes]:
    return []


@pytest.fixture
def server(heard: list[bytes]) -> TcpServer:
    def hear(peer: Host, data: bytes) -> bytes:
        assert peer == CLIENT
        heard.append(data)
        return data[::-1]

    return TcpServer(SERVER, [PORT], hear)


def only(frames: list[bytes] | None) -> TCP:
    assert frames is not None
    (frame,) = frames
    return read(frame)


def payload(segment: TCP) -> bytes:
    return b"" if segment.payload.name == "Padding" else bytes(segment.payload)


def test_a_connection_from_its_first_to_its_last_word(
    server: TcpServer, heard: list[bytes]
) -> None:
    opened = only(server.take(to_server(ISS, "S")))
    assert (str(opened.flags), opened.ack) == ("SA", ISS + 1)
    assert server.take(to_server(ISS + 1, "A")) == []
    word = b"a question"
    answer = only(server.take(to_server(ISS + 1, "PA", word)))
    assert payload(answer) == word[::-1]
    assert (answer.seq, answer.ack) == (opened.seq + 1, (ISS + 1 + len(word)) % 2**32)
    again = only(server.take(to_server(ISS + 1, "PA", word)))
    assert (payload(again), again.ack) == (b"", answer.ack)
    assert heard == [word]
    closed = only(server.take(to_server(ISS + 1 + len(word), "FA")))
    assert (str(closed.flags), closed.seq) == ("FA", answer.seq + len(word))
    assert server.take(to_server(ISS + 2 + len(word), "A")) == []


def test_the_last_word_may_come_with_the_end(server: TcpServer, heard: list[bytes]) -> None:
    server.take(to_server(ISS, "S"))
    frames = server.take(to_server(ISS + 1, "FPA", b"done"))
    assert frames is not None
    assert [str(read(frame).flags) for frame in frames] == ["A", "FA"]
    assert heard == [b"done"]


def test_a_port_where_nobody_listens_is_refused(server: TcpServer) -> None:
    assert str(only(server.take(to_server(ISS, "S", port=1))).flags) == "RA"


def test_a_second_connection_begins_anew(server: TcpServer, heard: list[bytes]) -> None:
    server.take(to_server(ISS, "S"))
    assert server.take(to_server(ISS + 1, "R")) == []
    assert server.take(to_server(ISS + 1, "PA", b"lost")) == []
    assert str(only(server.take(to_server(7, "S"))).flags) == "SA"
    server.take(to_server(8, "PA", b"heard"))
    assert heard == [b"heard"]


@pytest.mark.parametrize("flags", ["R", "RA", "PA", "FA"])
def test_what_a_client_before_still_says_ends_nothing(
    server: TcpServer, heard: list[bytes], flags: str
) -> None:
    server.take(to_server(ISS, "S"))
    assert server.take(to_server(ISS + 1, flags, b"late"[: flags == "PA"], source=39999)) == []
    server.take(to_server(ISS + 1, "PA", b"heard"))
    assert heard == [b"heard"]


@pytest.mark.parametrize("bytes_", [40, 53])
def test_a_segment_that_ends_in_its_header_is_dropped(server: TcpServer, bytes_: int) -> None:
    assert server.take(to_server(ISS, "S")[:bytes_]) == []


@pytest.mark.parametrize(
    "frame",
    [
        to_server(ISS, "S")[:20],
        to_server(ISS, "S", dst="10.77.0.9"),
        pack(">6s6sH", SERVER.mac, CLIENT.mac, 0x0806) + bytes(46),
        bytes(Ether() / IP(dst="10.77.0.1", proto=17) / bytes(30)),
        b"",
    ],
)
def test_what_is_not_its_business_is_left_to_the_device(server: TcpServer, frame: bytes) -> None:
    assert server.take(frame) is None
