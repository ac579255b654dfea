# SPDX-License-Identifier: BSD-2-Clause
"""ARP, neighbour solicitations and ping amid the other traffic: what must be answered to them.

A device answers one question at a time: those that come while an answer waits may be dropped, and
no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from roceproof.conformance.stimulus.requester.questions import arp_frame, echo_frame, echoed
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.wire.framing import ETHER_IPV6, ETHERNET_MINIMUM
from roceproof.conformance.wire.icmp import broken_rule, icmp_message, what_is_wrong
from roceproof.conformance.wire.neighbours import (
    ND_ADVERTISEMENT,
    UNASKED,
    answer,
    is_advertised,
    is_question,
    reply_to_another,
    what_is_wrong_with_arp,
)
from roceproof.verbs.addresses import Host

_ARP, _IPV4, _IPV6 = b"\x08\x06", b"\x08\x00", b"\x86\xdd"
_ECHO_REPLY, _ECHO_REPLY_V6 = 0, 129
_IDENTIFIER_AND_NUMBER = 4
_AROUND_ECHO = {4: 24, 16: 44}
"""Bytes of an IP packet besides what is echoed, by those of an address."""
_OF_ARP = frozenset(("unicast", "trailer", "via"))
_IPV6_ADDRESSES, _ICMPV6_AT, _BEHIND_ICMPV6 = slice(22, 54), 54, 58
_VERSION_AND_SIZE, _FRAGMENT = 0x45, 0xBF
"""Of an IPv4 header without options; of one that may say "don't fragment" and no more."""


class Question(NamedTuple):
    """One echo request, or question after the MAC of an address."""

    asker: Host
    host: Host
    """Whom it is for, with the address that it uses."""
    frame: bytes
    echo: bytes | None
    """What an echo request carries."""
    is_owed: bool

    @property
    def through(self) -> bytes:
        """The address of Ethernet that it came from."""
        return self.frame[6:12]


class Problem(NamedTuple):
    """What is wrong with an answer, and the rule that it breaks."""

    text: str
    rule: str


class Neighbourhood:
    """All that was asked of the device and is not answered."""

    def __init__(self, host: Host, *, largest: int = 1 << 16) -> None:
        """`largest` is the device's largest path MTU: a longer IP packet it may drop."""
        self._host, self._largest = host, largest
        self._open: dict[bool, deque[Question]] = {False: deque(), True: deque()}
        self._late: dict[bool, list[Question]] = {False: [], True: []}
        self._count = 0

    def asks(self, asker: Host, size: int | None, **said: int) -> bytes:
        """A question after the MAC or, with a size, an echo request, of the asker's IP version.

        Both may say more (`questions`).
        """
        self._count += 1
        waiting, host = self._open[size is not None], self._host.facing(asker)
        echo, around = None, _AROUND_ECHO[len(host.ip)]
        if size is None:
            frame = arp_frame(asker, host, **{k: said[k] for k in _OF_ARP & said.keys()})
        else:
            frame = echo_frame(asker, host, size, number=self._count, **said)
            echo = echoed(frame)
        waiting.append(
            Question(
                asker,
                host,
                frame,
                echo,
                is_owed=not any(self._open.values()) and len(echo or b"") + around <= self._largest,
            )
        )
        return frame

    def judge(self, bench: Bench, frames: Iterable[bytes]) -> None:
        """Fails at the first of these frames that is no right answer."""
        for frame in frames:
            if (problem := self.answers(frame)) is not None:
                raise bench.failed(problem.text, rules=[problem.rule])

    def answers(self, frame: bytes) -> Problem | None:
        """What is wrong with an answer, None if nothing; the device may ask and announce, too."""
        if is_question(frame, self._host):
            return None
        is_advertisement = frame[12:14] == _IPV6 and frame[_ICMPV6_AT] == ND_ADVERTISEMENT
        is_echo = frame[12:14] != _ARP and not is_advertisement
        waiting, late = self._open[is_echo], self._late[is_echo]
        if not waiting and (of := next((q for q in late if self._fits(q, frame)), None)):
            late.remove(of)
            return None
        while waiting:
            question = waiting.popleft()
            if self._fits(question, frame):
                return None
            if question.is_owed:
                if to := reply_to_another(frame, [question.asker]):
                    return _unasked(to)
                return Problem(
                    f"a wrong answer to {_told(question)}{_wrong(question, frame)}",
                    broken_rule(frame, question.echo),
                )
        return _unasked(reply_to_another(frame) or _echo_reply(frame) or frame[:80].hex())

    @property
    def is_owing(self) -> bool:
        """Whether an answer must still come."""
        return any(each.is_owed for waiting in self._open.values() for each in waiting)

    def settled(self) -> str | None:
        """What is still owed when all is quiet; what may be dropped may also come later."""
        owed = [question for waiting in self._open.values() for question in waiting]
        for is_echo, waiting in self._open.items():
            self._late[is_echo] += (question for question in waiting if not question.is_owed)
            waiting.clear()
        return next((f"no answer to {_told(each)}" for each in owed if each.is_owed), None)

    def _fits(self, question: Question, frame: bytes) -> bool:
        asker, host = question.asker, question.host
        if frame[:6] not in (asker.mac, question.through) or frame[6:12] != host.mac:
            return False
        if question.host.is_ipv6:
            return _fits_ipv6(question, frame)
        if question.echo is None:
            tail = host.mac + host.ip + asker.mac + asker.ip
            exact = len(frame) == ETHERNET_MINIMUM and not any(frame[42:])
            return exact and is_advertised(frame, host.ip) and frame[22:42] == tail
        message = icmp_message(frame)
        if message is None or (message.kind, message.body) != (_ECHO_REPLY, question.echo):
            return False
        end = 14 + int.from_bytes(frame[16:18], "big")
        is_tight = len(frame) == max(ETHERNET_MINIMUM, end) and not any(frame[end:])
        is_whole = frame[14] == _VERSION_AND_SIZE and frame[20] & _FRAGMENT == frame[21] == 0
        is_tight &= is_whole and frame[22] > 0
        return is_tight and frame[26:34] == host.ip + asker.ip and _sum(frame[14:34]) == 0xFFFF


def _fits_ipv6(question: Question, frame: bytes) -> bool:
    if question.echo is None:
        return frame[6:] == _advertisement(question)[6:]
    is_whole = icmp_message(frame) == (ETHER_IPV6, _ECHO_REPLY_V6, question.echo)
    is_tight = len(frame) == _BEHIND_ICMPV6 + len(question.echo)
    return is_whole and is_tight and frame[_IPV6_ADDRESSES] == question.host.ip + question.asker.ip


def _advertisement(question: Question) -> bytes:
    host = question.host
    return answer(question.frame, {host.ip: host.mac}) or b""


def _wrong(question: Question, frame: bytes) -> str:
    if question.echo is not None:
        return what_is_wrong(frame, question.echo)
    if question.host.is_ipv6:
        wanted = icmp_message(_advertisement(question))
        return what_is_wrong(frame, None if wanted is None else wanted.body)
    return what_is_wrong_with_arp(frame, question.host, question.asker, through=question.through)


def _unasked(answer: str) -> Problem:
    return Problem(f"{UNASKED}: {answer}", "LIVE-03")


def _echo_reply(frame: bytes) -> str:
    """What it is and to whom; empty if it is no echo reply."""
    message = icmp_message(frame)
    if message is None or message.kind != _ECHO_REPLY or frame[12:14] != _IPV4:
        return ""
    return f"{_of_data('an echo reply', message.body)} to {ip_address(frame[30:34])}"


def _sum(header: bytes) -> int:
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _told(question: Question) -> str:
    if question.echo is None:
        kind = "a neighbour solicitation" if question.host.is_ipv6 else "an ARP request"
        is_to_own = question.frame[:6] == question.host.mac
        return f"{kind} to its own MAC" if is_to_own else kind
    return _of_data("an echo request", question.echo)


def _of_data(what: str, body: bytes) -> str:
    data = len(body) - _IDENTIFIER_AND_NUMBER
    if data <= 0:
        return f"{what} without data"
    return f"{what} with {data} byte{'s' if data > 1 else ''} of data"
