# SPDX-License-Identifier: BSD-2-Clause
"""What a queue pair's record says to a device, whether or not that is a responder."""

import pytest

from roceproof.conformance.targets.hdl.contract_config import config_of
from roceproof.dpi.contract.records import QpCommand
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

PEER = Host(bytes.fromhex("020000000b02"), bytes((192, 168, 1, 2)))


@pytest.mark.parametrize(("service", "said"), [(Service.UD, 0x80010000), (Service.UC, 0)])
def test_a_queue_pair_of_datagrams_is_told_its_q_key(service: Service, said: int) -> None:
    spec = QpSpec(service=service, remote=PEER, remote_qpn=3, local_qpn=2, qkey=0x80010000)
    assert config_of(spec, 2, command=QpCommand.ACTIVATE).qkey == said
