# SPDX-License-Identifier: BSD-2-Clause
"""Single faults of coverage that are not looked for together with others.

There are too many combinations of faults already: each option that takes part in them costs as
much as all that it can be combined with.
"""

from __future__ import annotations

from dataclasses import dataclass

from roceproof.conformance.diagnosis.icrc.coverage import ALONE, Coverage, Option
from roceproof.conformance.diagnosis.icrc.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.engine import Engine


@dataclass(frozen=True)
class OddPart:
    """One option and an engine that is right."""

    option: Option

    @property
    def ids(self) -> tuple[str, ...]:
        """That of the option."""
        return (self.option.id,)

    @property
    def note(self) -> str:
        """That of the option."""
        return self.option.note

    def predict(self, packet: CrcInput) -> int | None:
        """The ICRC over what the option makes of the input."""
        feed = Coverage((self.option,)).feed(packet)
        data = feed.front + packet.masked + feed.extension + feed.payload + feed.pad
        return ETHERNET.run(data, Engine().start) ^ ONES


ODD_PARTS = tuple(map(OddPart, ALONE))
