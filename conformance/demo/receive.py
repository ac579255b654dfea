# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration in the other direction: a real Soft-RoCE sender works on simulated memory.

It writes to the device, sends to it and reads from it, whatever of that the manifest's
`[responder]` says; message by message the memory of both ends is compared.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from roceproof.common.errors import RoceproofError
from roceproof.common.progress import Progress
from roceproof.conformance.demo.meeting import Demonstration, Wanted, meeting, send_all
from roceproof.conformance.demo.memory import ReceivingEndpoint, longest_message
from roceproof.conformance.demo.peer import Writer
from roceproof.conformance.demo.plan import (
    PATH_MTUS,
    SERVICES,
    Connection,
    drawn_connection,
    lengths,
)
from roceproof.dpi import Manifest
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.dpi.manifest.responder import Responder
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

OPERATIONS = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM, Op.READ)


def received_plan(*, seed: int, device: Manifest, short: bool = False) -> Iterator[Connection]:
    """A connection for each service and path MTU, with all that the device executes of it."""
    if device.responder is None:
        raise RoceproofError(
            f"{device.path}: nothing can be sent to it: it has no [responder], "
            "which says what it executes (docs/dut-contract-v2.md)"
        )
    fixed = device.limits.fixed
    if "remote_qpn" in fixed:
        raise RoceproofError(
            "the manifest fixes remote_qpn, and no sender lets its numbers be chosen"
        )
    kinds = [
        (service, path_mtu, operations)
        for service in SERVICES
        for path_mtu in PATH_MTUS
        if path_mtu in device.capabilities.path_mtus
        and (operations := _executed(device.responder, service))
    ]
    if not kinds:
        raise RoceproofError(
            f"{device.path}: it executes nothing that the demonstration sends: "
            "that needs RC or UC, and a path MTU of 1024 or 4096"
        )
    rng = random.Random(seed)
    most = longest_message(device.responder)
    for service, path_mtu, operations in kinds[: device.capabilities.qps]:
        sizes = [size for size in lengths(path_mtu.size, short=short) if size <= most]
        drawn = drawn_connection(rng, service, path_mtu, operations, sizes)
        yield replace(drawn, start_psn=fixed.get("rq_psn", drawn.start_psn))


def _executed(responder: Responder, service: Service) -> list[Op]:
    executed = responder.operations.get(service, frozenset())
    return [each for each in OPERATIONS if each in executed]


def demonstrate_receiving(wanted: Wanted, shown: Demonstration, progress: Progress) -> None:
    """Send all, and note in `shown` what comes of it until the end or an error."""
    manifest = load_manifest(wanted.dut)
    connections = list(received_plan(seed=wanted.seed, device=manifest, short=wanted.short))
    if wanted.loss:  # what is lost on UC stays lost
        connections = [each for each in connections if each.service is Service.RC]
        if not connections:
            raise RoceproofError(
                f"{manifest.path}: it has no RC, and what is lost on UC stays lost"
            )
    with meeting(wanted, manifest, shown, progress, peer_is="sender") as (simulation, peer):
        endpoint = ReceivingEndpoint(
            simulation, peer, device=manifest, clock_ps=manifest.clock_ps_at(wanted.data_width)
        )
        writer = Writer(peer, endpoint, is_lossy=wanted.loss > 0, report=progress.problem)
        send_all(connections, writer.send_all, shown, progress, doing="receiving")
