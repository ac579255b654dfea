# SPDX-License-Identifier: BSD-2-Clause
"""Every field of a queue pair's record has its twins, or a reason why not; none accuses another."""

from __future__ import annotations

import pytest

from roceproof.conformance.cases.test_responder_twins import (
    TWINS,
)
from roceproof.conformance.cases.test_responder_twins import (
    test_each_queue_pair_has_its_own as twins_differ,
)
from roceproof.conformance.model.components import Components
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.frame_edits import checksummed, set_ip
from roceproof.dpi.contract.fields import contract_fields

NAMES = {
    "remote": ("remote_mac", "remote_gid"),
    "domain": ("pd",),
    "vlan": ("tag_high", "tag_low"),
    "completed_messages": ("completed",),
}
APART = {
    "command": "a code",
    "service": "test_responder_crosses",
    "local_qpn": "differs wherever there are two",
    "remote_qpn": "differs wherever there are two",
    "sq_psn": "of a requester",
    "rq_psn": "differs wherever there are two",
    "ip_id": "of a requester",
    "ack_timeout": "of a requester",
    "retry_count": "of a requester",
    "rnr_retry": "of a requester",
    "max_rd_atomic": "of a requester",
    "srq": "test_responder_contract: each shared queue has receives of its own",
}


def test_each_field_has_twins() -> None:
    fields = {
        name for name, field in contract_fields()["qp_config_t"].items() if "reserved" not in name
    }
    paired = {each for name in TWINS for each in NAMES.get(name, (name,))}
    assert not paired & APART.keys()
    assert fields == paired | APART.keys()


class AnswersAlike(WireFault):
    """Every answer has the same class and hops, whatever its queue pair was told."""

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        for offset in (1, 8):
            frame = edited(frame, checksummed(set_ip(offset, b"\x08")))
        return [frame]


@pytest.mark.parametrize("field", ["domain", "traffic_class", "hop_limit", "udp_sport", "remote"])
def test_what_answers_say_is_asked_by_the_twins_of_that_field_alone(field: str) -> None:
    alike = WireMutant("alike", "", ("IP-06", "IP-07"), (), make=AnswersAlike)
    factory = CorruptingFactory(ModelFactory(components=Components()), alike)
    failed = None
    with factory.device(CasePlace(name="twins", seed=1)) as target:
        try:
            twins_differ(Bench(target, factory.claims, seed=1), field)
        except (AssertionError, CaseFailed) as failure:
            failed = str(failure)
    told = {"traffic_class": "tos: want", "hop_limit": "ttl: want"}.get(field)
    assert (failed is None) if told is None else (failed is not None and told in failed)
