# SPDX-License-Identifier: BSD-2-Clause
"""A packet as the transport sees it: BTH, extension headers and payload, without addresses."""

from dataclasses import dataclass
from typing import TypeVar

from roceproof.conformance.wire.headers import Bth, Extension
from roceproof.conformance.wire.opcodes import OPCODES, Opcode

_E = TypeVar("_E", bound=Extension)


@dataclass(frozen=True, slots=True)
class Segment:
    """One packet. `bth.pad_count` and the payload without its pad must agree."""

    bth: Bth
    extensions: tuple[Extension, ...] = ()
    payload: bytes = b""

    @property
    def row(self) -> Opcode | None:
        """The opcode's row, None if it is reserved."""
        return OPCODES.get(self.bth.opcode)

    def is_whole(self, row: Opcode) -> bool:
        """Whether it has all headers of its opcode's row."""
        return len(self.extensions) >= len(row.headers)

    @property
    def psn(self) -> int:
        return self.bth.psn

    def extension(self, kind: type[_E]) -> _E | None:
        """The extension header of that kind, if the packet has one."""
        return next((found for found in self.extensions if isinstance(found, kind)), None)
