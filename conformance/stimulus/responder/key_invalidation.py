# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan that take keys back between packets, and one that reads where receives lie."""

from contextlib import suppress

from roceproof.conformance.stimulus.responder.checker import Asked
from roceproof.conformance.suite.pattern import READ_REQUEST
from roceproof.conformance.targets.interface import Beyond
from roceproof.conformance.wire.psn import packet_count

INVALIDATING = (0x16, 0x17)


class Revoking:
    """What a player can do of it."""

    qps: dict[int, Asked]

    def forget(self, key: int) -> None:
        """Take back the key of the region that was made last, but for the first."""
        known = self.qps.get(key)
        if known is not None and len(known.places) > 1:
            self.settle()
            with suppress(Beyond):
                known.forget(known.places[-1])

    def reinvalidate(self, key: int, *, kills: int = 0) -> None:
        """The latest SEND with invalidate once more, which names the key of another region."""
        known = self.qps.get(key)
        sent = [each for each in known.sent if each.opcode in INVALIDATING] if known else []
        if known is None or not sent or len(known.places) < 2:
            return
        self.settle()
        known.goes_astray()
        others = known.places[1:]
        known.send(sent[-1].but(inv=others[kills % len(others)].region.rkey, a=1))

    def read_inbox(self, key: int, size: int, *, offset: int = 0) -> None:
        """READ the memory of the receives, which is the first that a device is told of."""
        known = self.qps.get(key)
        if known is None or known.inbox is None or known.is_datagram:
            return
        self.settle()
        region = known.inbox.region
        start = min(offset, region.size - 1)
        length = min(size, region.size - start)
        known.send(
            READ_REQUEST(
                psn=known.next_psn,
                a=1,
                va=region.addr + start,
                rkey=region.rkey,
                dmalen=length,
            )
        )
        known.next_psn += packet_count(length, known.qp.mtu)
        self.settle()

    # inside

    def settle(self) -> None:
        raise NotImplementedError
