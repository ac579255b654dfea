# SPDX-License-Identifier: BSD-2-Clause
"""Cases that ask for much at once stay within what was agreed, and want no ACK that need not be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roceproof.conformance.cases import test_responder_atomic as atomic
from roceproof.conformance.cases import test_responder_read as read
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES, Family
from roceproof.verbs.queue_pair import Qp, QpSpec

ACK = 0x11
CASES = [
    atomic.test_an_atomic_has_its_turn_between_writes_and_reads,
    read.test_a_read_sees_the_write_in_front_of_it_and_perhaps_the_one_behind,
]


def opcode_of(frame: bytes) -> int:
    packet = parse(frame)
    return -1 if packet is None else packet.bth.opcode


class Slow(ForwardingTarget):
    """Answers when it is looked at, and with no ACK that a later answer stands for."""

    most = 0
    agreed = 0
    _asked = 0

    def open(self, spec: QpSpec) -> Qp:
        self.agreed = spec.max_dest_rd_atomic
        return super().open(spec)

    def send(self, frame: bytes) -> None:
        row = OPCODES.get(opcode_of(frame))
        self._asked += row is not None and row.family in (Family.READ, Family.ATOMIC)
        self.most = max(self.most, self._asked)
        super().send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        self._asked = 0
        arrival = super().receive(timeout_ns)
        while arrival is not None and opcode_of(arrival.frame) == ACK:
            later = super().receive(self.patience.quiet_ns)
            if later is None:
                return arrival
            arrival = later
        return arrival


@pytest.mark.parametrize("case", CASES)
def test_a_slow_device_that_says_little_is_not_accused(case: Callable[[Bench], None]) -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="slow", seed=1)) as device:
        slow = Slow(device)
        case(Bench(slow, factory.claims, seed=1))
    assert 1 < slow.most <= slow.agreed
