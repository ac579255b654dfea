# SPDX-License-Identifier: BSD-2-Clause
"""Storms: what they predict is what the codec builds, and whatever differs is found and told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random

import pytest

from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.expect.prediction import predict
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.reporting.ends import posted_before
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import in_short
from roceproof.conformance.suite.reporting.failure_site import Kind
from roceproof.conformance.suite.traffic.noise_traffic import Hail, hailing
from roceproof.conformance.suite.traffic.storm import Storm, all_that_left
from roceproof.conformance.suite.traffic.storm_crowd import crowd, post_any
from roceproof.conformance.suite.traffic.storm_frames import FrameMaker
from roceproof.conformance.suite.traffic.storm_stream import Stream, Wrong
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.frame_edits import reseal
from roceproof.verbs.addresses import Host
from roceproof.verbs.limits import Limits
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

DEVICE = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
PUSHES = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
MESSAGES, TURN = 40, 25
ICRC_BYTE, PAYLOAD_BYTE, IDENT_BYTE, UDP_LENGTH_BYTE, BTH_BYTE = -1, -5, 19, 39, 42


def random_spec(draw: Random, service: Service) -> QpSpec:
    return QpSpec(
        service=service,
        remote=Host(draw.randbytes(6), draw.randbytes(4)),
        remote_qpn=draw.getrandbits(24),
        sq_psn=draw.getrandbits(24),
        path_mtu=256,
        udp_sport=draw.getrandbits(16),
        traffic_class=draw.getrandbits(8),
        hop_limit=draw.getrandbits(8),
        ip_id=draw.getrandbits(16),
    )


@pytest.mark.parametrize("service", [Service.RC, Service.UC, Service.UD])
def test_frames_made_in_bulk_are_those_that_the_codec_builds(service: Service) -> None:
    draw = Random(service)
    for _ in range(200):
        spec = random_spec(draw, service)
        flow = FlowCodec(
            src=DEVICE,
            dst=spec.remote,
            dest_qpn=spec.remote_qpn,
            src_qpn=0x11,
            service=int(service),
            request_start=spec.sq_psn,
            response_start=0,
            sport=spec.udp_sport,
            tos=spec.traffic_class,
            ttl=spec.hop_limit,
        )
        work = Work(
            wr_id=1,
            op=draw.choice(PUSHES[:2] if service is Service.UD else PUSHES),
            data=draw.randbytes(draw.randrange(257 if service is Service.UD else 900)),
            remote_addr=draw.getrandbits(64),
            rkey=draw.getrandbits(32),
            immediate=draw.getrandbits(32),
            solicited=draw.random() < 0.5,
            datagram_qpn=draw.getrandbits(24),
            datagram_qkey=draw.getrandbits(32),
        )
        message = predict(spec, work, draw.getrandbits(24))
        made = list(FrameMaker(spec, DEVICE, local_qpn=0x11).frames(message))
        idents = [(spec.ip_id + index) % (1 << 16) for index in range(len(made))]
        packets = zip(message.packets, idents, strict=True)
        assert made == [flow.build(packet.but(ident=ident)) for packet, ident in packets]


def test_bytes_that_cross_no_channel_are_predicted_as_the_simulation_makes_them() -> None:
    spec = random_spec(Random(1), Service.UC)
    message = predict(spec, Work(wr_id=7, op=Op.WRITE, data=b"", length=1 << 31), 0)
    frame = next(FrameMaker(spec, DEVICE, local_qpn=0x11).frames(message))
    payload = message.packet(0).said["payload"]
    assert len(payload) == spec.path_mtu
    assert payload in frame


class Once(WireFault):
    """Does something to one frame in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def sent(self, frame: bytes, now_ns: int) -> list[bytes]:
        self.seen += 1
        return self.turn(frame) if self.seen == TURN else [frame]

    def turn(self, frame: bytes) -> list[bytes]:
        raise NotImplementedError


class Lost(Once):
    def turn(self, frame: bytes) -> list[bytes]:
        return []


class Doubled(Once):
    def turn(self, frame: bytes) -> list[bytes]:
        return [frame, frame]


class Garbled(Once):
    def turn(self, frame: bytes) -> list[bytes]:
        return [bytes(len(frame))]


def flipped(name: str, place: int) -> type[Once]:
    """One bit of one byte of the frame is wrong."""

    class Flipped(Once):
        def turn(self, frame: bytes) -> list[bytes]:
            broken = bytearray(frame)
            broken[place] ^= 1
            return [bytes(broken)]

    Flipped.__name__ = name
    return Flipped


class Swallowed(WireFault):
    """Frames that come are lost from some moment on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def received(self, frame: bytes, now_ns: int) -> list[bytes]:
        self.seen += 1
        return [frame] if self.seen < 3 else []


@contextmanager
def bench_of(fault: type[WireFault] = WireFault) -> Iterator[Bench]:
    source = CorruptingFactory(ModelFactory(), WireMutant("fault", "", (), (), make=fault))
    with source.device(CasePlace(name="storm", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def rage(bench: Bench, service: Service = Service.UC, length: int = 64) -> Storm:
    storm = Storm(bench)
    stream = storm.on(bench.connect(service, path_mtu=256))
    for _ in range(MESSAGES):
        stream.post(Op.WRITE, length)
    storm.rage(answers=all_that_left)
    return storm


def test_a_healthy_device_lives_through_it() -> None:
    with bench_of() as bench:
        storm = rage(bench, Service.RC)
        assert (storm.frames, storm.most_in_flight, storm.in_flight) == (MESSAGES, MESSAGES, 0)


@pytest.mark.parametrize(
    ("fault", "text", "rules"),
    [
        (Lost, f"want  message {TURN} (WRITE of 64 bytes), packet 0", ("PSN-02",)),
        (Doubled, f"want  message {TURN + 1} (WRITE of 64 bytes), packet 0", ("PSN-02",)),
        (flipped("Payload", PAYLOAD_BYTE), "payload: want", ("RETH-13",)),
        (flipped("Icrc", ICRC_BYTE), "icrc: want ", ("ICRC-02",)),
        (Garbled, "a frame that is no RoCE packet: 0000", ("LIVE-03",)),
        (flipped("Nobody", 48), "a packet to a QPN that nobody has", ("BTH-10",)),
    ],
)
def test_the_first_frame_that_differs_is_told(
    fault: type[WireFault], text: str, rules: tuple[str, ...]
) -> None:
    with bench_of(fault) as bench, pytest.raises(CaseFailed) as failure:
        rage(bench)
    assert text in str(failure.value)
    assert "messages in flight" in str(failure.value)
    assert failure.value.rules == rules


def test_an_identification_that_is_not_contracted_may_be_any() -> None:
    class Identified(WireFault):
        def sent(self, frame: bytes, now_ns: int) -> list[bytes]:
            other = bytearray(frame)
            other[18:20] = bytes(2)
            reseal(other)
            return [bytes(other)]

    with bench_of(Identified) as bench:
        rage(bench)


def test_answers_that_do_not_arrive_leave_messages_that_are_told() -> None:
    with bench_of(Swallowed) as bench, pytest.raises(CaseFailed, match="is not completed"):
        storm = Storm(bench)
        stream = storm.on(bench.connect(Service.RC, path_mtu=256))
        for _ in range(3):
            stream.post(Op.WRITE, 64)
            storm.blow(steps=4)
            storm.rage(answers=all_that_left)


def test_a_completion_that_is_due_is_told_before_the_frames_that_come_behind_it() -> None:
    with bench_of() as bench:
        qp = bench.connect(Service.RC, path_mtu=256)
        stream = Stream(qp, bench.target.host, claims=bench.claims)
        first, second = (stream.post(Op.WRITE, 64) for _ in range(2))
        stream.take(next(FrameMaker(qp.spec, bench.target.host, local_qpn=qp.qp.qpn).frames(first)))
        stop = stream.stop()
        assert stop is not None and (stop.kind, stop.message) == (Kind.NO_PACKET, second)
        stream.ack(0)
        stop = stream.stop()
        assert stop is not None and (stop.kind, stop.message) == (Kind.NO_COMPLETION, first)


def test_what_was_not_acknowledged_must_not_complete() -> None:
    with bench_of() as bench, pytest.raises(CaseFailed, match="without an answer"):
        storm = Storm(bench)
        stream = storm.on(bench.connect(Service.RC, path_mtu=256))
        stream.post(Op.WRITE, 64)
        storm.blow(steps=4)
        ack = stream.ack(0)
        stream.acked_psn = 0
        storm.say([(stream, ack)])
        storm.blow(steps=4)


@pytest.mark.parametrize("by_contract", [True, False])
def test_a_queue_pair_in_error_must_be_silent(by_contract: bool) -> None:
    with bench_of() as bench:
        qp = bench.connect(Service.RC, path_mtu=256)
        claims = replace(bench.claims, target="hdl" if by_contract else "model")
        stream = Stream(qp, bench.target.host, claims=claims)
        messages = [stream.post(Op.WRITE, 64) for _ in range(4)]
        maker = FrameMaker(qp.spec, bench.target.host, local_qpn=qp.qp.qpn)
        frames = [frame for message in messages for frame in maker.frames(message)]
        stream.take(frames[0])
        stream.nak(2, 0, status="rem_access_err")
        stream.complete(Outcome(wr_id=messages[0].work.wr_id, status="rem_access_err"))
        if not by_contract:
            stream.take(frames[1])  # it may have begun to leave
        with pytest.raises(Wrong, match="want  nothing of a queue pair in error"):
            stream.take(frames[2])


@pytest.mark.parametrize("overtaken", [1, 3])
def test_how_many_completions_were_overtaken_is_told_and_the_first_one(overtaken: int) -> None:
    with bench_of() as bench:
        stream = Stream(bench.connect(Service.UC), bench.target.host, claims=bench.claims)
        messages = [stream.post(Op.WRITE, 64) for _ in range(5)]
        late = Outcome(wr_id=messages[overtaken].work.wr_id, status="success")
        with pytest.raises(Wrong) as wrong:
            stream.complete(late)
    told = f", which is message {overtaken + 1}{posted_before(overtaken)}, the first is message 1"
    assert str(wrong.value).endswith(told)
    assert in_short(str(wrong.value).replace("\n", "; ")).endswith(told)


def test_hail_is_answered_rightly_or_not_at_all() -> None:
    with bench_of() as bench:
        storm = Storm(bench)
        streams = crowd(storm, Service.RC, Service.UC, Service.UD)
        hail = Hail(storm)
        for _ in range(MESSAGES):
            post_any(bench.random.choice(streams), [Op.SEND], 5)
        storm.rage(answers=all_that_left, changes=lambda: hail.fall(20))
        hail.judge()


def test_no_more_hail_falls_than_the_wire_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench_of() as bench:
        storm = Storm(bench)
        crowd(storm, Service.UC)
        fall, fallen = hailing(Hail(storm), 12), bench.transcript.entries
        for waiting, expected in ((12, 12), (13, 12), (12, 24)):
            monkeypatch.setattr(type(bench.target), "untaken", lambda _, now=waiting: now)
            fall()
            assert len(list(fallen())) == expected


def test_what_is_on_the_wire_is_not_taken_yet() -> None:
    with bench_of() as bench:
        for _ in range(3):
            bench.send(bench.target.host.mac + bytes(60), is_void=True)
        assert bench.target.untaken() == 3
        bench.target.wait(bench.target.patience.quiet_ns)
        assert bench.target.untaken() == 0


def test_an_answer_to_nothing_that_was_asked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with bench_of() as bench:
        storm = Storm(bench)
        crowd(storm, Service.UC)
        hail = Hail(storm)
        for _ in range(60):
            hail.fall(1)
            storm.blow(steps=1)
        answers = bench.target.asides()
        assert {answer[12:14] for answer in answers} == {b"\x08\x06", b"\x08\x00"}
        for answer in answers:
            changed = answer[:30] + bytes([answer[30] ^ 1]) + answer[31:]
            monkeypatch.setattr(type(bench.target), "asides", lambda _, found=changed: [found])
            with pytest.raises(CaseFailed, match="a wrong answer to an "):
                hail.judge()


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_storm_goes_on_as_far_as_the_device_may_have_messages(is_answered: bool) -> None:
    with bench_of() as made:
        claims = replace(made.claims, limits=Limits(outstanding_messages=4))
        bench = Bench(made.target, claims, seed=1)
        storm = Storm(bench)
        stream = storm.on(bench.connect(Service.RC, path_mtu=256))
        for _ in range(12):
            stream.post(Op.WRITE, 64)
        assert stream.in_flight == 4
        if is_answered:
            storm.rage(answers=all_that_left)
            return
        with pytest.raises(pytest.skip.Exception, match="may not have enough outstanding"):
            storm.rage()
        stream.acked_psn = 4  # now it is the device that owes completions
        with pytest.raises(CaseFailed, match="message 1 of 64 bytes is not completed"):
            storm.rage()


@pytest.mark.parametrize("is_answered", [True, False])
def test_streams_share_what_the_device_may_have_in_all(is_answered: bool) -> None:
    with bench_of() as made:
        limits = Limits(outstanding_messages=4, outstanding_shared=True)
        bench = Bench(made.target, replace(made.claims, limits=limits), seed=1)
        storm = Storm(bench)
        first, second = (storm.on(bench.connect(service)) for service in (Service.RC, Service.UC))
        for stream in (first, second):
            for _ in range(6):
                stream.post(Op.WRITE, 64)
        assert (first.in_flight, second.in_flight) == (4, 0)
        if is_answered:
            storm.rage(answers=all_that_left)
            assert storm.most_in_flight == 4
            return
        with pytest.raises(pytest.skip.Exception, match="may not have enough outstanding"):
            storm.rage()


def test_a_field_that_is_wrong_in_all_packets_is_told_at_the_end_and_hides_nothing() -> None:
    class Marked(WireFault):
        def sent(self, frame: bytes, now_ns: int) -> list[bytes]:
            other = bytearray(frame)
            other[BTH_BYTE + 4] |= 0x80
            reseal(other)
            return [bytes(other)]

    class Swapped(Marked):
        def sent(self, frame: bytes, now_ns: int) -> list[bytes]:
            other = bytearray(super().sent(frame, now_ns)[0])
            other[PAYLOAD_BYTE] ^= 1
            reseal(other)
            return [bytes(other)]

    class Longer(Marked):
        def sent(self, frame: bytes, now_ns: int) -> list[bytes]:
            other = bytearray(super().sent(frame, now_ns)[0])
            other[UDP_LENGTH_BYTE] ^= 1
            reseal(other)
            return [bytes(other)]

    with bench_of(Marked) as bench:
        rage(bench)
        assert bench.aside is not None
        assert bench.aside.rules == ("BTH-08",)
        assert [failure.rules for failure in judge(bench)] == [("BTH-08",)]
    with bench_of(Swapped) as bench, pytest.raises(CaseFailed, match="payload: want"):
        rage(bench)
    with bench_of(Longer) as bench, pytest.raises(CaseFailed, match="udp_length: want"):
        rage(bench)
