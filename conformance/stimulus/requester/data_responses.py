# SPDX-License-Identifier: BSD-2-Clause
"""What the far side answers READs and atomics with: good responses, and those that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from roceproof.conformance.model.requester.read_answers import (
    READ_FIRST,
    READ_LAST,
    READ_MIDDLE,
    READ_ONLY,
)
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.stimulus.requester.state import Awaited
from roceproof.conformance.suite.pattern import (
    ATOMIC_ACK,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    Pattern,
)
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import ATOMICS

_ATOMIC_ACK = 0x12
_MAKERS = {
    READ_FIRST: READ_RESP_FIRST,
    READ_MIDDLE: READ_RESP_MIDDLE,
    READ_LAST: READ_RESP_LAST,
    READ_ONLY: READ_RESP_ONLY,
}
_KINDS = (*_MAKERS, _ATOMIC_ACK)
_OTHER_BYTES = 0x5A
TWISTS = ("kind", "short", "long")
"""What may not fit about a response, all else being right."""
_AMID = {READ_FIRST: READ_MIDDLE, READ_ONLY: READ_LAST}
"""By what begins the answer to a READ that is asked for anew: what fits the first READ there."""


class DataResponse(NamedTuple):
    """One, and the PSN of the request that it answers."""

    pattern: Pattern
    request_psn: int
    is_odd: bool = False
    """Whether no responder sends such a one."""

    @property
    def psn(self) -> int:
        psn: int = self.pattern.said["psn"]
        return psn

    def of(self, syndrome: int) -> DataResponse:
        """The same with that credit code, if it has any."""
        if Aeth not in OPCODES[self.pattern.opcode].headers:
            return self
        return self._replace(pattern=self.pattern.but(syndrome=syndrome))

    def with_other_data(self) -> DataResponse:
        """The same with bytes that are nobody's."""
        said = self.pattern.said
        if self.pattern.opcode == _ATOMIC_ACK:
            return self._replace(pattern=self.pattern.but(original=said["original"] ^ _OTHER_BYTES))
        data = bytes(byte ^ _OTHER_BYTES for byte in said["payload"])
        return self._replace(pattern=self.pattern.but(payload=data))

    def twisted(self, twist: str, number: int) -> DataResponse:
        """One that does not fit its place, in one of its ways, with bytes that are nobody's."""
        said, kind = self.pattern.said, self.pattern.opcode
        data = self.with_other_data().pattern.said.get("payload", b"")
        if twist == "kind" or kind == _ATOMIC_ACK:
            fits = _AMID.get(kind) if self.psn != self.request_psn else None
            others = [each for each in _KINDS if each not in (kind, fits)]
            kind = others[number % len(others)]
        elif twist == "short" and data:
            data = data[: -(1 + number % min(4, len(data)))]
        else:
            data += bytes(1 + number % 4)
        pattern = _response(kind, said["psn"], data or bytes(8 * (kind != READ_ONLY)))
        return self._replace(pattern=pattern, is_odd=True)


def responses_to(
    awaited: Awaited, oldest: int, data: bytes, path_mtu: int
) -> Iterator[DataResponse]:
    """The good ones from the first on that has no answer yet, as they were asked for last."""
    work = awaited.work
    for offset in range(max(0, distance(oldest, awaited.psn)), awaited.span):
        psn = ahead(awaited.psn, offset)
        if work.op in ATOMICS:
            original = int.from_bytes(data, "little")
            yield DataResponse(ATOMIC_ACK(psn=psn, original=original), awaited.psn)
            continue
        begins, ends = offset in awaited.starts, offset == awaited.span - 1
        kind = (READ_MIDDLE, READ_LAST, READ_FIRST, READ_ONLY)[2 * begins + ends]
        part = data[offset * path_mtu : (offset + 1) * path_mtu]
        yield DataResponse(_response(kind, psn, part), awaited.psn)


def _response(kind: int, psn: int, data: bytes) -> Pattern:
    if kind == _ATOMIC_ACK:
        return ATOMIC_ACK(psn=psn, original=int.from_bytes(data[:8], "little"))
    return _MAKERS[kind](psn=psn, payload=data)
