# SPDX-License-Identifier: BSD-2-Clause
"""How many READs and atomics a case has a device hold at once, or know again."""

from roceproof.conformance.model.responder.rc_answers import HOLDERS, held_span
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.conformance.wire.psn import distance


class ReadResources:
    """Of one life of a reliable queue pair; PSNs count from the first that the device expects."""

    def __init__(self, start: int, path_mtu: int) -> None:
        self._start = start
        self._path_mtu = path_mtu
        self._held: list[range] = []
        """The PSNs of the responses to each, in the order of the requests."""
        self._answered = -1
        """The last PSN of a response that came."""

    def needed_for(self, request: Packet) -> int:
        """As many the device must have, that it may answer this request; 0 for other requests."""
        row, psn = OPCODES.get(request.bth.opcode), distance(request.bth.psn, self._start)
        if row is None or row.family not in HOLDERS or row.is_response:
            return 0
        for place, psns in enumerate(reversed(self._held), start=1):
            if psn in psns:
                return place
            if psn >= psns.stop:
                break
        self._held.append(range(psn, psn + held_span(request, row, self._path_mtu)))
        return sum(psns[-1] > self._answered for psns in self._held)

    def came(self, response: Packet) -> None:
        """A packet of the device."""
        row = OPCODES.get(response.bth.opcode)
        if row is not None and row.is_response:
            self._answered = max(self._answered, distance(response.bth.psn, self._start))
