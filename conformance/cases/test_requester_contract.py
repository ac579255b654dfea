# SPDX-License-Identifier: BSD-2-Clause
"""Fields of the contract's records at the ends of their range, each bit alone and missing.

All fields change at once, so that as many lives go through all of them as one has values.
"""

from typing import Any

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over_services
from roceproof.conformance.suite.limits.within_limits import require_sent
from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.contract.fields import contract_field
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP), needs(Capability.RESET)]

SIZE = 700
OF_QUEUE_PAIRS = (
    "remote_qpn",
    "sq_psn",
    "rq_psn",
    "udp_sport",
    "traffic_class",
    "hop_limit",
    "ip_id",
)
OF_WORK = ("remote_addr", "rkey", "immediate")
PUSHES = (Op.WRITE_IMM, Op.WRITE, Op.SEND_IMM, Op.SEND)


@case("LIVE-01", "RETH-01", "IMM-01", smoke=True, targets=["hdl", "model"])
@over_services
def test_fields_at_their_ends_and_bit_by_bit(bench: Bench, service: Service) -> None:
    limits, draw = bench.claims.limits, bench.random
    ops = require_sent(bench.claims, service, PUSHES)
    chosen = {*OF_QUEUE_PAIRS} - limits.fixed_of_qp.keys()
    of_work = {*OF_WORK} - limits.fixed_of_work.keys() - limits.per_queue_pair
    lives = {name: [*contract_field("qp_config_t", name).corners] for name in sorted(chosen)}
    works = {name: [*contract_field("work_request_t", name).corners] for name in sorted(of_work)}
    for values in (*lives.values(), *works.values()):
        draw.shuffle(values)
    qp = bench.connect(service)
    for life in range(max(map(len, lives.values()), default=1)):
        if life:
            spec: dict[str, Any] = {name: found[life % len(found)] for name, found in lives.items()}
            qp.reconnect(**spec)
        for turn in (2 * life, 2 * life + 1):
            fields = {name: found[turn % len(found)] for name, found in works.items()}
            qp.transfer(ops[0], draw.randrange(1, SIZE), **fields)
