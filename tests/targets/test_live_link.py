# SPDX-License-Identifier: BSD-2-Clause
"""The wire to a running kernel, with a hand-made kernel at its other end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from roceproof.conformance.targets.verbs.live_link import Wire
from roceproof.conformance.targets.verbs.ports import PortGone, StreamPort
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.neighbours import is_advertised, solicit
from roceproof.verbs.addresses import Host

DEVICE = Host(bytes.fromhex("525400770002"), bytes((10, 77, 0, 2)))
PLAYED = Host(bytes.fromhex("020000000b02"), bytes((10, 77, 0, 102)))
DEVICE6 = Host(DEVICE.mac, bytes.fromhex("fd77" + "00" * 13 + "02"))
PLAYED6 = Host(PLAYED.mac, bytes.fromhex("fd77" + "00" * 13 + "66"))
STRANGER = bytes.fromhex("020000000099")
TAG = bytes.fromhex("81006007")
SECOND = 1_000_000_000
INSTANT = 20_000_000


class Kernel:
    """The far end of a stream port."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self.wire = Wire(StreamPort(path))
        self._stream = self._listener.accept()[0]
        self._stream.settimeout(5)

    def say(self, *frames: bytes) -> None:
        self._stream.sendall(b"".join(len(f).to_bytes(4, "big") + f for f in frames))

    def say_raw(self, data: bytes) -> None:
        self._stream.sendall(data)

    def hear(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "big"))

    def hang_up(self) -> None:
        self._stream.close()

    def close(self) -> None:
        self.wire.close()
        self._stream.close()
        self._listener.close()

    def _exactly(self, count: int) -> bytes:
        return self._stream.recv(count, socket.MSG_WAITALL)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    started = Kernel(tmp_path / "wire")
    yield started
    started.close()


def ipv4(to: bytes, protocol: int, *, port: int = 0) -> bytes:
    header = bytes.fromhex("45000028000040004000") + bytes(2) + DEVICE.ip + PLAYED.ip
    packet = header[:9] + bytes([protocol]) + header[10:]
    return to + DEVICE.mac + b"\x08\x00" + packet + b"\xc0\0" + port.to_bytes(2, "big") + bytes(24)


ROCE = ipv4(STRANGER, 17, port=4791)


def test_frames_come_whole_however_the_stream_is_cut(kernel: Kernel) -> None:
    frames = [ROCE + bytes([n]) * n for n in (0, 1, 200)]
    data = b"".join(len(f).to_bytes(4, "big") + f for f in frames)
    for at in range(0, len(data), 7):
        kernel.say_raw(data[at : at + 7])
    arrivals = [kernel.wire.receive(SECOND) for _ in frames]
    assert [arrival.frame for arrival in arrivals if arrival] == frames


def test_a_short_frame_is_padded_with_zeros_as_a_real_card_would(kernel: Kernel) -> None:
    kernel.say(ROCE[:42] + b"\xff" * 16)
    arrival = kernel.wire.receive(SECOND)
    assert arrival
    assert arrival.frame == ROCE[:42] + b"\xff" * 16 + b"\0\0"


def test_what_is_sent_has_its_length_in_front(kernel: Kernel) -> None:
    kernel.wire.send(ROCE)
    assert kernel.hear() == ROCE
    assert kernel.wire.last_sent == ROCE


@pytest.mark.parametrize("tags", [b"", TAG])
@pytest.mark.parametrize(("asker", "asked"), [(DEVICE, PLAYED), (DEVICE6, PLAYED6)])
def test_a_question_after_a_played_host_is_answered_with_its_tags(
    kernel: Kernel, asker: Host, asked: Host, tags: bytes
) -> None:
    kernel.wire.play(asked)
    question = solicit(asker, asked.ip)
    kernel.say(question[:12] + tags + question[12:])
    reply = kernel.hear()
    assert reply[:12] == asker.mac + asked.mac
    assert reply[12 : 12 + len(tags)] == tags
    assert is_advertised(reply[:12] + reply[12 + len(tags) :], asked.ip)


@pytest.mark.parametrize("asker", [DEVICE, DEVICE6])
def test_a_question_after_somebody_else_is_not_answered(kernel: Kernel, asker: Host) -> None:
    kernel.wire.play(PLAYED)
    kernel.wire.play(PLAYED6)
    kernel.say(solicit(asker, asker.ip[:-1] + b"\x55"), solicit(asker, PLAYED.ip)[:30])
    kernel.say(solicit(DEVICE, PLAYED.ip))
    assert is_advertised(kernel.hear(), PLAYED.ip)


def test_a_host_that_moves_is_announced_and_one_that_stays_is_not(kernel: Kernel) -> None:
    for played in (PLAYED, PLAYED6):
        kernel.wire.play(played)
        kernel.wire.play(played)
        kernel.wire.play(played._replace(mac=STRANGER))
        told = kernel.hear()
        everyone = neighbours.BROADCAST if played is PLAYED else bytes.fromhex("333300000001")
        assert told[:12] == everyone + STRANGER


CHATTER = {
    "ARP": solicit(DEVICE, DEVICE.ip),
    "ICMPv6": solicit(DEVICE6, DEVICE6.ip),
    "ICMP": ipv4(PLAYED.mac, 1),
    "TCP": ipv4(PLAYED.mac, 6),
    "IP protocol 132": ipv4(PLAYED.mac, 132),
    "UDP": ipv4(STRANGER, 17, port=5353),
    "EtherType 0x88cc": STRANGER + DEVICE.mac + b"\x88\xcc" + bytes(46),
}


@pytest.mark.parametrize(("name", "frame"), CHATTER.items(), ids=list(CHATTER))
def test_the_hosts_own_traffic_is_left_out_and_counted_by_name(
    kernel: Kernel, name: str, frame: bytes
) -> None:
    kernel.wire.play(PLAYED)
    kernel.say(frame, frame, ROCE)
    arrival = kernel.wire.receive(SECOND)
    assert arrival
    assert arrival.frame == ROCE
    assert kernel.wire.host_traffic == {name: 2}


@pytest.mark.parametrize(
    "frame",
    [
        ROCE,
        ROCE[:12] + TAG + ROCE[12:],
        ipv4(PLAYED.mac, 17, port=0xB712),
        STRANGER + DEVICE.mac + b"\x89\x15" + bytes(60),
        STRANGER + DEVICE.mac + b"\x88\x08" + bytes(46),
    ],
    ids=["RoCE to a stranger", "tagged", "UDP to a played host", "RoCEv1", "pause"],
)
def test_what_a_device_may_be_blamed_for_is_handed_on(kernel: Kernel, frame: bytes) -> None:
    kernel.wire.play(PLAYED)
    kernel.say(frame)
    arrival = kernel.wire.receive(SECOND)
    assert arrival
    assert arrival.frame == frame


def test_the_wire_survives_whatever_it_is_told(kernel: Kernel) -> None:
    for host in (PLAYED, PLAYED6):
        kernel.wire.play(host)
    random = Random(1)
    seeds = [*CHATTER.values(), solicit(DEVICE6, PLAYED6.ip)]
    for _ in range(500):
        frame = bytearray(random.choice(seeds)[: random.randrange(80)].ljust(1, b"\0"))
        frame[random.randrange(len(frame))] = random.randrange(256)
        kernel.say(bytes(frame))
    kernel.say(ROCE)
    while (arrival := kernel.wire.receive(SECOND)) and arrival.frame != ROCE:
        pass
    assert arrival


def test_nothing_is_waited_for_beyond_the_deadline(kernel: Kernel) -> None:
    start = kernel.wire.now_ns
    assert kernel.wire.receive(INSTANT) is None
    kernel.wire.wait(INSTANT)
    assert not kernel.wire.ask(ROCE, lambda frame: True, timeout_ns=INSTANT)
    assert 3 * INSTANT <= kernel.wire.now_ns - start < SECOND


def test_what_came_before_the_end_is_handed_on_before_the_end_is_told(kernel: Kernel) -> None:
    kernel.say(ROCE)
    kernel.hang_up()
    assert kernel.wire.receive(SECOND)
    for _ in range(2):
        with pytest.raises(PortGone, match="ended"):
            kernel.wire.receive(60 * SECOND)
    with pytest.raises(PortGone):
        kernel.wire.wait(60 * SECOND)
    with pytest.raises(PortGone):
        kernel.wire.send(ROCE)


def test_a_kernel_that_takes_nothing_is_given_up(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roceproof.conformance.targets.verbs.ports.SEND_SECONDS", 0.05)
    with pytest.raises(PortGone, match="took no frame"):
        for _ in range(10_000):
            kernel.wire.send(ROCE * 100)


def test_a_restart_forgets_what_came_and_begins_the_clock_anew(kernel: Kernel) -> None:
    kernel.say(ROCE, CHATTER["TCP"])
    while not kernel.wire.host_traffic:
        kernel.wire.wait(INSTANT)
    before = kernel.wire.now_ns
    assert kernel.wire.restart() == 0
    assert kernel.wire.now_ns < before
    assert kernel.wire.host_traffic == {}
    assert kernel.wire.receive(0) is None
