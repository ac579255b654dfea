# SPDX-License-Identifier: BSD-2-Clause
"""The responder of rtl/ at line rate, at every width: WRITEs come in, and READs are answered."""

from __future__ import annotations

import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from responder_device import build_bench
from responder_traffic import WRAP, message, read
from responder_trial import PEER, RIGHTS, Trial

from roceproof.conformance.wire.codec import build
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

RC = QpSpec(service=Service.RC, remote=PEER, local_qpn=0x11, remote_qpn=0x22, access=RIGHTS)
LOST = 1.02  # cycles for each beat, at most

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None,
        reason="verilator is not installed: run `make setup`",
    ),
]

WIDTHS = [512, *(pytest.param(width, marks=pytest.mark.slow) for width in (64, 128, 256, 1024))]


@pytest.fixture(scope="module", params=WIDTHS)
def responder_bench(request: pytest.FixtureRequest) -> tuple[Path, int]:
    return build_bench(request.param), request.param


@pytest.mark.parametrize("mtu", [1024, 4096])
@pytest.mark.parametrize("is_one_message", [True, False], ids=["one message", "many"])
def test_writes_come_in_at_line_rate(trial: Trial, mtu: int, is_one_message: bool) -> None:
    rng = random.Random(mtu)
    region = trial.register(64 * mtu)
    spec = trial.open(replace(RC, path_mtu=mtu, rq_psn=WRAP - 5))
    data = [rng.randbytes(64 * mtu)] if is_one_message else [rng.randbytes(mtu) for _ in range(64)]
    psn = spec.rq_psn
    for part in data:
        for packet in message(spec, psn, part, to=(region.addr, region.rkey)):
            trial.send(build(packet))
            psn += 1
    happened = trial.run(mem_latency=50)
    assert happened.stalled == 0


@pytest.mark.parametrize("mtu", [1024, 4096])
def test_responses_leave_at_line_rate(trial: Trial, mtu: int) -> None:
    spec = trial.open(replace(RC, path_mtu=mtu, max_dest_rd_atomic=4))
    region = trial.register(16 * mtu)
    to = region.addr, region.rkey
    data = random.Random(mtu).randbytes(region.size)
    for packet in message(spec, 0, data, to=to):
        trial.send(build(packet))
    trial.settle()
    for number in range(1, 5):
        trial.send(build(read(spec, 16 * number, to, region.size)))
    frames = trial.run(mem_latency=50).frames[1:]
    beats = sum(-(-len(frame) * 8 // trial.width) for _, frame in frames[1:])
    assert frames[-1][0] - frames[0][0] <= LOST * beats
