# SPDX-License-Identifier: BSD-2-Clause
"""States of a queue pair of a device behind the verbs agent, and what a new case finds."""

from __future__ import annotations

import pytest
from judged_kernel import needs_judged_kernel
from verbs_peer import answer, at, frame, silence, spec_for

from roceproof.conformance.targets.interface import CasePlace, TargetError
from roceproof.conformance.targets.verbs.factory import VerbsFactory
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import Reth
from roceproof.verbs.queue_pair import Qp, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

pytestmark = pytest.mark.rxe

SEND_ONLY, WRITE_ONLY, ACKNOWLEDGE = 0x04, 0x0A, 0x11


def write(target: VerbsTarget, qp: Qp, region: Region, psn: int) -> bytes:
    return frame(target, qp, WRITE_ONLY, psn, Reth(region.addr, region.rkey, 4), data=b"data")


@pytest.mark.parametrize("state", [State.RESET, State.INIT, State.ERR])
def test_a_queue_pair_that_cannot_receive_is_silent(target: VerbsTarget, state: State) -> None:
    qp = target.open(spec_for(target, state=state))
    region = target.register(64)
    target.send(write(target, qp, region, 0))
    silence(target)
    assert region.read(0, 4) == bytes(4)


def test_it_moves_on_from_init_to_rtr_to_rts(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, state=State.INIT))
    region = target.register(64)
    target.set_state(qp, State.RTR)
    target.send(write(target, qp, region, 0))
    assert answer(target).bth.opcode == ACKNOWLEDGE
    target.set_state(qp, State.RTS)
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=b"now"))
    assert answer(target).payload == b"now"


def test_err_flushes_what_was_posted(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    target.post_receive(qp, wr_id=4, region=region, length=8)
    target.set_state(qp, State.ERR)
    target.post(qp, Work(wr_id=5, op=Op.SEND))
    done = target.completions(qp, count=2, timeout_ns=target.patience.answer_ns)
    flushed = {(outcome.wr_id, outcome.is_receive, outcome.status) for outcome in done}
    assert flushed == {(4, True, "wr_flush_err"), (5, False, "wr_flush_err")}


def test_reset_and_back_starts_at_the_new_psns(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    target.send(write(target, qp, region, 0))
    answer(target)
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=b"old"))
    again = target.reopen(qp, spec_for(target, rq_psn=at(100), sq_psn=7))
    assert again.qpn == qp.qpn
    silence(target)
    target.send(write(target, again, region, 100))
    assert answer(target).bth.psn == at(100)
    needs_judged_kernel(
        judged=["6.1"]
    )  # Linux 6.12 sends an empty WRITE here, and nothing of what was posted
    target.post(again, Work(wr_id=2, op=Op.SEND, data=b"new"))
    got = answer(target)
    assert (got.bth.opcode, got.bth.psn, got.payload) == (SEND_ONLY, 7, b"new")


def test_a_queue_pair_keeps_its_service(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    with pytest.raises(TargetError, match="keeps its service"):
        target.reopen(qp, spec_for(target, Service.UC))


def test_a_new_case_sees_nothing_of_the_one_before(source: VerbsFactory) -> None:
    place = CasePlace(name="test", seed=1)
    with source.device(place) as first:
        assert isinstance(first, VerbsTarget)
        old = first.open(spec_for(first, ack_timeout=10))
        first.post(old, Work(wr_id=1, op=Op.SEND, data=b"again and again"))
        answer(first)
    with source.device(place) as second:
        assert isinstance(second, VerbsTarget)
        silence(second)
        second.send(frame(second, old, 0x04, 0, data=b"anyone?"))
        silence(second)


def test_a_tag_that_the_device_does_not_have_is_told(target: VerbsTarget) -> None:
    with pytest.raises(TargetError, match="IPv4 and VLAN tag 0x0123"):
        target.open(spec_for(target, vlan=0x123))
