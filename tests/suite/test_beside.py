# SPDX-License-Identifier: BSD-2-Clause
"""What a WRITE leaves behind its end is told as that, whatever the case is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roceproof.conformance.cases.test_responder_memory import (
    test_nothing_beside_the_range_is_written as beside,
)
from roceproof.conformance.cases.test_responder_sequence import (
    test_pad_bytes_may_be_anything_and_are_never_delivered as pads,
)
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.responder.connected import OpenMessage
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.opcodes import Family
from roceproof.verbs.service import Service


class WritesPairs(RcResponder):
    """Memory is written two bytes at a time: the byte behind an odd end gets the pad."""

    def place(self, message: OpenMessage, data: bytes) -> None:
        end = message.address + message.done + len(data)
        super().place(message, data)
        region = self.memory.region(message.rkey)
        if message.family is Family.WRITE and end % 2 and region is not None:
            region.write(end - region.addr, b"\0")


@pytest.mark.parametrize("case", [lambda bench: pads(bench, 5), beside], ids=["pads", "lanes"])
def test_a_byte_behind_an_odd_end_is_memory_that_was_not_addressed(
    case: Callable[[Bench], None],
) -> None:
    responders = {**RESPONDERS, Service.RC: WritesPairs}
    source = ModelFactory(components=Components(responders=responders))
    place = CasePlace(name="beside", seed=1)
    with source.device(place) as target, pytest.raises(CaseFailed) as failed:
        case(Bench(target, source.claims, seed=1))
    assert failed.value.rules == ("RETH-12",)
