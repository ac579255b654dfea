# SPDX-License-Identifier: BSD-2-Clause
"""NAKs, timeouts and refused work: a named status, then flush and silence, then a clean restart."""

from __future__ import annotations

import pytest
from endpoint_bench import QUIET_CYCLES, Bench, qp

from roceproof.dpi import Flow, Until
from roceproof.dpi.contract.records import Operation, QpConfig, Status, WorkRequest
from roceproof.verbs.service import PathMtu, Service

LIMIT = 20_000

FATAL = {
    0x60: Status.RETRY_EXC_ERR,
    0x61: Status.REM_INV_REQ_ERR,
    0x62: Status.REM_ACCESS_ERR,
    0x63: Status.REM_OP_ERR,
    0x20: Status.RNR_RETRY_EXC_ERR,
    0x2C: Status.RNR_RETRY_EXC_ERR,
    0x3F: Status.RNR_RETRY_EXC_ERR,
}
syndromes = pytest.mark.parametrize("syndrome", FATAL, ids=hex)


def wait_for_frames(bench: Bench, config: QpConfig, count: int) -> None:
    start = bench.cycle
    while len(bench.sent[config.remote_qpn]) < count:
        assert bench.cycle < start + LIMIT, f"{count} frames have not left in {LIMIT} cycles"
        bench.run(50)


@syndromes
def test_a_nak_fails_its_message_and_flushes_the_rest(bench: Bench, syndrome: int) -> None:
    config, other = qp(0), qp(1)
    bench.activate(config, other)
    bench.post(config, Operation.WRITE, 300)
    bench.post(config, Operation.WRITE, 10)
    bench.post(config, Operation.SEND, 700, outcome=FATAL[syndrome])
    bench.post(config, Operation.SEND, 20, outcome=Status.WR_FLUSH_ERR)
    wait_for_frames(bench, config, 7)
    # The NAK names the second packet of the third message and acknowledges what came before.
    bench.port.inject(bench.peer.response(config, config.sq_psn + 4, syndrome=syndrome))
    bench.run(QUIET_CYCLES)
    for length in (0, 600, 3):
        bench.post(
            config, Operation.WRITE, length, outcome=Status.WR_FLUSH_ERR, sends=False, offset=3
        )
        bench.post(other, Operation.WRITE, length + 1)
    bench.settle()
    failed = [c for c in bench.completions if c.status is FATAL[syndrome]]
    assert [c.syndrome for c in failed] == [syndrome]


@syndromes
def test_a_failed_queue_pair_works_again_after_its_restart(bench: Bench, syndrome: int) -> None:
    config = qp(0, path_mtu=PathMtu.MTU_512)
    bench.activate(config)
    bench.post(config, Operation.WRITE, 10, outcome=FATAL[syndrome])
    wait_for_frames(bench, config, 1)
    bench.port.inject(bench.peer.response(config, config.sq_psn, syndrome=syndrome))
    bench.settle()
    again = qp(0, sq_psn=0x000100, ip_id=0x4000)
    bench.activate(again)
    for length in (0, 257, 1000):
        bench.post(again, Operation.WRITE_IMM, length)
    bench.settle()


@pytest.mark.parametrize("syndrome", [0x40, 0x5F, 0x64, 0x65, 0x7F, 0x80, 0x9F, 0xE0], ids=hex)
def test_an_undefined_syndrome_is_never_an_acknowledgement(bench: Bench, syndrome: int) -> None:
    config = qp()
    bench.activate(config)
    bench.post(config, Operation.WRITE, 10)
    wait_for_frames(bench, config, 1)
    bench.port.inject(bench.peer.response(config, config.sq_psn, syndrome=syndrome))
    bench.run(QUIET_CYCLES)
    assert bench.completions == []
    bench.settle()


@syndromes
def test_a_nak_outside_what_is_outstanding_is_ignored(bench: Bench, syndrome: int) -> None:
    config = qp()
    bench.activate(config)
    bench.post(config, Operation.WRITE, 300)
    wait_for_frames(bench, config, 2)
    for psn in (config.sq_psn - 1, config.sq_psn + 2, config.sq_psn + 1000):
        bench.port.inject(bench.peer.response(config, psn, syndrome=syndrome))
    bench.run(QUIET_CYCLES)
    assert bench.completions == []
    bench.settle()


def test_a_nak_with_a_bad_icrc_is_ignored(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    bench.post(config, Operation.WRITE, 300)
    wait_for_frames(bench, config, 2)
    nak = bench.peer.response(config, config.sq_psn, syndrome=0x62)
    bench.port.inject(nak[:-1] + bytes([nak[-1] ^ 0x80]))
    bench.run(QUIET_CYCLES)
    assert bench.completions == []
    bench.settle()


def test_a_nak_in_the_middle_of_a_message_stops_it_between_two_frames(bench: Bench) -> None:
    config, other = qp(0, path_mtu=PathMtu.MTU_1024), qp(1, Service.UC)
    bench.activate(config, other)
    bench.post(config, Operation.WRITE, 40 * 1024, outcome=Status.REM_ACCESS_ERR, sends=False)
    whole = qp(0, path_mtu=PathMtu.MTU_1024)
    bench.run(LIMIT, until=Until.FRAME)
    bench.port.inject(bench.peer.response(config, config.sq_psn, syndrome=0x62))
    bench.run(LIMIT, until=Until.COMPLETION)
    sent = len(bench.sent[config.remote_qpn])
    assert 1 <= sent < 40
    bench.run(QUIET_CYCLES)
    assert len(bench.sent.pop(config.remote_qpn)) == sent, "frames followed the error completion"
    # Its payload is out of the way, too.
    bench.post(other, Operation.WRITE, 500)
    bench.settle()
    bench.activate(whole)
    bench.post(whole, Operation.SEND, 2000)
    bench.settle()


def test_a_failure_before_a_stalled_wire_holds_up_no_acknowledgement(bench: Bench) -> None:
    failing, other = qp(0, path_mtu=PathMtu.MTU_4096), qp(1)
    bench.activate(failing, other)
    request = bench.post(other, Operation.WRITE, 10)
    wait_for_frames(bench, other, 1)
    bench.post(failing, Operation.WRITE, 40 * 4096, outcome=Status.REM_ACCESS_ERR, sends=False)
    wait_for_frames(bench, failing, 1)
    bench.port.flow(Flow(tx_stall=99))
    bench.port.inject(bench.peer.response(failing, failing.sq_psn, syndrome=0x62))
    bench.port.inject(bench.peer.response(other, other.sq_psn))
    bench.run(QUIET_CYCLES)
    assert [completion.wr_id for completion in bench.completions] == [request.wr_id]


@pytest.mark.parametrize("code", [1, 2, 4])
def test_a_missing_ack_times_out_between_one_and_four_times_t(bench: Bench, code: int) -> None:
    config = qp(ack_timeout=code)
    bench.activate(config)
    bench.post(config, Operation.WRITE, 300, outcome=Status.RETRY_EXC_ERR)
    bench.post(config, Operation.WRITE, 10, outcome=Status.WR_FLUSH_ERR)
    period = 4_096_000 * 2**code / bench.clock_ps
    wait_for_frames(bench, config, 3)
    left = bench.frame_cycles[bench.sent[config.remote_qpn][-1]]
    bench.run(int(4 * period) + QUIET_CYCLES, until=Until.COMPLETION)
    assert period <= bench.completion_cycles[1] - left <= 4 * period
    bench.settle(answering=False)
    assert [c.syndrome for c in bench.completions] == [0xFF, 0xFF]
    bench.post(config, Operation.SEND, 5, outcome=Status.WR_FLUSH_ERR, sends=False)
    bench.settle()


def test_timeout_code_zero_never_times_out(bench: Bench) -> None:
    config = qp(ack_timeout=0)
    bench.activate(config)
    bench.post(config, Operation.WRITE, 300)
    bench.run(40_000)
    assert bench.completions == []
    bench.settle()


def test_an_ack_in_time_restarts_the_timer(bench: Bench) -> None:
    config = qp(ack_timeout=1)
    period = int(8_192_000 / bench.clock_ps)
    bench.activate(config)
    bench.post(config, Operation.WRITE, 10)
    bench.post(config, Operation.WRITE, 10, outcome=Status.RETRY_EXC_ERR)
    wait_for_frames(bench, config, 2)
    bench.run(period * 3 // 4)
    bench.port.inject(bench.peer.response(config, config.sq_psn))
    acked = bench.cycle
    bench.settle(limit=6 * period, answering=False)
    assert period <= bench.completion_cycles[2] - acked <= 4 * period + QUIET_CYCLES


def test_no_timer_runs_while_nothing_is_outstanding(bench: Bench) -> None:
    config = qp(ack_timeout=1)
    bench.activate(config)
    for _ in range(3):
        bench.post(config, Operation.WRITE, 10)
        bench.settle()
        bench.run(10_000)
    assert len(bench.completions) == 3


def test_a_length_above_the_limit_is_refused(bench: Bench) -> None:
    config, other = qp(0, Service.UC), qp(1, Service.UC)
    bench.activate(config, other)
    request = WorkRequest(
        wr_id=99, qpn=config.local_qpn, operation=Operation.WRITE, length=(1 << 31) + 1
    )
    bench.port.post(request, payload=bytes(8))
    bench.run(LIMIT, until=Until.COMPLETION)
    (completion,) = bench.completions
    assert (completion.wr_id, completion.status) == (99, Status.LOC_LEN_ERR)
    bench.completions.clear()
    bench.post(other, Operation.WRITE, 100)
    bench.settle()


def test_a_service_the_endpoint_lacks_is_refused(bench: Bench) -> None:
    config, other = qp(0, Service.UD), qp(1, Service.UC)
    bench.activate(config, other)
    bench.post(config, Operation.SEND, 100, outcome=Status.LOC_QP_OP_ERR, sends=False)
    bench.post(other, Operation.SEND, 100)
    bench.settle()


def test_errors_hold_under_back_pressure(bench: Bench) -> None:
    bench.port.flow(Flow(tx_stall=80, payload_gap=60, cpl_stall=80, rx_gap=50))
    config, other = qp(0), qp(1)
    bench.activate(other)
    for round_ in range(4):
        start = qp(0, sq_psn=round_ * 0x1000, ip_id=round_ * 0x100)
        bench.activate(start)
        bench.post(start, Operation.WRITE, 600, outcome=Status.REM_OP_ERR)
        bench.post(other, Operation.WRITE, 200)
        sent_before = len(bench.sent[config.remote_qpn])
        wait_for_frames(bench, config, sent_before + 3)
        bench.port.inject(bench.peer.response(start, start.sq_psn + 1, syndrome=0x63))
        bench.peer.forget(start)
        while sum(c.status is Status.REM_OP_ERR for c in bench.completions) <= round_:
            assert bench.cycle < LIMIT * (round_ + 1), "the NAK has not failed its message"
            bench.run(50)
        bench.post(start, Operation.WRITE, 50, outcome=Status.WR_FLUSH_ERR, sends=False)
        bench.settle()
