# SPDX-License-Identifier: BSD-2-Clause
"""Responses that break rules, alone or against the requests that they answer."""

from __future__ import annotations

from dataclasses import replace

from healthy_capture import (
    PATH_MTU,
    SEND,
    UC,
    WRITE,
    Sender,
    ack,
    answer,
    frames_of,
    with_bth,
)
from queue_pair_facts import facts
from scenarios import Frames, breaks, scenario

from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Bth

# responses
scenario("ACK-07", lambda: [build(with_bth(ack(1, 1), ack_req=True))])
scenario("ACK-07", lambda: [build(with_bth(ack(1, 1), solicited=True))])
scenario("ACK-07", lambda: [build(replace(ack(1, 1), payload=bytes(4)))])
scenario("AETH-02", lambda: [build(ack(1, 1, syndrome=0x9F))])
scenario("AETH-02", lambda: [build(ack(1, 1, syndrome=0x40))])
scenario("AETH-02", lambda: [build(ack(1, 1, syndrome=0x65))])
scenario("AETH-03", lambda: [build(ack(1, 1, syndrome=0x60, opcode=0x10))])
scenario("MSN-02", lambda: frames_of([ack(1, 1), ack(2, 3)]))
scenario("MSN-02", lambda: frames_of([ack(1, 4), ack(2, 3)]))


def sends(count: int, psn: int = 100, service: int = 0) -> list[Packet]:
    """Messages of one packet each."""
    sender = Sender(service, psn=psn)
    return [packet for _ in range(count) for packet in sender.message(SEND, 4)]


def asked_and_answered(asked: list[Packet], *answers: Packet) -> list[bytes]:
    return frames_of([*asked, *answers])


def after(asked: list[Packet], *answers: Packet) -> Frames:
    return lambda: asked_and_answered(asked, *answers)


READ_BYTES = 2 * PATH_MTU + 5


def behind_its_successor(*, is_message: bool = False) -> list[Packet]:
    """A READ of responses 103 to 105, behind it a READ or a message from before it, and P."""
    sender = Sender(psn=100)
    earlier, later = sender.read(READ_BYTES), sender.read(READ_BYTES)
    told = answer(0x0E, 104 if is_message else 101, 0, PATH_MTU)
    return [later, *(sends(1) if is_message else [earlier]), told]


def read_and_send() -> list[Packet]:
    """A SEND at 99, a READ of 3 responses at 100, a SEND at 103."""
    sender = Sender(psn=99)
    packets = sender.message(SEND, 4)
    packets.append(sender.read(READ_BYTES))
    return packets + sender.message(SEND, 4)


def first(msn: int = 2) -> Packet:
    return answer(0x0D, 100, msn, PATH_MTU)


def middle() -> Packet:
    return answer(0x0E, 101, 2, PATH_MTU)


def last(msn: int = 2) -> Packet:
    return answer(0x0F, 102, msn, 5)


ASKED = sends(4)
COPY = ASKED[:1]
NOT_READY = ack(102, 2, syndrome=0x2C)
HALF_A_RANGE_BEHIND = ack((103 - (1 << 23)) % (1 << 24), 2)

# healthy
scenario("", after(ASKED, ack(100, 1), ack(103, 4)))
scenario("", after(read_and_send(), ack(99, 1), first(), middle(), last(), ack(103, 3)))
scenario("", after(behind_its_successor(), ack(104, 2, syndrome=0x2C)))
scenario("ACK-12", after(behind_its_successor(), ack(105, 2)))
scenario("ACK-06", after(behind_its_successor(), ack(106, 2)))
scenario("ACK-12", after(behind_its_successor(is_message=True), ack(105, 2)))
scenario("", after([*ASKED, *COPY], ack(103, 4), ack(100, 4)))
scenario("", after([*ASKED[:3], NOT_READY, HALF_A_RANGE_BEHIND, ASKED[3]], ack(103, 4)))
scenario("", after(ASKED, ack(100, 1), ack(101, 1, syndrome=0x60)))
scenario("", after(ASKED, ack(101, 1, syndrome=0x2C)))
scenario("", after([Sender().fetch_add()], answer(0x12, 100, 1)))

# ACKs
scenario("ACK-06", after(ASKED, ack(104, 4)))
scenario("ACK-06", after(ASKED, ack(102, 3), ack(101, 3)))
scenario("ACK-12", after(read_and_send(), ack(99, 1), first(), ack(101, 2)), path_mtu=PATH_MTU)
scenario("ACK-12", after(read_and_send(), ack(103, 3), first()), path_mtu=PATH_MTU)
scenario("DUP-03", after([*read_and_send(), *sends(1, 99)], ack(101, 3)), path_mtu=PATH_MTU)
scenario("ACK-11", after(sends(2, service=UC), ack(101, 2)))
scenario("NAK-11", after(sends(2, service=UC), ack(101, 2, syndrome=0x61)))


@breaks("ACK-11")
def ack_in_the_direction_of_uc_requests() -> list[bytes]:
    request = sends(1, service=UC)[0]
    return frames_of([request, replace(ack(5, 1), ip=request.ip, bth=Bth(0x11, 0x11, 5))])


# NAKs
scenario("NAK-01", after(ASKED, ack(103, 3, syndrome=0x60)))
scenario("NAK-01", after(ASKED, ack(101, 2), ack(101, 1, syndrome=0x60)))
scenario("NAK-02", after(ASKED, ack(101, 1, syndrome=0x60), ack(101, 1, syndrome=0x60)))
scenario(
    "",  # the responder had the request again before its first NAK was seen
    after(
        ASKED,
        ack(101, 1, syndrome=0x60),
        ack(101, 1, syndrome=0x2C),
        ack(101, 1, syndrome=0x60),
    ),
)
scenario("NAK-07", after(ASKED, ack(104, 4, syndrome=0x61)))
scenario("NAK-07", after(ASKED, ack(102, 3), ack(102, 2, syndrome=0x62)))
scenario("", after(Sender().message(WRITE, 4), ack(100, 0, syndrome=0x2C)))
scenario("RNR-01", after(ASKED, ack(104, 4, syndrome=0x2C)))
scenario("RNR-02", after(ASKED, ack(102, 2, syndrome=0x2C)), facts=facts(min_rnr_timer=14))
scenario("IP-07", after(ASKED, ack(102, 3)), facts=facts(dscp=14))
scenario("IP-06", after(ASKED, ack(102, 3)), facts=facts(ttl=10))
scenario("CRED-01", after(ASKED, ack(102, 3, syndrome=0)), facts=facts(credits=False))

# READ responses
SEEN = ack(99, 1)
scenario("PSN-20", after(read_and_send(), SEEN, answer(0x10, 103, 3, 5)), path_mtu=PATH_MTU)
scenario("READ-02", after(read_and_send(), SEEN, answer(0x10, 100, 2, PATH_MTU)), path_mtu=PATH_MTU)
scenario("READ-02", after(read_and_send(), SEEN, first(), middle(), answer(0x0F, 102, 2, 6)))
scenario("PSN-20", after([Sender().fetch_add()], answer(0x10, 100, 1, 8)))
scenario("READ-03", after([Sender().read(0)], answer(0x10, 100, 1, 4)))
scenario("MSN-09", after(read_and_send(), SEEN, first(3), middle(), last(2)))


@breaks("READ-12", path_mtu=PATH_MTU)
def a_newer_read_is_answered_first() -> list[bytes]:
    sender = Sender()
    asked = [sender.read(4), sender.read(4)]
    return asked_and_answered(asked, answer(0x10, 101, 2, 4), answer(0x10, 100, 2, 4))


# MSN
scenario("MSN-01", after(ASKED, ack(101, 7)), facts=facts())
scenario("MSN-02", after(ASKED, ack(100, 1), ack(102, 2)))
scenario("MSN-02", after(ASKED, ack(100, 1), ack(102, 5)))
scenario("MSN-03", after(ASKED, ack(103, 4), *sends(1, 103), ack(103, 5)))
scenario("MSN-05", after(ASKED, ack(100, 1), ack(102, 3, syndrome=0x61)))
# Of a message of two packets the first is acknowledged as if it were a message.
BEGUN = Sender().message(SEND, 2 * PATH_MTU)[:1]
scenario("MSN-02", after(BEGUN, ack(100, 1)), facts=facts())


@breaks("MSN-02", facts=facts())
def copies_have_raised_nothing() -> list[bytes]:
    begun = Sender(psn=102).message(SEND, 2 * PATH_MTU)[:1]
    return frames_of([*sends(2), ack(101, 2), *begun, ack(102, 3), *begun, ack(102, 3)])


@breaks("MSN-04", facts=facts())
def writes_are_not_counted() -> list[bytes]:
    sender = Sender()
    asked = [*sender.message(SEND, 4), *sender.message(WRITE, 4), *sender.message(SEND, 4)]
    return asked_and_answered(asked, ack(100, 1), ack(102, 2))


@breaks("MSN-01 AETH-06", facts=facts())
def msn_with_its_first_byte_first() -> list[bytes]:
    asked = sends(0x203)
    return asked_and_answered(asked, ack(0x264, 0x010200), ack(0x265, 0x020200))
