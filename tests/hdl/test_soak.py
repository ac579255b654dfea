# SPDX-License-Identifier: BSD-2-Clause
"""Everything at once, drawn from a seed: queue pairs, lengths, pauses, pings, stray responses."""

from __future__ import annotations

import pytest
from endpoint_bench import PEER_IPV4, PEER_MAC, Bench, qp

from roceproof.dpi import Flow, Operation, PathMtu, Service
from roceproof.verbs.addresses import parse_gid, parse_mac

ROUNDS = 12
MESSAGES = 24
LIMIT = 2_000_000


def disturb(bench: Bench) -> None:
    """Frames that have no business here: pings, old ACKs, ACKs for nobody."""
    rng = bench.random
    config = qp(rng.randrange(16))
    stray = bench.peer.response(config, config.sq_psn - 1 - rng.randrange(1000))
    ping = bench.peer.echo(
        rng.randbytes(rng.randrange(300)),
        sender_mac=parse_mac(PEER_MAC),
        sender_ipv4=parse_gid(PEER_IPV4)[-4:],
    )
    for frame in (stray, ping, rng.randbytes(rng.randrange(60, 200))):
        bench.port.inject(frame, discard=rng.random() < 0.2)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_seed_all_bytes_and_completions_are_right(bench: Bench, seed: int) -> None:
    rng = bench.random
    rng.seed(seed)
    configs = [
        qp(
            index,
            rng.choice([Service.RC, Service.UC]),
            path_mtu=rng.choice(list(PathMtu)),
            sq_psn=rng.choice([rng.randrange(1 << 24), 0xFFFFF0 + rng.randrange(16)]),
        )
        for index in range(16)
    ]
    bench.activate(*configs)
    for _ in range(ROUNDS):
        percents = [rng.choice([0, 0, 20, 60, 90]) for _ in range(5)]
        bench.port.flow(
            Flow(
                tx_stall=percents[0],
                rx_gap=percents[1],
                payload_gap=percents[2],
                wr_gap=percents[3],
                cpl_stall=percents[4],
            )
        )
        for _ in range(MESSAGES):
            config = rng.choice(configs)
            size = config.path_mtu.size
            length = rng.choice(
                [rng.randrange(8), rng.randrange(3 * size), size * rng.randrange(4)]
            )
            bench.post(
                config,
                Operation(rng.randrange(4)),
                length,
                offset=rng.randrange(bench.lanes),
                solicited=rng.random() < 0.5,
            )
            if rng.random() < 0.2:
                disturb(bench)
        bench.settle(limit=LIMIT)
