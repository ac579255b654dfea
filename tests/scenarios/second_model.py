# SPDX-License-Identifier: BSD-2-Clause
"""One RC connection over one lossy wire, written anew: what the event model must count, too."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from itertools import count

from roceproof.conformance.scenarios.line import PER_PACKET, RETH
from roceproof.conformance.scenarios.network import SECOND, Network

_MASK = (1 << 64) - 1


def connection(network: Network) -> Counter[str]:
    """Counts of its packets, replies, repetitions and completions."""
    (port,), (flow,) = network.ports, network.flows
    per = max(1, -(-flow.size // flow.mtu))
    total = flow.messages * per
    state = network.seed * 0xD1342543DE82EF95 & _MASK
    told: Counter[str] = Counter()
    events: list[tuple[int, int, str, int]] = []
    order = count()
    now = deadline = una = following = newest = expected = retries = 0
    asked = False  # the responder has told of the gap
    busy = False

    def later(delay: int, what: str, psn: int) -> None:
        heappush(events, (now + delay, next(order), what, psn))

    def lost() -> bool:
        nonlocal state
        if not port.loss:
            return False
        state = state + 0x9E3779B97F4A7C15 & _MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return (z ^ z >> 31) % 10**9 < port.loss

    def send() -> None:
        nonlocal busy, following, newest, deadline
        window = min((una // per + flow.depth) * per, total)
        if busy or following >= window:
            return
        place = following % per
        payload = flow.size - (per - 1) * flow.mtu if place == per - 1 else flow.mtu
        wire = payload + -payload % 4 + PER_PACKET + (0 if place else RETH)
        if following == una:
            deadline = now + flow.timeout
            later(flow.timeout, "timeout", deadline)
        told["resent"] += following < newest
        busy = True
        later(-(-wire * 8 * SECOND // port.rate), "left", following)
        following += 1
        newest = max(newest, following)

    def restart() -> None:
        nonlocal deadline
        deadline = now + flow.timeout if newest > una else 0
        if deadline:
            later(flow.timeout, "timeout", deadline)

    def arrive(psn: int) -> None:
        nonlocal expected, asked
        if psn > expected:
            if not asked:
                later(flow.back, "nak", expected)
            asked = True
            return
        if psn == expected:
            expected, asked = expected + 1, False
        if psn % per == per - 1:
            later(flow.back, "ack", expected - 1)

    def advance(to: int) -> None:
        nonlocal una, following, retries
        if to > una:
            una, following, retries = to, max(following, to), 0
            told["done"] = una // per
            restart()

    send()
    while events and retries <= flow.retries:
        now, _, what, psn = heappop(events)
        if what == "left":
            busy = False
            told["sent"] += 1
            if lost():
                told["lost"] += 1
            else:
                later(port.delay, "arrives", psn)
        elif what == "arrives":
            arrive(psn)
        elif what == "ack":
            advance(psn + 1)
        elif what == "nak" or psn == deadline:
            told["naks" if what == "nak" else "timeouts"] += 1
            if what == "nak":
                advance(psn)
            if what == "timeout" or psn == una:
                following, retries = una, retries + 1
                restart()
        send()
    told["failed"] = int(retries > flow.retries)
    return told
