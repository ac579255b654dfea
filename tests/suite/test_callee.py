# SPDX-License-Identifier: BSD-2-Clause
"""A peer that is called hears the call, whatever the device still says of connections before."""

from __future__ import annotations

from dataclasses import replace

from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.passive_peer import Callee
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import build, parse

LATE = 2


class Late(ForwardingTarget):
    """Says twice that it has given up another connection, before the first thing that it says."""

    late: list[Arrival] | None = None

    def receive(self, timeout_ns: int) -> Arrival | None:
        if self.late is None:
            arrival = self._inner.receive(timeout_ns)
            packet = parse(arrival.frame) if arrival else None
            assert arrival
            assert packet
            fields = {"remote_id": 0x393D71B9, "reason": 4}
            mad = CmMessage(Attribute.REJ, 0xB9713D39, fields).pack()
            rejected = build(replace(packet, payload=mad))
            self.late = [*[Arrival(arrival.time_ns, rejected)] * LATE, arrival]
        return self.late.pop(0) if self.late else self._inner.receive(timeout_ns)


def test_what_the_device_still_says_of_a_connection_before_is_no_answer_to_the_call() -> None:
    factory = ModelFactory()
    with factory.device(CasePlace(name="case", seed=1)) as target:
        late = Late(target)
        callee = Callee(Bench(late, factory.claims, seed=1))
        assert callee.request.attribute is Attribute.REQ
        assert late.late == []
        callee.answer()
