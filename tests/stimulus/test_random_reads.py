# SPDX-License-Identifier: BSD-2-Clause
"""Plans post READs and atomics, pass on healthy requesters, and find those that are not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from random_devices import opener

from roceproof.common.paths import REFERENCE_DUT, RESPONDER_DUT
from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester import rc
from roceproof.conformance.model.requester.policy import (
    DataRequest,
    RequesterPolicy,
    Reread,
    ResponseGap,
    Retransmission,
    Unexpected,
)
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message
from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.faulty_requesters import made_of
from roceproof.conformance.mutants.frames import edited
from roceproof.conformance.mutants.wire import WireFault, WireMutant, wire_mutants
from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.mutation import is_sound, mutated
from roceproof.conformance.stimulus.plan_text import plan_of, text_of
from roceproof.conformance.stimulus.requester.data_responses import DataResponse
from roceproof.conformance.stimulus.run_plan import Finding, played, try_seed
from roceproof.conformance.suite.pattern import (
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import Claims, DeviceFactory
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import checksummed, set_ip
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.work import Op

FEW, MANY, SEEDS, TRIED = range(8), range(1000, 1300), range(60), range(200)
MOST_STEPS, IPV4_BYTES = 14, 4
DATA = frozenset((*range(0x0D, 0x11), 0x12))
"""Opcodes of READ responses and ATOMIC ACKs."""
NONE = Retransmission.NONE
HABITS = [
    RequesterPolicy(),
    RequesterPolicy(reread=Reread.WHOLE, response_gap=ResponseGap.WAIT),
    RequesterPolicy(unexpected=Unexpected.BAD_RESPONSE),
    RequesterPolicy(data_request=DataRequest.SILENT),
    RequesterPolicy(retransmission=NONE),
    RequesterPolicy(retransmission=NONE, data_request=DataRequest.SILENT),
    RequesterPolicy(retransmission=NONE, response_gap=ResponseGap.WAIT),
    RequesterPolicy(retransmission=NONE, unexpected=Unexpected.BAD_RESPONSE),
]


def device(components: Components) -> ModelFactory:
    """A model that claims to send again only what it does."""
    factory = ModelFactory(components=components)
    if components.requester_policy.retransmission is NONE:
        kept = factory.claims.capabilities - {Capability.RETRANSMISSION}
        factory.claims = replace(factory.claims, capabilities=kept)
    return factory


def assert_passes(policy: RequesterPolicy, seed: int) -> None:
    factory = device(Components(requester_policy=policy))
    finding = try_seed(seed, factory.claims, opener(factory))
    assert finding is None, finding.told()


@pytest.mark.parametrize("policy", HABITS)
def test_a_healthy_requester_passes_whatever_it_chooses(policy: RequesterPolicy) -> None:
    for seed in FEW:
        assert_passes(policy, seed)


class DropsWhole(RcRequester):
    """Data behind a gap are as if they had not come: they acknowledge nothing, either."""

    def receive(self, segment: Segment, now_ns: int) -> None:
        psn = segment.bth.psn
        is_held = segment.bth.opcode in DATA and self.window.holds(psn)
        if not is_held or self.window.data_missing_before(psn) is None:
            super().receive(segment, now_ns)


LATE = """play = Play(bench)
play.connect(key=0, ack_timeout=4, max_rd_atomic=2)
play.post(key=0, count=2)
play.post(key=0, op="FETCH_ADD")
play.post(key=0, op="READ")
play.wait(ns=57000)
play.respond(key=0, skip=1)
play.answer(key=0, oldest=1, syndrome=0x61)
"""
BEHIND_A_GAP = """play = Play(bench)
play.connect(key=0, max_rd_atomic=2)
play.post(key=0, count=2)
play.post(key=0, op="FETCH_ADD")
play.post(key=0, op="READ")
play.wait(ns=1000)
play.respond(key=0, skip=1)
play.answer(key=0, oldest=-1, syndrome=0x61)
"""


@pytest.mark.parametrize("retransmission", Retransmission)
def test_a_requester_that_drops_what_is_behind_a_gap_passes(retransmission: Retransmission) -> None:
    factory = device(made_of(DropsWhole, retransmission=retransmission))
    plans = [draw_plan(seed, factory.claims) for seed in SEEDS]
    written = [plan_of(text, name="gap") for text in (BEHIND_A_GAP, LATE)]
    for seed, plan in enumerate([*written, *plans]):
        failure = played(plan, seed, opener(factory)).failure
        assert failure is None, f"{text_of(plan)}\n{failure}"


@pytest.mark.slow
@pytest.mark.parametrize("policy", HABITS)
def test_a_healthy_requester_passes_many(
    policy: RequesterPolicy, subtests: pytest.Subtests
) -> None:
    for seed in MANY:
        with subtests.test(seed=seed):
            assert_passes(policy, seed)


def test_a_mutant_of_such_a_plan_passes_and_can_be_written_down() -> None:
    factory = device(Components())
    plans = [draw_plan(seed, factory.claims) for seed in range(40)]
    for seed, plan in enumerate(plans[:20]):
        changed = mutated(Random(seed), plan, plans[20:])
        assert is_sound(changed)
        assert plan_of(text_of(changed), name="mutant") == changed
        failure = played(changed, seed, opener(factory)).failure
        assert failure is None, f"{text_of(changed)}\n{failure}"


# what is posted


def posted(claims: Claims) -> set[str]:
    plans = (draw_plan(seed, claims) for seed in SEEDS)
    steps = [step for plan in plans for step in plan.steps]
    return {step.fields["op"] for step in steps if step.name == "post"}


def test_what_a_device_sends_is_posted() -> None:
    claims = ModelFactory().claims
    assert {"READ", "CMP_SWAP", "FETCH_ADD", "WRITE"} <= posted(claims)
    lacks = {Capability.ATOMIC}
    assert "CMP_SWAP" not in posted(replace(claims, capabilities=claims.capabilities - lacks))


@pytest.mark.parametrize("lacks", [{Capability.READ, Capability.ATOMIC}, {Capability.MEMORY}])
def test_nothing_is_read_where_nothing_can_be(lacks: set[Capability]) -> None:
    claims = ModelFactory().claims
    claims = replace(claims, capabilities=claims.capabilities - lacks)
    assert posted(claims).isdisjoint({"READ", "CMP_SWAP", "FETCH_ADD"})


@pytest.mark.parametrize("dut", [REFERENCE_DUT, RESPONDER_DUT])
def test_plans_of_a_device_that_sends_none_know_nothing_of_it(dut) -> None:
    claims = HdlFactory(load_manifest(dut)).claims
    steps = [step for seed in SEEDS for step in draw_plan(seed, claims).steps]
    assert {"respond", "respond_again"}.isdisjoint({step.name for step in steps})
    assert not any("max_rd_atomic" in step.fields for step in steps)


def test_a_device_that_only_reads_has_plans() -> None:
    factory = ModelFactory()
    lacks = {Capability[name] for name in ("SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "ATOMIC")}
    capabilities = factory.claims.capabilities - lacks
    factory.claims = replace(factory.claims, capabilities=capabilities)
    assert posted(factory.claims) == {"READ"}
    for seed in FEW:
        failure = played(draw_plan(seed, factory.claims), seed, opener(factory)).failure
        assert failure is None, failure


# faults


class TakesOnePsn(RcRequester):
    """The request behind a READ has the next PSN, however many responses that has."""

    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        if segment is not None and segment.bth.opcode == 0x0C and not self.window.replays:
            self.window.next = self.window.fresh = (segment.bth.psn + 1) % (1 << 24)
        return segment


class EndsWithAnAck(RcRequester):
    """An ACK of a READ completes it."""

    def all_before(self, psn: int, now_ns: int) -> bool:
        self.progress(psn, now_ns)
        return True


class TakesShortEnds(RcRequester):
    """The last response of a READ may have fewer bytes."""

    def read_response(self, segment: Segment, now_ns: int) -> None:
        message = self.window.message_at(segment.bth.psn)
        lacks = message.work.size - message.offset(segment.bth.psn) * self.spec.path_mtu
        is_last = message.work.op is Op.READ and 0 < lacks <= self.spec.path_mtu
        if is_last and len(segment.payload) < lacks:
            segment = replace(segment, payload=segment.payload.ljust(lacks, b"\0"))
        super().read_response(segment, now_ns)


class IgnoresDepth(RcRequester):
    """READs and atomics leave, however many are outstanding."""

    def may_ask_for_data(self) -> bool:
        return True


class BelievesThoseAhead(RcRequester):
    """A response behind a gap is taken as if nothing were missing."""

    def read_response(self, segment: Segment, now_ns: int) -> None:
        message = self.window.message_at(segment.bth.psn)
        if message.work.op is Op.READ:
            self.progress(segment.bth.psn, now_ns)
        super().read_response(segment, now_ns)


class TakesOldData(RcRequester):
    """A response that comes again is written again."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._begun: list[Message] = []

    def receive(self, segment: Segment, now_ns: int) -> None:
        for message in self._begun:
            offset = message.offset(segment.bth.psn)
            is_done = 0 <= offset < message.span and not self.window.holds(segment.bth.psn)
            if is_done and message.work.op is Op.READ and len(segment.payload) <= 1024:
                rc.place_response(message, offset, segment)
        self._begun += [each for each in self.window.messages if each not in self._begun]
        super().receive(segment, now_ns)


def big_endian(message: Message, answer: rc.AtomicAckEth) -> bool:
    """What an atomic found goes to memory most significant byte first."""
    assert message.work.into is not None
    message.work.into.write(message.work.into_offset, answer.original.to_bytes(8, "big"))
    return True


def second_too_far(message: Message, offset: int, segment: Segment) -> bool:
    """From the second response on, data of a READ land four bytes further on."""
    work = message.work
    assert work.into is not None
    at = work.into_offset + offset * message.spec.path_mtu + 4 * (offset > 0)
    work.into.write(at, segment.payload[: work.size])
    return True


def first_finding(factory: DeviceFactory) -> Finding:
    findings = (try_seed(s, factory.claims, opener(factory), seconds=15) for s in TRIED)
    return next(found for found in findings if found is not None)


FAULTS = [TakesOnePsn, EndsWithAnAck, TakesShortEnds, IgnoresDepth, BelievesThoseAhead]


@pytest.mark.parametrize("retransmission", Retransmission)
@pytest.mark.parametrize("fault", [*FAULTS, TakesOldData])
def test_a_faulty_requester_is_found(
    fault: type[RcRequester], retransmission: Retransmission
) -> None:
    finding = first_finding(device(made_of(fault, retransmission=retransmission)))
    assert len(finding.plan.steps) <= MOST_STEPS, finding.told()
    if fault is IgnoresDepth:
        assert finding.failure.rules == ("READ-05",), finding.told()


@pytest.mark.parametrize("retransmission", Retransmission)
@pytest.mark.parametrize(
    ("function", "fault"), [("place_original", big_endian), ("place_response", second_too_far)]
)
def test_data_in_a_wrong_place_are_found(
    monkeypatch: pytest.MonkeyPatch, function: str, fault: object, retransmission: Retransmission
) -> None:
    monkeypatch.setattr(rc, function, fault)
    finding = first_finding(device(made_of(RcRequester, retransmission=retransmission)))
    assert finding.rules[0] == "READ-10", finding.told()
    assert len(finding.plan.steps) <= MOST_STEPS, finding.told()


WIRE_FAULTS = [
    *("read-request-with-payload", "atomic-operands-exchanged", "read-response-unchecked"),
    *("read-placed-by-count", "read-ends-by-an-old-ack", "read-without-data-completes"),
]


@pytest.mark.parametrize("name", WIRE_FAULTS)
def test_a_declared_fault_is_found(name: str) -> None:
    mutant = wire_mutants()[name]
    made = mutant.components() if mutant.components is not None else Components()
    finding = first_finding(CorruptingFactory(device(made), mutant))
    assert len(finding.plan.steps) <= MOST_STEPS, finding.told()


class BelievesStrangers(WireFault):
    """Of a response with data nobody looks at who sent it."""

    def __init__(self) -> None:
        self._peers: set[bytes] = set()

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        self._peers |= {packet.ip.dst} if packet is not None else set()
        return [frame]

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        is_strange = packet is not None and packet.ip.src not in self._peers
        if packet is None or not is_strange or packet.bth.opcode not in DATA:
            return [frame]
        known = [peer for peer in self._peers if len(peer) == IPV4_BYTES]
        return [edited(frame, checksummed(set_ip(12, known[0])))] if len(known) == 1 else [frame]


def test_data_of_a_stranger_are_found() -> None:
    mutant = WireMutant("strangers", "", ("GID-02",), (), make=BelievesStrangers)
    finding = first_finding(CorruptingFactory(device(Components()), mutant))
    assert any(step.fields.get("flaw") == "stranger" for step in finding.plan.steps)


@pytest.mark.parametrize(("request_psn", "is_odd"), [(5, True), (1, False)])
def test_what_fits_the_first_read_is_not_called_odd_where_it_is_asked_for_anew(
    request_psn: int, is_odd: bool
) -> None:
    due = DataResponse(READ_RESP_FIRST(psn=5, payload=bytes(256)), request_psn)
    kinds = {due.twisted("kind", number).pattern.opcode for number in range(12)}
    assert (READ_RESP_MIDDLE(psn=5).opcode in kinds) is is_odd
    assert READ_RESP_LAST(psn=5).opcode in kinds
