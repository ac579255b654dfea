# SPDX-License-Identifier: BSD-2-Clause
"""What a requester that retransmits must send again, and when."""

from collections import Counter
from collections.abc import Iterable

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.work import Op

NEVER = 0
_CODE_IN_LOCKSTEP = 8  # 1.05 ms: long beside a bus cycle, short beside a second
_CODE_ON_THE_WALL = 16  # 268 ms: long beside what a busy host needs between two posts
_LONGEST_AWAITED = 10  # 4.2 ms: simulated time gets there four times over
_LAST_CODE = 31
_UNHURRIED = 50  # times the wire is believed to be quiet in a case
_DETECTION = 4  # a timeout is noticed after T to 4 T
_OFTEN = 16  # more than a device has tries


def copies(messages: Iterable[Posted], *, first: int = 0) -> list[Pattern]:
    """The packets of these messages from a PSN on, as they must look when sent again.

    AckReq may differ from the first time.
    """
    packets = [packet for message in messages for packet in message.packets]
    return [packet.without("a") for packet in packets if packet.said["psn"] >= first]


def write_all(qp: Connection, *lengths: int, op: Op = Op.WRITE) -> list[Posted]:
    """Messages under way: all their packets have come, nothing is answered."""
    messages = [qp.post(op, length) for length in lengths]
    qp.expect_message(*messages)
    return messages


def timeout_code(bench: Bench) -> int:
    """A local ACK timeout that a case can wait for and that nothing else reaches."""
    in_lockstep = Capability.LOCKSTEP in bench.claims.capabilities
    return awaited_code(bench, _CODE_IN_LOCKSTEP if in_lockstep else _CODE_ON_THE_WALL)


def awaited_code(bench: Bench, usual: int) -> int:
    """A timeout to wait for: the usual one, or that of the device if it is as good."""
    fixed = bench.claims.limits.fixed.get("ack_timeout", usual)
    return fixed if usual <= fixed <= max(usual, _LONGEST_AWAITED) else usual


def brisk_code(bench: Bench, quarters: int) -> int:
    """A timeout to wait for often: the shortest of so many quarters of the time for silence.

    Whatever a device is sent has taken effect in that time, so one that is slow has a longer one.
    """
    least = bench.target.patience.quiet_ns * quarters // 4
    codes = (code for code in range(1, _LAST_CODE) if (ack_timeout_ns(code) or 0) >= least)
    return awaited_code(bench, next(codes, _LAST_CODE))


def unhurried_code(bench: Bench, usual: int = NEVER) -> int:
    """A timeout that nothing in a case reaches: the usual one, or that of the device if it is."""
    fixed = bench.claims.limits.fixed.get("ack_timeout", usual)
    least = ack_timeout_ns(fixed)
    return fixed if least is None or least > _UNHURRIED * bench.target.patience.quiet_ns else usual


def longest_wait_ns(bench: Bench, code: int | None = None) -> int:
    """By then a timeout must have been noticed, and the packet must have come."""
    return (
        noticed_ns(timeout_code(bench) if code is None else code) + bench.target.patience.answer_ns
    )


def noticed_ns(code: int) -> int:
    """By then a timeout must have been noticed."""
    return _DETECTION * (ack_timeout_ns(code) or 0)


def last_sent_ns(bench: Bench) -> int:
    """When the device last sent something."""
    return max(entry.time_ns for entry in bench.transcript.entries() if entry.is_sent)


def last_given_ns(bench: Bench) -> int:
    """When the device was last sent something."""
    return max(entry.time_ns for entry in bench.transcript.entries() if not entry.is_sent)


def everything(bench: Bench, qp: Connection, *, quiet_ns: int | None = None) -> list[Packet]:
    """All packets that come until nothing has for so long, or a good part of the time for answers.

    Who repeats without end is listened to until one packet has come a few times.
    """
    quiet_ns = quiet_ns or bench.target.patience.answer_ns // 4
    found: list[Packet] = []
    came: Counter[int] = Counter()
    while (packet := qp.next(timeout_ns=quiet_ns)) is not None:
        found.append(packet)
        came[packet.bth.psn] += 1
        if came[packet.bth.psn] > _OFTEN:
            break
    return found
