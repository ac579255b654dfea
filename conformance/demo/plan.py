# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration's work list: which messages are sent, in which order.

Lengths sit on and around every packet boundary, and start PSNs lie so close
below 2**24 that each queue pair wraps.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from roceproof.common.errors import RoceproofError
from roceproof.dpi import Manifest, Operation, PathMtu, Service
from roceproof.verbs.work import Op

PSN_MODULUS = 1 << 24
FIRST_QPN = 0x00ABC0
"""Of the device's queue pairs, where it lets them be chosen."""
SERVICES = (Service.RC, Service.UC)
OPERATIONS = (Operation.SEND, Operation.SEND_IMM, Operation.WRITE, Operation.WRITE_IMM)
PATH_MTUS = (PathMtu.MTU_1024, PathMtu.MTU_4096)
LONGEST = 1048577
_OF_THE_RECEIVER = ("remote_qpn", "remote_addr", "rkey")


@dataclass(frozen=True)
class Message:
    """One message to send: its kind, its payload and, where it carries one, its immediate."""

    operation: Operation | Op
    payload: bytes
    """Of a READ what it brings."""
    immediate: int | None

    @property
    def consumes_receive(self) -> bool:
        """Whether the receiver must have posted a receive for it."""
        return self.operation.name not in ("WRITE", "READ")


@dataclass(frozen=True)
class Connection:
    """One queue pair of the demonstration and everything it sends."""

    service: Service
    path_mtu: PathMtu
    start_psn: int
    messages: tuple[Message, ...]


def lengths(mtu: int, *, short: bool) -> list[int]:
    """Message lengths in bytes for a path MTU of `mtu` bytes."""
    small = [0, 1, 2, 3, 4, 5, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 7]
    return small if short else [*small, 65549, LONGEST]


def packets(length: int, mtu: int) -> int:
    """PSNs a message of `length` bytes takes; a zero-length one takes one (PSN-04)."""
    return max(1, -(-length // mtu))


def plan(*, seed: int, device: Manifest, short: bool = False) -> Iterator[Connection]:
    """Every connection that a device can hold within its limits, drawn from `seed`."""
    limits, claimed = device.limits, device.capabilities
    for name in _OF_THE_RECEIVER:
        if name in limits.fixed:
            raise RoceproofError(
                f"the manifest fixes {name}, and no receiver lets its numbers be chosen"
            )
    for name in ("remote_addr", "immediate"):
        if name in limits.fixed or name in limits.per_queue_pair:
            raise RoceproofError(f"by the manifest {name} is the same in all work, and not here")
    kinds = [
        (service, path_mtu, operations)
        for service in SERVICES
        if service in claimed.services
        for path_mtu in PATH_MTUS
        if path_mtu in claimed.path_mtus and (operations := _operations(device, service))
    ]
    if not kinds:
        raise RoceproofError(
            "the manifest claims nothing that the demonstration sends; it needs a service of "
            "RC and UC, a path MTU of 1024 and 4096, and an operation"
        )
    rng = random.Random(seed)
    for service, path_mtu, operations in kinds[: claimed.qps]:
        sizes = dict.fromkeys(map(limits.bend, lengths(path_mtu.size, short=short)))
        drawn = drawn_connection(rng, service, path_mtu, operations, sizes)
        yield replace(drawn, start_psn=limits.fixed.get("sq_psn", drawn.start_psn))


def drawn_connection(
    rng: random.Random,
    service: Service,
    path_mtu: PathMtu,
    operations: Iterable[Operation | Op],
    sizes: Iterable[int],
) -> Connection:
    """Messages of each kind and size, from a PSN on behind which it wraps."""
    messages = tuple(
        Message(
            operation=operation,
            payload=rng.randbytes(size),
            immediate=rng.getrandbits(32) if operation.name.endswith("_IMM") else None,
        )
        for operation in operations
        for size in sizes
    )
    total = sum(packets(len(message.payload), path_mtu.size) for message in messages)
    return Connection(
        service=service,
        path_mtu=path_mtu,
        start_psn=PSN_MODULUS - rng.randrange(1, min(max(total, 2), 64)),
        messages=messages,
    )


def _operations(device: Manifest, service: Service) -> list[Operation]:
    return [
        each
        for each in OPERATIONS
        if each in device.capabilities.operations
        and device.limits.against_operation(service, Op[each.name]) is None
    ]
