# SPDX-License-Identifier: BSD-2-Clause
"""The record of the contract's second version that tells of a connection the device makes itself.

As in records.py: rtl/roceproof_dut_pkg.sv byte for byte, big-endian, the first field first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from roceproof.dpi.contract.records import RecordError
from roceproof.verbs.service import PathMtu

_EVENT = struct.Struct(">I BB 2x III HH 8x")


class ConnectionStep(IntEnum):
    """What has become of it."""

    ANSWERED = 0
    ESTABLISHED = 1
    ENDED = 2


@dataclass(frozen=True, kw_only=True)
class ConnectionEvent:
    """One step of one connection."""

    qpn: int
    step: ConnectionStep
    path_mtu: PathMtu
    remote_qpn: int
    sq_psn: int
    rq_psn: int
    udp_sport: int
    ip_id: int

    SIZE = _EVENT.size

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read one; a step or path MTU that there is not is an error that names it."""
        if len(data) != cls.SIZE:
            raise RecordError(f"connection event of {len(data)} bytes, expected {cls.SIZE}")
        qpn, step, path_mtu, remote_qpn, sq_psn, rq_psn, udp_sport, ip_id = _EVENT.unpack(data)
        if step not in set(ConnectionStep) or path_mtu not in set(PathMtu):
            raise RecordError(
                f"cme_o tells of queue pair {qpn:#x} step {step} at path MTU {path_mtu}: "
                "expected connection_step_e and path_mtu_e of roceproof_dut_pkg.sv"
            )
        return cls(
            qpn=qpn,
            step=ConnectionStep(step),
            path_mtu=PathMtu(path_mtu),
            remote_qpn=remote_qpn,
            sq_psn=sq_psn,
            rq_psn=rq_psn,
            udp_sport=udp_sport,
            ip_id=ip_id,
        )
