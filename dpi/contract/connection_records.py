# SPDX-License-Identifier: BSD-2-Clause
"""The record of the contract's second version that tells of a connection the device makes itself.

As in records.py: rtl/roceproof_dut_pkg.sv byte for byte, big-endian, the first field first.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from roceproof.dpi.contract.records import Record, RecordError
from roceproof.verbs.service import PathMtu


class ConnectionStep(IntEnum):
    ANSWERED = 0
    ESTABLISHED = 1
    ENDED = 2


@dataclass(frozen=True, kw_only=True)
class ConnectionEvent(Record, form="I BB 2x III HH 8x"):
    qpn: int
    step: ConnectionStep
    path_mtu: PathMtu
    remote_qpn: int
    sq_psn: int
    rq_psn: int
    udp_sport: int
    ip_id: int

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read one; a step or path MTU that there is not is an error that names it."""
        said = cls.fields_of("connection event", data)
        step, path_mtu = said["step"], said["path_mtu"]
        if step not in set(ConnectionStep) or path_mtu not in set(PathMtu):
            raise RecordError(
                f"cme_o tells of queue pair {said['qpn']:#x} step {step} at path MTU {path_mtu}: "
                "expected connection_step_e and path_mtu_e of roceproof_dut_pkg.sv"
            )
        return cls(**said | {"step": ConnectionStep(step), "path_mtu": PathMtu(path_mtu)})
