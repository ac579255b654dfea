# SPDX-License-Identifier: BSD-2-Clause
"""Who takes part in a storm and what they are asked for, drawn from the case's seed."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.limits.within_limits import sent_of, skip_for_services
from roceproof.conformance.suite.traffic.storm import Storm
from roceproof.conformance.suite.traffic.storm_stream import Stream
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

MANY = 16
STALLS = (0, 30, 60, 70, 90, 99)
"""Percent of the cycles in which a stream stands."""
PUSHES = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
_ECN = (0, 1, 2)  # nobody sends what is marked already
_STREAMS = ("tx_stall", "rx_gap", "payload_gap", "qpc_gap", "wr_gap", "cpl_stall")
_QKEY = 0x01020304


def operations(bench: Bench, service: Service) -> list[Op]:
    """The messages with payload that the device has on a service."""
    ops = sent_of(bench.claims, service, PUSHES)
    return [op for op in ops if op in (Op.SEND, Op.SEND_IMM)] if service is Service.UD else ops


def served(bench: Bench, *services: Service) -> list[Service]:
    """Those of these services on which the device sends payload; a skip where there is none."""
    found = [
        service
        for service in services
        if Capability[service.name] in bench.claims.capabilities and operations(bench, service)
    ]
    return found or skip_for_services(bench.claims, services)


def lanes(bench: Bench) -> int:
    """Bytes of a beat; of devices without beats a usual number."""
    return (bench.claims.data_width or 64) // 8


def connected(storm: Storm, service: Service, **spec: Any) -> Stream:
    """A queue pair in the storm, its ECN field drawn, too; a skip where it could send nothing."""
    bench, draw = storm.bench, storm.random
    served(bench, service)
    usual: dict[str, Any] = {
        "path_mtu": min(bench.claims.path_mtus),
        "traffic_class": draw.getrandbits(6) << 2 | draw.choice(_ECN),
    }
    usual |= {name: n for name, n in bench.claims.limits.fixed_of_qp.items() if name in usual}
    if service is Service.UD:
        usual |= {"qkey": _QKEY, "path_mtu": max(bench.claims.path_mtus)}
    return storm.on(bench.connect(service, **(usual | spec)))


def crowd(storm: Storm, *services: Service, count: int = MANY, **spec: Any) -> list[Stream]:
    """So many queue pairs, if the device has them, of these services in turn, of any path MTU."""
    claims, having = storm.bench.claims, served(storm.bench, *services)
    mtus = claims.path_mtus
    return [
        connected(
            storm,
            having[len(storm.streams) % len(having)],
            **({"path_mtu": storm.random.choice(mtus)} | spec),
        )
        for _ in range(min(count, claims.qps))
    ]


def tiny(random: Random) -> int:
    """A length of a few bytes."""
    return random.choice((0, 1, 2, 3, 4, 5, 8, 12, 18, 20, random.randrange(65)))


def mixed(random: Random, mtu: int) -> int:
    """Mostly tiny, now and then some packets, around whole numbers of them."""
    if random.random() < 0.7:
        return tiny(random)
    return max(0, random.choice((1, 2, 3)) * mtu + random.randrange(-3, 4))


def post_any(stream: Stream, ops: Sequence[Op], length: int, *, lanes: int = 1) -> Posted:
    """A message of any of these kinds, its payload at any lane, solicited or not."""
    draw, fixed = stream.qp.random, stream.claims.limits.fixed_of_work
    fields: dict[str, Any] = {
        "solicited": draw.random() < 0.5,
        "offset": draw.randrange(lanes) if length else 0,
    }
    fields |= {name: n for name, n in fixed.items() if name in fields}
    if stream.qp.spec.service is Service.UD:
        length = min(length, stream.qp.spec.path_mtu)
    return stream.post(draw.choice(ops), length, **fields)


def weather(storm: Storm, *, every: int = 4) -> Iterator[None]:
    """Each stream stalled for any share of its cycles, drawn anew every few steps."""
    while True:
        storm.stall(**{name: storm.random.choice((0, *STALLS)) for name in _STREAMS})
        for _ in range(every):
            yield
