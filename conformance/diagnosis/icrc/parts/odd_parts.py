# SPDX-License-Identifier: BSD-2-Clause
"""Single faults of coverage that are not looked for together with others.

There are too many combinations of faults already: each option that takes part in them costs as
much as all that it can be combined with.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from roceproof.conformance.diagnosis.icrc.parts.coverage import ALONE, OF_RESERVED, Coverage, Option
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine
from roceproof.conformance.wire.opcodes import OPCODES


@dataclass(frozen=True)
class OddPart:
    """One option and an engine that is right."""

    option: Option

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.option.id,)

    @property
    def note(self) -> str:
        return self.option.note

    def predict(self, packet: CrcInput) -> int | None:
        """The ICRC over what the option makes of the input."""
        feed = Coverage((self.option,)).feed(packet)
        return ETHERNET.run(b"".join(feed.over(packet.masked)), Engine().start) ^ ONES


def odd_parts(packets: Iterable[CrcInput]) -> Iterator[OddPart]:
    """All that may explain some of these packets."""
    yield from map(OddPart, ALONE)
    if any(packet.seen.bth.opcode not in OPCODES for packet in packets):
        yield from map(OddPart, OF_RESERVED)
