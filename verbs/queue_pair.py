# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs: their states, their rights, and what one is told of the other end."""

from dataclasses import dataclass
from enum import Enum

from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service


class State(Enum):
    """States of a queue pair."""

    RESET = "RESET"
    INIT = "INIT"
    RTR = "RTR"
    RTS = "RTS"
    ERR = "ERR"


FULL_ACCESS = frozenset({"local_write", "remote_write", "remote_read", "remote_atomic"})
"""Rights of memory and of queue pairs, in the words of the verbs agent."""


@dataclass(frozen=True, kw_only=True)
class QpSpec:
    """A queue pair of the device, and what it is told of the other end.

    Codes are those of the InfiniBand Architecture. `local_qpn` is a wish: a target that
    gives numbers itself ignores it, so ask the `Qp`.
    """

    service: Service
    remote: Host
    remote_qpn: int
    local_qpn: int = 0
    path_mtu: int = 1024  # bytes
    sq_psn: int = 0  # of the first request that the device sends
    rq_psn: int = 0  # of the first request that it accepts
    udp_sport: int = 0xC000
    traffic_class: int = 0
    hop_limit: int = 64
    ip_id: int = 0
    vlan: int | None = None  # the 16 bits behind 0x8100
    ack_timeout: int = 0  # code t: 4.096 us * 2^t, 0 = never
    retry_count: int = 7
    rnr_retry: int = 7
    flow_control: bool = False  # end-to-end credits are agreed on
    min_rnr_timer: int = 1  # code that the device as responder sends
    max_rd_atomic: int = 1  # that the device as requester may have outstanding
    max_dest_rd_atomic: int = 4  # that the device as responder accepts
    access: frozenset[str] = FULL_ACCESS
    qkey: int = 0x11111111
    state: State = State.RTS
    shared_receive: bool = False
    shared_queue: int = 0  # which of the shared queues, counted from 0
    domain: int = 0  # which of the protection domains, counted from 0
    completed_messages: int = 0  # that a responder has counted before; needs MSN_PRESET


@dataclass(frozen=True)
class Qp:
    """A queue pair that the device has. `handle` is the target's own business."""

    qpn: int
    spec: QpSpec
    handle: int = 0
