# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps: many variants of one packet, which the device must all drop, all ignore or all accept.

Those that must come to nothing share one fence. Only when that fails does each get a fresh
queue pair and a fence of its own, so that the text names the one that was not dropped.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.pattern import ACK, CNP, Edit, Pattern
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.verbs.work import Op

FIRST_ACK = ACK(psn=0, msn=1)
"""What completes the first message of a queue pair, to be corrupted for `ignores_each`."""

IP_OPTIONS = {
    "router alert": bytes.fromhex("94040000"),
    "no operation": bytes.fromhex("01010101"),
    "as many as there can be": bytes([1]) * 39 + bytes(1),
}
"""IPv4 options, by what they are."""

FRAGMENTS = {
    "a first fragment": 0x2000,
    "the last fragment, at offset 8": 0x0001,
    "a fragment at offset 8": 0x2001,
    "the last fragment, at offset 65528": 0x1FFF,
    "a first fragment that must not be fragmented": 0x6000,
    "the last fragment, at offset 8, that must not be fragmented": 0x4001,
}
"""The flags and the offset of IPv4 packets that are not whole, by what they say."""

_Check = Callable[[Connection, Iterable[Pattern]], None]


def one_bit_off(address: bytes) -> dict[str, bytes]:
    """The address with each of its bits flipped alone, by name; bit 0 is sent last."""
    number, size = int.from_bytes(address, "big"), len(address)
    return {f"bit {n} flipped": (number ^ 1 << n).to_bytes(size, "big") for n in range(8 * size)}


def drops_each(bench: Bench, variants: Mapping[str, Pattern], **spec: Any) -> None:
    """A responder drops each of these, which would be expected but for what is wrong."""
    _all_then_alone(bench.connect(**spec), variants, _drops)


def ignores_each(bench: Bench, variants: Mapping[str, Pattern], **spec: Any) -> None:
    """A requester ignores each of these, which would answer its first message but for that."""
    _all_then_alone(bench.connect(**spec), variants, _ignores)


def accepts_each(qp: Connection, variants: Iterable[Pattern], *, start: int = 0) -> int:
    """Each of these is acknowledged, one behind the other from PSN `start`; the next PSN.

    Marks of congestion among them may be notified.
    """
    psn = start
    for psn, variant in enumerate(variants, start):
        qp.send(variant.but(psn=psn, a=1))
        qp.expect(ACK(psn=psn), allowing=[CNP()])
    return psn + 1


def completes_with_each(qp: Connection, variants: Iterable[Pattern]) -> None:
    """Each of these ACKs completes a message of its own."""
    for variant in variants:
        message = outstanding(qp)
        qp.send(variant.but(psn=message.last_psn, msn=message.ordinal))
        qp.completes(message)


def outstanding(qp: Connection) -> Posted:
    """A short message that waits for its answer."""
    message = qp.post(Op.WRITE, 8)
    qp.expect_message(message)
    return message


def bit_flips(
    packet: Pattern, flip: Callable[[int, int], Edit], offsets: Iterable[int]
) -> dict[str, Pattern]:
    """The packet with each bit of some bytes flipped behind the ICRC's back."""
    return {
        f"byte {offset} bit {bit} flipped": packet.corrupted(flip(offset, 1 << bit))
        for offset in offsets
        for bit in range(8)
    }


def _drops(qp: Connection, packets: Iterable[Pattern]) -> None:
    qp.drops(*packets, fence=0)


def _ignores(qp: Connection, responses: Iterable[Pattern]) -> None:
    qp.ignores(outstanding(qp), *responses)


def _all_then_alone(qp: Connection, variants: Mapping[str, Pattern], check: _Check) -> None:
    try:
        check(qp, variants.values())
    except CaseFailed:
        while qp.next(quiet=True) is not None:
            pass  # nothing of this may reach the queue pair in its next life
        for name, variant in variants.items():
            qp.reconnect()
            _alone(qp, name, variant, check)
        raise


def _alone(qp: Connection, name: str, variant: Pattern, check: _Check) -> None:
    try:
        check(qp, [variant])
    except CaseFailed as failure:
        raise failure.retold(f"not dropped: {name}\n{failure}") from None
