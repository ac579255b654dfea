# SPDX-License-Identifier: BSD-2-Clause
"""What lies beyond a device's limits is skipped with that reason, and what is within is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pytest

from roceproof.conformance.cases import test_responder_memory, test_responder_sequence
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.recovery import timeout_code, unhurried_code
from roceproof.conformance.suite.limits.skips import is_known
from roceproof.conformance.suite.limits.within_limits import require_lack, require_tries_after_rnr
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    FETCH_ADD,
    READ_REQUEST,
    SEND_FIRST,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.limits import Limits
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

Make = Callable[..., Bench]
Executes = Mapping[Service, frozenset[Op]] | None


@pytest.fixture
def limited() -> Iterator[Make]:
    """Benches of a device with these limits."""
    with ExitStack() as open_devices:

        def make(
            *, path_mtus: tuple[int, ...] = (1024,), executes: Executes = None, **limits: object
        ) -> Bench:
            source = ModelFactory()
            target = open_devices.enter_context(source.device(CasePlace(name="limits", seed=1)))
            claims = replace(source.claims, path_mtus=path_mtus, limits=Limits(**limits))
            claims = replace(claims, executes=executes)
            return Bench(target, claims, seed=1)

        yield make


def skipped(act: Callable[[], object]) -> str:
    """Why it was not tried."""
    with pytest.raises(pytest.skip.Exception) as caught:
        act()
    assert is_known(str(caught.value))
    return str(caught.value)


def test_lengths_stay_within_the_limits(limited: Make) -> None:
    qp = limited(length_multiple=4, shortest=4, longest=64).connect()
    assert "multiples of 4, not 5" in skipped(lambda: qp.post(Op.WRITE, b"12345"))
    assert "at least 4 bytes, not 0" in skipped(lambda: qp.post(Op.WRITE, 0))
    assert "at most 64 bytes, not 68" in skipped(lambda: qp.post(Op.WRITE, b"x" * 68))
    assert "multiples of 4" in skipped(lambda: qp.refuses(Op.WRITE, 0, length=3))
    qp.transfer(Op.WRITE, 8)


def test_random_bytes_are_as_many_as_the_device_can_take(limited: Make) -> None:
    qp = limited(length_multiple=4).connect()
    message = qp.post(Op.WRITE, 1024 + 5)
    assert message.work.size == 1024 + 8
    qp.expect(WRITE_FIRST(payload=1024, dmalen=1024 + 5), WRITE_LAST(payload=5))
    qp.finish(message)


def test_operations_are_those_of_the_service(limited: Make) -> None:
    bench = limited(
        operations={
            Service.RC: frozenset({Op.WRITE}),
            Service.UC: frozenset({Op.SEND}),
        }
    )
    rc, uc = bench.connect(), bench.connect(Service.UC)
    assert "it has no SEND on RC" in skipped(lambda: rc.post(Op.SEND, 8))
    assert "it has no WRITE on UC" in skipped(lambda: uc.post(Op.WRITE, 8))
    rc.transfer(Op.WRITE, 8)
    uc.transfer(Op.SEND, 8)


def test_no_more_is_outstanding_than_the_device_can_hold(limited: Make) -> None:
    qp = limited(outstanding_messages=2, outstanding_packets=5).connect()
    first = qp.post(Op.WRITE, 8)
    assert "5 packets outstanding, not 6" in skipped(lambda: qp.post(Op.WRITE, 5 * 1024))
    second = qp.post(Op.WRITE, 4 * 1024)
    assert "2 messages outstanding, not 3" in skipped(lambda: qp.post(Op.WRITE, 8))
    qp.expect_message(first, second)
    qp.finish(first)
    qp.post(Op.WRITE, 8)


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
def test_what_ends_by_itself_makes_room_for_what_is_posted(limited: Make, service: Service) -> None:
    qp = limited(outstanding_messages=2).connect(service)
    qp.serve()
    messages = [qp.post(Op.WRITE, length) for length in (0, 5, 3000, 7, 64)]
    qp.expect_message(*messages)
    qp.completes(*messages)


def test_queue_pairs_share_what_may_be_outstanding_in_all(limited: Make) -> None:
    bench = limited(outstanding_messages=2, outstanding_shared=True)
    first, second, third = bench.connect(), bench.connect(), bench.connect(Service.UC)
    held = first.post(Op.WRITE, 8)
    also_held = second.post(Op.WRITE, 8)
    assert "2 messages outstanding in all, not 3" in skipped(lambda: third.post(Op.WRITE, 8))
    first.expect_message(held)
    first.finish(held)
    messages = [third.post(Op.WRITE, 8) for _ in range(4)]  # each when the one before has ended
    third.expect_message(*messages)
    third.completes(*messages)
    assert "in all, not 3" in skipped(lambda: [first.post(Op.WRITE, 8) for _ in range(2)])
    second.expect_message(also_held)
    second.finish(also_held)


def test_a_life_that_is_over_gives_its_share_back(limited: Make) -> None:
    bench = limited(outstanding_messages=1, outstanding_shared=True)
    first, second = bench.connect(), bench.connect()
    first.post(Op.WRITE, 8)
    assert "in all" in skipped(lambda: second.post(Op.WRITE, 8))
    first.reconnect()
    second.post(Op.WRITE, 8)


def test_a_device_that_never_tries_again_is_not_asked_to(limited: Make) -> None:
    claims = limited(fixed={"rnr_retry": 0, "retry_count": 0}).claims
    assert "rnr_retry is always 0" in skipped(lambda: require_tries_after_rnr(claims))
    require_tries_after_rnr(limited(fixed={"rnr_retry": 1}).claims)


def test_a_message_that_nobody_waits_for_needs_room_as_well(limited: Make) -> None:
    qp = limited(outstanding_packets=4).connect()
    assert "4 packets outstanding, not 8192" in skipped(lambda: qp.begin(Op.WRITE, length=1 << 23))
    qp.begin(Op.WRITE, length=4 * 1024)


def test_room_is_waited_for_while_frames_still_come(
    limited: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = limited(outstanding_packets=8, path_mtus=(4096,))
    qp, target = bench.connect(Service.UC), bench.target
    monkeypatch.setattr(target, "patience", target.patience._replace(answer_ns=8000))
    messages = [qp.post(Op.WRITE, 8 * 4096) for _ in range(3)]  # 3 us a frame
    qp.expect_message(*messages)


def test_what_is_fixed_and_not_said_is_as_the_device_has_it(limited: Make) -> None:
    bench = limited(fixed={"ack_timeout": 14, "retry_count": 3})
    qp = bench.connect()
    assert (qp.spec.ack_timeout, qp.spec.retry_count) == (14, 3)
    assert "its ack_timeout is always 14, not 4" in skipped(lambda: bench.connect(ack_timeout=4))


def test_what_never_ends_is_a_failure_and_no_skip(limited: Make) -> None:
    qp = limited(outstanding_messages=1).connect()
    qp.answer_with = lambda packet: ()
    first = qp.post(Op.WRITE, 8)
    with pytest.raises(CaseFailed, match=f"work {first.work.wr_id:#x} completed") as caught:
        qp.post(Op.WRITE, 8)
    assert caught.value.stop is not None
    assert caught.value.stop.kind is Kind.NO_COMPLETION


def test_what_is_fixed_is_compared_and_never_drawn(limited: Make) -> None:
    bench = limited(fixed={"hop_limit": 64, "solicited": 1, "local_qpn": 3})
    qp = bench.connect()
    assert (qp.spec.hop_limit, qp.qp.spec.local_qpn) == (64, 3)
    assert "its hop_limit is always 64, not 5" in skipped(lambda: bench.connect(hop_limit=5))
    assert "its hop_limit is always 64" in skipped(lambda: qp.reconnect(hop_limit=5))
    assert "it always sets SE" in skipped(lambda: qp.post(Op.SEND, 8, solicited=False))
    message = qp.post(Op.SEND, 8)
    (packet,) = qp.expect_message(message)
    assert message.work.solicited and packet.bth.solicited
    qp.finish(message)
    qp.post(Op.SEND, 8, solicited=True)


def test_a_case_that_thinks_in_another_path_mtu_gets_as_many_packets(limited: Make) -> None:
    qp = limited(path_mtus=(1024,), length_multiple=4).connect(path_mtu=256)
    assert (qp.mtu, qp.lengths.thought) == (1024, 256)
    message = qp.post(Op.WRITE, 2 * 256 + 5)
    assert message.work.size == 2 * 1024 + 8
    qp.expect(
        WRITE_FIRST(psn=0, payload=256, dmalen=2 * 256 + 5),
        WRITE_MIDDLE(psn=1, payload=256),
        WRITE_LAST(psn=2, payload=5),
    )
    qp.finish(message)
    qp.reconnect()
    assert qp.post(Op.WRITE, 256).work.size == 1024
    qp.reconnect(path_mtu=1024)
    assert qp.post(Op.WRITE, 256).work.size == 256


def test_a_request_that_the_device_does_not_execute_is_not_tried(limited: Make) -> None:
    bench = limited(executes={Service.RC: frozenset({Op.WRITE, Op.SEND_IMM})})
    qp = bench.connect()
    place = at(qp.region())
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **place), SEND_FIRST(psn=1, payload=qp.mtu))
    for request, name in (
        (READ_REQUEST(psn=2, dmalen=8, **place), "does not execute READ on RC"),
        (FETCH_ADD(psn=2, **place), "does not execute FETCH_ADD on RC"),
        (SEND_ONLY(psn=2), "does not execute SEND on RC"),
        (WRITE_ONLY_IMM(psn=2), "does not execute WRITE_IMM on RC"),
    ):
        assert name in skipped(partial(qp.send, request))
    assert "does not execute WRITE on UC" in skipped(lambda: bench.connect(Service.UC).fence(0))


def test_on_a_service_that_the_device_does_not_serve_nothing_is_tried(limited: Make) -> None:
    bench = limited()
    bench.claims = replace(bench.claims, capabilities=bench.claims.capabilities - {Capability.RC})
    assert "does not serve reliable connections" in skipped(bench.connect)
    bench.connect(Service.UC)


def test_what_shows_where_an_operation_is_missing_is_not_tried_where_it_is_there(
    limited: Make,
) -> None:
    read = OPCODES[0x0C]
    require_lack(limited(executes={Service.RC: frozenset()}).claims, Service.RC, read)
    for executes in (None, {Service.RC: frozenset({Op.READ})}):
        claims = limited(executes=executes).claims
        assert "it executes RC READ" in skipped(partial(require_lack, claims, Service.RC, read))


@pytest.mark.parametrize("name", ["rkey", "remote_addr", "immediate"])
def test_all_work_of_a_queue_pair_has_what_its_first_work_had(limited: Make, name: str) -> None:
    qp = limited(per_queue_pair=frozenset({name})).connect()
    first = getattr(qp.post(Op.SEND, 8).work, name)
    assert getattr(qp.post(Op.WRITE_IMM, 8).work, name) == first
    assert f"has one {name}" in skipped(lambda: qp.post(Op.WRITE_IMM, 8, **{name: first ^ 8}))
    qp.reconnect()
    assert getattr(qp.post(Op.WRITE_IMM, 8, **{name: first ^ 8}).work, name) == first ^ 8


def test_what_is_fixed_of_work_is_the_same_in_all(limited: Make) -> None:
    qp = limited(fixed={"payload_offset": 3, "rkey": 7, "max_rd_atomic": 4}).connect()
    work = qp.post(Op.WRITE, 8).work
    assert (work.offset, work.rkey, qp.spec.max_rd_atomic) == (3, 7, 4)
    assert "its rkey is always 7, not 8" in skipped(lambda: qp.post(Op.WRITE, 8, rkey=8))


@pytest.mark.parametrize(
    ("fixed", "awaited", "unhurried"), [(0, 8, 0), (1, 8, 20), (9, 9, 9), (14, 8, 14)]
)
def test_a_case_takes_the_timeout_of_the_device_where_that_fits(
    limited: Make, fixed: int, awaited: int, unhurried: int
) -> None:
    bench = limited(fixed={"ack_timeout": fixed})
    assert (timeout_code(bench), unhurried_code(bench, 20)) == (awaited, unhurried)
    if fixed != awaited:
        told = skipped(lambda: bench.connect(ack_timeout=timeout_code(bench)))
        assert f"its ack_timeout is always {fixed}, not {awaited}" in told


def test_plans_keep_to_what_nobody_can_choose(limited: Make) -> None:
    once = frozenset({"remote_addr", "immediate"})
    bench = limited(fixed={"rkey": 7}, per_queue_pair=once)
    play, posted = Play(bench), []
    bench.target.post = lambda qp, work: posted.append(work)  # type: ignore[method-assign]
    play.connect(0, service="RC")
    play.post(0, "WRITE_IMM", 5, count=3, remote_addr=64, rkey=1, immediate=2)
    assert {(work.remote_addr, work.rkey, work.immediate) for work in posted} == {(64, 7, 2)}


@pytest.mark.parametrize("more", [1, 4, 3840])
def test_what_is_too_long_is_longer_than_the_devices_only_path_mtu(
    limited: Make, more: int
) -> None:
    case = test_responder_sequence.test_only_carries_no_more_than_the_path_mtu
    case(limited(path_mtus=(1024,)), WRITE_ONLY, more)


@pytest.mark.parametrize(
    ("path_mtus", "size"), [((256, 512, 1024), 1024), ((256, 4096), 4096), ((1024,), 1028)]
)
def test_what_is_far_too_long_is_no_longer_than_its_port_must_take(
    limited: Make, path_mtus: tuple[int, ...], size: int
) -> None:
    bench = limited(path_mtus=path_mtus)
    test_responder_sequence.test_only_carries_no_more_than_the_path_mtu(bench, WRITE_ONLY, 3840)
    heard = [parse(each.frame) for each in bench.transcript.entries() if not each.is_sent]
    assert max(len(packet.payload) for packet in heard if packet is not None) == size


@pytest.mark.parametrize("more", [None, 1, 4])
def test_and_so_is_what_comes_last(limited: Make, more: int | None) -> None:
    case = test_responder_sequence.test_last_carries_one_byte_to_the_path_mtu
    case(limited(path_mtus=(1024,)), WRITE_LAST, more)


def test_a_region_that_is_longer_than_was_asked_for_is_left_at_its_end(
    limited: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = limited()
    register = bench.target.register
    monkeypatch.setattr(bench.target, "register", lambda size, **more: register(2 * size, **more))
    test_responder_memory.test_a_range_is_checked_as_a_whole_at_the_first_packet(bench)
