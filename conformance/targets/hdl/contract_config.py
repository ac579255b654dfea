# SPDX-License-Identifier: BSD-2-Clause
"""The record of the DUT contract that configures a queue pair."""

from ipaddress import ip_address

from roceproof.dpi.contract.records import QpCommand, QpConfig
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import PathMtu, Service


def config_of(spec: QpSpec, qpn: int, *, command: QpCommand) -> QpConfig:
    """What a device is told of a queue pair of that number."""
    return QpConfig(
        local_qpn=qpn,
        remote_qpn=spec.remote_qpn,
        command=command,
        service=spec.service,
        path_mtu=PathMtu.from_size(spec.path_mtu),
        sq_psn=spec.sq_psn,
        rq_psn=spec.rq_psn,
        remote_mac=spec.remote.mac.hex(":"),
        remote_gid=str(ip_address(spec.remote.ip)),
        udp_sport=spec.udp_sport,
        traffic_class=spec.traffic_class,
        hop_limit=spec.hop_limit,
        ip_id=spec.ip_id,
        ack_timeout=spec.ack_timeout,
        retry_count=spec.retry_count,
        rnr_retry=spec.rnr_retry,
        min_rnr_timer=spec.min_rnr_timer,
        vlan=spec.vlan,
        flow_control=spec.flow_control,
        qkey=spec.qkey if spec.service is Service.UD else 0,
    )
