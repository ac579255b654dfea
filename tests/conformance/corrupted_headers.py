# SPDX-License-Identifier: BSD-2-Clause
"""Frames that break rules on the BTH, the headers behind it, and the pad."""

from __future__ import annotations

from dataclasses import replace

from healthy_capture import (
    PATH_MTU,
    SEND,
    UC,
    WRITE,
    WRITE_IMM,
    Sender,
    ack,
    answer,
    body,
    datagram,
    frames_of,
    one_send,
    one_write,
    with_bth,
)
from scenarios import breaks, scenario

from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import ImmDt, Reth

# BTH
scenario("BTH-01", lambda: [build(with_bth(Sender().message(SEND, 4)[0], opcode=0x15))])
scenario("BTH-02", lambda: [build(with_bth(Sender().message(WRITE, 4)[0], solicited=True))])
scenario("BTH-04", lambda: [build(with_bth(Sender().message(SEND, 4)[0], version=1))])
scenario("BTH-06", lambda: [build(with_bth(Sender().message(SEND, 4)[0], pkey=0x7FFF))])
scenario("BTH-08", lambda: [build(with_bth(Sender().message(SEND, 4)[0], reserved6=1))])
scenario("BTH-08", lambda: [build(with_bth(Sender().message(SEND, 4)[0], becn=True))])
scenario("PSN-19", lambda: [build(with_bth(Sender().message(SEND, 4)[0], reserved7=1))])
scenario("OPC-11", lambda: [build(with_bth(Sender(UC).message(SEND, 4)[0], opcode=0x2C))])
scenario("UC-02", lambda: [build(with_bth(Sender(UC).message(SEND, 4)[0], ack_req=True))])

# pads
scenario("PAD-01", lambda: [body(one_write(5), lambda b: b[:1] + b"\x50" + b[2:])])
scenario("PAD-01", lambda: [body(one_send(0), lambda b: b[:1] + b"\x70" + b[2:])])
scenario("PAD-02", lambda: [body(one_send(5), lambda b: b[:-1] + b"\1")])
scenario("PAD-05", lambda: [body(build(ack(1, 1)), lambda b: b[:1] + b"\x50" + b[2:])])


@breaks("PAD-01")
def pad_count_of_the_last_packet_is_wrong() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 5))
    return [frames[0], body(frames[1], lambda b: b[:1] + b"\x60" + b[2:])]


@breaks("PAD-04")
def pad_count_of_the_message_on_every_packet() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 1))
    padded = body(frames[0], lambda b: b[:1] + b"\x70" + b[2:-3] + bytes(3))
    return [padded, frames[1]]


# headers in the wrong place
scenario("RETH-01", lambda: [body(one_write(0), lambda b: b[:20])])
scenario("AETH-01", lambda: [body(build(ack(1, 1)), lambda b: b[:12])])


def message_with(index: int, extra: bytes) -> list[bytes]:
    frames = frames_of(Sender().message(WRITE_IMM, 3 * PATH_MTU))
    at = 28 if index == 0 else 12
    frames[index] = body(frames[index], lambda b: b[:at] + extra + b[at:])
    return frames


scenario("RETH-03", lambda: message_with(1, Reth(0x7F0012345600, 0xABCD, 3 * PATH_MTU).pack()))
scenario("IMM-03", lambda: message_with(1, ImmDt(1).pack()))
scenario("IMM-03", lambda: message_with(0, ImmDt(1).pack()))


@breaks("RETH-03")
def reth_on_the_last_packet() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 40))
    reth = Reth(0x7F0012345600, 0xABCD, PATH_MTU + 40).pack()
    return [frames[0], body(frames[1], lambda b: b[:12] + reth + b[12:])]


@breaks("IMM-01")
def immediate_before_reth() -> list[bytes]:
    frame = frames_of(Sender().message(WRITE_IMM, 8))[0]
    return [body(frame, lambda b: b[:12] + b[28:32] + b[12:28] + b[32:])]


@breaks("AETH-01")
def aeth_on_a_middle_response() -> list[bytes]:
    packet = replace(ack(9, 6, opcode=0x0E), extensions=(), payload=bytes(PATH_MTU + 4))
    return [build(packet)]


# other headers and opcodes
def atomic() -> bytes:
    return build(Sender().fetch_add())


def read() -> bytes:
    return build(Sender().read(8))


def cut_to(frame: bytes, size: int) -> bytes:
    return body(frame, lambda b: b[:size])


def longer(frame: bytes) -> bytes:
    return body(frame, lambda b: b + bytes(4))


scenario("OPC-12", lambda: [build(with_bth(datagram(8), opcode=0x66))])
scenario("ATOM-01", lambda: [cut_to(atomic(), 36)])
scenario("ATOM-01", lambda: [longer(atomic())])
scenario("ATOM-02", lambda: [longer(build(answer(0x12, 5, 1)))])
scenario("READ-01", lambda: [longer(read())])
scenario("UD-01", lambda: [cut_to(build(datagram(0)), 16)])
scenario("UDP-02", lambda: [cut_to(build(answer(0x12, 5, 1)), 20)])
scenario("PAD-05", lambda: [body(read(), lambda b: b[:1] + b"\x50" + b[2:])])
scenario("PAD-03", lambda: [body(one_write(5), lambda b: b[:24] + b"\0\0\0\x08" + b[28:])])


@breaks("PAD-03")
def pad_counted_in_the_length_of_a_long_message() -> list[bytes]:
    packets = Sender().message(WRITE, PATH_MTU + 5)
    packets[0] = replace(packets[0], extensions=(Reth(0x1000, 0xABCD, PATH_MTU + 8),))
    return frames_of(packets)


@breaks("BTH-03")
def migreq_toggles() -> list[bytes]:
    first, second = Sender().message(SEND, 2 * PATH_MTU)
    return frames_of([first, with_bth(second, migreq=False)])
