# SPDX-License-Identifier: BSD-2-Clause
"""A server on a device: what it does for each kind of tool, and what it finds wrong at the end."""

from __future__ import annotations

from dataclasses import replace

import pytest
from two_ends import CLIENT, Introduced, TwoEnds, settle

from roceproof.conformance.interop.answering import WriteBack, Writer
from roceproof.conformance.interop.dialogues import End
from roceproof.conformance.interop.roles import Echo, Memory, Receiver, Role
from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.interop.station import MOST_AT_ONCE
from roceproof.conformance.targets.interface import Arrival, TargetError
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

SIZE, COUNT = 700, 3
PAYLOAD = bytes(range(256)) * 3


def scenario(role: type[Role], service: Service = Service.RC, path_mtu: int = 256) -> Scenario:
    return Scenario(
        name="a tool",
        command="tool",
        service=service,
        dialogue=Introduced,
        role=role,
        size=SIZE,
        count=COUNT,
        path_mtu=path_mtu,
    )


def send(number: int, size: int = SIZE) -> Work:
    return Work(wr_id=number, op=Op.SEND, data=PAYLOAD[number : number + size])


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_an_echo_sends_back_what_came(service: Service) -> None:
    ends = TwoEnds(scenario(Echo, service))
    region = ends.client.register(SIZE)
    for number in range(COUNT):
        ends.client.post_receive(ends.qp, wr_id=90, region=region, length=SIZE)
        done = ends.post(send(number))
        assert {outcome.status for outcome in done} == {"success"}
        assert region.read(0, SIZE) == PAYLOAD[number : number + SIZE]
    assert ends.station.lack() == ""


def test_messages_that_did_not_come_are_missed() -> None:
    ends = TwoEnds(scenario(Receiver))
    ends.post(send(1))
    assert ends.station.lack() == "1 of 3 messages came"


def test_a_message_of_another_length_is_no_success() -> None:
    ends = TwoEnds(scenario(Receiver))
    for number in range(COUNT):
        ends.post(send(number, SIZE - number // 2))
    assert ends.station.lack() == f"message 2 has {SIZE - 1} bytes"


def test_a_datagram_lies_behind_room_for_a_header() -> None:
    ends = TwoEnds(scenario(Receiver, Service.UD, path_mtu=1024))
    for number in range(COUNT):
        to = {"datagram_qpn": 0x11, "datagram_qkey": 0x11111111}
        ends.post(Work(wr_id=number, op=Op.SEND, data=PAYLOAD[:SIZE], **to))
    assert ends.station.lack() == ""


@pytest.mark.parametrize("number", [77, 0])
def test_a_receive_that_nobody_posted_or_that_completed_before_is_found(number: int) -> None:
    ends = TwoEnds(scenario(Echo))
    region = ends.client.register(SIZE)
    ends.client.post_receive(ends.qp, wr_id=90, region=region, length=SIZE)
    ends.post(send(0))
    told = [Outcome(wr_id=number, status="success", is_receive=True, byte_len=SIZE)]
    ends.server.completions = lambda qp, *, count, timeout_ns: told  # type: ignore[method-assign]
    ends.station.run(is_idle=True)
    why = f"receive {number} completed, which is not posted"
    assert ends.station.lack() == why


def written(ends: TwoEnds, offset: int = 5) -> Work:
    addr, rkey = ends.theirs.addr + offset, ends.theirs.rkey
    return Work(wr_id=1, op=Op.WRITE, data=PAYLOAD[:SIZE], remote_addr=addr, rkey=rkey)


def test_memory_is_what_was_written() -> None:
    ends = TwoEnds(scenario(Memory))
    assert ends.post(written(ends))[0].status == "success"
    assert ends.station.lack() == ""


def test_memory_that_was_never_written_so_is_found() -> None:
    ends = TwoEnds(scenario(Memory))
    ends.post(written(ends))
    ends.station.servers.all[0].role.region.write(5 + 300, b"\0\0")
    assert ends.station.lack() == "memory is not what was sent, from byte 305 on"


def test_a_write_that_was_lost_and_acknowledged_is_found() -> None:
    ends = TwoEnds(scenario(Memory))
    held = ends.station.servers.all[0].role.region.read(5, SIZE)
    ends.post(written(ends))
    ends.station.servers.all[0].role.region.write(5, held)
    assert ends.station.lack() == "memory is not what was sent, from byte 5 on"


def test_a_read_is_answered_with_what_is_there() -> None:
    ends = TwoEnds(scenario(Memory))
    into = ends.client.register(SIZE)
    ends.post(
        Work(
            wr_id=1,
            op=Op.READ,
            into=into,
            length=SIZE,
            remote_addr=ends.theirs.addr + 9,
            rkey=ends.theirs.rkey,
        )
    )
    assert into.read(0, SIZE) == ends.station.servers.all[0].role.region.read(9, SIZE)
    assert ends.station.lack() == ""


def test_a_read_that_is_answered_with_something_else_is_found() -> None:
    ends = TwoEnds(scenario(Memory))
    ends.station.servers.all[0].role.region.write(9 + 300, b"\0\0\0")
    into = ends.client.register(SIZE)
    addr, rkey = ends.theirs.addr + 9, ends.theirs.rkey
    ends.post(
        Work(wr_id=1, op=Op.READ, into=into, length=SIZE, remote_addr=addr, rkey=rkey),
    )
    assert ends.station.lack() == "the READ response with PSN 0xffffff has other bytes than memory"


def atomic(ends: TwoEnds, op: Op, compare: int = 0) -> Work:
    return Work(
        wr_id=1,
        op=op,
        into=ends.client.register(8),
        remote_addr=ends.theirs.addr + 8,
        rkey=ends.theirs.rkey,
        swap_or_add=3,
        compare=compare,
        length=8,
    )


def test_atomics_change_memory_once() -> None:
    ends = TwoEnds(scenario(Memory))
    held = int.from_bytes(ends.station.servers.all[0].role.region.read(8, 8), "little")
    ends.post(atomic(ends, Op.FETCH_ADD))
    ends.post(atomic(ends, Op.CMP_SWAP, compare=held))
    ends.post(atomic(ends, Op.CMP_SWAP, compare=held + 3))
    assert ends.station.servers.all[0].role.region.read(8, 8) == bytes((3, *bytes(7)))
    assert ends.station.lack() == ""


@pytest.mark.parametrize("away", [-(1 << 20), -4, 1 << 20])
def test_an_atomic_outside_of_memory_changes_nothing(away: int) -> None:
    ends = TwoEnds(scenario(Memory))
    work = replace(atomic(ends, Op.FETCH_ADD), remote_addr=ends.theirs.addr + away)
    assert ends.post(work)[0].status != "success"
    assert ends.station.lack() == ""


def test_an_atomic_that_returns_something_else_is_found() -> None:
    ends = TwoEnds(scenario(Memory))
    ends.station.servers.all[0].role.region.write(8, bytes(8))
    ends.post(atomic(ends, Op.FETCH_ADD))
    assert ends.station.lack() == "the atomic with PSN 0xfffffe returned 0x0"


def test_a_frame_that_is_lost_and_repeated_is_no_fault() -> None:
    lost: list[int] = []

    def wire(frame: bytes) -> bytes | None:
        packet = parse(frame)
        if packet is not None and packet.bth.psn == 0xFFFFFF and not lost:
            lost.append(packet.bth.psn)
            return None
        return frame

    ends = TwoEnds(scenario(Memory), wire=wire)
    assert ends.post(written(ends))[0].status == "success"
    assert lost and ends.station.lack() == ""


def test_a_client_that_never_told_its_queue_pair_is_no_success() -> None:
    ends = TwoEnds(scenario(Memory))
    from roceproof.conformance.interop.station import Station

    assert Station(ends.server, ends.scenario).lack() == "nobody asked for a queue pair"


def test_a_server_writes_first_and_in_turn() -> None:
    ends = TwoEnds(scenario(WriteBack))
    buffer = ends.client.register(SIZE)
    for _ in range(2):  # with the second the client has connected
        ends.tell(rkey=buffer.rkey, addr=buffer.addr)
    settle(ends.client, ends.station)
    for number in range(1, COUNT + 1):
        assert buffer.read(SIZE - 1, 1) == bytes([number])
        assert ends.station.lack() == f"{number - 1} of {COUNT} messages came"
        data = PAYLOAD[: SIZE - 1] + bytes([number])
        addr, rkey = ends.theirs.addr, ends.theirs.rkey
        ends.post(Work(wr_id=number, op=Op.WRITE, data=data, remote_addr=addr, rkey=rkey))
    assert ends.station.lack() == ""


def test_a_server_writes_at_the_same_time() -> None:
    ends = TwoEnds(scenario(Writer))
    buffer = ends.client.register(SIZE)
    ends.tell(rkey=buffer.rkey, addr=buffer.addr)
    ends.post(written(ends))
    assert ends.station.lack() == f"0 of {COUNT} messages came"
    ends.tell(rkey=buffer.rkey, addr=buffer.addr)
    settle(ends.client, ends.station)
    assert ends.station.lack() == ""
    # It sends from where the client's WRITE went.
    assert buffer.read(5, SIZE - 5) == PAYLOAD[: SIZE - 5]


def test_several_queue_pairs_have_a_server_each() -> None:
    ends = TwoEnds(replace(scenario(Memory), qps=2))
    first = ends.theirs
    own = ends.client.open(replace(ends.qp.spec, remote_qpn=0x12))
    second = Introduced.latest(End(CLIENT, own.qpn, ends.qp.spec.sq_psn))
    assert (first.qpn, second.qpn) == (0x11, 0x12) and first.rkey != second.rkey
    ends.post(written(ends))
    assert ends.station.lack() == ""
    work = Work(wr_id=1, op=Op.WRITE, data=b"abc", remote_addr=second.addr, rkey=second.rkey)
    ends.client.post(own, work)
    settle(ends.client, ends.station)
    region = ends.station.servers.all[1].role.region
    assert region.read(0, 3) == b"abc" and ends.station.lack() == ""
    region.write(1, b"x")
    assert ends.station.lack() == "memory is not what was sent, from byte 1 on"
    with pytest.raises(TargetError, match="more queue pairs than"):
        Introduced.latest(End(CLIENT, 0x99, 0))


def test_a_queue_pair_that_was_never_asked_for_is_missed() -> None:
    assert (
        TwoEnds(replace(scenario(Memory), qps=2)).station.lack() == "nobody asked for a queue pair"
    )


def test_a_device_that_never_stops_sending_is_left_now_and_then() -> None:
    ends = TwoEnds(scenario(Memory))
    ends.server.receive = lambda timeout_ns: Arrival(0, bytes(60))  # type: ignore[method-assign]
    assert len(ends.station.run(is_idle=True)) == MOST_AT_ONCE
