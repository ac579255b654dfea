# SPDX-License-Identifier: BSD-2-Clause
"""Questions to a device: one at a time is owed an answer, the others may have one, soon or late."""

from __future__ import annotations

import ipaddress

import pytest

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.targets.ping import ECHO_REPLIES
from roceproof.conformance.wire.icmp import icmp_frame, icmp_message
from roceproof.conformance.wire.neighbours import answer, solicit
from roceproof.verbs.addresses import Host

DEVICE = Host(mac=b"\x02\0\0\0\0\x02", ip=ipaddress.ip_address("192.168.1.2").packed)
ASKER = Host(mac=b"\x02\0\0\0\0\x01", ip=ipaddress.ip_address("192.168.1.1").packed)
REPLY = min(kind for _, kind in ECHO_REPLIES)


def reply(question: bytes) -> bytes:
    message = icmp_message(question)
    assert message is not None
    return icmp_frame(DEVICE, ASKER, REPLY, message.body)


def test_what_may_be_dropped_may_be_answered_after_all_was_quiet_but_once() -> None:
    near = Neighbourhood(DEVICE)
    first, second, third = (near.asks(ASKER, 300) for _ in range(3))
    assert near.answers(reply(first)) is None
    assert near.settled() is None
    assert near.answers(reply(third)) is None
    assert near.answers(reply(second)) is None
    stray = near.answers(reply(third))
    said = (
        "an answer to nothing that was asked: an echo reply with 300 bytes of data to 192.168.1.1"
    )
    assert stray is not None and stray.text.endswith(said)
    assert stray.rule == "LIVE-03"


def test_an_arp_reply_to_who_asked_for_somebody_else_is_no_wrong_answer_to_another() -> None:
    near, other = Neighbourhood(DEVICE), ASKER._replace(mac=b"\2\0\0\0\0\7", ip=b"\x0a\1\2\3")
    unasked = answer(solicit(other, DEVICE.ip), {DEVICE.ip: DEVICE.mac})
    assert unasked is not None
    for _ in range(2):
        near.asks(ASKER, None)
        stray = near.answers(unasked)
        assert stray is not None and stray.rule == "LIVE-03"
        assert stray.text == "an answer to nothing that was asked: an ARP reply to 10.1.2.3"


def test_what_is_owed_is_missed_when_all_is_quiet() -> None:
    near = Neighbourhood(DEVICE)
    near.asks(ASKER, 300)
    assert near.settled() == "no answer to an echo request with 300 bytes of data"
    assert not near.is_owing


@pytest.mark.parametrize(("size", "is_owed"), [(1024 - 28, True), (1024 - 27, False)])
def test_no_answer_is_owed_to_an_echo_request_beyond_the_largest_path_mtu(
    size: int, is_owed: bool
) -> None:
    near = Neighbourhood(DEVICE, largest=1024)
    question = near.asks(ASKER, size)
    assert near.is_owing == is_owed
    assert (near.settled() is not None) == is_owed
    if not is_owed:
        assert near.answers(reply(question)) is None


def test_a_device_may_ask_and_announce_itself_and_that_answers_nothing() -> None:
    near = Neighbourhood(DEVICE)
    near.asks(ASKER, None)
    for asked in (ASKER.ip, DEVICE.ip):
        assert near.answers(solicit(DEVICE, asked)) is None
    assert near.is_owing
    assert near.answers(solicit(ASKER, DEVICE.ip)) is not None


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (36, "icmp checksum: want 0x"),
        (38, "; identifier and sequence number: want 0"),
        (50, "; data from byte 8 on: want "),
    ],
)
def test_a_wrong_echo_is_told_by_what_it_had_to_carry(at: int, told: str) -> None:
    near = Neighbourhood(DEVICE)
    frame = bytearray(reply(near.asks(ASKER, 30)))
    frame[at] ^= 1
    wrong = near.answers(bytes(frame))
    assert wrong is not None and wrong.rule == "LIVE-01"
    text = wrong.text
    assert told in text and ("icmp checksum" in text) == (at == 36)


@pytest.mark.parametrize(
    ("at", "rule", "told"),
    [(20, "IP-03", "; ip fragment: want "), (24, "IP-05", "; ip checksum: want ")],
)
def test_a_right_echo_in_a_wrong_header_breaks_the_rule_of_that(
    at: int, rule: str, told: str
) -> None:
    near = Neighbourhood(DEVICE)
    frame = bytearray(reply(near.asks(ASKER, 30)))
    frame[at] ^= 1
    wrong = near.answers(bytes(frame))
    assert wrong is not None and wrong.rule == rule and told in wrong.text


def over_ipv6(size: int | None) -> tuple[Neighbourhood, Host, bytes]:
    """What was asked of the device by a host with an IPv6 address."""
    near, asker = Neighbourhood(DEVICE), Host(ASKER.mac, ipaddress.ip_address("2001:db8::1").packed)
    return near, asker, near.asks(asker, size)


def test_over_ipv6_its_own_address_is_asked_for_and_advertised() -> None:
    near, asker, question = over_ipv6(None)
    own = DEVICE.facing(asker)
    right = answer(question, {own.ip: own.mac})
    assert right is not None and near.is_owing
    wrong = bytearray(right)
    wrong[70] ^= 1  # of the address that it advertises
    problem = near.answers(bytes(wrong))
    assert problem is not None and problem.rule == "LIVE-01"
    assert problem.text.startswith("a wrong answer to a neighbour solicitation; ")
    near, _, _ = over_ipv6(None)
    assert near.answers(right) is None and not near.is_owing


def test_an_echo_over_ipv6_is_held_to_what_was_asked() -> None:
    near, asker, question = over_ipv6(30)
    own, message = DEVICE.facing(asker), icmp_message(question)
    assert message is not None
    kind = max(kind for _, kind in ECHO_REPLIES)
    right = icmp_frame(own, asker, kind, message.body)
    wrong = icmp_frame(own, asker, kind, message.body[:-1] + b"\0")
    assert near.answers(right) is None
    near, _, _ = over_ipv6(30)
    problem = near.answers(wrong)
    assert problem is not None and "echo request with 30 bytes" in problem.text
    near, _, _ = over_ipv6(30)
    assert near.settled() == "no answer to an echo request with 30 bytes of data"


def test_bytes_behind_an_echo_are_told_as_too_many() -> None:
    near = Neighbourhood(DEVICE)
    right = reply(near.asks(ASKER, 0, trailer=4))
    wrong = near.answers(right + bytes(4))
    assert wrong is not None and "; frame: want 60 bytes, got 64" in wrong.text


def test_while_an_answer_waits_one_of_another_kind_is_not_owed_either() -> None:
    near = Neighbourhood(DEVICE)
    arp = near.asks(ASKER, None)
    near.asks(ASKER, 20)
    right = answer(arp, {DEVICE.ip: DEVICE.mac})
    assert right is not None and near.answers(right) is None
    assert near.settled() is None
