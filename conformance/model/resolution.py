# SPDX-License-Identifier: BSD-2-Clause
"""Address resolution of a device: to whom it may send, and after whom it asks first."""

from roceproof.conformance.wire import neighbours
from roceproof.verbs.addresses import Host

_AGAIN_NS = 50_000


class Resolution:
    """Nothing leaves for a host whose MAC nobody has told, unless the device need not ask."""

    def __init__(self, *, asks: bool) -> None:
        self._asks = asks
        self._known: set[bytes] = set()
        self._asked_ns: dict[bytes, int] = {}

    def may_send(self, peer: Host) -> bool:
        """Whether frames for the host may leave; if not, somebody has to ask after it."""
        return not self._asks or peer.ip in self._known

    def question(self, own: Host, peer: Host, now_ns: int) -> bytes | None:
        """What asks after a host, unless it is too early to ask again."""
        asked = self._asked_ns.get(peer.ip)
        if asked is not None and now_ns < asked + _AGAIN_NS:
            return None
        self._asked_ns[peer.ip] = now_ns
        return neighbours.solicit(own, peer.ip)

    def hear(self, frame: bytes) -> bool:
        """Whether the frame is an answer that was waited for."""
        told = [ip for ip in self._asked_ns if neighbours.is_advertised(frame, ip)]
        self._known.update(told)
        for ip in told:
            del self._asked_ns[ip]
        return bool(told)

    def next_deadline(self) -> int | None:
        return min((at + _AGAIN_NS for at in self._asked_ns.values()), default=None)
