# SPDX-License-Identifier: BSD-2-Clause
"""READs that a device sends: asked for, answered, and where their data must be then."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.recovery import longest_wait_ns
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import ATOMIC_ACK, Pattern
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.work import Op, Region

_PACKETS = 32
"""What a few bytes may become, where a device has other path MTUs and lengths."""


def memory_for(qp: Connection, length: int = 0, *, filled: bool = False) -> Region:
    """Room for a READ of that many bytes, or of what a device must read in their stead."""
    return qp.region((length // 256 + _PACKETS) * qp.mtu, filled=filled)


def ask(qp: Connection, length: int, into: Region, **fields: int) -> tuple[Posted, bytes]:
    """A READ under way, and the bytes that shall answer it; `fields` are those of its work."""
    message = qp.post(Op.READ, length, into=into, **fields)
    qp.expect_message(message)
    return message, qp.random.randbytes(message.work.size)


def rest(qp: Connection, message: Posted, start: int, data: bytes) -> list[Pattern]:
    """What answers a READ from that packet on; `data` are those of all of it."""
    return read_responses(qp, message.psn + start, data[start * qp.mtu :], msn=message.ordinal)


def answers(qp: Connection, message: Posted, data: bytes) -> list[Pattern]:
    """What answers a READ or an atomic, so that these bytes come to memory."""
    if message.work.op is Op.READ:
        return rest(qp, message, 0, data)
    original = int.from_bytes(data, "little")
    return [ATOMIC_ACK(psn=message.psn, msn=message.ordinal, original=original)]


def answer(
    bench: Bench, qp: Connection, message: Posted, into: Region, data: bytes, *, start: int = 0
) -> None:
    """The responses of a READ come, from that packet on, and it lands."""
    qp.send(*rest(qp, message, start, data))
    lands(bench, qp, message, into, data)


def lands(bench: Bench, qp: Connection, message: Posted, into: Region, data: bytes) -> None:
    """The READ completes, and its memory holds the bytes."""
    qp.completes(message)
    if into.read(message.work.into_offset, len(data)) != data:
        raise bench.failed("the READ completed with other bytes than those of its responses")


def asked_again(bench: Bench, qp: Connection, message: Posted, missing: int) -> int:
    """The READ for what is missing, or the whole READ; where it starts, in packets."""
    work = message.work
    packet = qp.next(timeout_ns=longest_wait_ns(bench))
    if packet is None or packet.reth is None:
        raise bench.failed(f"response {missing} was lost and is not asked for again")
    start = (packet.bth.psn - qp.spec.sq_psn - message.psn) % PSN_MODULUS
    due = (work.remote_addr + start * qp.mtu, work.size - start * qp.mtu)
    got = (packet.reth.address, packet.reth.length)
    if start not in (0, missing) or got != due:
        raise bench.failed(
            f"asked again from packet {start} for va={got[0]:#x} dmalen={got[1]}; "
            f"va={due[0]:#x} dmalen={due[1]} belong to it, and {missing} was missing"
        )
    return start


def never_succeeds(bench: Bench, qp: Connection, what: str, *, by: str = "") -> None:
    """No completion with success comes until all timers are over."""
    wait = longest_wait_ns(bench)
    for outcome in bench.target.completions(qp.qp, count=1, timeout_ns=wait):
        if outcome.status == SUCCESS:
            how = f" by {by}" if by else ""
            raise bench.failed(f"{what} completed with success{how}")
