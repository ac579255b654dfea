# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE anywhere: a real kernel RDMA stack as the peer of a simulation."""

from roceproof.rxe_env.doctor import Check, doctor
from roceproof.rxe_env.errors import AgentError, PeerDied, RxeError, Unavailable
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce
from roceproof.rxe_env.vm.named import env_down, env_status, env_up

__all__ = [
    "DUT_IPV4",
    "AgentError",
    "Check",
    "PeerDied",
    "RxeError",
    "SoftRoce",
    "Unavailable",
    "doctor",
    "env_down",
    "env_status",
    "env_up",
]
