# SPDX-License-Identifier: BSD-2-Clause
"""Each rule of recovery is broken once by hand, and the monitor names it.

The connection has sent 1 + 2 + 2 packets of WRITEs (PSNs 0 to 4), and may send a READ of four
responses (5 to 8) and a WRITE with immediate (9). T is 1.05 ms; time steps by 1 us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from requester_bench import T_NS, ack, atomic_ack, nak, psn, qp, read_response, rnr_nak, work

from roceproof.conformance.model.codes import rnr_wait_ns
from roceproof.conformance.model.monitor.expected import Expected
from roceproof.conformance.model.monitor.requester_monitor import (
    Kind,
    MonitorTiming,
    RequesterMonitor,
)
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message
from roceproof.conformance.wire.headers import ImmDt
from roceproof.verbs.work import Op, Outcome

P = 256
STEP = 1_000
SPEC = qp(retry_count=2, rnr_retry=1)
MESSAGES = [
    Message(SPEC, work(Op.WRITE, 5, wr_id=0), psn(0)),
    Message(SPEC, work(Op.WRITE, P + 7, wr_id=1), psn(1)),
    Message(SPEC, work(Op.WRITE, 2 * P, wr_id=2), psn(3)),
    Message(SPEC, work(Op.READ, 4 * P, wr_id=3), psn(5)),
    Message(SPEC, work(Op.WRITE_IMM, 9, wr_id=4, immediate=0xABCD), psn(9)),
]
Step = Callable[["Story"], None]


class Story:
    """A monitor, and the time of what it is told."""

    def __init__(self, *, reaction_ns: int = 0, **fields: Any) -> None:
        self.now = 0
        timing = MonitorTiming(reaction_ns=reaction_ns, prompt_ns=50_000)
        self.monitor = RequesterMonitor(replace(SPEC, **fields), timing=timing)
        self.kinds: list[Kind] = []

    def tell(self, *steps: Step | int) -> Story:
        """Packets by their PSN, or other steps; each takes its time."""
        for step in steps:
            self.now += STEP
            if isinstance(step, int):
                send(request(step))(self)
            else:
                step(self)
        return self

    @property
    def rules(self) -> list[str]:
        """What the monitor has found."""
        return [violation.rule for violation in self.monitor.violations]


def request(offset: int) -> Segment:
    """The request with that PSN; a READ for the rest from there on."""
    message = next(m for m in reversed(MESSAGES) if m.offset(psn(offset)) >= 0)
    return message.request(message.offset(psn(offset)))


def send(segment: Segment) -> Step:
    return lambda story: story.kinds.append(story.monitor.sent(segment, story.now).kind)


def hear(segment: Segment) -> Step:
    return lambda story: story.monitor.heard(segment, story.now)


def wait(duration: int) -> Step:
    def step(story: Story) -> None:
        story.now += duration
        story.monitor.elapsed(story.now)

    return step


def done(wr_id: int, status: str = "success") -> Step:
    outcome = Outcome(wr_id=wr_id, status=status)
    return lambda story: story.monitor.completed(outcome, story.now)


def data(offset: int, opcode: int) -> Step:
    return hear(read_response(opcode, offset, bytes(P)))


def altered(offset: int, **changes: Any) -> Step:
    """The request with other fields; those of the BTH by their names."""
    segment = request(offset)
    header = {name: changes.pop(name) for name in list(changes) if hasattr(segment.bth, name)}
    return send(replace(segment, bth=replace(segment.bth, **header), **changes))


def new(offset: int, *, like: int) -> Step:
    """What another request says, under a PSN that is not its own."""
    return altered(like, psn=psn(offset))


SENT = (0, 1, 2, 3, 4)
TIMEOUT = wait(2 * T_NS)
RNR_WAIT = wait(rnr_wait_ns(12))
NAK_2, RNR_2 = hear(nak(2)), hear(rnr_nak(2, 12))
SHORTER = hear(rnr_nak(2, 1))
IMMEDIATE_OF_ANOTHER = altered(9, extensions=(request(9).extensions[0], ImmDt(1)))
HEALTHY = {
    "all acknowledged": (*SENT, hear(ack(4)), done(0), done(1), done(2), wait(20 * T_NS)),
    "a sequence NAK": (*SENT, NAK_2, 2, 3, 4, hear(ack(4))),
    "an RNR NAK in the wait, ignored": (*SENT, RNR_2, SHORTER, RNR_WAIT, 2, 3, 4),
    "one that begins the wait again": (*SENT, RNR_2, SHORTER, wait(rnr_wait_ns(1)), 2, 3, 4),
    "a sequence NAK twice": (*SENT, NAK_2, 2, NAK_2, 3, 4),
    "an ACK on the way back": (*SENT, hear(nak(1)), 1, hear(ack(3)), 4),
    "a timeout": (*SENT, hear(ack(1)), TIMEOUT, 2, 3, 4),
    "a timeout, and an ACK before the first copy": (*SENT, TIMEOUT, hear(ack(1)), 2, 3, 4),
    "a timeout amid a replay": (*SENT, TIMEOUT, 0, 1, hear(ack(0)), 2, 3, 4, TIMEOUT, 1, 2),
    "all retries": (*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, wait(50 * T_NS)),
    "a retry at once": (*SENT, TIMEOUT, *SENT, hear(nak(0)), *SENT),
    "a NAK behind all retries, and an ACK too late": (
        *(*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, hear(nak(0)), hear(ack(4))),
        *(wait(T_NS), done(0, "retry_exc_err")),
    ),
    "a timer that has run out, and an ACK too late": (
        *(*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, TIMEOUT, hear(ack(4)), done(0, "retry_exc_err")),
    ),
    "an RNR NAK": (*SENT, RNR_2, RNR_WAIT, 2, 3, 4, hear(ack(4))),
    "RNR NAKs with progress": (*SENT, RNR_2, RNR_WAIT, 2, hear(rnr_nak(3, 12)), RNR_WAIT, 3, 4),
    "no RNR retry left": (*SENT, RNR_2, RNR_WAIT, 2, RNR_2, done(0), done(1, "rnr_retry_exc_err")),
    "a fatal NAK": (*SENT, hear(nak(3, 2)), done(0), done(1), done(2, "rem_access_err")),
    "a READ": (*SENT, 5, data(5, 0x0D), data(6, 0x0E), data(7, 0x0E), data(8, 0x0F), done(0)),
    "the rest of a READ": (*SENT, 5, 9, data(5, 0x0D), data(7, 0x0E), 6, 9, data(6, 0x0D)),
    "the READ again": (*SENT, 5, 9, data(5, 0x0D), TIMEOUT, 5, 9, data(6, 0x0E)),
    "an implied NAK": (*SENT, 5, 9, hear(ack(9)), 5, 9),
    "an implied NAK not taken": (*SENT, 5, 9, hear(ack(9)), TIMEOUT, 5, 9),
    "late and ghostly responses": (*SENT, hear(ack(1)), hear(nak(0)), hear(ack(9)), hear(nak(9))),
    "a reserved syndrome ends it": (*SENT, hear(ack(2, 0x65)), wait(20 * T_NS)),
    "or acknowledges what stands before it": (*SENT, hear(ack(2, 0x65)), done(0), TIMEOUT, 2, 3),
    "or has, as is heard behind an ACK": (
        *(*SENT, hear(ack(2, 0x65)), hear(ack(4)), wait(T_NS), done(0, "bad_resp_err")),
    ),
    "an ACK of a READ ends it": (
        *(*SENT, 5, hear(ack(5)), done(0), done(1), done(2), done(3, "bad_resp_err")),
    ),
    "what fits no request ends it": (*SENT, 5, hear(read_response(0x10, 2, b"")), wait(9 * T_NS)),
    "what is no response": (*SENT, hear(replace(ack(2), extensions=())), TIMEOUT, *SENT),
    "an ACK in an RNR wait is dropped": (
        *(*SENT, RNR_2, hear(ack(4)), RNR_WAIT, 2, 3, 4),
        *(hear(ack(4)), done(0), done(1), done(2)),
    ),
    "a READ as a whole again forgets what came": (
        *(*SENT, hear(ack(4)), 5, data(5, 0x0D), data(6, 0x0E), TIMEOUT, 5, data(7, 0x0E)),
        *(data(8, 0x0F), TIMEOUT, 5),
    ),
    "a NAK in an RNR wait is dropped": (*SENT, RNR_2, hear(nak(2, 1)), RNR_WAIT, 2, 3, 4),
    "RNR NAKs in the wait": (*SENT, RNR_2, RNR_2, RNR_2, wait(20 * T_NS)),
    "a fatal NAK behind lost data": (*SENT, 5, 9, hear(nak(9, 2)), wait(20 * T_NS)),
    "or the data again first": (*SENT, 5, 9, hear(nak(9, 2)), 5, 9),
    "silence after a fatal NAK": (*SENT, hear(nak(2, 2)), hear(ack(4)), wait(20 * T_NS)),
    "or does not": (*SENT, hear(ack(2, 0x65)), TIMEOUT, *SENT),
}
BROKEN = {
    "PSN-02": (*SENT, hear(ack(4)), new(6, like=9)),
    "PSN-02 never sent": (altered(0, psn=psn(-1)),),
    "PSN-02 reused": (*SENT, new(3, like=9)),
    "RTX-24 not in its turn": (*SENT, hear(nak(1)), 1, new(3, like=9)),
    "PSN-06 renumbered copy": (*SENT, NAK_2, new(5, like=2)),
    "PSN-06 shifted copy": (*SENT, NAK_2, new(2, like=3)),
    "PSN-06 in place of another": (*SENT, hear(ack(0)), new(3, like=2)),
    "RTX-01 early": (*SENT, wait(T_NS // 2), 0),
    "RTX-01 late": (*SENT, wait(5 * T_NS), 0),
    "RTX-01 never": (*SENT, hear(ack(0)), wait(5 * T_NS)),
    "RTX-02 newest": (*SENT, TIMEOUT, 4),
    "RTX-02 message start": (*SENT, hear(ack(1)), TIMEOUT, 1),
    "RTX-03 opcode": (*SENT, NAK_2, altered(2, opcode=0x06)),
    "RTX-03 SE": (*SENT, NAK_2, altered(2, solicited=True)),
    "RTX-03 RETH": (*SENT, hear(nak(1)), altered(1, extensions=request(3).extensions)),
    "RTX-04 goes on with new": (*SENT, NAK_2, 2, 5),
    "RTX-04 from the start again": (*SENT, TIMEOUT, 0, 1, 0),
    "RTX-04 gap": (*SENT, hear(nak(1)), 1, 3),
    "RTX-04 stops": (*SENT, NAK_2, 2, wait(T_NS // 2)),
    "RTX-05 too often": (*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, TIMEOUT, 0),
    "RTX-05 too seldom": (*SENT, TIMEOUT, *SENT, done(0, "retry_exc_err")),
    "RTX-05 silence": (*SENT, TIMEOUT, *SENT, wait(5 * T_NS)),
    "RTX-06": (
        *(*SENT, TIMEOUT, *SENT, hear(ack(0)), TIMEOUT, *SENT[1:], hear(ack(1))),
        wait(5 * T_NS),
    ),
    "RTX-08 ignored": (*SENT, NAK_2, wait(T_NS // 2)),
    "RTX-08 by timeout": (*SENT, NAK_2, wait(T_NS // 2), 2, 3, 4),
    "RTX-09 restart": (*SENT, NAK_2, 2, 3, 4, NAK_2, 2),
    "RTX-02 for no reason": (*SENT, hear(ack(1)), hear(nak(1)), 3),
    "RTX-10": (*SENT, hear(ack(2)), hear(nak(1)), 1),
    "RTX-13": (*SENT, hear(nak(1)), 1, hear(ack(3)), 2),
    "RTX-14": (*SENT, NAK_2, altered(2, payload=bytes(8), pad_count=0)),
    "RTX-16": (*SENT, NAK_2, altered(2, payload=bytes(7))),
    "RTX-17 VA": (*SENT, 5, data(5, 0x0D), TIMEOUT, altered(5, psn=psn(6))),
    "RTX-17 place": (*SENT, 5, data(5, 0x0D), TIMEOUT, 7),
    "RTX-18": (*SENT, 5, 9, hear(ack(9)), done(0), done(1), done(2), done(3)),
    "RTX-20": (*SENT, NAK_2, altered(2, ack_req=False)),
    "RTX-24": (*SENT, NAK_2, 2, new(3, like=9)),
    "RNR-03": (*SENT, RNR_2, wait(rnr_wait_ns(12) // 2), 2, 3, 4),
    "RNR-03 not even the other": (*SENT, RNR_2, SHORTER, wait(rnr_wait_ns(1) // 2), 2, 3, 4),
    "RNR-03 of the longer one": (*SENT, SHORTER, RNR_2, wait(rnr_wait_ns(1) // 2), 2, 3, 4),
    "RNR-03 by a NAK": (*SENT, RNR_2, NAK_2, 2),
    "RNR-04 start": (*SENT, RNR_2, RNR_WAIT, 3),
    "RNR-04 goes on with new": (*SENT, RNR_2, RNR_WAIT, 2, 5),
    "RNR-05 too often": (*SENT, RNR_2, RNR_WAIT, 2, 3, 4, RNR_2, RNR_WAIT, 2),
    "RNR-05 too seldom": (*SENT, RNR_2, RNR_WAIT, wait(T_NS)),
    "RNR-05 gives up": (*SENT, RNR_2, done(0), done(1, "rnr_retry_exc_err")),
    "RNR-10": (*SENT, RNR_2, RNR_WAIT, 1),
    "NAK-06 next": (*SENT, NAK_2, 3),
    "NAK-06 message start": (*SENT, NAK_2, 1),
    "NAK-06 goes on": (*SENT, NAK_2, 5),
    "NAK-09": (*SENT, hear(nak(2, 2)), 2),
    "NAK-10": (*SENT, hear(nak(2, 2)), done(0, "rem_access_err")),
    "NAK-13": (*SENT, hear(nak(9)), 0),
    "ACK-05": (*SENT, hear(ack(4)), done(0, "retry_exc_err")),
    "ACK-05 with time left": (
        *(*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, hear(ack(4)), TIMEOUT, done(0, "retry_exc_err")),
    ),
    "ACK-05 with a retry left": (
        *(*SENT, TIMEOUT, *SENT, hear(nak(0)), hear(ack(4)), wait(T_NS), done(0, "retry_exc_err")),
    ),
    "ACK-05 and alive": (
        *(*SENT, hear(ack(2, 0x65)), hear(ack(4)), wait(T_NS), 5, done(0, "bad_resp_err")),
    ),
    "ACK-08": (*SENT, hear(ack(1)), done(0), done(1)),
    "ACK-09": (*SENT, hear(ack(9)), done(0)),
    "ACK-09 resent": (*SENT, hear(ack(9)), 0),
    "ACK-10": (*SENT, hear(ack(3)), hear(ack(1)), 2),
    "AETH-05": (*SENT, hear(ack(2, 0x65)), done(0), done(1)),
    "FUZZ-12": (*SENT, hear(atomic_ack(2)), done(0), done(1)),
    "READ-07": (*SENT, 5, hear(read_response(0x0D, 5, bytes(P - 4))), 9),
    "QPS-03": (*SENT, TIMEOUT, *SENT, TIMEOUT, *SENT, TIMEOUT, done(0, "retry_exc_err"), 0),
    "IMM-06": (*SENT, 5, 9, TIMEOUT, *SENT, 5, IMMEDIATE_OF_ANOTHER),
}


@pytest.mark.parametrize("steps", HEALTHY.values(), ids=HEALTHY)
def test_what_the_rules_allow_breaks_none(steps: Iterable[Step | int]) -> None:
    story = Story().tell(*steps)
    assert story.monitor.violations == []


@pytest.mark.parametrize(("name", "steps"), BROKEN.items(), ids=BROKEN)
def test_a_broken_rule_is_named(name: str, steps: Iterable[Step | int]) -> None:
    story = Story().tell(*steps)
    assert story.rules == [name.split()[0]], story.monitor.violations


@pytest.mark.parametrize("behind", [ack(2), nak(2, 2)], ids=["ACK", "fatal NAK"])
def test_what_is_not_heard_yet_makes_no_must_of_a_lesser_fault(behind: Segment) -> None:
    """Who obeys each NAK of one gap has begun to send when the next response comes (RTX-09)."""
    steps = (*SENT, NAK_2, 2, 3, 4, NAK_2, hear(behind), 2)
    assert Story(reaction_ns=10 * STEP).tell(*steps).rules == ["RTX-09"]
    assert "RTX-09" not in Story().tell(*steps).rules


@pytest.mark.parametrize("is_early", [True, False])
def test_data_that_come_before_the_rest_of_a_read_was_asked_for_may_end_it(is_early: bool) -> None:
    """A FIRST fits what is asked for anew, and may be heard before that has left."""
    asked_anew: list[Step | int] = [7, data(7, 0x0D)]
    ends = (*map(done, range(3)), done(3, "bad_resp_err"))
    steps = (*SENT, 5, 9, data(5, 0x0D), data(6, 0x0E), hear(ack(9)))
    story = Story(reaction_ns=10 * STEP)
    story.tell(*steps, *(asked_anew[::-1] if is_early else asked_anew), *ends)
    assert bool(story.rules) is not is_early


def test_timeout_code_0_forbids_any_timeout() -> None:
    assert Story(ack_timeout=0).tell(*SENT, wait(1000 * T_NS)).rules == []
    assert Story(ack_timeout=0).tell(*SENT, wait(1000 * T_NS), 0).rules == ["RTX-07"]


def test_rnr_retry_count_7_has_no_end() -> None:
    rounds = (RNR_2, RNR_WAIT, 2, 3, 4) * 20
    assert Story(rnr_retry=7).tell(*SENT, *rounds).rules == []
    last = Story(rnr_retry=7).tell(*SENT, *rounds, RNR_2, RNR_WAIT, wait(T_NS))
    assert last.rules == ["RNR-05"]


def test_more_reads_than_the_initiator_depth_are_seen() -> None:
    story = Story(max_rd_atomic=1).tell(*SENT, 5)
    story.tell(new(9, like=5))
    assert story.rules == ["READ-05"]


def test_more_than_half_of_all_psns_outstanding_are_seen() -> None:
    monitor = RequesterMonitor(SPEC)
    expected = Expected(SPEC)
    for longest in (work(Op.READ, 1 << 31), work()):
        expected.post(longest)
    for number in range(2):
        monitor.sent(expected.take(expected.next_psn), number)
    assert [violation.rule for violation in monitor.violations] == ["PSN-11"]


@pytest.mark.parametrize(("stored_ns", "rules"), [(3_000, []), (2_999, ["RTX-01"])])
def test_a_timer_may_begin_before_its_packet_has_left(stored_ns: int, rules: list[str]) -> None:
    monitor = RequesterMonitor(SPEC)
    monitor.sent(request(0), STEP, begun_ns=STEP - stored_ns)
    monitor.sent(request(0), STEP + T_NS - 3_000)
    assert [violation.rule for violation in monitor.violations] == rules


def test_new_packets_are_held_against_the_work_that_was_posted() -> None:
    for rule, step in {
        "OPC-01": altered(0, opcode=0x0B),
        "RETH-04": altered(0, extensions=request(1).extensions),
        "RETH-13": altered(0, payload=b"12345"),
        "MTU-03": altered(0, payload=b"1234"),
        "PAD-01": altered(0, pad_count=0),
        "BTH-02": altered(0, solicited=True),
        "BTH-10": altered(0, dest_qpn=1),
    }.items():
        story = Story()
        story.monitor.posted(MESSAGES[0].work)
        story.tell(step)
        assert story.rules == [rule]
    story = Story()
    story.monitor.posted(MESSAGES[0].work)
    story.tell(0, altered(0, psn=psn(1)))
    assert story.rules == ["PSN-06"]


def test_what_was_answered_long_ago_is_forgotten_so_that_psns_may_come_again() -> None:
    wire = WireRecord(psn(0), P)
    for number in range(40):
        read = Message(SPEC, work(Op.READ, P << 20), wire.fresh).request(0)
        assert wire.at(read.bth.psn) is None
        sent = wire.add(read, number, number)
        assert wire.data_requests_after(sent.psn) == 1
        wire.forget_before(sent.end)
        assert wire.data_requests_after(sent.end) == 0
        assert wire.at(sent.psn) is sent


def test_requests_are_told_apart() -> None:
    story = Story().tell(*SENT, 5, data(5, 0x0D), TIMEOUT, 6, TIMEOUT, 5, 9)
    new_ones = [Kind.NEW] * 6
    assert story.kinds == [*new_ones, Kind.READ_AGAIN, Kind.COPY, Kind.NEW]
    assert Story().tell(*SENT, 3).kinds == [Kind.NEW] * 5 + [Kind.VIOLATION]


def test_the_monitor_says_what_may_leave_next() -> None:
    story = Story().tell(*SENT, NAK_2, 2)
    allowed = {
        (allowance.psn - psn(0)): allowance for allowance in story.monitor.allowed(story.now)
    }
    assert set(allowed) == {3, 2}
    assert allowed[2].not_before_ns == story.now + T_NS
    violation = Story().tell(*SENT, NAK_2, 3).monitor.violations[0]
    assert (violation.expected, violation.got) == ("PSN +2", "RC WRITE FIRST +3")
