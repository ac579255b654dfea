# SPDX-License-Identifier: BSD-2-Clause
"""What a case keeps of its device's requests can be asked of another device, life by life."""

from __future__ import annotations

from pathlib import Path

from roceproof.conformance.capture.reader import read
from roceproof.conformance.nic.lanes import asked
from roceproof.conformance.nic.named_memory import NamedMemory
from roceproof.conformance.nic.replay import replay
from roceproof.conformance.runner.judging.evidence import keep_requests
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.work import Op

MTU = 256
KEY, OTHER, WRONG = 1, 2, 3


def kept(path: Path, *, messages: int) -> Path:
    """The capture of a case in which a connection starts anew, which ends its PSNs."""
    factory = ModelFactory()
    with factory.device(CasePlace(name="case", seed=1)) as target:
        bench = Bench(target, factory.claims, seed=1)
        qp = bench.connect(path_mtu=MTU)
        for _ in range(messages):
            qp.transfer(Op.WRITE, 3 * MTU + 1)
        if messages:
            qp.reconnect()
            qp.transfer(Op.SEND, 5)
        keep_requests(bench.transcript, path)
    return path


def test_each_life_of_a_connection_is_a_queue_pair_of_its_own(tmp_path: Path) -> None:
    requests = asked(read(kept(tmp_path / "requests" / "case.pcapng", messages=3)))
    assert requests.left_out == 0
    writes, send = requests.lanes
    assert (len(writes.requests), writes.path_mtu, writes.receives) == (3 * 4, MTU, 0)
    assert (len(send.requests), send.receives, send.longest) == (1, 1, 5)
    told = replay(requests, ModelFactory())["lanes"]
    assert [list(lane["answers"].values()) for lane in told] == [
        [["ACK, message 1"], ["ACK, message 2"], ["ACK, message 3"]],
        [["ACK, message 1"]],
    ]


def test_a_case_whose_device_has_asked_for_nothing_leaves_no_capture(tmp_path: Path) -> None:
    assert not kept(tmp_path / "case.pcapng", messages=0).exists()


def test_regions_far_apart_lie_side_by_side_each_at_its_place_in_the_page() -> None:
    memory = NamedMemory()
    high, low = 0x7708_C773_EAC9_4F10, 0x1000_0008
    memory.name(high, 100, KEY)
    memory.name(high + 50, 100, KEY)
    memory.name(low, 5000, OTHER)
    assert memory.place(high + 1, 1, KEY) == (0xF11, True)
    assert memory.place(low, 4, OTHER) == (0x1008, True)
    assert memory.size == 0x1008 + 5000


def test_a_key_that_names_what_a_more_common_one_does_is_wrong() -> None:
    memory = NamedMemory()
    for key in (WRONG, KEY, KEY):
        memory.name(0x2000, 8, key)
    assert memory.place(0x2000, 8, KEY) == (0, True)
    assert memory.place(0x2004, 4, WRONG) == (4, False)
    assert memory.size == 8


def test_a_request_of_no_bytes_names_no_memory() -> None:
    memory = NamedMemory()
    memory.name(0x2000, 0, KEY)
    assert (memory.size, memory.place(0x2000, 0, WRONG)) == (1, (0, True))
