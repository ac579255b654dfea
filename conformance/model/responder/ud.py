# SPDX-License-Identifier: BSD-2-Clause
"""The responder of unreliable datagrams: each packet is a message, and nothing is answered.

A receive begins with 40 bytes for the network header. That of IPv4 fills the last 20 of them.
"""

from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import ImmDt

HEADER_BYTES = 40


class UdResponder(Responder):
    """The receive side of one datagram queue pair."""

    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Deliver a datagram that fits the receive at the head, else drop it."""
        data = self.delivered(request, network_header)
        if self.failed or not self.fits(request, len(data)):
            return
        receive = self.receives.take()
        receive.write(0, data)
        header = request.extension(ImmDt)
        immediate = None if header is None else header.value
        self.complete(receive, "success", byte_len=len(data), immediate=immediate)

    def delivered(self, request: Segment, network_header: bytes) -> bytes:
        """What the receive will hold."""
        return network_header.rjust(HEADER_BYTES, b"\0") + request.payload

    def fits(self, request: Segment, size: int) -> bool:
        """Whether packet and receive allow the delivery."""
        row, receive = request.row, self.receives.head
        if row is None or not self.has(row):
            return False
        if not row.payload.admits(len(request.payload), self.spec.path_mtu):
            return False
        whole_words = (len(request.payload) + request.bth.pad_count) % 4 == 0
        if receive is None or not receive.usable(self.spec.domain):
            return False
        return whole_words and size <= receive.length
