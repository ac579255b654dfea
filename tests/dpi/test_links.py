# SPDX-License-Identifier: BSD-2-Clause
"""Free-running on sockets and replayed captures, against a peer in Python."""

from __future__ import annotations

import random
import socket
import struct
from collections import Counter
from pathlib import Path

import pytest
from scapy.utils import PcapWriter, RawPcapNgReader

from roceproof.dpi import PortOptions, SimulationError, Until

pytestmark = pytest.mark.sim

PEER_SECONDS = 20.0
SIZES = (60, 61, 1514, 9000, 9216)


def random_frame(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def echoed(frame: bytes) -> bytes:
    return frame[6:12] + frame[:6] + frame[12:]


def receive_exactly(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        assert part, "the simulation closed the link"
        data += part
    return data


def receive_framed(peer: socket.socket) -> bytes:
    (size,) = struct.unpack(">I", receive_exactly(peer, 4))
    return receive_exactly(peer, size)


def framed(frame: bytes) -> bytes:
    return struct.pack(">I", len(frame)) + frame


def exchange(peer: socket.socket, *, stream: bool) -> None:
    """Send everything first, so that both directions are in flight at once."""
    peer.settimeout(PEER_SECONDS)
    for size in SIZES:
        frame = random_frame(size)
        if stream:
            peer.sendall(framed(frame))
        else:
            peer.send(frame)
    for size in SIZES:
        got = receive_framed(peer) if stream else peer.recv(65536)
        assert got == echoed(random_frame(size)), f"frame of {size} bytes"


def test_socket_link_connects_to_a_listening_peer(start_echo, socket_directory):
    path = socket_directory / "link"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        listener.settimeout(PEER_SECONDS)
        simulation = start_echo(PortOptions(link=f"socket:{path}"), free_running=True)
        peer, _ = listener.accept()
    with peer:
        exchange(peer, stream=True)
        (statistics,) = simulation.statistics().ports
        assert statistics.frames_in == statistics.frames_out == len(SIZES)
        assert statistics.dropped_in == statistics.dropped_out == 0
        simulation.close()


def test_socket_link_waits_for_a_connecting_peer(start_echo, socket_directory):
    path = socket_directory / "link"
    simulation = start_echo(PortOptions(link=f"socket-listen:{path}"), free_running=True)
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(path))
        exchange(peer, stream=True)
        simulation.close()
    assert not path.exists()


def test_dgram_link_exchanges_frames_between_two_paths(start_echo, socket_directory):
    ours, theirs = socket_directory / "peer", socket_directory / "simulation"
    simulation = start_echo(PortOptions(link=f"dgram:{theirs},{ours}"), free_running=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as peer:
        peer.bind(str(ours))
        peer.connect(str(theirs))
        exchange(peer, stream=False)
        simulation.close()
    assert not theirs.exists()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_inherited_descriptor_is_a_link(start_echo, kind):
    peer, other = socket.socketpair(socket.AF_UNIX, kind)
    with peer, other:
        descriptor = other.fileno()
        simulation = start_echo(
            PortOptions(link=f"fd:{descriptor}"), free_running=True, pass_fds=[descriptor]
        )
        exchange(peer, stream=kind == socket.SOCK_STREAM)
        simulation.close()


def test_peer_that_does_not_read_stalls_the_device_and_loses_nothing(start_echo):
    peer, other = socket.socketpair()
    count = 150
    with peer, other:
        peer.settimeout(PEER_SECONDS)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        simulation = start_echo(
            PortOptions(link=f"fd:{other.fileno()}"), free_running=True, pass_fds=[other.fileno()]
        )
        for i in range(count):
            simulation.port(0).inject(struct.pack(">Q", i) + bytes(1492))
        before = -1
        while (now := simulation.statistics().ports[0].frames_out) != before or now == 0:
            before = now
        assert before < count
        for i in range(count):
            frame = receive_framed(peer)
            assert frame[6:12] + frame[:2] == struct.pack(">Q", i), f"frame {i}"
        simulation.close()


def test_peer_that_goes_away_is_an_error(start_echo):
    peer, other = socket.socketpair()
    with other:
        simulation = start_echo(
            PortOptions(link=f"fd:{other.fileno()}"), free_running=True, pass_fds=[other.fileno()]
        )
    peer.close()
    with pytest.raises(SimulationError, match="link socket: the peer closed the connection"):
        simulation.wait(lambda: False, timeout=PEER_SECONDS)


def test_hostile_length_from_the_peer_is_an_error(start_echo):
    peer, other = socket.socketpair()
    with peer, other:
        simulation = start_echo(
            PortOptions(link=f"fd:{other.fileno()}"), free_running=True, pass_fds=[other.fileno()]
        )
        peer.sendall(b"\xff\xff\xff\xff")
        with pytest.raises(SimulationError, match="frame of 4294967295 bytes"):
            simulation.wait(lambda: False, timeout=PEER_SECONDS)


def write_capture(path: Path, stamps_ns: list[int]) -> None:
    with PcapWriter(str(path), linktype=1, nano=True) as writer:
        writer.write_header(None)
        for i, stamp in enumerate(stamps_ns):
            writer.write_packet(
                bytes([i]) * 80, sec=stamp // 10**9, usec=stamp % 10**9, caplen=80, wirelen=80
            )


@pytest.mark.parametrize("suffix", ["", ",back-to-back"])
def test_replay_keeps_the_capture_pace_in_simulated_time(start_echo, tmp_path, suffix):
    start_ns = 1_700_000_000 * 10**9
    offsets = [0, 5_000, 5_001, 1_000_000]
    write_capture(tmp_path / "in.pcap", [start_ns + offset for offset in offsets])
    out = tmp_path / "out.pcapng"
    link = f"pcap:{tmp_path / 'in.pcap'}{suffix}"
    simulation = start_echo(PortOptions(link=link, capture=out))
    assert simulation.run(cycles=200_000).reason == Until.CYCLES
    simulation.close()
    with RawPcapNgReader(str(out)) as reader:
        packets = [(meta.direction, meta.tshigh << 32 | meta.tslow, data) for data, meta in reader]
    inbound = [time for direction, time, _ in packets if direction == 1]
    outbound = [data for direction, _, data in packets if direction == 2]
    assert outbound == [echoed(bytes([i]) * 80) for i in range(len(offsets))]
    if suffix:
        assert inbound[-1] < 2_000
    else:
        for offset, time in zip(offsets, inbound, strict=True):
            assert offset <= time <= offset + 400


def test_a_line_says_in_the_capture_what_it_has_done(start_echo, tmp_path):
    sent, out = 60, tmp_path / "out.pcapng"
    write_capture(tmp_path / "in.pcap", [0] * sent)
    line = "line:rate=10000000000,loss=200000000,twice=300000000,seed=3"
    simulation = start_echo(PortOptions(link=f"{line};pcap:{tmp_path / 'in.pcap'}", capture=out))
    assert simulation.run(cycles=50_000).reason == Until.CYCLES
    (statistics,) = simulation.statistics().ports
    simulation.close()
    with RawPcapNgReader(str(out)) as reader:
        told = Counter((meta.direction, *(meta.comments or ())) for _, meta in reader)
    doubled = told[1, b"arrives twice"] // 2
    assert doubled > 5 and told[1, b"arrives twice"] % 2 == 0
    assert told[1,] == sent - statistics.dropped_in - doubled
    assert told[2, b"lost on the line"] == statistics.dropped_out > 5
    assert told[2, b"arrives twice"] > 5
    assert sum(n for (way, *_), n in told.items() if way == 2) == statistics.frames_in


def test_replay_of_something_that_is_no_capture_is_an_error(start_echo, tmp_path):
    path = tmp_path / "not.pcap"
    path.write_text("not a capture at all")
    with pytest.raises(SimulationError, match=r"link pcap:.*unknown file format"):
        start_echo(PortOptions(link=f"pcap:{path}"))
