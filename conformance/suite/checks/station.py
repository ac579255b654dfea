# SPDX-License-Identifier: BSD-2-Clause
"""That the device answers as any station does."""

from roceproof.conformance.suite.bench import Bench
from roceproof.verbs.addresses import Host


def answers_ping(bench: Bench, peer: Host, *, what: str = "ARP and ping were") -> None:
    """The device answers ARP and ping of a peer, or the case fails by LIVE-01."""
    if not bench.target.ping(peer, timeout_ns=bench.target.patience.answer_ns):
        raise bench.failed(f"{what} never answered", rules=["LIVE-01"])
