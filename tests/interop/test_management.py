# SPDX-License-Identifier: BSD-2-Clause
"""Clients that ask for their connections: the bench's QP1, and the servers that live on it."""

from __future__ import annotations

from struct import Struct

import pytest
from two_ends import CLIENT, SERVER, settle

from roceproof.conformance.interop.answering import Opener, Rping
from roceproof.conformance.interop.dialogues import Dialogue, PerftestByManagement
from roceproof.conformance.interop.roles import Memory, Role
from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.interop.station import Station
from roceproof.conformance.model.device import Device
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

PORT = 7174
SERVICE = 0x0106_0000 | PORT
KEY = Struct("!4II4xQ16s2I")
INFO = Struct(">QII")
SIZE, COUNT, RECEIVES = 100, 2, 8


class Asking:
    """A client of the model's that is connected by the model's own connection manager."""

    def __init__(self, role: type[Role], *, size: int, dialogue: type[Dialogue] | None = None):
        self.target = ModelTarget(Device(CLIENT))
        scenario = Scenario(
            name="a tool",
            command="tool",
            service=Service.RC,
            role=role,
            dialogue=dialogue,
            size=size,
            count=COUNT,
            cm_port=PORT,
        )
        self.receives = self.target.register(256 * RECEIVES)
        self.station = Station(ModelTarget(Device(SERVER)), scenario)

    def call(self, service_id: int = SERVICE) -> Qp:
        spec = QpSpec(
            service=Service.RC,
            remote=SERVER,
            remote_qpn=0,
            rq_psn=0xFFFFFF,
            max_rd_atomic=4,
            max_dest_rd_atomic=4,
        )
        qp = self.target.call(service_id, spec)
        while self.state(qp) is State.INIT:  # REP makes the queue pair anew, without receives
            arrival = self.target.receive(20_000)
            for frame in self.station.take(arrival.frame) if arrival else ():
                self.target.send(frame)
        for number in range(RECEIVES):
            self.target.post_receive(
                qp, wr_id=number, region=self.receives, offset=number * 256, length=256
            )
        self.settle()
        return qp

    def settle(self) -> None:
        settle(self.target, self.station)

    def state(self, qp: Qp) -> State:
        return self.target.device.queue_pairs[qp.qpn].state

    def send(self, qp: Qp, data: bytes) -> None:
        self.target.post(qp, Work(wr_id=50, op=Op.SEND, data=data))
        self.settle()

    def heard(self, number: int, size: int) -> bytes:
        return self.receives.read(number * 256, size)


def test_a_service_that_nobody_offers_is_refused() -> None:
    asking = Asking(Memory, size=SIZE)
    assert asking.state(asking.call(SERVICE + 1)) is State.ERR
    assert asking.station.lack() == "nobody asked for a queue pair"


def test_a_request_that_was_damaged_is_not_heard() -> None:
    asking = Asking(Memory, size=SIZE)
    asking.target.call(SERVICE, QpSpec(service=Service.RC, remote=SERVER, remote_qpn=0))
    arrival = asking.target.receive(20_000)
    assert arrival is not None
    damaged = arrival.frame[:-1] + bytes([arrival.frame[-1] ^ 1])
    assert asking.station.take(damaged) == []
    assert len(asking.station.take(arrival.frame)) == 1


def test_rping_reads_and_writes_where_it_is_told() -> None:
    asking = Asking(Rping, size=INFO.size)
    qp = asking.call()
    assert asking.state(qp) is State.RTS
    source, sink = asking.target.register(SIZE), asking.target.register(SIZE)
    source.write(0, bytes(range(SIZE)))
    places: list[Region] = [source, sink]
    for number, place in enumerate(places):
        asking.send(qp, INFO.pack(place.addr, place.rkey, SIZE))
        done = asking.target.completions(qp, count=0, timeout_ns=0)
        assert [outcome.status for outcome in done] == ["success", "success"]
        assert asking.station.lack() == ("" if number else "1 of 2 messages came")
    assert sink.read(0, SIZE) == source.read(0, SIZE)
    asking.target.hang_up(qp)
    asking.settle()
    assert asking.station.lack() == ""


def test_rping_that_names_more_than_there_is_room_for_is_refused() -> None:
    asking = Asking(Rping, size=INFO.size)
    qp = asking.call()
    place = asking.target.register(70000)
    asking.send(qp, INFO.pack(place.addr, place.rkey, 70000))
    assert asking.station.lack() == "the client names 70000 bytes, more than 65536"


def test_a_server_that_speaks_first_hangs_up_when_all_is_said() -> None:
    asking = Asking(Opener, size=SIZE)
    qp = asking.call()
    assert [asking.heard(number, 1) for number in range(COUNT)] == [b"\0", b"\1"]
    asking.send(qp, bytes(SIZE))
    assert asking.state(qp) is State.RTS
    asking.send(qp, bytes(SIZE))
    assert asking.state(qp) is State.ERR
    assert asking.station.lack() == ""


@pytest.mark.parametrize("word", [b"6.06" + bytes(12), b"5\0"])
def test_a_perftest_talks_on_a_connection_before_its_own(word: bytes) -> None:
    asking = Asking(Memory, size=SIZE, dialogue=PerftestByManagement)
    talk = asking.call()
    asking.send(talk, word)
    assert asking.heard(0, len(word)) == word
    own = asking.call()
    key = (0, 1, own.qpn, 5, 77, 88, bytes(16), 0, 1)
    asking.send(talk, KEY.pack(*key))
    _, reads, qpn, _, rkey, addr, gid, _, index = KEY.unpack(asking.heard(1, KEY.size))
    assert (reads, qpn, index) == (4, 0x12, 1) and gid.endswith(SERVER.ip)
    asking.target.post(
        own, Work(wr_id=1, op=Op.WRITE, data=b"to be kept", remote_addr=addr, rkey=rkey)
    )
    asking.settle()
    assert asking.station.servers.all[0].role.region.read(0, 10) == b"to be kept"
    assert asking.station.servers.all[0].role.theirs.rkey == 77
    assert asking.station.lack() == ""
