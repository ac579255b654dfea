# SPDX-License-Identifier: BSD-2-Clause
"""Every message length at every alignment leaves as the model says (ICRC-09, MTU, OPC, PAD)."""

from __future__ import annotations

from itertools import chain

import pytest
from endpoint_bench import Bench, qp

from roceproof.dpi import PatternPayload
from roceproof.dpi.contract.records import SENDING
from roceproof.verbs.service import PathMtu, Service

LIMIT = 2_000_000

services = pytest.mark.parametrize("service", [Service.RC, Service.UC], ids=lambda s: s.name)
path_mtus = pytest.mark.parametrize("path_mtu", PathMtu, ids=lambda m: str(m.size))


@services
def test_lengths_around_zero_one_and_two_packets(bench: Bench, service: Service) -> None:
    lanes, size = bench.lanes, 256
    config = qp(service=service)
    bench.activate(config)
    lengths = chain(
        range(2 * lanes + 4),
        range(size - lanes - 3, size + 2 * lanes + 4),
        range(2 * size - 3, 2 * size + 4),
    )
    for length in lengths:
        for operation in SENDING:
            bench.post(config, operation, length, offset=bench.random.randrange(lanes))
    bench.settle(limit=LIMIT)


@pytest.mark.sampled(every=3)
@services
@path_mtus
def test_lengths_around_the_path_mtu(bench: Bench, service: Service, path_mtu: PathMtu) -> None:
    lanes, size = bench.lanes, path_mtu.size
    config = qp(service=service, path_mtu=path_mtu)
    bench.activate(config)
    for length in range(size - lanes - 3, size + lanes + 4):
        for operation in SENDING:
            bench.post(config, operation, length, offset=bench.random.randrange(lanes))
    bench.settle(limit=LIMIT)


@path_mtus
def test_messages_of_whole_packets_and_one_byte_around(bench: Bench, path_mtu: PathMtu) -> None:
    size = path_mtu.size
    config = qp(service=Service.UC, path_mtu=path_mtu, sq_psn=0xFFFFF0)
    bench.activate(config)
    for count in (1, 2, 3, 5):
        for length in (count * size - 1, count * size, count * size + 1):
            operation = SENDING[(count + length) % 4]
            offset = bench.random.randrange(bench.lanes)
            bench.post(config, operation, length, offset=offset, solicited=True)
    bench.settle(limit=LIMIT)


def test_payload_may_start_in_every_lane(bench: Bench) -> None:
    lanes = bench.lanes
    config = qp(service=Service.UC)
    bench.activate(config)
    for offset in range(lanes):
        to_the_end = lanes - offset
        lengths = {0, 1, to_the_end - 1, to_the_end, to_the_end + 1, lanes, 2 * lanes + 3, 300}
        for index, length in enumerate(sorted(lengths)):
            operation = SENDING[(offset + index) % 4]
            bench.post(config, operation, length, offset=offset)
    bench.settle(limit=LIMIT)


def test_no_state_leaks_between_frames_of_shrinking_and_growing_size(bench: Bench) -> None:
    config = qp(service=Service.UC)
    bench.activate(config)
    sizes = [256, 0, 255, 1, 130, 2, 67, 3, 64, 4, 33, 0, 32, 0]
    for operation in SENDING:
        for length in sizes + sizes[::-1]:
            payload = b"\xff" * length
            bench.post(config, operation, payload, offset=length % bench.lanes)
    bench.settle(limit=LIMIT)


def test_a_message_of_many_packets_crosses_the_psn_wrap(bench: Bench) -> None:
    config = qp(path_mtu=PathMtu.MTU_1024, sq_psn=0xFFFFE0, ip_id=0xFFF0)
    bench.activate(config)
    for operation in SENDING:
        bench.post(config, operation, PatternPayload(seed=operation, length=65549))
    bench.settle(limit=LIMIT)
