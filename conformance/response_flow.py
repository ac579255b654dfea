# SPDX-License-Identifier: BSD-2-Clause
"""Rules over the responses of one RC QP: ACK form, syndrome, message counter."""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.codec import Packet
from roceproof.conformance.findings import Violation
from roceproof.conformance.headers import Aeth
from roceproof.conformance.opcodes import OPCODES, Opcode, Payload
from roceproof.conformance.request_flow import PATH_MTUS, PSN_MODULUS

ACKNOWLEDGE = 0x11
_LAST_NAK_CODE = 4
_HALF = PSN_MODULUS // 2


class ResponseFlow:
    """The state of one (source, destination, destination QPN)."""

    def __init__(self, path_mtu: int | None = None) -> None:
        self._path_mtus = (path_mtu,) if path_mtu else PATH_MTUS
        self._latest: tuple[int, Aeth] | None = None

    def check(self, packet: Packet, row: Opcode) -> list[Violation]:
        """Judge the next response packet of the flow."""
        found = list(self._check_form(packet, row))
        aeth = packet.aeth
        if aeth is not None:
            found += self._check_syndrome(aeth, row)
            found += self._check_msn(packet.bth.psn, aeth)
        return found

    def _check_form(self, packet: Packet, row: Opcode) -> Iterator[Violation]:
        header = packet.bth
        if header.solicited or header.ack_req:
            which = "Solicited Event" if header.solicited else "AckReq"
            yield Violation("ACK-07", f"{row.name} without {which}", which)
        if row.payload is Payload.NONE and packet.payload:
            size = packet.udp_length - len(packet.payload)
            yield Violation("ACK-07", f"UDP length {size}", str(packet.udp_length))
        extra = len(packet.payload) - Aeth.SIZE
        if row is OPCODES[0x0E] and extra in self._path_mtus:
            yield Violation("AETH-01", f"{row.name} of {extra} bytes", "4 bytes more")

    def _check_syndrome(self, aeth: Aeth, row: Opcode) -> Iterator[Violation]:
        kind, value = aeth.syndrome >> 5, aeth.syndrome & 31
        defined = kind in (0, 1) or (kind == 3 and value <= _LAST_NAK_CODE)
        if not defined:
            yield Violation("AETH-02", "a defined syndrome", f"{aeth.syndrome:#04x}")
        elif kind != 0 and row.value != ACKNOWLEDGE:
            yield Violation("AETH-03", f"{row.name} with an ACK syndrome", f"{aeth.syndrome:#04x}")

    def _check_msn(self, psn: int, aeth: Aeth) -> Iterator[Violation]:
        previous, self._latest = self._latest, (psn, aeth)
        if previous is None:
            return
        psn_step = (psn - previous[0]) % PSN_MODULUS
        msn_step = (aeth.msn - previous[1].msn) % PSN_MODULUS
        # A NAK names a PSN whose message it has not counted yet.
        room = psn_step + (1 if previous[1].syndrome >> 5 else 0)
        if msn_step >= _HALF:
            yield Violation("MSN-02", f"MSN of at least {previous[1].msn}", str(aeth.msn))
        elif psn_step < _HALF and msn_step > room:
            limit = (previous[1].msn + room) % PSN_MODULUS
            yield Violation("MSN-02", f"MSN of at most {limit}", str(aeth.msn))
