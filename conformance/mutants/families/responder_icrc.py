# SPDX-License-Identifier: BSD-2-Clause
"""Responders that seal what they send themselves otherwise than data."""

from roceproof.conformance.mutants.frames import response_of
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.frame_edits import layout_of
from roceproof.conformance.wire.framing import ICRC_BYTES

_ACKNOWLEDGE = 0x11


@wire_mutant("ack-template-sealed-once", expected=["ICRC-18"])
class AckTemplateSealedOnce(WireFault):
    """ACKs are made from a template whose ICRC was computed for the first of them."""

    _seal: bytes | None = None

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = response_of(frame)
        if bth is None or bth.opcode != _ACKNOWLEDGE:
            return [frame]
        end = layout_of(frame).end
        self._seal = self._seal or icrc.compute(frame)
        return [frame[: end - ICRC_BYTES] + self._seal + frame[end:]]
