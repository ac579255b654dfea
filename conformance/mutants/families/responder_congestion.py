# SPDX-License-Identifier: BSD-2-Clause
"""Notification points with faults: what they send, to whom, and for which mark."""

from zlib import crc32

from roceproof.conformance.mutants.frames import bth_of, edited, with_bth
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import layout_of
from roceproof.conformance.wire.framing import ICRC_BYTES, UDP_BYTES, payload_of_ethernet

_CNP = 0x81
_CE = 3
_ECT_1 = 1
_PREFIX = 8  # bytes that stand for the absent LRH


class NotificationFault(WireFault):
    """Changes every CNP that leaves."""

    def changed(self, frame: bytes) -> bytes:
        """The CNP as it leaves."""
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        is_notification = bth is not None and bth.opcode == _CNP
        return [self.changed(frame) if is_notification else frame]


@wire_mutant("cnp-without-becn", expected=["CNP-10"])
class WithoutBecn(NotificationFault):
    """BECN is set in the packets and not in the CNP."""

    def changed(self, frame: bytes) -> bytes:
        return with_bth(frame, becn=False)


@wire_mutant("cnp-becn-not-masked", expected=["CNP-09"])
class BecnNotMasked(NotificationFault):
    """The ICRC covers BECN, which only a CNP has."""

    def changed(self, frame: bytes) -> bytes:
        layout = layout_of(frame)
        covered = bytearray(icrc.masked_input(frame))
        byte_4 = layout.udp + UDP_BYTES + 4
        covered[_PREFIX + byte_4 - layout.ip] = frame[byte_4]
        seal = crc32(covered).to_bytes(ICRC_BYTES, "little")
        return frame[: layout.end - ICRC_BYTES] + seal + frame[layout.end :]


@wire_mutant("cnp-for-ect-1", expected=["CNP-02"])
class ForEct1(WireFault):
    """ECT(1) is taken for CE."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        def mark(changed: bytearray) -> None:
            link = payload_of_ethernet(bytes(changed))
            if link is not None and changed[link[1] + 1] & _CE == _ECT_1:
                changed[link[1] + 1] |= _CE

        return [frame if parse(frame) is None else edited(frame, mark)]
