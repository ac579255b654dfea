# SPDX-License-Identifier: BSD-2-Clause
"""Connection management in datagrams that are none of it: the observer sees what is wrong."""

from roceproof.conformance.mutants.frames import bth_of, edited
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.wire.frame_edits import Edit, resize, set_udp

_GENERAL_SERVICES_QPN = 1
_CLASS_VERSION_AT = 8 + 12 + 8 + 2  # UDP, BTH, DETH, and two bytes of the MAD


class EachMad(WireFault):
    """Changes every datagram to QP1 that leaves."""

    edit: Edit

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        is_mad = bth is not None and bth.dest_qpn == _GENERAL_SERVICES_QPN
        return [edited(frame, type(self).edit) if is_mad else frame]


@wire_mutant("mad-too-short", expected=["CM-01"])
class ShortMad(EachMad):
    """A MAD ends with its last used word."""

    edit = staticmethod(resize(-4))


@wire_mutant("mad-class-version-1", expected=["CM-02"])
class OldClassVersion(EachMad):
    """The class version of CM is 1."""

    edit = staticmethod(set_udp(_CLASS_VERSION_AT, b"\x01"))
