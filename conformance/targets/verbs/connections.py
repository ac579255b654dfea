# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs that the host's connection manager makes, in the words of the verbs agent."""

from ipaddress import ip_address
from typing import Any, NamedTuple

from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.memory import Call
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

TCP_PORT_SPACE = 0x0106
_PORT_BITS = 16


class Made(NamedTuple):
    """A queue pair as the agent knows it."""

    handle: int
    qpn: int


class Connections:
    """What listens and connects for one case. All of it shares one completion queue."""

    def __init__(self, call: Call, *, pd: int, depth: int) -> None:
        self.cq = int(call("create_cq", depth=2 * depth)["cq"])
        self._call = call
        self._queues = {
            "pd": pd,
            "type": Service.RC.name,
            "send_cq": self.cq,
            "recv_cq": self.cq,
            "max_send_wr": depth,
            "max_recv_wr": depth,
        }
        self._ids: dict[int, int] = {}  # by the queue pair's handle

    def listen(self, own: Host, service_id: int, spec: QpSpec) -> None:
        """Accept whoever asks for the service."""
        self._call("listen", **self._place(own, service_id), **_limits(spec), **self._queues)

    def connect(self, service_id: int, spec: QpSpec) -> Made:
        """Ask the spec's remote for the service."""
        place = self._place(spec.remote, service_id)
        wishes = {
            "retry_cnt": spec.retry_count,
            "rnr_retry": spec.rnr_retry,
            "flow_control": spec.flow_control,
        }
        made = self._call("connect", **place, **_limits(spec), **wishes, **self._queues)
        return self._known(made)

    def disconnect(self, handle: int) -> None:
        """Hang up on a queue pair's other end."""
        self._call("disconnect", cm=self._ids[handle])

    def accepted(self, qpn: int) -> Made:
        """The queue pair that a listener has made."""
        for made in self._call("query_cm")["connections"]:
            if made.get("qpn") == qpn:
                return self._known(made)
        raise TargetError(f"the agent knows no connection with queue pair {qpn:#x}")

    def _known(self, made: dict[str, Any]) -> Made:
        self._ids[made["qp"]] = made["cm"]
        return Made(made["qp"], made["qpn"])

    @staticmethod
    def _place(host: Host, service_id: int) -> dict[str, Any]:
        space, port = service_id >> _PORT_BITS, service_id & (1 << _PORT_BITS) - 1
        if space != TCP_PORT_SPACE:
            raise TargetError(f"service {service_id:#x} is outside the port space of TCP")
        return {"address": str(ip_address(host.ip)), "port": port}


def _limits(spec: QpSpec) -> dict[str, Any]:
    return {
        "access": sorted(spec.access),
        "max_rd_atomic": spec.max_rd_atomic,
        "max_dest_rd_atomic": spec.max_dest_rd_atomic,
        "min_rnr_timer": spec.min_rnr_timer,
    }
