# SPDX-License-Identifier: BSD-2-Clause
"""What had to be dropped and was heeded is told with why it had to be, and with that rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from roceproof.conformance.model.requester.read_answers import READ_LAST, READ_ONLY
from roceproof.conformance.runner.findings.accused import accused
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.strays import with_strays
from roceproof.conformance.suite.reporting.divergence import differed
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of, in_short
from roceproof.conformance.suite.reporting.transcript import DAMAGED, Entry, Transcript
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth, Bth, Extension, Reth
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.verbs.addresses import Host, link_local

HOST = Host(mac=b"\x02\0\0\0\0\x02", ip=bytes((10, 0, 0, 2)))
SENDER, READ_REQUEST, ACKNOWLEDGE, QPN, PEER = 0x04, 0x0C, 0x11, 0x3A9E39, 0x77
DUE, LOST = (Random(seed).randbytes(24) for seed in (1, 2))
OTHER = CaseFailed("test_x.py:9: assert a; a message: other bytes than are due: want 00, got 01")
UNANSWERED = CaseFailed(
    f"qp7 (RC, {QPN:#x}): work 0x1 completed with success, syndrome 0x1f, without an answer"
)


@dataclass
class Device:
    """Memory as it was read, and no time."""

    memory: bytes
    host: Host = HOST

    def memory_is_late(self) -> bool:
        return False

    def just_read(self) -> bytes:
        return self.memory


@dataclass
class Seen:
    """What of a bench matters here."""

    target: Device
    transcript: Transcript = field(default_factory=Transcript)
    connections: Sequence[SimpleNamespace] = (
        SimpleNamespace(spec=SimpleNamespace(remote_qpn=PEER), qp=SimpleNamespace(qpn=QPN)),
    )

    def hears(self, frame: bytes, comment: str = "", *, is_void: bool = False) -> None:
        time_ns = 1000 * sum(1 for _ in self.transcript.entries())
        self.transcript.add(Entry(time_ns, False, frame, comment, is_void))

    def answers(self, frame: bytes) -> CaseFailed:
        """How a case fails that waits for something else."""
        self.transcript.add(entry := Entry(9000, True, frame, "", False))
        failure = CaseFailed("want  READ_RESP_ONLY psn=+0\ngot   ACK psn=+0", entries=[entry])
        return self.told(failure)

    def told(self, failure: CaseFailed) -> CaseFailed:
        return with_strays(cast(Bench, self), failure)


def network(dst: bytes) -> Ipv4 | Ipv6:
    if len(dst) == len(HOST.ip):
        return Ipv4(src=bytes((10, 0, 0, 1)), dst=dst, tos=0, ident=0, ttl=64)
    return Ipv6(src=link_local(b"\x02\0\0\0\0\x01"), dst=dst, traffic_class=0, hop_limit=64)


def packet(
    payload: bytes = b"",
    *,
    psn: int = 0,
    ip: bytes = HOST.ip,
    mac: bytes = HOST.mac,
    syndrome: int | None = None,
    vlans: bytes = b"",
    qpn: int = QPN,
) -> bytes:
    """A SEND with this payload, or an ACK with this syndrome."""
    opcode = SENDER if syndrome is None else ACKNOWLEDGE
    return build(
        Packet(
            dst_mac=mac,
            src_mac=b"\x02\0\0\0\0\x01",
            ip=network(ip),
            vlans=vlans,
            udp_sport=0xC000,
            bth=Bth(opcode=opcode, dest_qpn=qpn, psn=psn, pad_count=-len(payload) % 4),
            extensions=() if syndrome is None else (Aeth(syndrome=syndrome, msn=1),),
            payload=payload,
        )
    )


def edited(frame: bytes, edit: Callable[[bytearray], None]) -> bytes:
    changed = bytearray(frame)
    edit(changed)
    return bytes(changed)


@pytest.mark.parametrize(
    ("frame", "comment", "why", "rule"),
    [
        (packet(LOST), DAMAGED, ", which the MAC marked as damaged", "ETH-09"),
        (edited(packet(LOST), edits.bad_icrc()), "", ", whose ICRC is wrong", "ICRC-15"),
        (packet(LOST, ip=bytes((10, 0, 0, 3))), "", ", which is for another IP address", "GID-05"),
        (packet(LOST, mac=bytes(6)), "", ", which is for another MAC address", "LIVE-03"),
        (edited(packet(LOST), edits.flip_ip(10, 1)), "", ", whose IPv4 checksum is wrong", "IP-11"),
        (packet(LOST, psn=9), "", "", None),
        (packet(LOST, vlans=bytes.fromhex("81000007")), "", "", None),
        (packet(LOST, ip=link_local(HOST.mac)), "", "", None),
        (packet(LOST, ip=link_local(bytes(6))), "", ", which is for another IP address", "GID-05"),
    ],
)
def test_bytes_of_a_packet_that_had_to_be_dropped_say_so(frame, comment, why, rule) -> None:
    seen = Seen(Device(LOST[-8:] + DUE))
    seen.hears(packet(DUE, psn=1))
    seen.hears(frame, comment, is_void=True)
    failure = seen.told(OTHER)
    assert failure.rules == (() if rule is None else (rule,))
    said = f"memory holds bytes of a packet that had to be dropped: the packet of 1.000 us{why}"
    assert in_short(head_of(failure)) == said
    assert seen.told(failure) is failure


def test_bytes_that_are_due_too_are_nobodys_and_the_rule_is_that_of_all_undue_packets() -> None:
    seen = Seen(Device(DUE[:8] + bytes(8)))
    seen.hears(packet(DUE, psn=1))
    seen.hears(packet(DUE, psn=1), DAMAGED, is_void=True)
    failure = seen.told(OTHER)
    assert "bytes of a packet" not in str(failure)
    assert differed(failure) == ("FUZZ-14",)
    case = {"broken": ["DUP-09"], "differed": differed(failure), "outcome": "failed"}
    assert accused(case) == ["FUZZ-14"]
    written = CaseFailed(str(OTHER), rules=["RETH-12"])
    assert seen.told(written).rules == ("FUZZ-14",)


def test_where_all_that_came_was_due_nothing_is_added() -> None:
    seen = Seen(Device(LOST))
    seen.hears(packet(DUE, psn=1))
    assert seen.told(OTHER) is OTHER
    seen.hears(packet(DUE, psn=1))
    assert differed(seen.told(OTHER)) == ("FUZZ-14",), "it came twice"
    assert seen.told(UNANSWERED) is UNANSWERED


def test_work_that_ends_by_an_ack_that_had_to_be_dropped_is_told_with_why() -> None:
    seen = Seen(Device(b""))
    seen.hears(packet(syndrome=0x21), DAMAGED, is_void=True)
    assert seen.told(UNANSWERED) is UNANSWERED, "that was no ACK"
    seen.hears(packet(syndrome=0x1F), DAMAGED, is_void=True)
    failure = seen.told(UNANSWERED)
    assert failure.rules == ("ETH-09",)
    told = "an ACK that had to be dropped came, which the MAC marked as damaged"
    assert head_of(failure).endswith(told)
    seen.hears(edited(packet(syndrome=0x1F), edits.bad_icrc()), is_void=True)
    assert seen.told(UNANSWERED) is UNANSWERED, "one of two, and nobody knows which"


def test_an_answer_to_a_request_that_had_to_be_dropped_says_why() -> None:
    seen = Seen(Device(b""))
    seen.hears(packet(DUE, psn=3), is_void=False)
    seen.hears(edited(packet(LOST, psn=4), edits.bad_icrc()), is_void=True)
    failure = seen.answers(packet(syndrome=0x1F, psn=4, qpn=PEER))
    assert failure.rules == ("ICRC-14",)
    told = "answered is a packet that had to be dropped, whose ICRC is wrong"
    assert in_short(head_of(failure)) == told


@pytest.mark.parametrize(("psn", "qpn"), [(3, PEER), (5, PEER), (4, QPN)])
def test_an_answer_that_a_good_request_may_have_or_that_nothing_asked_for_is_as_it_was(
    psn: int, qpn: int
) -> None:
    seen = Seen(Device(b""))
    seen.hears(packet(DUE, psn=3), is_void=False)
    seen.hears(edited(packet(LOST, psn=4), edits.bad_icrc()), is_void=True)
    seen.hears(edited(packet(LOST, psn=3), edits.bad_icrc()), is_void=True)
    assert seen.answers(packet(syndrome=0x1F, psn=psn, qpn=qpn)).rules == ()


@pytest.mark.parametrize(
    ("opcode", "rules"), [(READ_ONLY, ("ICRC-14",)), (READ_LAST, ())], ids=["only", "last"]
)
def test_the_last_response_of_a_read_has_the_psn_of_none_that_asked(
    opcode: int, rules: tuple[str, ...]
) -> None:
    def as_read(frame: bytes, opcode: int, header: Extension) -> bytes:
        known = parse(frame)
        assert known is not None
        return build(replace(known, bth=replace(known.bth, opcode=opcode), extensions=(header,)))

    seen = Seen(Device(b""))
    asked = as_read(packet(psn=4), READ_REQUEST, Reth(address=0, rkey=1, length=8))
    seen.hears(edited(asked, edits.bad_icrc()), is_void=True)
    answer = as_read(packet(psn=4, qpn=PEER), opcode, Aeth(syndrome=0x1F, msn=1))
    assert seen.answers(answer).rules == rules
