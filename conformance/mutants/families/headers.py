# SPDX-License-Identifier: BSD-2-Clause
"""Faults in the BTH of what is sent, and in what is made of the BTH of what comes."""

from roceproof.conformance.mutants.frames import bth_of, edited, request_of, response_of, with_bth
from roceproof.conformance.mutants.wire import WireFault, wire_mutant
from roceproof.conformance.suite.pattern import NO_CREDITS
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import resize, set_udp
from roceproof.conformance.wire.framing import Fault
from roceproof.conformance.wire.headers import Aeth

_SERVICE = 0xE0
_ACKNOWLEDGE = 0x11
_AETH_AT = 20  # from the UDP header
_DEFAULT_PKEY = 0xFFFF


class RequestField(WireFault):
    """Changes the BTH of every request that leaves."""

    def changed(self, frame: bytes) -> bytes:
        raise NotImplementedError

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if request_of(frame) is None else self.changed(frame)]


@wire_mutant("bth-rc-opcode-on-uc", expected=["BTH-01"])
class RcOpcodeOnUc(RequestField):
    """The opcode's service bits are those of RC, always."""

    def changed(self, frame: bytes) -> bytes:
        bth = request_of(frame)
        return with_bth(frame, opcode=bth.opcode & ~_SERVICE) if bth else frame


@wire_mutant("bth-solicited-on-all", expected=["BTH-02"])
class SolicitedEverywhere(RequestField):
    """Solicited Event is set on every packet of a message that asks for it, and stays set."""

    _is_set = False

    def changed(self, frame: bytes) -> bytes:
        bth = request_of(frame)
        self._is_set |= bth is not None and bth.solicited
        return with_bth(frame, solicited=self._is_set)


@wire_mutant("bth-pad-in-version", expected=["BTH-04"])
class PadInVersion(RequestField):
    """The pad count is written two bits too far down, into the transport version."""

    def changed(self, frame: bytes) -> bytes:
        bth = request_of(frame)
        return with_bth(frame, version=bth.pad_count, pad_count=0) if bth else frame


@wire_mutant("bth-pkey-of-reset", expected=["BTH-06"])
class PkeyOfReset(RequestField):
    """The P_Key register is never loaded."""

    def changed(self, frame: bytes) -> bytes:
        return with_bth(frame, pkey=0)


@wire_mutant("bth-mask-on-the-wire", expected=["BTH-08"])
class MaskOnTheWire(RequestField):
    """The byte with FECN and BECN leaves as the ICRC sees it, all ones."""

    def changed(self, frame: bytes) -> bytes:
        return with_bth(frame, fecn=True, becn=True, reserved6=0x3F)


@wire_mutant("bth-qpn-cut", expected=["BTH-10"])
class QpnOf16Bits(RequestField):
    """The peer's QPN is kept in a register of 16 bits."""

    def changed(self, frame: bytes) -> bytes:
        bth = request_of(frame)
        return with_bth(frame, dest_qpn=bth.dest_qpn & 0xFFFF) if bth else frame


@wire_mutant("bth-qpn-little-endian", expected=["BTH-14", "BTH-10"])
class QpnLittleEndian(RequestField):
    """The bytes of the destination QPN go out in the processor's order."""

    def changed(self, frame: bytes) -> bytes:
        bth = request_of(frame)
        if bth is None:
            return frame
        return with_bth(frame, dest_qpn=int.from_bytes(bth.dest_qpn.to_bytes(3, "big"), "little"))


@wire_mutant("tver-not-read", expected=["BTH-05"])
class VersionNotRead(WireFault):
    """Nobody looks at the transport version."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if bth_of(frame) is None else with_bth(frame, version=0)]


@wire_mutant("pkey-not-read", expected=["BTH-07"])
class PkeyNotRead(WireFault):
    """Nobody looks at the P_Key."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        return [frame if bth_of(frame) is None else with_bth(frame, pkey=_DEFAULT_PKEY)]


@wire_mutant("pkey-compared-in-16-bits", expected=["BTH-07"])
class PkeyComparedWhole(WireFault):
    """All bits of the P_Key are compared, that of the membership, too."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and bth.pkey != _DEFAULT_PKEY else [frame]


@wire_mutant("reserved-bits-compared", expected=["BTH-09"])
class ReservedCompared(WireFault):
    """A packet with a reserved bit set is dropped."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and (bth.reserved6 or bth.reserved7) else [frame]


@wire_mutant("reserved-bit-beside-psn-compared", expected=["BTH-09"])
class ReservedBesidePsn(WireFault):
    """The PSN is compared in 25 bits, the lowest reserved one included."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and bth.reserved7 & 1 else [frame]


@wire_mutant("migreq-zero-dropped", expected=["BTH-15"])
class MigreqZeroDropped(WireFault):
    """A packet that does not say migrated is taken for one of another path."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        return [] if bth is not None and not bth.migreq else [frame]


@wire_mutant("qpn-index-only", expected=["BTH-11"])
class QpnIndexOnly(WireFault):
    """The context is looked up by the low bits of the QPN, and the rest is not compared."""

    _LOW = 0xF

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        if bth is None:
            return [frame]
        found = self._numbers.setdefault(bth.dest_qpn & self._LOW, bth.dest_qpn)
        return [with_bth(frame, dest_qpn=found)]


@wire_mutant("service-not-compared", expected=["BTH-12"])
class ServiceNotCompared(WireFault):
    """Responses are decoded from five bits of the opcode."""

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = bth_of(frame)
        as_rc = None if bth is None else with_bth(frame, opcode=bth.opcode & ~_SERVICE)
        return [as_rc if as_rc and response_of(as_rc) else frame]


@wire_mutant("naks-heard-on-uc", expected=["BTH-12"])
class NaksHeardOnUc(WireFault):
    """The service of the QP is not compared with that of a NAK, which stops it.

    Once its peer has sent a NAK, a UC queue pair is as quiet as a failed one.
    """

    _is_stopped = False

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        aeth = packet.aeth if packet else None
        self._is_stopped |= aeth is not None and aeth.syndrome > 0x60
        return [frame]

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = request_of(frame)
        is_uc = bth is not None and bth.opcode & _SERVICE == 0x20
        return [] if is_uc and self._is_stopped else [frame]


@wire_mutant("short-headers-filled-up", expected=["BTH-16"])
class ShortHeadersFilledUp(WireFault):
    """A packet that ends in its headers is read on in what the buffer held before.

    The buffer holds the AETH of an ACK.
    """

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or packet.fault is not Fault.HEADERS:
            return [frame]
        if packet.bth.opcode != _ACKNOWLEDGE:
            return [frame]
        aeth = Aeth(NO_CREDITS, 1).pack()
        return [edited(frame, resize(Aeth.SIZE - len(packet.payload)), set_udp(_AETH_AT, aeth))]
