# SPDX-License-Identifier: BSD-2-Clause
"""Sequences of requests that break rules on PSN, opcode sequence and lengths."""

from __future__ import annotations

from dataclasses import replace

from healthy_capture import (
    PATH_MTU,
    SEND,
    SEND_IMM,
    UC,
    WRITE,
    Sender,
    ack,
    frames_of,
    with_bth,
)
from queue_pair_facts import START_PSN, facts
from scenarios import breaks, scenario

from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import AtomicEth, Reth


@breaks("BTH-01")
def service_changes_within_a_qp() -> list[bytes]:
    return frames_of(Sender().message(SEND, 4) + Sender(UC, psn=101).message(SEND, 4))


# opcode sequence
def with_opcode(index: int, opcode: int) -> list[bytes]:
    """A SEND of several packets and one more behind it, with one opcode exchanged."""
    sender = Sender()
    packets = sender.message(SEND, 3 * PATH_MTU) + sender.message(SEND, 4)
    packets[index] = with_bth(packets[index], opcode=opcode)
    return frames_of(packets)


scenario("OPC-01", lambda: with_opcode(3, 0x02))
scenario("OPC-02", lambda: with_only_imm_at_the_end())
scenario("OPC-03", lambda: with_opcode(2, 0x04))
scenario("OPC-05", lambda: with_opcode(1, 0x07))


def with_only_imm_at_the_end() -> list[bytes]:
    packets = Sender().message(SEND_IMM, 3 * PATH_MTU)
    packets[-1] = with_bth(packets[-1], opcode=0x05)
    return frames_of(packets)


@breaks("OPC-01")
def a_middle_where_the_last_belongs() -> list[bytes]:
    packets = Sender().message(WRITE, 3 * PATH_MTU)
    packets[-1] = with_bth(packets[-1], opcode=0x07, ack_req=False)
    return frames_of(packets)


# lengths against the path MTU
def resized(index: int, size: int) -> list[bytes]:
    packets = Sender().message(SEND, 3 * PATH_MTU)
    packets[index] = replace(packets[index], payload=bytes(size))
    return frames_of(packets)


scenario("MTU-01", lambda: resized(0, PATH_MTU - 16))
scenario("MTU-02", lambda: resized(1, PATH_MTU - 8))
scenario("MTU-03", lambda: resized(2, 0))
scenario("MTU-03", lambda: resized(2, PATH_MTU + 1))
scenario("MTU-04", lambda: [build(replace(Sender().message(SEND, 4)[0], payload=bytes(4097)))])


def promising(length: int, *, really: int) -> list[bytes]:
    packets = Sender().message(WRITE, really)
    packets[0] = replace(packets[0], extensions=(Reth(0x1000, 0xABCD, length),))
    return frames_of(packets)


scenario("MTU-07", lambda: promising(3 * PATH_MTU - 8, really=3 * PATH_MTU - 16))
scenario("MTU-07", lambda: promising(12, really=5))
scenario("RETH-02", lambda: promising(PATH_MTU, really=3 * PATH_MTU))
scenario("RETH-02", lambda: promising(3 * PATH_MTU, really=2 * PATH_MTU + 9))


# PSN
def with_psns(*psns: int, service: int = 0) -> list[bytes]:
    packet = Sender(service).message(SEND, 4)[0]
    return [build(replace(with_bth(packet, psn=p), payload=bytes([p & 255] * 4))) for p in psns]


scenario("PSN-02", lambda: with_psns(5, 6, 8, 9))
scenario("PSN-02", lambda: [*with_psns(5, 6, 7), *frames_of(Sender(psn=6).message(SEND, 9))])
scenario("PSN-03", lambda: with_psns(0xFFFFFE, 0xFFFFFF, 1))
scenario("PSN-03", lambda: with_psns(0xFFFE, 0xFFFF, 0))
scenario("PSN-18", lambda: with_psns(5, 6, 6, 7, service=UC))


@breaks("PSN-02")
def a_lost_middle_is_one_finding() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, 4 * PATH_MTU))
    return [*frames[:1], *frames[2:]]


# which fault it is
@breaks("PSN-04")
def an_empty_message_does_not_count() -> list[bytes]:
    empty, after = Sender().message(SEND, 0)[0], Sender().message(SEND, 9)[0]
    return frames_of([*Sender(psn=99).message(SEND, 4), empty, after])


@breaks("PSN-02")
def another_atomic_has_the_same_psn() -> list[bytes]:
    one = Sender(psn=100).fetch_add()
    other = replace(one, extensions=(AtomicEth(0x1000, 0xABCD, 2, 0),))
    return frames_of([*Sender(psn=99).message(SEND, 4), one, other])


@breaks("PSN-05", path_mtu=PATH_MTU)
def a_read_counts_as_one_packet() -> list[bytes]:
    sender = Sender()
    read = sender.read(4 * PATH_MTU)
    sender.psn = 101
    return frames_of([read, *sender.message(SEND, 4)])


@breaks("RTX-17", path_mtu=PATH_MTU)
def the_rest_of_a_read_is_as_long_as_the_whole() -> list[bytes]:
    return asked_again(0x1000 + 2 * PATH_MTU, 4 * PATH_MTU)


@breaks("RTX-17", path_mtu=PATH_MTU)
def the_rest_of_a_read_begins_where_the_whole_does() -> list[bytes]:
    return asked_again(0x1000, 2 * PATH_MTU)


def asked_again(address: int, length: int) -> list[bytes]:
    """A READ of four packets, and what shall be its rest from the third on."""
    sender = Sender()
    read = sender.read(4 * PATH_MTU, 0x1000)
    behind = sender.message(SEND, 4)
    sender.psn = read.bth.psn + 2
    return frames_of([read, sender.read(length, address), *behind])


@breaks("PSN-07")
def responses_take_psns_of_requests() -> list[bytes]:
    first, second = Sender().message(SEND, 4), Sender(psn=102).message(SEND, 4)
    reverse = Sender(psn=7, qpn=0x21).message(SEND, 4)[0]
    sent = replace(ack(7, 1), ip=first[0].ip, bth=replace(ack(7, 1).bth, dest_qpn=0x11))
    return frames_of([*first, replace(reverse, ip=ack(7, 1).ip), sent, *second])


@breaks("BTH-14")
def psn_with_its_first_byte_first() -> list[bytes]:
    return with_psns(0x0102FE, 0x0202FE, 0x0302FE)


@breaks("PSN-01", facts=facts())
def first_psn_is_not_the_configured_one() -> list[bytes]:
    return frames_of(Sender(psn=START_PSN + 1).message(SEND, 4))


@breaks("PSN-01", facts=facts())
def first_psn_lies_behind_the_configured_one() -> list[bytes]:
    return frames_of(Sender(psn=START_PSN - 1).message(SEND, 4))


@breaks("PSN-02")
def an_old_gap_is_reported_when_the_queue_pair_is_set_up_again() -> list[bytes]:
    return [*with_psns(5, 8), *with_psns(0x700000)]


@breaks("PSN-02")
def more_gaps_than_are_kept() -> list[bytes]:
    return with_psns(*range(0, 80, 4))
