# SPDX-License-Identifier: BSD-2-Clause
"""Regions keep apart, and receives and their queues what they promise."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.memory import FOREIGN_DOMAIN, OWN_DOMAIN, Memory
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue


@pytest.mark.parametrize("size", [1, 4096, 65536, 200_000])
def test_regions_have_nobody_beside_them(size: int):
    memory = Memory()
    one, other = memory.register(size), memory.register(8)
    assert abs(other.rkey - one.rkey) > 1
    for rkey in (one.rkey, other.rkey):
        assert not memory.permitted(rkey, one.addr + size, 1, right="remote_read")
        assert not memory.permitted(rkey, other.addr - 1, 1, right="remote_read")
    assert one.addr % 4096 == other.addr % 4096 == 0


def test_a_mirror_has_the_address_and_key_that_it_is_given():
    region = Memory().register(8, addr=0x1234, rkey=0x99)
    assert (region.addr, region.rkey, region.read(0, 8)) == (0x1234, 0x99, bytes(8))


@pytest.mark.parametrize("offset", [-1, 5, 8])
def test_nobody_writes_outside_a_region(offset: int):
    region = Memory().register(8)
    with pytest.raises(IndexError):
        region.write(offset, b"four")
    region.write(4, b"four")
    assert region.read(0, 8) == bytes(4) + b"four"


@pytest.mark.parametrize(
    ("offset", "length", "usable"),
    [(0, 8, True), (4, 4, True), (8, 0, True), (-1, 4, False), (5, 4, False), (0, 9, False)],
)
def test_a_receive_lies_in_its_region(offset: int, length: int, usable: bool):
    region = Memory().register(8)
    assert Receive(1, region, offset, length).usable(OWN_DOMAIN) == usable
    assert not Receive(1, region, offset, length).usable(FOREIGN_DOMAIN)


def test_a_queue_is_flushed_once():
    region = Memory().register(8)
    queue = ReceiveQueue()
    for number in range(3):
        queue.post(Receive(number, region, 0, 8))
    assert [one.wr_id for one in queue.flush()] == [0, 1, 2]
    assert queue.flush() == [] and queue.head is None


def test_a_receive_in_use_ends_once_however_often_its_queue_pair_fails():
    rc = ResponderBench(receives=1)
    rc.asks("SEND FIRST", 0, pattern(P))
    rc.model.fail()
    rc.model.fail()
    assert [one.status for one in rc.outcomes] == ["wr_flush_err"]
