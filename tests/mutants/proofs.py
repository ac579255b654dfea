# SPDX-License-Identifier: BSD-2-Clause
"""Which stimulus shows that a fault of the measuring kinds is one: `proves` keeps the list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mutant_device import Device, Stimulus

from roceproof.dpi import PatternPayload
from roceproof.dpi.contract.records import Operation, QpConfig, WorkRequest


@dataclass(frozen=True)
class Proof:
    """A stimulus and the width of the device."""

    stimulus: Stimulus
    width: int


PROOFS: dict[str, Proof] = {}


def proves(*ids: str, width: int = 64) -> Callable[[Stimulus], Stimulus]:
    """Say which faults a stimulus shows."""

    def mark(stimulus: Stimulus) -> Stimulus:
        for name in ids:
            assert name not in PROOFS, name
            PROOFS[name] = Proof(stimulus, width)
        return stimulus

    return mark


def work(
    device: Device,
    config: QpConfig,
    operation: Operation = Operation.SEND,
    length: int = 0,
    *,
    offset: int = 0,
    **fields: int,
) -> None:
    """Post one message; what is not said of it is random, and above 1 MiB its payload a pattern."""
    values = {
        "wr_id": device.random.getrandbits(64),
        "remote_addr": device.random.getrandbits(64),
        "rkey": device.random.getrandbits(32),
        "immediate": device.random.getrandbits(32),
    } | fields
    long = length > 1 << 20
    device.port.post(
        WorkRequest(
            qpn=config.local_qpn,
            operation=operation,
            length=length,
            payload_offset=offset,
            **values,
        ),
        payload=PatternPayload(seed=1, length=length) if long else device.random.randbytes(length),
    )
