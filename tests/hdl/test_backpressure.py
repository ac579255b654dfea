# SPDX-License-Identifier: BSD-2-Clause
"""Pauses on any stream change when bytes move, never which (ETH-07)."""

from __future__ import annotations

import pytest
from endpoint_bench import Bench, open_bench, qp

from roceproof.dpi import Flow
from roceproof.dpi.contract.records import Operation
from roceproof.verbs.service import PathMtu, Service

PERCENTAGES = (0, 50, 90, 99)
LIMIT = 3_000_000


def post_work_list(bench: Bench, *, messages: int) -> None:
    """The same list each time: it draws from the bench's seeded generator."""
    reliable = qp(0, path_mtu=PathMtu.MTU_512)
    unreliable = qp(1, Service.UC)
    bench.activate(reliable, unreliable)
    for index in range(messages):
        config = reliable if bench.random.random() < 0.5 else unreliable
        length = bench.random.choice([0, 1, 7, 63, 64, 65, 255, 256, 257, 511, 513, 700])
        offset = bench.random.randrange(bench.lanes)
        bench.post(config, Operation(index % 4), length, offset=offset)


@pytest.mark.parametrize("percent", PERCENTAGES)
def test_all_streams_may_pause_at_once(bench: Bench, percent: int) -> None:
    bench.port.flow(
        Flow(
            tx_stall=percent,
            rx_gap=percent,
            payload_gap=percent,
            qpc_gap=percent,
            wr_gap=percent,
            cpl_stall=percent,
        )
    )
    post_work_list(bench, messages=60 if percent < 99 else 12)
    bench.settle(limit=LIMIT)


@pytest.mark.parametrize("stream", ["tx_stall", "payload_gap", "wr_gap", "rx_gap", "cpl_stall"])
def test_one_stream_may_pause_alone(bench: Bench, stream: str) -> None:
    bench.port.flow(Flow(**{stream: 90}))
    post_work_list(bench, messages=30)
    bench.settle(limit=LIMIT)


def test_the_seed_of_the_pauses_does_not_show_in_the_bytes(width: int) -> None:
    seen = []
    for seed in (1, 2, 3):
        with open_bench(width, seed=seed) as bench:
            bench.port.flow(Flow(tx_stall=70, payload_gap=40))
            post_work_list(bench, messages=20)
            bench.settle(limit=LIMIT)
            seen.append(dict(bench.sent))
    assert seen[0] == seen[1] == seen[2]
