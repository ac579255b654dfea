# SPDX-License-Identifier: BSD-2-Clause
"""Datagrams, communication management, CNPs and configured facts that break rules."""

from __future__ import annotations

from dataclasses import replace

from healthy_capture import (
    PATH_MTU,
    RECEIVER,
    SEND,
    SENDER,
    Sender,
    ack,
    cnp,
    datagram,
    frames_of,
    with_bth,
)
from management import REP_QPN, REQ_QPN, mad, rep, req
from queue_pair_facts import facts
from scenarios import breaks, scenario

from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import CnpReserved, Deth
from roceproof.conformance.wire.ip import Ipv4

# UD
scenario("", lambda: [build(datagram(64))])
scenario("UD-01", lambda: [build(replace(datagram(64), extensions=(Deth(1, 1 << 24 | 0x21),)))])
scenario("UD-04", lambda: [build(datagram(4100))])
scenario("UD-04", lambda: [build(datagram(PATH_MTU + 4))], path_mtu=PATH_MTU)
scenario("UD-06", lambda: [build(with_bth(datagram(64), ack_req=True))])

# communication management
scenario("", lambda: frames_of([req(), rep()]))
scenario("CM-01", lambda: [build(with_bth(Sender().message(SEND, 4)[0], dest_qpn=1))])
scenario("CM-01", lambda: [build(mad(qkey=0x1234))])
scenario("CM-01", lambda: [build(mad(source=2))])
scenario("CM-01", lambda: [build(replace(mad(), payload=mad().payload[:-4]))])
scenario("CM-01", lambda: [build(replace(mad(source=2), payload=mad().payload[:-4]))])
scenario("CM-01", lambda: [build(replace(mad(qkey=0x1234), payload=mad().payload[:-4]))])
scenario("CM-02", lambda: [build(mad(class_version=1))])
scenario("CM-02", lambda: [build(mad(attribute=0x20))])
scenario("CM-02", lambda: [build(mad(method=1))])
scenario("CM-02", lambda: [build(mad(class_version=1, method=1))])
scenario("CM-03", lambda: frames_of([req(), req(transaction=2)]))
scenario("", lambda: frames_of([req(), req()]))


@breaks("PSN-01")
def first_psn_is_not_what_cm_has_told() -> list[bytes]:
    sender = Sender(qpn=REP_QPN, psn=499)
    return frames_of([req(), rep(start_psn=500), *sender.message(SEND, 4)])


@breaks("PSN-01")
def cm_tells_the_psn_of_the_other_side() -> list[bytes]:
    packet = Sender(qpn=REQ_QPN, psn=699).message(SEND, 4)[0]
    return frames_of([req(start_psn=700), rep(), replace(packet, ip=Ipv4(RECEIVER, SENDER))])


@breaks("MTU-01")
def cm_tells_the_path_mtu() -> list[bytes]:
    sender = Sender(qpn=REP_QPN, psn=500)
    return frames_of([req(path_mtu_code=3), rep(), sender.message(SEND, 2 * PATH_MTU)[0]])


# CNPs
def marked() -> bytes:
    return build(replace(ack(1, 1), ip=Ipv4(RECEIVER, SENDER, tos=3)))


scenario("", lambda: [marked(), build(cnp())])
scenario("CNP-01", lambda: [marked(), build(cnp(psn=1))])
scenario("CNP-01", lambda: [marked(), build(replace(cnp(), extensions=(CnpReserved(b"1" * 16),)))])
scenario("CNP-01", lambda: [marked(), build(replace(cnp(), payload=bytes(4)))])
scenario("CNP-10", lambda: [marked(), build(with_bth(cnp(), becn=False))])
scenario("CNP-10", lambda: [marked(), build(with_bth(cnp(), migreq=True))])
scenario("CNP-02", lambda: [build(cnp())])
scenario("ICRC-02 CNP-09", lambda: [marked(), build(cnp())[:-1] + b"\0"])

# configured facts
scenario("BTH-10", lambda: [build(Sender(qpn=0x12).message(SEND, 4)[0])], facts=facts())
scenario("IP-08", lambda: [build(Sender(qpn=0x21).message(SEND, 4)[0])], facts=facts())
scenario("BTH-01", lambda: [build(Sender().message(SEND, 4)[0])], facts=facts(service="UC"))
scenario("MTU-09", lambda: [build(Sender().message(SEND, 200)[0])], ip_mtu=200)


@breaks("IP-07", facts=facts(dscp=10))
def dscp_is_not_the_configured_one() -> list[bytes]:
    request = Sender(qpn=0x21, psn=500).message(SEND, 4)[0]
    return [build(replace(request, ip=Ipv4(RECEIVER, SENDER, tos=9 << 2)))]


@breaks("IP-06", facts=facts(ttl=10))
def ttl_is_above_the_configured_one() -> list[bytes]:
    request = Sender(qpn=0x21, psn=500).message(SEND, 4)[0]
    return [build(replace(request, ip=Ipv4(RECEIVER, SENDER, ttl=11)))]
