# SPDX-License-Identifier: BSD-2-Clause
"""Messages so long that every counter in the endpoint is exercised to its top bits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from endpoint_bench import QUIET_CYCLES, open_bench, qp

from roceproof.conformance.wire.notation import difference
from roceproof.conformance.wire.transmitter import Requester
from roceproof.dpi import PatternPayload, Until
from roceproof.dpi.contract.records import Operation, Status, WorkRequest
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

WIDTH = 512
SLICE_CYCLES = 100_000


def send_one(length: int, service: Service) -> None:
    """One WRITE with Immediate, compared frame by frame as it leaves."""
    config = replace(qp(0, service, path_mtu=PathMtu.MTU_4096), sq_psn=0xFFFF00)
    payload = PatternPayload(seed=length, length=length)
    request = WorkRequest(
        wr_id=1,
        qpn=config.local_qpn,
        operation=Operation.WRITE_IMM,
        length=length,
        remote_addr=0x7FFF_FFFF_F000,
        rkey=0x1234,
        immediate=0x01020304,
        payload_offset=5,
    )
    with open_bench(WIDTH) as bench:
        model = Requester(mac=parse_mac("02:00:00:00:00:01"), ipv4=parse_gid("192.168.1.1")[-4:])
        model.configure(config)
        bench.port.configure(config)
        bench.peer.know(config)
        expected = model.frames(request, payload)
        bench.port.post(request, payload=payload)
        limit = bench.cycle + length // (WIDTH // 8) * 2 + 100_000
        sent = 0
        while not bench.completions:
            assert bench.cycle < limit, f"no completion after {sent} frames"
            bench.run(SLICE_CYCLES, until=Until.COMPLETION)
            frames = bench.sent.pop(config.remote_qpn, [])
            bench.frame_cycles.clear()
            for frame in frames:
                want = next(expected)
                assert frame == want, f"frame {sent}\n{difference(want, frame)}"
                sent += 1
            bench.answer()
        bench.run(QUIET_CYCLES)
        assert next(expected, None) is None
        assert not bench.sent.get(config.remote_qpn)
        (completion,) = bench.completions
        assert completion.status is Status.SUCCESS


@pytest.mark.sim
@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_a_message_of_more_packets_than_a_byte_counts(service: Service) -> None:
    send_one(4096 * 300 + 1, service)


@pytest.mark.slow
@pytest.mark.sim
@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_the_longest_message(service: Service) -> None:
    send_one((1 << 31) - 1, service)
